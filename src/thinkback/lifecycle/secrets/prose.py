"""Secrets in prose: "wifi password Tr0ub4dor&3", "4821 is my PIN", "the code to the gate is 4711#".

The name of a secret alone is not enough ("password reset", "pin 3", "zip code"): a pattern needs the name, the words that join it
to the value, and a value that is not an ordinary word. The weaker the joining words, the stricter the check of the value: after
"is" it may look like a year, directly after the name it may not. Numbers must end their clause; otherwise they count something.
"""

import re
from collections.abc import Callable

from thinkback.lifecycle.secrets.pattern import (
    Pattern,
    has_digit,
    is_filled_in,
    is_literal,
    is_literal_in_prose,
    reads_as_words,
)
from thinkback.search.query.stopwords import FUNCTION_WORDS

# -- checks of values


def _looks_random(value: str) -> bool:
    """For a value without joining words: letters mixed with digits or signs, and not a thing with a number."""
    bare = value.strip(_PUNCTUATION)
    named = _NUMBERED_NAME.fullmatch(bare) or _MAIL.search(bare)
    return (is_literal_in_prose(value) or _has_sign(bare)) and is_literal(value) and not named


def _is_stated(value: str) -> bool:
    """For a value after "is" or a colon: it looks random, or is a passphrase of joined words."""
    bare = value.strip(_PUNCTUATION)
    return is_literal_in_prose(value) or (is_literal(value) and (_has_sign(bare) or _is_chain(bare)))


def _is_quoted(value: str) -> bool:
    """For a quoted value: a single word is enough, unless it describes a password ("too short")."""
    words = _words(value.strip(" .!?"))
    describes = words == ["correct"] or words[-1].endswith(_ADJECTIVAL)
    spoken = all(map(str.isalpha, words)) and not describes
    return is_filled_in(value) and _ORDINARY.isdisjoint(words) and (spoken or _is_stated(value))


def _is_quoted_phrase(value: str) -> bool:
    """For a quoted value without joining words: a single word may be a label, as in: the password "field"."""
    return _is_quoted(value) and (" " in value or is_literal_in_prose(value))


def _is_phrase(value: str) -> bool:
    """Words that do not form a sentence."""
    words = _words(value)
    return _ORDINARY.isdisjoint(words) and not any(word.endswith(_INFLECTED) for word in words)


def _is_bare_phrase(value: str) -> bool:
    """Without joining words: a word ending in s may be a verb, as in "passphrase dialog hides"."""
    return _is_phrase(value) and not any(word.endswith("s") for word in value.split())


def _is_seed(value: str) -> bool:
    """Twelve or more short words, without common words that the BIP 39 list does not contain."""
    return _NOT_IN_BIP39.isdisjoint(_words(value))


def _is_number(value: str) -> bool:
    """Digits, alone or in groups, that are not a date."""
    return not _DATE.fullmatch(value) and len(set(value)) > 1


def _is_number_not_year(value: str) -> bool:
    return _is_number(value) and not _YEAR.fullmatch(value)


def _is_code(value: str) -> bool:
    """A number, or letters mixed with digits; not a short error code such as E104."""
    letters = sum(map(str.isalpha, value))
    return _is_number(value) if not letters else has_digit(value) and len(value) > 4 and not reads_as_words(value)


def _is_code_not_year(value: str) -> bool:
    return _is_code(value) and not _YEAR.fullmatch(value)


def _words(value: str) -> list[str]:
    return re.split(r"[\s,-]+", value.lower())


def _has_sign(bare: str) -> bool:
    """A sign between letters: let$me$in, but not AT&T or s**t."""
    return bool(_SIGN_INSIDE.search(bare)) and "://" not in bare


def _is_chain(bare: str) -> bool:
    words = bare.lower().split("-")
    return len(words) >= 4 and all(map(str.isalpha, words)) and _is_phrase(bare) and min(map(len, words)) > 2


