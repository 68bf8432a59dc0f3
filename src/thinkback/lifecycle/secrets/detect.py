"""Likely secrets in text: keys of known shapes, private keys, tokens, card numbers, passwords that are given as such.

Redaction cannot be taken back, so whatever could as well be a word, a name or a measure is left alone: a value must have the shape
of a key, stand where only a value stands (`password=…`), or look made up. Everything is matched in linear time; a finding never
repeats the secret, only its kind and its first characters.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from thinkback.lifecycle.secrets.prose import TOLD
from thinkback.lifecycle.secrets.shapes import Shape, has_digit, is_filled_in, is_given, is_told

_MOST_SHOWN = 4
_RANDOM = "random token"


@dataclass(frozen=True, slots=True)
class Secret:
    """A stretch of text that looks like a secret."""

    what: str
    start: int
    end: int
    hint: str


def secrets(text: str) -> list[Secret]:
    """Every likely secret, in order; where two overlap, the earlier shape in the table names it, a longer one spans it."""
    found: list[Secret] = []
    lowered = text.lower()
    for shape in SHAPES:
        for start, end in shape.spans(text, lowered):
            first = bisect_right(found, start, key=lambda secret: secret.end)
            last = bisect_left(found, end, key=lambda secret: secret.start)
            known = found[first:last]
            if not known or (start <= known[0].start and known[-1].end <= end):
                what = known[0].what if known else shape.what
                found[first:last] = [Secret(what, start, end, _hint(text[start:end]))]
    return found


def secrets_in_name(name: str) -> list[Secret]:
    """Every likely secret in the name of a memory, a thread or a link; many a name is random, and no secret for that."""
    return [secret for secret in secrets(name) if secret.what != _RANDOM]


def redacted(text: str, find: Callable[[str], list[Secret]] = secrets) -> str:
    """The text with every likely secret replaced by its kind; looked at again, as one that is gone may have hidden another."""
    while found := find(text):
        ends = [0, *(secret.end for secret in found)]
        kept = (f"{text[end : s.start]}[redacted {s.what}]" for end, s in zip(ends, found, strict=False))
        text = "".join([*kept, text[ends[-1] :]])
    return text


def redacted_json(value: Any) -> Any:
    """JSON with every string redacted, keys too, and what stands under the name of a secret."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {
            redacted(str(key)): f"[redacted {kind}]" if (kind := _kind_of_field(key, item)) else redacted_json(item)
            for key, item in value.items()
        }
    return [redacted_json(item) for item in value] if isinstance(value, list | tuple) else value


