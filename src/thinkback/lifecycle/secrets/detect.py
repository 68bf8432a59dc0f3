"""Find likely secrets in text: keys of known formats, private keys, tokens, card numbers, and passwords that are named as such.

A redaction cannot be undone, so a value that may be a word, a name or a measure is left alone: it must have the format of a key,
follow a name with an assignment (`password=…`), or look random. All patterns match in linear time. A finding never contains the
secret, only its kind and its first characters.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from thinkback.lifecycle.secrets.pattern import Pattern, has_digit, is_filled_in, is_literal, is_literal_in_prose
from thinkback.lifecycle.secrets.prose import PROSE_PATTERNS
from thinkback.values import dataclass

_MAX_SHOWN = 4
_RANDOM = "random token"


@dataclass(frozen=True, slots=True)
class Secret:
    """A part of a text that looks like a secret."""

    what: str
    start: int
    end: int
    hint: str


def secrets(text: str) -> list[Secret]:
    """Every likely secret, in order; of two that overlap, the longer one counts, named after the earlier pattern in the table."""
    found: list[Secret] = []
    if len(text) < _SHORTEST:
        return found
    for pattern in _possible(text.lower()):
        for start, end in pattern.spans(text):
            first = bisect_right(found, start, key=lambda secret: secret.end)
            last = bisect_left(found, end, key=lambda secret: secret.start)
            known = found[first:last]
            if not known or (start <= known[0].start and known[-1].end <= end):
                what = known[0].what if known else pattern.what
                found[first:last] = [Secret(what, start, end, _hint(text[start:end]))]
    return found


def _possible(lowered: str) -> list[Pattern]:
    """The patterns that may match, in the order of the table. Most texts have none of the words, so this is what a write pays."""
    long = len(lowered) >= _LONG
    numbered, has_run = _signs(lowered)
    words: list[str] = []
    if has_run:
        words = list(filter(lowered.__contains__, _BY_WORD))
    else:
        for root in _ROOTS if numbered else _ROOTS_OF_LETTERS:
            if root in lowered:
                words = list(filter(lowered.__contains__, _SPOKEN))
                break
    if not words and not (long and numbered):
        return []
    places = {place for word in words for place in _BY_WORD[word] if numbered or not PATTERNS[place].numbered}
    if long and numbered:
        places.update(place for long_enough, unnamed in _WITH_DIGITS if long_enough(lowered) for place in unnamed)
    return [PATTERNS[place] for place in sorted(places)]


def _signs(lowered: str) -> tuple[bool, bool]:
    """Whether there is a digit and whether there is a long run, as the patterns find them, which read letter by letter."""
    if not lowered.isascii():
        return _DIGIT(lowered) is not None, _LONG_RUN(lowered) is not None
    signs = lowered.encode()
    return len(signs.translate(None, b"0123456789")) < len(signs), _RUN in signs.translate(_AS_RUNS)


def secrets_in_name(name: str) -> list[Secret]:
    """Every likely secret in an id, a thread or a link kind, where a random token alone is not one."""
    return [secret for secret in secrets(name) if secret.what != _RANDOM]


def redacted(text: str, find: Callable[[str], list[Secret]] = secrets) -> str:
    """The text with every likely secret replaced by its kind; repeated, because one secret may hide another."""
    while found := find(text):
        ends = [0, *(secret.end for secret in found)]
        kept = (f"{text[end : s.start]}[redacted {s.what}]" for end, s in zip(ends, found, strict=False))
        text = "".join([*kept, text[ends[-1] :]])
    return text


def redacted_json(value: Any) -> Any:
    """JSON with every string redacted, keys included, and values whose key names a secret."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {
            redacted(str(key)): f"[redacted {kind}]" if (kind := _kind_of_field(key, item)) else redacted_json(item)
            for key, item in value.items()
        }
    return [redacted_json(item) for item in value] if isinstance(value, list | tuple) else value