_PUNCTUATION = "\"'`*.,!?()“”‘’"
_SIGN_INSIDE = re.compile(r"(?<=[^\W_])[!$%^#~](?=[^\W_])")
_MAIL = re.compile(r"@[\w-]+\.\w")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?-\d\d?-(?:19|20)\d\d")
_NUMBERED_NAME = re.compile(
    r"[A-Z]{1,5}-?\d{1,6}"  # WPA2, ISO27001
    r"|(?i:windows|win|iphone|ipad|ipados|ios|macos|android|office|galaxy|pixel|xbox|python|web|oauth|log|rule|keepass|area"
    r"|room|level|step|part|phase|section|chapter|page|line|day|week|version|build|test|user|server|host|node|group|fido|form|type|min|max)"
    r"-?\d+(?:\.\d+){0,2}"
)
_NOT_IN_BIP39 = frozenset({"the", "and", "for", "with", "from", "not", "your", "are"})
_INFLECTED = ("ing", "ed", "ly", "tion", "ment")
_ADJECTIVAL = (*_INFLECTED, "able", "ible", "ive", "ous", "ful", "less", "ic", "al")
_COMMON = (
    "about after again always anyone anything anywhere because before better by else enough even everyone everything everywhere "
    "few first four from gets give go goes got into keep keeps last least less like long longer made make makes many maybe more "
    "most much need needs never new next nobody nothing now off often old once out over per please quite rather really see several "
    "single since someone something soon still then three through time times today took twelve two under until up upon use used "
    "uses using want way well while with without work works yes yesterday yet"
)
_ABOUT_PASSWORDS = (
    "account app backup backups bad best blank book box cache change changes character characters check choose common default "
    "dialog dictionary different digits disk easy email empty encryption entry error fail fails field file files forgot forgotten "
    "form generator generators good great guess hard hash help hidden hint incorrect input invalid key keys known length letters "
    "list login lost manager managers missing name note number optional options pass passcode passphrase passphrases password "
    "passwords phrase pick pin policy private prompt prompts protection protects question random recovery required reset rule "
    "rules safe screen secret secure security sent sentence settings share short shown song strength strong stronger support text "
    "tip type unknown unlock user username users valid value vault weak weaker windows word words write written wrong"
)
_ORDINARY = FUNCTION_WORDS | frozenset(f"{_COMMON} {_ABOUT_PASSWORDS}".split())

# -- names, joining words and values

_GAP = r"\s{1,3}"
_QUOTE = r"[\"'`“”‘’]"
_FREE = r"(?<![A-Za-z0-9_])"
_WHOLE = r"(?![A-Za-z0-9_])"
_WORD = r"[\w'’.-]{1,24}"
_WHOSE = r"(?:my|your|our|his|her|their|the|its)"
_FILLERS = rf"(?:{_WORD}{_GAP}){{0,2}}?"

_PASSWORD = rf"{_FREE}(?:pass(?:word|wd|phrase|code)|pwd|pw){_WHOLE}"
_PASS = r"(?:\A|(?<=[,;/|(\n])|(?<=[,;/|(\n] )|(?<=and )|(?<=wifi )|(?<=wi-fi ))pass(?=\s{0,2}[:=])"
_LOGIN = rf"{_FREE}(?:login|credentials|creds){_WHOLE}"
_PHRASE = rf"{_FREE}passphrase{_WHOLE}"
_SEED = rf"{_FREE}(?:seed|recovery|mnemonic|backup){_GAP}(?:phrase|words){_WHOLE}"
_NUMBER_OF = rf"(?:{_GAP}number)?{_WHOLE}"
_PIN = rf"{_FREE}pin{_NUMBER_OF}"
_OWN_PIN = (
    rf"(?:{_FREE}(?:{_WHOSE}|new|old|bank|card|debit|credit|atm|phone|tablet|sim|alarm|garage|door|gate|app|banking|voicemail)"
    rf"{_GAP}|(?<=['’]s ))pin{_NUMBER_OF}"
)
_PIN_ITSELF = rf"{_FREE}(?-i:PIN){_WHOLE}"
_PIN_CODE = rf"{_FREE}pin{_GAP}code{_WHOLE}"
_PUK = rf"{_FREE}puk(?:{_GAP}code)?{_WHOLE}"
_OPENED = (
    rf"(?:door|gate|garage|alarm|lock|locker|lockbox|safe|vault|padlock|keypad|elevator|lift|entrance|intercom|shed|cabin"
    rf"|house|flat|apartment|wi-?fi|voicemail|key{_GAP}(?:box|safe|pad)|lock{_GAP}box)"
)
_CODE = (
    rf"{_FREE}(?:(?-i:OTP)|(?:{_OPENED}|access|entry|security|unlock|disarm|verification|one-time|otp|2fa|backup|recovery"
    rf"|log-?in|sign-?in|authentication){_GAP}code){_WHOLE}"
)
_CODE_TO = rf"{_FREE}code{_GAP}(?:for|to|of){_GAP}{_WHOSE}{_GAP}{_FILLERS}(?:{_OPENED}|building){_WHOLE}"
_LOCKED = r"(?:safe|lock|locker|padlock|vault)"
_COMBINATION = (
    rf"{_FREE}(?:{_LOCKED}(?:['’]s)?{_GAP}(?:combination|combo)"
    rf"|(?:combination|combo){_GAP}(?:for|to|of){_GAP}{_WHOSE}{_GAP}{_FILLERS}{_LOCKED}){_WHOLE}"
)

