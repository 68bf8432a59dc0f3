"""Read the text of a reflection: a JSON object with its `member_ids` and `keywords`."""

import json

from thinkback.model import REFLECTION, Record, StoredRecord

LARGEST_THEME = 200  # the published cap on the members of one reflection


def members(record: StoredRecord | Record) -> tuple[str, ...]:
    """The ids of the memories a reflection was made from; one written by hand, without a JSON list of ids, has none."""
    return _strings(record, "member_ids") or _strings(record, "members")  # as earlier versions wrote it


def keywords(record: StoredRecord | Record) -> tuple[str, ...]:
    """The words that describe the theme of a reflection."""
    return _strings(record, "keywords")


def _strings(record: StoredRecord | Record, name: str) -> tuple[str, ...]:
    """A list of strings in the JSON of a reflection, or nothing."""
    if record.kind != REFLECTION:
        return ()
    try:
        content = json.loads(record.text)
        found = content.get(name) if isinstance(content, dict) else None
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            return ()
        "".join(found).encode()  # JSON can spell lone surrogates, which no id and no word contains
    except (ValueError, RecursionError):
        return ()
    return tuple(found)
