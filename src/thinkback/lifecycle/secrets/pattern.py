"""The pattern of one kind of secret, and checks that its value is not a placeholder, a variable or an ordinary word."""

import re
from collections.abc import Callable, Iterator
from functools import cache

from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """One kind of secret: the group `s`, if there is one, is the secret itself; `check` rejects look-alikes."""

    what: str
    source: (
        str  # compiled at the first text that may match: compiling them all takes a quarter of the time to open a store
    )
    check: Callable[[str], bool] | None
    words: tuple[str, ...]  # every match contains one of them, in any case; a text without them is not searched
    flags: re.RegexFlag = re.NOFLAG
    long: bool = False  # every match holds a long run of letters, digits and signs
    numbered: bool = False  # every match holds a digit

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where such secrets are in the text."""
        regex, group = _compiled(self.source, self.flags)
        for match in regex.finditer(text):
            if self.check is None or self.check(match[group]):
                yield match.span(group)


@cache
def _compiled(source: str, flags: re.RegexFlag) -> tuple[re.Pattern[str], str | int]:
    regex = re.compile(source, flags)
    return regex, "s" if "s" in regex.groupindex else 0


def has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def is_filled_in(value: str) -> bool:
    """Whether a value is not a placeholder."""
    bare = value.lower()
    blank = len(set(bare)) < 2 or _PLACEHOLDERS.fullmatch(bare) or bare.startswith(_TEMPLATES)
    return not blank and "[redacted" not in bare


def is_literal(value: str) -> bool:
    """Whether it is a literal value, not code that reads one."""
    core = _CLOSING.split(value, maxsplit=1)[0]
    return len(core) >= 4 and is_filled_in(core) and not _REFERENCE.match(core)


def is_literal_in_prose(value: str) -> bool:
    """The same in prose, where it must also look random: not "the password is wrong" or "… is case-sensitive"."""
    bare = value.strip("\"'`*.,!?()")
    return is_literal(value) and has_digit(bare) and any(map(str.isalpha, bare)) and not reads_as_words(bare)


def reads_as_words(bare: str) -> bool:
    """Whether it is joined words and measures (24-hour, sha256-hashed), or a URL."""
    parts = _JOINT.split(bare)
    compound = len(parts) > 1 and any(part.isalpha() and len(part) > 2 for part in parts)
    return "://" in bare or all(
        _WORD_OR_MEASURE.fullmatch(part) or (compound and _NUMBERED_WORD.fullmatch(part)) for part in parts
    )


_JOINT = re.compile(r"[-–_/.:]")
_WORD_OR_MEASURE = re.compile(
    r"[^\W\d_]*|\d+(?:st|nd|rd|th|h|s|m|min|ms|px|kb|mb|gb|k|x|am|pm|bits?|chars?)?|\d{1,2}(?-i:[a-z]+|[A-Z]+|[A-Z][a-z]+)"
    r"|(?:sha|md|aes|rsa|base|utf|oauth|argon|pbkdf|ipv|http|tls|v)\d+",
    re.IGNORECASE,
)
_NUMBERED_WORD = re.compile(r"[a-z]+\d{1,3}", re.IGNORECASE)
_TEMPLATES = ("<", "${", "$(", "{", "***", "...", "…", "%(", "your_", "your-", "your ")
_PLACEHOLDERS = re.compile(
    r"password|secret|token|none|null|true|false|changeme|example|required|optional|string|text|bytes|input|await|lambda"
    r"|undefined|hidden|redacted|todo|passwd|user|username|value"
)
_CLOSING = re.compile(r"[)\]}]")  # of the enclosing call
_REFERENCE = re.compile(
    r"[(\[]|[A-Za-z_][\w.]*[(\[]"  # a call or a look-up
    r"|(?:[A-Z_]+|[a-z]+(?:_[a-z]+)+)$"  # a constant, a variable
    r"|[A-Za-z_]+(?:\.[A-Za-z_]+)+$"  # settings.password
    r"|\$[A-Z_][A-Z0-9_]*$|%[A-Z_]+%$"  # $DB_PASSWORD
    r"|(?:~|\.{0,2})/[\w./-]*$"  # /run/secrets/db
)