# Text that may come between the name and the joining word: "for my Netflix account", "(do not share)".
_OF = rf"(?:{_GAP}(?:for|to|of|on|at|in|i{_GAP}use)(?:{_GAP}{_WORD}){{1,6}}?|{_GAP}\([^()\n]{{1,40}}\))?"
_SIGN = r"\*{0,2}(?:\s{0,3}(?::|=|->|→)|\s{1,3}[-–—](?=\s))\*{0,2}\s{0,3}"
_ADVERB = rf"(?:now|still|just|currently|probably|simply|actually|as{_GAP}follows)"
_BE = rf"(?:is|was|got|has{_GAP}been)"
_CHANGED = rf"{_GAP}(?:{_BE}{_GAP})?(?:{_ADVERB}{_GAP})?(?:changed|set|reset){_GAP}to"
_IS = rf"(?:(?:{_GAP}(?:is|was)|['’]s)(?:{_GAP}{_ADVERB})?:?|{_CHANGED}){_GAP}"
_SAYS = rf"{_OF}(?:{_SIGN}|{_IS})"
_SET = rf"{_FREE}(?:changed?|changing|set|reset|updated?|switched){_GAP}(?:{_WORD}{_GAP}){{0,4}}?"
_TO = rf"{_OF}{_GAP}to{_GAP}"
_NOT_OURS = "one|with|the|of|for|that|same|number|year|most|common|default|usual|typical|worst|best|first|only"
_IS_MY = rf"{_GAP}(?:is|as){_GAP}{_WHOSE}{_GAP}(?:(?!(?:{_NOT_OURS})\b){_WORD}{_GAP}){{0,2}}?"

# The end of a clause, or a word that a number cannot count.
_ENDS = r"(?![.,:/-]?\w)(?=\s{0,3}(?:\Z|[.,;!?)\]\n\"'`”’(–—-])|\s{1,3}(?:for|and|or|if|then|but|so|please|until|all|when)\b)"
_TOKEN = rf"{_QUOTE}?(?P<s>[^\s,;\"'`“”‘’]{{3,63}}[^\s,;\"'`“”‘’.?:)])(?!\w|['’]\w)"
_QUOTED = r"[\"'`“‘](?P<s>[^\"'`“”‘’\n]{4,40})[\"'`”’](?!\w)"
_NUMBERS = r"\d{4,10}|\d(?: \d){3,7}|\d(?:-\d){3,7}"
_NUMBER = rf"{_QUOTE}?(?P<s>{_NUMBERS}){_ENDS}"
_PIN_NUMBER = rf"{_QUOTE}?(?P<s>\d{{4,8}}|\d(?: \d){{3,7}}|\d(?:-\d){{3,7}}){_ENDS}"
_NO_POSTCODE = rf"{_QUOTE}?(?P<s>\d{{4,5}}|\d{{7,8}}|\d(?: \d){{3,7}}){_ENDS}"  # Indian postcodes have six digits
_CODED = rf"{_QUOTE}?(?P<s>[#*]?(?:{_NUMBERS}|[A-Za-z0-9]{{2,12}}(?:-[A-Za-z0-9]{{2,12}}){{0,5}})[#*]?){_ENDS}"
_TURNS = rf"{_QUOTE}?(?P<s>\d{{1,2}}(?:[ -]\d{{1,2}}){{2,4}}|\d{{3,6}}){_ENDS}"
_WORDS = rf"{_QUOTE}?(?P<s>[a-z]{{3,12}}(?:[ -][a-z]{{3,12}}){{3,11}}+)(?=[\"'`”’.,;!?)]|\s{{0,3}}(?:\Z|\n))"
_DOZEN = rf"{_QUOTE}?(?P<s>[a-z]{{3,8}}(?:[ ,]{{1,2}}[a-z]{{3,8}}){{11,23}}+)(?![a-z])"
_FIRST = r"(?<![^\s(\"'`“])(?P<s>[^\s,;\"'`“”()]{4,40})[\"'`”]?"
_FIRST_CODE = r"(?<![^\s(\"'`“])(?P<s>[#*]?\d{4,8}[#*]?)[\"'`”]?"