def json_secrets(value: Any) -> Iterator[Secret]:
    """Every likely secret in the strings of JSON, keys included, and values whose key names a secret."""
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
    """The kind of secret in a field, judged by its key; None if it is not one."""
    if not isinstance(item, str):
        return None
    if _SECRET_FIELD.search(str(key)) and len(item) >= 4 and _is_json_value(item):
        return "password"
    return "token" if _TOKEN_FIELD.search(str(key)) and len(item) >= 16 and _is_machine_made(item) else None


def luhn(number: str) -> bool:
    """Whether the check digit is right (ISO/IEC 7812-1); digits that are all equal are a placeholder."""
    digits = [int(digit) for digit in number if digit.isdigit()]
    if len(set(digits)) < 2:
        return False
    doubled = [d if place % 2 == 0 else d * 2 - 9 * (d > 4) for place, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def entropy(text: str) -> float:
    """Shannon entropy in bits per character."""
    counts = Counter(text)
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())


def _hint(value: str) -> str:
    return f"{value[: min(_MAX_SHOWN, len(value) // 2)]}…"


# -- checks of values


def _is_random(token: str) -> bool:
    """Mixed letters and digits of high entropy: words and paths of this length have less than 3.5 bits per character."""
    classes = sum(any(map(test, token)) for test in (str.islower, str.isupper, str.isdigit))
    return classes == 3 and entropy(token) >= _ENOUGH_BITS and _turns(token) >= 2 and not _is_name(token)


def _is_machine_made(value: str) -> bool:
    """Random, or letters and digits in turn as in hexadecimal; but not an id of ours or a UUID."""
    in_turn = _turns(value) >= max(3, len(value) / 8) and not _is_chained(value)
    return (in_turn and not _ID.fullmatch(value)) or _is_random(value)


def _turns(token: str) -> int:
    """The number of places where a letter and a digit meet."""
    return len(_TURN.findall(token))


def _is_name(token: str) -> bool:
    """An id, mostly words, or many short parts: a class, a file, a model. True for 5 % of random tokens of 24 letters."""
    spelled = sum(len(word) for word in _SPELLED.findall(token) if _VOWEL.search(word))
    return spelled >= len(token) / 2 or _is_chained(token) or bool(_ID.fullmatch(token))


def _is_chained(token: str) -> bool:
    return 8 * (token.count("-") + token.count("_")) > len(token)


def _is_key(value: str) -> bool:
    """Not a name with the prefix of a key, like sk-learn."""
    return sum(map(str.isdigit, value)) >= 2 and any(_turns(part) >= 2 for part in re.split("[-_]", value))


def _is_mixed(value: str) -> bool:
    """Not only words: your-own-access-token."""
    return has_digit(value) or not (value.islower() or value.isupper())


def _is_bearer(value: str) -> bool:
    return has_digit(value) or "." in value.rstrip(".")


def _holds_key(block: str) -> bool:
    """Whether there is a line of key data and not only a heading."""
    return any(map(has_digit, _KEY_LINE.findall(block)))


def _is_card(number: str) -> bool:
    """An issuer's prefix and length, and a valid check digit."""
    digits = re.sub(r"\D", "", number)
    return bool(_ISSUED.fullmatch(digits)) and luhn(digits)


def _is_json_value(value: str) -> bool:
    """Not a sentence, as in the labels of a form."""
    return is_filled_in(value) and (" " not in value or has_digit(value))


_ENOUGH_BITS = 3.5
_TURN = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_SPELLED = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_ID = re.compile(r"(?:[a-z]+-)?[0-7][0-9A-HJKMNP-TV-Z]{25}|(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}+")

