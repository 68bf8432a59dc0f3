"""Time phrases in German, Spanish, French and Chinese: each is put into English, which `EnglishExtractor` reads.

A row is a pattern and the English phrase it stands for; groups are numbers, units and names of months and days from the tables.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import tzinfo
from functools import cache

from thinkback.languages import language
from thinkback.search.query.time import Anchor, EnglishExtractor
from thinkback.values import dataclass

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_NAMES: dict[str, str] = {}
for _row in (
    "januar februar märz april mai juni juli august september oktober november dezember",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
):
    _NAMES.update(zip(_row.split(), _MONTHS, strict=True))
for _row in (
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
):
    _NAMES.update(zip(_row.split(), _DAYS, strict=True))
_UNITS = {
    **dict.fromkeys(["tag", "tage", "tagen", "día", "días", "dia", "dias", "jour", "jours", "天", "日"], "days"),
    **dict.fromkeys(
        ["woche", "wochen", "semana", "semanas", "semaine", "semaines", "周", "星期", "个星期", "礼拜"], "weeks"
    ),
    **dict.fromkeys(["monat", "monate", "monaten", "mes", "meses", "mois", "个月"], "months"),
    **dict.fromkeys(["jahr", "jahre", "jahren", "año", "años", "an", "ans", "année", "années", "年"], "years"),
}
_NUMBERS: dict[str, str] = {}
for _row in (
    "einem zwei drei vier fünf sechs sieben acht neun zehn",
    "un dos tres cuatro cinco seis siete ocho nueve diez",
    "une deux trois quatre cinq six sept huit neuf dix",
    "一 二 三 四 五 六 七 八 九 十",
):
    _NUMBERS.update({word: str(number) for number, word in enumerate(_row.split(), 1)})
_NUMBERS.update({"einer": "1", "ein": "1", "una": "1", "两": "2"})


def _one_of(words: dict[str, str], where: Callable[[str], bool] = lambda _: True) -> str:
    return "|".join(sorted((re.escape(word) for word in words if where(word)), key=len, reverse=True))


def _is_month(word: str) -> bool:
    return _NAMES[word] in _MONTHS


_MONTH, _DAY = _one_of(_NAMES, _is_month), _one_of(_NAMES, lambda word: not _is_month(word))
_COUNT = rf"\d{{1,3}}|{_one_of(_NUMBERS)}"
_UNIT = _one_of(_UNITS)

_LAST, _NEXT = r"letzte[nrms]?", r"nächste[nrms]?"
_IN_MONTH = rf"(?:mes de |mois de |mois d')?({_MONTH})(?: (?:del? )?(\d{{4}}))?\b"


@dataclass(frozen=True, slots=True)
class _Row:
    """A pattern and what it says in English: {1}, {2} and {3} are its groups, each put into English.

    What other languages may say too is only read in a text of `language`; with `told`, memories are read so only if their own
    language is known.
    """

    form: str
    english: str
    language: str = ""
    told: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compiled(self.form)


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form, re.IGNORECASE)


_ROWS = (
    _Row(rf"\b(\d{{1,2}})\. ?({_MONTH}) (\d{{4}})\b", "{2} {1}, {3}"),
    _Row(rf"\b(\d{{1,2}})(?:er)? (?:de )?({_MONTH}) (?:del? )?(\d{{4}})\b", "{2} {1}, {3}"),
    _Row(r"(\d{4})年(\d{1,2})月(\d{1,2})日", "{1}-{2}-{3}"),
    _Row(r"(\d{4})年(\d{1,2})月", "month {2} {1}"),
    _Row(rf"\b(?:seit|desde|depuis) {_IN_MONTH}", "since {1} {2}"),
    _Row(rf"\b(?:am )?(\d{{1,2}})\. ?({_MONTH})\b", "{2} {1}", told=True),
    _Row(rf"\b(?:el|le) (\d{{1,2}})(?:er)? (?:de )?({_MONTH})\b", "{2} {1}", told=True),
    _Row(rf"\b(?:im|en|au|de|del) {_IN_MONTH}", "in {1} {2}", told=True),
    _Row(r"\b(?:vorgestern|anteayer|avant-hier)\b|前天", "2 days ago"),
    _Row(r"\b(?:gestern|ayer|anoche)\b|昨[天晚]", "yesterday"),
    _Row(r"\bhier (?:soir|matin|après-midi)\b", "yesterday"),
    _Row(r"\bhier\b", "yesterday", "fr"),  # German has it for "here"
    _Row(r"\b(?:heute|hoy|aujourd['’]hui)\b|今天", "today"),
    _Row(r"\b(?:übermorgen|pasado mañana|après-demain)\b|后天", "the day after tomorrow"),
    _Row(r"(?<!am )(?<!jeden )(?<!guten )(?<!heute )(?<!gestern )\bmorgen\b", "tomorrow", "de"),
    _Row(r"(?<!la )(?<!esta )(?<!cada )\bmañana\b(?! por)|\bdemain\b|明天", "tomorrow"),
    _Row(rf"\b(?:vor|hace|il y a) ({_COUNT}) ({_UNIT})\b", "{1} {2} ago"),
    _Row(rf"({_COUNT}) ?({_UNIT})(?:以)?前", "{1} {2} ago"),
    _Row(rf"\b{_LAST} wochenende\b|\bel fin de semana pasado\b|\ble week-?end dernier\b|上(?:个)?周末", "last weekend"),
    _Row(
        rf"\b{_NEXT} wochenende\b|\bel (?:próximo fin de semana|fin de semana que viene)\b|下(?:个)?周末",
        "next weekend",
    ),
    _Row(r"\ble week-?end prochain\b", "next weekend"),
    _Row(r"\bdieses wochenende\b|\beste fin de semana\b|\bce week-?end\b|这(?:个)?周末", "this weekend"),
    _Row(rf"\b{_LAST} woche\b|\bla semana pasada\b|\bla semaine dernière\b|上(?:个)?(?:星期|礼拜)|上周", "last week"),
    _Row(rf"\b{_LAST} monat\b|\bel mes pasado\b|\ble mois dernier\b|上个?月", "last month"),
    _Row(rf"\b{_LAST} jahr\b|\bel año pasado\b|\bl['’](?:an|année) derni(?:er|ère)\b|去年", "last year"),
    _Row(
        rf"\b{_NEXT} woche\b|\bla (?:próxima semana|semana (?:que viene|próxima))\b|下(?:个)?(?:星期|礼拜)|下周",
        "next week",
    ),
    _Row(r"\bla semaine prochaine\b", "next week"),
    _Row(
        rf"\b{_NEXT} monat\b|\bel (?:próximo mes|mes (?:que viene|próximo))\b|\ble mois prochain\b|下个?月",
        "next month",
    ),
    _Row(
        rf"\b{_NEXT} jahr\b|\bel (?:próximo año|año (?:que viene|próximo))\b|\bl['’](?:an|année) prochaine?\b|明年",
        "next year",
    ),
    _Row(rf"\b{_LAST} ({_DAY})\b", "last {1}"),
    _Row(rf"\b(?:el )?({_DAY}) (?:pasado|dernier)\b", "last {1}"),
    _Row(rf"\b{_NEXT} ({_DAY})\b", "next {1}"),
    _Row(rf"\b(?:el )?(?:próximo )({_DAY})\b", "next {1}"),
    _Row(rf"\b({_DAY}) prochain\b", "next {1}"),
    _Row(r"\b(?:neulich|kürzlich|letztens|recientemente|últimamente|récemment)\b|最近", "recently"),
)
# Every match holds one of these words, or one of these characters.
HEADS = frozenset(_NAMES) | frozenset(
    """vorgestern gestern heute übermorgen morgen anteayer ayer anoche hoy mañana hier aujourd demain vor hace il letzte letzten
    letzter letztem letztes nächste nächsten nächster nächstem nächstes dieses pasado pasada próximo próxima viene este
    dernier dernière prochain prochaine ce neulich kürzlich letztens recientemente últimamente récemment""".split()  # noqa: SIM905
)
_HAN = re.compile(r"[年月天前周星礼今明后最]")
_HEAD_BYTES = frozenset(word.encode() for word in HEADS)
_LETTERS = bytes(sign if sign > 127 or ord("a") <= sign <= ord("z") else ord(" ") for sign in range(256))
_ENGLISH = EnglishExtractor()
_LONGEST = 2000


def foreign_time(query: str, now_us: int, zone: tzinfo) -> Anchor | None:
    """The time that a query names in one of these languages; the first row of the table that matches wins."""
    for row, found in _matches(query[:_LONGEST]):
        if row.language and language(query) != row.language:
            continue
        anchor = _ENGLISH(_in_english(row.english, found), now_us, zone)
        if anchor is not None:
            return replace(anchor, phrase=found[0], start=found.start(), end=found.end())
    return None


def told_in_english(text: str) -> str:
    """The first time that a memory names in one of these languages, as English says it; empty if it names none."""
    for row, found in _matches(text[:_LONGEST]):
        if row.told and not language(text):
            continue
        if not row.language or language(text) == row.language:
            return _in_english(row.english, found)
    return ""


def _matches(text: str) -> Iterator[tuple[_Row, re.Match[str]]]:
    """The first match of every row; most texts have no word that could announce one."""
    announced = not _HEAD_BYTES.isdisjoint(text.lower().encode(errors="replace").translate(_LETTERS).split())
    if announced or (not text.isascii() and _HAN.search(text)):
        yield from ((row, found) for row in _ROWS if (found := row.pattern.search(text)))


def _in_english(english: str, found: re.Match[str]) -> str:
    groups = ["", *((_word(group) if group else "") for group in found.groups())]
    if english.startswith("month"):
        return f"in {_MONTHS[(int(groups[2]) - 1) % 12]} {groups[1]}"
    if english == "{1}-{2}-{3}":
        return f"{_MONTHS[(int(groups[2]) - 1) % 12]} {groups[3]}, {groups[1]}"
    return english.format(*groups).strip()


def _word(group: str) -> str:
    lowered = group.lower()
    return _NAMES.get(lowered) or _NUMBERS.get(lowered) or _UNITS.get(lowered) or group
