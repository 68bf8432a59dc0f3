"""Time phrases in German, Spanish, French and Chinese: each is put into English, which `EnglishExtractor` reads.

A row is a pattern and the English phrase it stands for; groups are numbers, units and names of months and days from the tables.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import tzinfo
from functools import cache

from thinkback.search.query.time import Anchor, EnglishExtractor

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

# Patterns, and what they say in English; {1}, {2} and {3} are their groups, each put into English.
_ROWS: tuple[tuple[str, str], ...] = (
    (rf"\b(\d{{1,2}})\. ?({_MONTH}) (\d{{4}})\b", "{2} {1}, {3}"),
    (rf"\b(\d{{1,2}})(?:er)? (?:de )?({_MONTH}) (?:del? )?(\d{{4}})\b", "{2} {1}, {3}"),
    (r"(\d{4})年(\d{1,2})月(\d{1,2})日", "{1}-{2}-{3}"),
    (r"(\d{4})年(\d{1,2})月", "month {2} {1}"),
    (
        rf"\b(?:im|seit|en|in|au|de|del) (?:mes de |mois de |mois d')?({_MONTH})(?: (?:del? )?(\d{{4}}))?\b",
        "in {1} {2}",
    ),
    (rf"\b(?:am )?(\d{{1,2}})\. ?({_MONTH})\b", "{2} {1}"),
    (rf"\b(?:el|le) (\d{{1,2}})(?:er)? (?:de )?({_MONTH})\b", "{2} {1}"),
    (r"\b(?:vorgestern|anteayer|avant-hier)\b|前天", "2 days ago"),
    (r"\b(?:gestern|ayer|hier)\b|昨天", "yesterday"),
    (r"\b(?:heute|hoy|aujourd['’]hui)\b|今天", "today"),
    (rf"\b(?:vor|hace|il y a) ({_COUNT}) ({_UNIT})\b", "{1} {2} ago"),
    (rf"({_COUNT}) ?({_UNIT})(?:以)?前", "{1} {2} ago"),
    (r"\bletzte[nrms]? woche\b|\bla semana pasada\b|\bla semaine dernière\b|上(?:个)?(?:星期|礼拜)|上周", "last week"),
    (r"\bletzte[nrms]? monat\b|\bel mes pasado\b|\ble mois dernier\b|上个?月", "last month"),
    (r"\bletzte[nrms]? jahr\b|\bel año pasado\b|\bl['’](?:an|année) derni(?:er|ère)\b|去年", "last year"),
    (rf"\bletzte[nrms]? ({_DAY})\b", "last {1}"),
    (rf"\b(?:el )?({_DAY}) (?:pasado|dernier)\b", "last {1}"),
    (r"\b(?:neulich|kürzlich|letztens|recientemente|últimamente|récemment)\b|最近", "recently"),
)
# Every match in ASCII alone holds one of these words.
_HEADS = frozenset(_NAMES) | frozenset(
    """vorgestern gestern heute anteayer ayer hoy hier aujourd vor hace il letzte letzten letzter letztem letztes pasado pasada
    dernier neulich letztens recientemente""".split()  # noqa: SIM905
)
_WORD = re.compile(r"[a-z]+")
_ENGLISH = EnglishExtractor()
_LONGEST = 2000


def foreign_time(query: str, now_us: int, zone: tzinfo) -> Anchor | None:
    """The time that a query names in one of these languages; the first row of the table that matches wins."""
    if query.isascii() and _HEADS.isdisjoint(_WORD.findall(query[:_LONGEST].lower())):
        return None
    for pattern, english in _compiled():
        found = pattern.search(query[:_LONGEST])
        if found is None:
            continue
        anchor = _ENGLISH(_in_english(english, found), now_us, zone)
        if anchor is not None:
            return replace(anchor, phrase=found[0], start=found.start(), end=found.end())
    return None


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), english) for pattern, english in _ROWS)


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