# Visa, Mastercard, American Express, Discover and UnionPay, JCB, Diners; 13 digits are product codes.
_ISSUED = re.compile(
    r"4(?:\d{15}|\d{18})|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}"
    r"|(?:6011|6[25]\d\d|64[4-9]\d|35\d\d)\d{12,15}|3(?:0[0-5]|[689]\d)\d{11}"
)
_CARD_LENGTHS = (19, 18, 17, 16, 15, 14)
_BETWEEN = r"[ .\xa0\u2007\u2009\u202f–-]"  # groups of a card number
_DIGIT = re.compile(r"\d").search
_SHORTEST = 6  # characters of the shortest secret with its name: "OTP:12"
_LONG = 14  # a key of a known format has at least so many characters in a row
_SIGNS = r"a-z0-9_+/=.~%-"
# Word by word from the beginning: a search would begin again at every letter.
_LONG_RUN = re.compile(rf"(?:[{_SIGNS}]{{0,{_LONG - 1}}}+[^{_SIGNS}]++)*+[{_SIGNS}]{{{_LONG}}}").match
_RUN = b"x" * _LONG
_AS_RUNS = bytes(b"x"[0] if re.match(f"[{_SIGNS}]", chr(sign)) else b" "[0] for sign in range(256))
_MANY_DIGITS = re.compile(rf"(?:\d{_BETWEEN}?){{{min(_CARD_LENGTHS)}}}").search
_LONG_TOKEN = re.compile(r"(?<![a-z0-9_-])[a-z0-9_-]{24}").search


_EDGE = r"(?<![A-Za-z0-9_])"
_END = r"(?![A-Za-z0-9_])"
_PEM = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
_JWT = r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"
_GITLAB = [f"gl{kind}-" for kind in "pat oas dt rt rtr cbt ptt ft imt agent wt soat ffct".split()]  # noqa: SIM905
_NOT_PUBLIC = r"(?!AAAA[BCEG]|pk_(?:live|test)_)"  # of SSH and of Stripe

