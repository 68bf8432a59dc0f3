"""Reading a `tokenizer.json`, and cutting long texts into overlapping windows instead of dropping their end."""

from pathlib import Path
from typing import Any

from thinkback.errors import ModelDamaged


def open_tokenizer(path: Path) -> Any:
    """The tokenizer with its own padding and truncation switched off, because both change the output."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelDamaged(f"{path} cannot be read: {error.strerror}") from None
    except Exception as error:  # noqa: BLE001 - the library raises bare Exception for a malformed file
        raise ModelDamaged(f"{path} is not a tokenizer file: {str(error)[:200]}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced, which no tokenizer and no JSON encoder accepts."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


def windows(length: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Start and end of equally long, evenly spread windows that cover `length`, neighbours sharing at least `overlap`.

    One window if everything fits; otherwise all have the full `size`, so that a short rest does not count as a whole window.
    """
    if length <= size:
        return [(0, length)]
    count = -(-(length - overlap) // (size - overlap))
    starts = [index * (length - size) // (count - 1) for index in range(count)]
    return [(start, start + size) for start in starts]