def json_secrets(value: Any) -> Iterator[Secret]:
    """Every likely secret in the strings of JSON, keys too, and what stands under the name of one."""
    if isinstance(value, str):
        yield from secrets(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from secrets(str(key))
            kind = _kind_of_field(key, item)
            yield from [Secret(kind, 0, len(item), _hint(item))] if kind else json_secrets(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from json_secrets(item)


def _kind_of_field(key: Any, item: Any) -> str | None:
    """What a field holds by its name, if it is a secret."""
    if not isinstance(item, str):
        return None
    if _TELLING_FIELD.search(str(key)) and len(item) >= 4 and _is_told_in_json(item):
        return "password"
    return "token" if _CALLED_FIELD.search(str(key)) and len(item) >= 16 and _is_machine_made(item) else None


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


def _hint(value: str) -> str:
    return f"{value[: min(_MOST_SHOWN, len(value) // 2)]}…"


# -- what looks made up


def _is_random(token: str) -> bool:
    """Mixed letters and digits with no pattern: 3.5 bits a character is more than words and paths have at this length."""
    classes = sum(any(map(test, token)) for test in (str.islower, str.isupper, str.isdigit))
    return classes == 3 and entropy(token) >= _ENOUGH_BITS and _turns(token) >= 2 and not _is_name(token)


def _is_machine_made(value: str) -> bool:
    """Random, or letters and digits in turn as in hexadecimal; an id of ours and a UUID name something, they open nothing."""
    in_turn = _turns(value) >= max(3, len(value) / 8) and not _is_chained(value)
    return (in_turn and not _ID.fullmatch(value)) or _is_random(value)


def _turns(token: str) -> int:
    """How often a digit and a letter stand side by side."""
    return len(_TURN.findall(token))


def _is_name(token: str) -> bool:
    """An id, or mostly words, or many short parts: a class, a file, a model. 5 % of random tokens of 24 letters read so too."""
    spelled = sum(len(word) for word in _SPELLED.findall(token) if _VOWEL.search(word))
    return spelled >= len(token) / 2 or _is_chained(token) or bool(_ID.fullmatch(token))


def _is_chained(token: str) -> bool:
    return 8 * (token.count("-") + token.count("_")) > len(token)


def _is_key(value: str) -> bool:
    """Not a name that begins like a key, as sk-learn does."""
    return sum(map(str.isdigit, value)) >= 2 and any(_turns(part) >= 2 for part in re.split("[-_]", value))


def _is_mixed(value: str) -> bool:
    """Not words in a row: your-own-access-token."""
    return has_digit(value) or not (value.islower() or value.isupper())


def _is_bearer(value: str) -> bool:
    return has_digit(value) or "." in value.rstrip(".")


def _holds_key(block: str) -> bool:
    """A line of a key, not just its heading in a sentence."""
    return any(map(has_digit, _KEY_LINE.findall(block)))


def _is_card(number: str) -> bool:
    """By an issuer of cards of this length, and the check digit is right."""
    digits = re.sub(r"\D", "", number)
    return bool(_ISSUED.fullmatch(digits)) and luhn(digits)


# -- what is called a secret


def _is_told_in_json(value: str) -> bool:
    """A field of that name; a sentence in it is what a form shows."""
    return is_filled_in(value) and (" " not in value or has_digit(value))


_ENOUGH_BITS = 3.5
_TURN = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_SPELLED = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_ID = re.compile(r"(?:[a-z]+-)?[0-7][0-9A-HJKMNP-TV-Z]{25}|(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}+")

# Visa, Mastercard, American Express, Discover and UnionPay, JCB, Diners; 13 digits are a product's, no card has had them for long.
_ISSUED = re.compile(
    r"4(?:\d{15}|\d{18})|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}"
    r"|(?:6011|6[25]\d\d|64[4-9]\d|35\d\d)\d{12,15}|3(?:0[0-5]|[689]\d)\d{11}"
)
_CARD_LENGTHS = (19, 18, 17, 16, 15, 14)


_EDGE = r"(?<![A-Za-z0-9_])"
_END = r"(?![A-Za-z0-9_])"
_PEM = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
_JWT = r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"
_GITLAB = "gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|wt|soat|ffct)"
_NOT_PUBLIC = r"(?!AAAA[BCEG]|pk_(?:live|test)_)"  # of SSH and of Stripe

# Words before a name (`MY_DB_PASSWORD`) need no matching: what counts is that the name begins where a word does.
_PASSWORD = r"password|passwd|passphrase|passcode|pwd"
_KEY = r"(?:api|secret|access|secret[ _-]access|private|account|encryption|signing|shared[ _-]access|master)[ _-]?key"
_TOKEN = r"(?:api|auth|access|refresh|bot)[ _-]?token"
_TELLING = rf"{_PASSWORD}|{_KEY}(?:[_-]base)?|{_TOKEN}|(?:client|app|api|shared|webhook)[ _-]?secret"
_TELLING_CAMEL = r"Password|Passphrase|(?:Api|Secret|Access|Private|Account)Key|(?:Api|Auth|Access)Token|ClientSecret"
_NO_SECRET = "".join(
    rf"(?<!{kind})(?<!{kind}[ _-])"
    for kind in ("public", "primary", "foreign", "cache", "partition", "sort", "hash", "object", "idempotency")
)
_QUOTE = r"\\?[\"']"
_WITHIN = r"(?:(?!(?P=q))(?:\\.|[^\n\\])){4,}+"
_BARE = r"[^\s,;\"']{4,}+"
_QUOTED = rf"[bru]?(?P<q>{_QUOTE})(?P<s>{_WITHIN})(?P=q)"
_VALUE = rf"(?P<q>{_QUOTE})?(?P<s>(?(q){_WITHIN}|{_BARE}))(?(q)(?P=q))"
_ASSIGNED = rf"(?:{_QUOTE})?\]?(?:\s{{0,2}}:\s{{0,2}}[A-Za-z_][\w.\[\]]{{0,30}})?\s{{0,3}}(?::?={{1,3}}|=>)\s{{0,3}}"
_COLON = r"\*{0,2}\s{0,3}:\*{0,2}\s{0,3}"
_IS = r"(?:\s{1,3}(?i:is)|['’]s)\s{1,3}"
_SAID = rf"(?:{_QUOTE})?(?:\s{{0,3}}(?::|={{1,3}})\s{{0,3}}|\s{{1,3}}(?i:is\s{{1,3}})?)[\"'`]?"


def _named(names: str, in_camel_case: str) -> str:
    return rf"(?:(?<![A-Za-z0-9])(?i:{names})|(?<=[a-z0-9])(?:{in_camel_case}))"


_TELLING_NAME = _named(_TELLING, _TELLING_CAMEL)
_TELLING_OR_SECRET = _named(rf"{_TELLING}|secret", rf"{_TELLING_CAMEL}|Secret")
_ANY_NAME = _named(rf"(?=k){_NO_SECRET}key|token|secret|{_PASSWORD}", rf"(?=K){_NO_SECRET}Key|Token|Secret")
_TELLING_FIELD = re.compile(rf"{_TELLING_OR_SECRET}\Z")
_CALLED_FIELD = re.compile(rf"{_ANY_NAME}\Z")


def _shape(what: str, pattern: str, check: Callable[[str], bool] | None = None, words: str = "") -> Shape:
    return Shape(what, re.compile(pattern), check, tuple(words.split()))


def _called(what: str, pattern: str, check: Callable[[str], bool]) -> Shape:
    return Shape(what, re.compile(pattern), check, ("pass", "pwd", "secret", "key", "token"))


def _dashed(what: str, pattern: str, check: Callable[[str], bool] | None = None, words: str = "") -> Shape:
    """For tokens that hold dashes: only where dashes and letters begin, else the same ones would be read from every dash."""
    return _shape(what, rf"(?<![A-Za-z0-9_-])-?(?P<s>{pattern})", check, words)


def _card(digits: int) -> Shape:
    """Tried at every group of three digits or more, without consuming it: a date or a code may stand before or behind."""
    number = rf"\d(?:(?:[ .\xa0\u2007\u2009\u202f–-](?=\d{{3}}))?\d){{{digits - 1}}}"
    return _shape("card number", rf"(?=[2-6]\d\d)(?<![\d.-])(?<![A-Z]{{2}}\d\d )(?=(?P<s>{number})(?!\.?\d))", _is_card)


SHAPES: tuple[Shape, ...] = (
    _shape(
        "private key", rf"-----BEGIN {_PEM}-----(?s:.*?)(?:-----END {_PEM}-----|\Z)", _holds_key, words="-----begin"
    ),
    _dashed("JSON web token", _JWT, words="eyj"),
    _shape("AWS access key", _EDGE + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}" + _END, words="akia asia abia acca"),
    _shape("AWS access key", _EDGE + r"ABSK[A-Za-z0-9+/]{100,}+={0,2}", words="absk"),
    _shape(
        "GitHub token",
        _EDGE + r"(?:gh[pousr]_[A-Za-z0-9]{36,}+|github_pat_[A-Za-z0-9_]{36,}+)" + _END,
        words="ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
    ),
    _shape("GitHub token", _EDGE + rf"ghs_[A-Za-z0-9]{{1,20}}_{_JWT}", words="ghs_"),
    _dashed("GitLab token", rf"(?:{_GITLAB})-[A-Za-z0-9_-]{{20,}}+(?:\.[a-z0-9]{{2}}\.[a-z0-9]{{7,}}+)?", _is_mixed),
    _dashed("Anthropic key", r"sk-ant-[A-Za-z0-9_-]{20,}+", _is_key, words="sk-ant-"),
    _dashed("OpenAI key", r"sk-[A-Za-z0-9_-]{20,}+", _is_key, words="sk-"),
    _shape(
        "Stripe key",
        _EDGE + r"(?:sk|rk)_(?:org_)?(?:live|test)_[A-Za-z0-9]{16,}+" + _END,
        words="k_live_ k_test_ k_org_",
    ),
    _shape("Stripe key", _EDGE + r"whsec_[A-Za-z0-9+/]{24,}+={0,2}", words="whsec_"),
    _dashed("Google API key", r"AIza[A-Za-z0-9_-]{35,}+", words="aiza"),
    _dashed("Google API key", r"AQ\.[A-Za-z0-9_-]{40,}+", has_digit, words="aq."),
    _dashed("Google OAuth secret", r"GOCSPX-[A-Za-z0-9_-]{28,}+", has_digit, words="gocspx-"),
    _dashed("Google OAuth token", r"ya29\.[A-Za-z0-9_-]{20,}+", words="ya29."),
    _dashed(
        "Slack token", r"(?:(?:xoxe\.)?xox[abceoprs]|xapp|xwfp)-[A-Za-z0-9-]{10,}+", has_digit, words="xox xapp- xwfp-"
    ),
    _dashed("Slack token", r"xoxd-[A-Za-z0-9%-]{20,}+", has_digit, words="xoxd-"),
    _shape("Slack webhook", r"https://hooks\.slack\.com/(?P<s>services/[A-Za-z0-9/]{20,}+)", words="hooks.slack.com"),
    _shape(
        "Azure key",
        r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{76}(?:\+ASt|ACDb|\+ABa)[A-Za-z0-9+/]{5}[AQgw]==",
        words="+ast acdb +aba",
    ),
    _shape(
        "Azure key",
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])",
        words="q~",
    ),
    _shape("Azure signature", r"[?&]sig=(?P<s>[A-Za-z0-9%]{43,90}%3[Dd])", words="sig="),
    _shape("Hugging Face token", _EDGE + r"(?:hf|api_org)_[A-Za-z0-9]{30,}+" + _END, words="hf_ api_org_"),
    _shape("npm token", _EDGE + r"npm_[A-Za-z0-9]{36}" + _END, words="npm_"),
    _dashed("PyPI token", r"pypi-[A-Za-z0-9_-]{50,}+", _is_key, words="pypi-"),
    _dashed("SendGrid key", r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+", words="sg."),
    _shape("DigitalOcean token", _EDGE + r"do[opr]_v1_[a-f0-9]{64}" + _END, words="_v1_"),
    _shape("Telegram bot token", _EDGE + r"[0-9]{8,10}:[A-Za-z0-9_-]{35}" + _END),
    _shape("private key", _EDGE + r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}" + _END, words="age-secret-key-1"),
    _shape(
        "private key",
        r"Private-Lines: [0-9]{1,3}\s(?P<s>(?:[A-Za-z0-9+/]{64}\s){0,99}[A-Za-z0-9+/=]{4,64})(?!\S)",
        _holds_key,
        "private-lines:",
    ),
    _shape(
        "password in a URL",
        r"(?i:[a-z][a-z0-9+.-]{1,20})://[^\s/?#:@]{0,100}:(?P<s>[^\s/?#]{1,200})@",
        is_filled_in,
        "://",
    ),
    _called("password", rf"{_TELLING_OR_SECRET}{_ASSIGNED}{_QUOTED}", is_filled_in),
    _called("password", rf"{_TELLING_OR_SECRET}{_ASSIGNED}(?P<s>{_BARE})", is_given),
    _called("password", rf"{_TELLING_OR_SECRET}{_QUOTE}\s{{0,3}}:\s{{0,3}}{_QUOTED}", _is_told_in_json),
    _called("password", rf"(?:{_TELLING_OR_SECRET}{_COLON}|{_TELLING_NAME}{_IS}){_VALUE}(?!['’]\w)", is_told),
    _shape(
        "password",
        r"(?i:\bauthorization[\"']?\s{0,3}:\s{0,3}[\"']?basic)\s{1,3}(?P<s>[A-Za-z0-9+/]{8,}+={0,2})",
        words="authorization",
    ),
    _shape(
        "password",
        r"\bcurl\s[^\n|]{0,200}?(?<=\s)(?:-u|--user)\s{1,3}[\"']?[^\s:\"']{1,64}:(?P<s>[^\s\"']{4,64})",
        is_given,
        "curl",
    ),
    _shape("bearer token", r"(?i:\bbearer)\s{1,3}(?P<s>[A-Za-z0-9._~+/-]{16,}+=*)", _is_bearer, "bearer"),
    *TOLD,
    *map(_card, _CARD_LENGTHS),
    _called(
        "token", rf"{_ANY_NAME}{_SAID}{_NOT_PUBLIC}(?P<s>[A-Za-z0-9_+/-]{{16,}}+={{0,2}})(?!\.?\w)", _is_machine_made
    ),
    _shape(
        _RANDOM,
        rf"(?<![A-Za-z0-9_/.+=-]){_NOT_PUBLIC}[A-Za-z0-9_-]{{24,200}}+={{0,2}}(?![A-Za-z0-9_/+=-]|\.\w)",
        _is_random,
    ),
)