# Words before a name (`MY_DB_PASSWORD`) need not match: the name only has to begin at a word boundary.
_PASSWORD = r"password|passwd|passphrase|passcode|pwd"
_KEY = r"(?:api|secret|access|secret[ _-]access|private|account|encryption|signing|shared[ _-]access|master)[ _-]?key"
_TOKEN = r"(?:api|auth|access|refresh|bot)[ _-]?token"
_SECRET_NAMES = rf"{_PASSWORD}|{_KEY}(?:[_-]base)?|{_TOKEN}|(?:client|app|api|shared|webhook)[ _-]?secret"
_SECRET_CAMEL = r"Password|Passphrase|(?:Api|Secret|Access|Private|Account)Key|(?:Api|Auth|Access)Token|ClientSecret"
_NOT_SECRET = "".join(
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
_FOLLOWED_BY = rf"(?:{_QUOTE})?(?:\s{{0,3}}(?::|={{1,3}})\s{{0,3}}|\s{{1,3}}(?i:is\s{{1,3}})?)[\"'`]?"


def _named(names: str, in_camel_case: str) -> str:
    return rf"(?:(?<![A-Za-z0-9])(?i:{names})|(?<=[a-z0-9])(?:{in_camel_case}))"


_LONG_NAME = _named(_SECRET_NAMES, _SECRET_CAMEL)
_NAME = _named(rf"{_SECRET_NAMES}|secret", rf"{_SECRET_CAMEL}|Secret")
_ANY_NAME = _named(rf"(?=k){_NOT_SECRET}key|token|secret|{_PASSWORD}", rf"(?=K){_NOT_SECRET}Key|Token|Secret")
_SECRET_FIELD = re.compile(rf"{_NAME}\Z")
_TOKEN_FIELD = re.compile(rf"{_ANY_NAME}\Z")


def _pattern(
    what: str, pattern: str, check: Callable[[str], bool] | None = None, words: str = "", long: bool = True
) -> Pattern:
    return Pattern(what, pattern, check, tuple(words.split()), long=long)


def _called(what: str, pattern: str, check: Callable[[str], bool]) -> Pattern:
    return Pattern(what, pattern, check, ("pass", "pwd", "secret", "key", "token"))


def _dashed(what: str, pattern: str, check: Callable[[str], bool] | None = None, words: str = "") -> Pattern:
    """For tokens with dashes: matched only at their beginning, not again after every dash."""
    return _pattern(what, rf"(?<![A-Za-z0-9_-])-?(?P<s>{pattern})", check, words)


def _card(digits: int) -> Pattern:
    """Tried at every group of three or more digits without consuming it, since other numbers may precede or follow."""
    number = rf"\d(?:(?:{_BETWEEN}(?=\d{{3}}))?\d){{{digits - 1}}}"
    pattern = rf"(?=[2-6]\d\d)(?<![\d.-])(?<![A-Z]{{2}}\d\d )(?=(?P<s>{number})(?!\.?\d))"
    return _pattern("card number", pattern, _is_card)


PATTERNS: tuple[Pattern, ...] = (
    _pattern(
        "private key", rf"-----BEGIN {_PEM}-----(?s:.*?)(?:-----END {_PEM}-----|\Z)", _holds_key, words="-----begin"
    ),
    _dashed("JSON web token", _JWT, words="eyj"),
    _pattern("AWS access key", _EDGE + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}" + _END, words="akia asia abia acca"),
    _pattern("AWS access key", _EDGE + r"ABSK[A-Za-z0-9+/]{100,}+={0,2}", words="absk"),
    _pattern(
        "GitHub token",
        _EDGE + r"(?:gh[pousr]_[A-Za-z0-9]{36,}+|github_pat_[A-Za-z0-9_]{36,}+)" + _END,
        words="ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
    ),
    _pattern("GitHub token", _EDGE + rf"ghs_[A-Za-z0-9]{{1,20}}_{_JWT}", words="ghs_"),
    _dashed(
        "GitLab token",
        rf"(?:{'|'.join(_GITLAB)})[A-Za-z0-9_-]{{20,}}+(?:\.[a-z0-9]{{2}}\.[a-z0-9]{{7,}}+)?",
        _is_mixed,
        words=" ".join(_GITLAB),
    ),
    _dashed("Anthropic key", r"sk-ant-[A-Za-z0-9_-]{20,}+", _is_key, words="sk-ant-"),
    _dashed("OpenAI key", r"sk-[A-Za-z0-9_-]{20,}+", _is_key, words="sk-"),
    _pattern(
        "Stripe key",
        _EDGE + r"(?:sk|rk)_(?:org_)?(?:live|test)_[A-Za-z0-9]{16,}+" + _END,
        words="k_live_ k_test_ k_org_",
    ),
    _pattern("Stripe key", _EDGE + r"whsec_[A-Za-z0-9+/]{24,}+={0,2}", words="whsec_"),
    _dashed("Google API key", r"AIza[A-Za-z0-9_-]{35,}+", words="aiza"),
    _dashed("Google API key", r"AQ\.[A-Za-z0-9_-]{40,}+", has_digit, words="aq."),
    _dashed("Google OAuth secret", r"GOCSPX-[A-Za-z0-9_-]{28,}+", has_digit, words="gocspx-"),
    _dashed("Google OAuth token", r"ya29\.[A-Za-z0-9_-]{20,}+", words="ya29."),
    _dashed(
        "Slack token", r"(?:(?:xoxe\.)?xox[abceoprs]|xapp|xwfp)-[A-Za-z0-9-]{10,}+", has_digit, words="xox xapp- xwfp-"
    ),
    _dashed("Slack token", r"xoxd-[A-Za-z0-9%-]{20,}+", has_digit, words="xoxd-"),
    _pattern("Slack webhook", r"https://hooks\.slack\.com/(?P<s>services/[A-Za-z0-9/]{20,}+)", words="hooks.slack.com"),
    _pattern(
        "Azure key",
        r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{76}(?:\+ASt|ACDb|\+ABa)[A-Za-z0-9+/]{5}[AQgw]==",
        words="+ast acdb +aba",
    ),
    _pattern(
        "Azure key",
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])",
        words="q~",
    ),
    _pattern("Azure signature", r"[?&]sig=(?P<s>[A-Za-z0-9%]{43,90}%3[Dd])", words="sig="),
    _pattern("Hugging Face token", _EDGE + r"(?:hf|api_org)_[A-Za-z0-9]{30,}+" + _END, words="hf_ api_org_"),
    _pattern("npm token", _EDGE + r"npm_[A-Za-z0-9]{36}" + _END, words="npm_"),
    _dashed("PyPI token", r"pypi-[A-Za-z0-9_-]{50,}+", _is_key, words="pypi-"),
    _dashed("SendGrid key", r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+", words="sg."),
    _pattern("DigitalOcean token", _EDGE + r"do[opr]_v1_[a-f0-9]{64}" + _END, words="_v1_"),
    _pattern("Telegram bot token", _EDGE + r"[0-9]{8,10}:[A-Za-z0-9_-]{35}" + _END),
    _pattern("private key", _EDGE + r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}" + _END, words="age-secret-key-1"),
    _pattern(
        "private key",
        r"Private-Lines: [0-9]{1,3}\s(?P<s>(?:[A-Za-z0-9+/]{64}\s){0,99}[A-Za-z0-9+/=]{4,64})(?!\S)",
        _holds_key,
        "private-lines:",
    ),
    _pattern(
        "password in a URL",
        r"(?i:[a-z][a-z0-9+.-]{1,20})://[^\s/?#:@]{0,100}:(?P<s>[^\s/?#]{1,200})@",
        is_filled_in,
        "://",
        long=False,
    ),
    _called("password", rf"{_NAME}{_ASSIGNED}{_QUOTED}", is_filled_in),
    _called("password", rf"{_NAME}{_ASSIGNED}(?P<s>{_BARE})", is_literal),
    _called("password", rf"{_NAME}{_QUOTE}\s{{0,3}}:\s{{0,3}}{_QUOTED}", _is_json_value),
    _called("password", rf"(?:{_NAME}{_COLON}|{_LONG_NAME}{_IS}){_VALUE}(?!['’]\w)", is_literal_in_prose),
    _pattern(
        "password",
        r"(?i:\bauthorization[\"']?\s{0,3}:\s{0,3}[\"']?basic)\s{1,3}(?P<s>[A-Za-z0-9+/]{8,}+={0,2})",
        words="authorization",
        long=False,
    ),
    _pattern(
        "password",
        r"\bcurl\s[^\n|]{0,200}?(?<=\s)(?:-u|--user)\s{1,3}[\"']?[^\s:\"']{1,64}:(?P<s>[^\s\"']{4,64})",
        is_literal,
        "curl",
        long=False,
    ),
    _pattern("bearer token", r"(?i:\bbearer)\s{1,3}(?P<s>[A-Za-z0-9._~+/-]{16,}+=*)", _is_bearer, "bearer"),
    *PROSE_PATTERNS,
    *map(_card, _CARD_LENGTHS),
    _called(
        "token",
        rf"{_ANY_NAME}{_FOLLOWED_BY}{_NOT_PUBLIC}(?P<s>[A-Za-z0-9_+/-]{{16,}}+={{0,2}})(?!\.?\w)",
        _is_machine_made,
    ),
    _pattern(
        _RANDOM,
        rf"(?<![A-Za-z0-9_/.+=-]){_NOT_PUBLIC}[A-Za-z0-9_-]{{24,200}}+={{0,2}}(?![A-Za-z0-9_/+=-]|\.\w)",
        _is_random,
    ),
)

_UNNAMED = [(place, one) for place, one in enumerate(PATTERNS) if not one.words]
_WITH_DIGITS = (
    (_MANY_DIGITS, [place for place, one in _UNNAMED if one.check is _is_card]),
    (_LONG_TOKEN, [place for place, one in _UNNAMED if one.check is not _is_card]),
)
_BY_WORD: dict[str, list[int]] = {}  # places in the table by a word that a match contains
for _place, _one in enumerate(PATTERNS):
    for _word in _one.words:
        _BY_WORD.setdefault(_word, []).append(_place)
_SPOKEN = [word for word, places in _BY_WORD.items() if not all(PATTERNS[place].long for place in places)]


def _roots(words: Iterable[str]) -> tuple[str, ...]:
    """The words that hold no other one of them."""
    every = tuple(words)
    return tuple(word for word in every if not any(other in word for other in every if other != word))


_ROOTS = _roots(_SPOKEN)
_ROOTS_OF_LETTERS = _roots(  # of a text without a digit
    word for word in _SPOKEN if not all(PATTERNS[place].long or PATTERNS[place].numbered for place in _BY_WORD[word])
)
