"""Cutting text into the words of a full-text index.

FTS5 splits at spaces and punctuation. Scripts written without spaces, pictures, and marks that FTS5 would take for letters are
therefore spaced out before they are indexed or searched; every store uses the same rule.
"""

import re
from functools import cache

# Han, kana, bopomofo and Hangul with their extensions; punctuation of those blocks stays out.
EAST_ASIAN = (
    r"\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    r"\u3105-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    r"\uff66-\uff9f\uffa0-\uffdc\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
# Thai, Lao, Burmese and Khmer: letters and vowel signs, without their digits and punctuation.
SOUTH_EAST_ASIAN = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d"
    r"\u1780-\u17d3\u17dc-\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
)
# FTS5 knows the characters of Unicode 6.1; what came later it takes for letters, so "job🤖" and "₽500" would be one
# word each. Pictures become words of their own, and marks become separators.
PICTURES = r"\u20ba-\u20cf\u218a\u218b\u23f4-\u23ff\u2427-\u2429\u2700\u2b4d-\u2bff\U0001f000-\U0001fbff"
_LATE_MARKS = (
    r"\u058d\u058e\u0605\u061c\u061d\u07fe\u07ff\u0888\u0890\u0891\u08e2\u09fd\u0a76\u0c77\u0c84\u0d4f\u1b4e\u1b4f\u1b7d-\u1b7f"
    r"\u2066-\u2069\u2e3c-\u2e5d\u2ffc-\u2fff\u31e4\u31e5\u31ef\u32ff\ua8fc\uab5b\uab6a\uab6b\ufbc2\ufd40-\ufd4f\ufdcf\ufdfe\ufdff"
)


# Compiling these classes costs milliseconds, and most texts never need them.
@cache
def _spaced() -> re.Pattern[str]:
    return re.compile(f"([{EAST_ASIAN}{SOUTH_EAST_ASIAN}{PICTURES}{_LATE_MARKS}])")


def needs_spaces(text: str) -> bool:
    """Whether a text holds characters that are words of their own in the index."""
    return not text.isascii() and _spaced().search(text) is not None


def segment(text: str) -> str:
    """Put spaces around each character that is a word of its own in the index; the rest is unchanged."""
    return text if text.isascii() or not needs_spaces(text) else " ".join(_spaced().split(text))
