"""Likely secrets in text: keys of known shapes, private keys, tokens, card numbers, passwords that are given as such.

Everything is matched in linear time; a finding never repeats the secret, only its kind and its first characters.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_MOST_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Secret:
    """A stretch of text that looks like a secret."""

    what: str
    start: int
    end: int
    hint: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What a kind of secret looks like; group `s` is the secret where the pattern holds more, `check` refuses look-alikes."""

    what: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None


def secrets(text: str) -> list[Secret]:
    """Every likely secret, in order; where two overlap, the one of the earlier shape in the table counts."""
    found: list[Secret] = []
    for shape in SHAPES:
        for match in shape.pattern.finditer(text):
            start, end = match.span("s") if "s" in shape.pattern.groupindex else match.span()
            value = text[start:end]
            if (shape.check is None or shape.check(value)) and not any(s.start < end and start < s.end for s in found):
                found.append(Secret(shape.what, start, end, f"{value[:_MOST_SHOWN]}…"))
    return sorted(found, key=lambda secret: secret.start)


def redacted(text: str) -> str:
    """The text with every likely secret replaced by its kind."""
    for secret in reversed(secrets(text)):
        text = f"{text[: secret.start]}[redacted {secret.what}]{text[secret.end :]}"
    return text


def redacted_json(value: Any) -> Any:
    """JSON with every string redacted, keys too."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {redacted(str(key)): redacted_json(item) for key, item in value.items()}
    return [redacted_json(item) for item in value] if isinstance(value, list | tuple) else value


def strings(value: Any) -> Iterator[str]:
    """Every string in JSON, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def luhn(number: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1); all-equal digits are a placeholder."""
    digits = [int(digit) for digit in number if digit.isdigit()]
    if len(set(digits)) < 2:
        return False
    doubled = [d if place % 2 == 0 else d * 2 - 9 * (d > 4) for place, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def entropy(text: str) -> float:
    """Bits a character (Shannon)."""
    counts = Counter(text)
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())


def _random(token: str) -> bool:
    """Mixed letters and digits with no pattern: 3.5 bits a character is more than words, names and paths have at this length."""
    classes = sum(any(map(test, token)) for test in (str.islower, str.isupper, str.isdigit))
    return classes == 3 and entropy(token) >= _ENOUGH_BITS


def _is_card(number: str) -> bool:
    digits = re.sub(r"\D", "", number)
    return 13 <= len(digits) <= 19 and luhn(digits)


def _is_given(value: str) -> bool:
    """A password somebody wrote down, not a placeholder for one."""
    bare = value.strip("\"'").lower()
    return len(bare) >= 4 and bare not in _PLACEHOLDERS.split() and not bare.startswith(_TEMPLATES)


def _is_told(value: str) -> bool:
    """The same in prose, where it must not be a plain word: "the password is wrong"."""
    return _is_given(value) and not value.strip("\"'.!?").isalpha()


_ENOUGH_BITS = 3.5
_TEMPLATES = ("<", "${", "{{", "[redacted", "***", "%(")
_PLACEHOLDERS = "password secret token none null true false changeme example xxxx required string"
_EDGE = r"(?<![A-Za-z0-9_])"
_END = r"(?![A-Za-z0-9_])"
_KEY = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
_NAMED = (
    r"(?:[a-z0-9]{1,30}[_-])?(?:password|passwd|passphrase|passcode|pwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|"
    r"access[_-]?token|client[_-]?secret|private[_-]?key)"
)
_VALUE = r"\"[^\"\n]{4,200}\"|'[^'\n]{4,200}'|[^\s,;\"']{4,200}"


def _shape(what: str, pattern: str, check: Callable[[str], bool] | None = None, flags: int = 0) -> Shape:
    return Shape(what, re.compile(pattern, flags), check)


SHAPES: tuple[Shape, ...] = (
    _shape("private key", rf"-----BEGIN {_KEY}-----[^-]{{0,20000}}(?:-----END {_KEY}-----)?"),
    _shape("JSON web token", _EDGE + r"eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,4000}"),
    _shape("AWS access key", _EDGE + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}" + _END),
    _shape("GitHub token", _EDGE + r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{36,255})" + _END),
    _shape("GitLab token", _EDGE + r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,255}"),
    _shape("Anthropic key", _EDGE + r"sk-ant-[A-Za-z0-9_-]{20,255}"),
    _shape("OpenAI key", _EDGE + r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,255}"),
    _shape("Stripe key", _EDGE + r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}" + _END),
    _shape("Google API key", _EDGE + r"AIza[A-Za-z0-9_-]{35}"),
    _shape("Google OAuth token", _EDGE + r"ya29\.[A-Za-z0-9_-]{20,2000}"),
    _shape("Slack token", _EDGE + r"xox[abeoprs]-[A-Za-z0-9-]{10,255}"),
    _shape("Slack webhook", r"https://hooks\.slack\.com/(?P<s>services/[A-Za-z0-9/]{20,100})"),
    _shape("Hugging Face token", _EDGE + r"hf_[A-Za-z0-9]{30,255}" + _END),
    _shape("npm token", _EDGE + r"npm_[A-Za-z0-9]{36}" + _END),
    _shape("PyPI token", _EDGE + r"pypi-[A-Za-z0-9_-]{50,1000}"),
    _shape("SendGrid key", _EDGE + r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    _shape("DigitalOcean token", _EDGE + r"do[opr]_v1_[a-f0-9]{64}" + _END),
    _shape("Telegram bot token", _EDGE + r"[0-9]{8,10}:[A-Za-z0-9_-]{35}" + _END),
    _shape(
        "password in a URL", r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:(?P<s>[^\s/:@]{1,200})@", flags=re.IGNORECASE
    ),
    _shape("password", rf"\b{_NAMED}[\"']?\s{{0,3}}=\s{{0,3}}(?P<s>{_VALUE})", _is_given, re.IGNORECASE),
    _shape(
        "password", rf"\b{_NAMED}[\"']?(?:\s{{0,3}}:|\s{{1,3}}is\b)\s{{0,3}}(?P<s>{_VALUE})", _is_told, re.IGNORECASE
    ),
    _shape("bearer token", r"\bbearer\s{1,3}(?P<s>[A-Za-z0-9._~+/-]{16,2000}=*)", flags=re.IGNORECASE),
    _shape("card number", r"(?<![\d.-])[2-6]\d(?:[ -]?\d){11,17}(?![\d-])", _is_card),
    _shape("random token", r"(?<![A-Za-z0-9_/.+=-])[A-Za-z0-9_-]{24,200}={0,2}(?![A-Za-z0-9_/.+=-])", _random),
)
