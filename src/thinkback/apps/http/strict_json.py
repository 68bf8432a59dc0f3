"""JSON as its standard has it, and as UTF-8 can carry it."""

import json
from typing import Any


def strict_json(text: str) -> Any:
    """What a JSON text says; NaN, lone surrogates and bottomless nesting are a ValueError."""
    try:
        data = json.loads(text, parse_constant=_not_json)
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a lone surrogate is no text") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return data


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is not a number JSON has")