def _pattern(what: str, pattern: str, check: Callable[[str], bool], *words: str) -> Pattern:
    return Pattern(what, pattern, check, words, re.IGNORECASE, numbered=what in _NUMBERED)


_NUMBERED = ("PIN", "code", "combination")  # what their checks let pass has a digit
_PASSES = ("passw", "passp", "passc", "pw")
_CODES = ("code", "otp")

PROSE_PATTERNS: tuple[Pattern, ...] = (
    _pattern("password", rf"{_PASSWORD}{_SAYS}{_TOKEN}", _is_stated, *_PASSES),
    _pattern("password", rf"{_PASS}{_SIGN}{_TOKEN}", _is_stated, "pass:", "pass =", "pass :", "pass="),
    _pattern("password", rf"{_PASSWORD}{_GAP}{_TOKEN}", _looks_random, *_PASSES),
    _pattern("password", rf"{_SET}{_PASSWORD}{_TO}{_TOKEN}", _looks_random, *_PASSES),
    _pattern("password", rf"{_LOGIN}{_SIGN}{_WORD}\s?/\s?{_TOKEN}", _looks_random, "login", "cred"),
    _pattern("password", rf"{_FIRST}{_IS_MY}{_PASSWORD}{_ENDS}", _looks_random, *_PASSES),
    _pattern("password", rf"{_PASSWORD}(?:{_SAYS}|{_GAP}){_NUMBER}", _is_number_not_year, *_PASSES),
    _pattern("password", rf"{_FREE}passcode(?:{_SAYS}|{_GAP}){_NUMBER}", _is_number, "passcode"),
    _pattern("password", rf"{_PASSWORD}{_SAYS}{_QUOTED}", _is_quoted, *_PASSES),
    _pattern("password", rf"{_PASSWORD}{_GAP}{_QUOTED}", _is_quoted_phrase, *_PASSES),
    _pattern("passphrase", rf"{_PHRASE}{_SAYS}{_WORDS}", _is_phrase, "passphrase"),
    _pattern("passphrase", rf"{_PHRASE}{_GAP}{_WORDS}", _is_bare_phrase, "passphrase"),
    _pattern("seed phrase", rf"{_SEED}(?:{_SAYS}|{_GAP}){_DOZEN}", _is_seed, "phrase", "words"),
    _pattern("PIN", rf"{_PIN}{_SAYS}{_PIN_NUMBER}", _is_number_not_year, "pin"),
    _pattern("PIN", rf"{_PIN_ITSELF}{_SAYS}{_PIN_NUMBER}", _is_number, "pin"),
    _pattern("PIN", rf"{_OWN_PIN}{_GAP}{_PIN_NUMBER}", _is_number_not_year, "pin"),
    _pattern("PIN", rf"{_PIN_ITSELF}{_GAP}{_NO_POSTCODE}", _is_number_not_year, "pin"),
    _pattern("PIN", rf"{_PIN_CODE}(?:{_SAYS}|{_GAP}){_NO_POSTCODE}", _is_number_not_year, "pin"),
    _pattern("PIN", rf"{_SET}{_PIN}{_TO}{_PIN_NUMBER}", _is_number, "pin"),
    _pattern("PIN", rf"{_FIRST_CODE}{_IS_MY}{_PIN}{_ENDS}", _is_number, "pin"),
    _pattern("PIN", rf"{_PUK}(?:{_SAYS}|{_GAP})(?P<s>\d{{8}}){_ENDS}", _is_number, "puk"),
    _pattern("code", rf"(?:{_CODE}|{_CODE_TO}){_SAYS}{_CODED}", _is_code, *_CODES),
    _pattern("code", rf"{_CODE}{_GAP}{_CODED}", _is_code_not_year, *_CODES),
    _pattern("code", rf"{_SET}{_CODE}{_TO}{_CODED}", _is_code, *_CODES),
    _pattern("code", rf"{_FIRST_CODE}{_IS_MY}{_CODE}{_ENDS}", _is_number, *_CODES),
    _pattern("combination", rf"{_COMBINATION}(?:{_SAYS}|{_GAP}){_TURNS}", _is_number, "combination", "combo"),
)
