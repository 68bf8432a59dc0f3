"""The function words of English, German, Spanish and French, and the language of a text as far as they tell it.

German, Spanish and French are told from English by their function words, of which a text must have two that are no English words,
and more than of English.
"""

import re

# English words that shape a question but name nothing in it.
_QUESTION_WORDS = (
    "what which who whom whose when where why how whatever whichever whoever whenever wherever whats whos wheres hows"
)
_DETERMINERS = "a an the this that these those some any all both none other another each every either neither such"
_PRONOUNS = (
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself "
    "we us our ours ourselves they them their theirs themselves one ones"
)
_AUXILIARIES = (
    "am is are was were be been being do does did doing done have has had having can could may might must shall "
    "should will would ought dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt cant couldnt wouldnt "
    "shouldnt im ive"
)
_PREPOSITIONS = "of in on at for to"  # others tell texts apart: "with", "about" and "from" are worth a point of any@5
_CONJUNCTIONS = "and or nor but if as than so"
_ADVERBS = "not no only own same too very just there here ever also"
FUNCTION_WORDS: frozenset[str] = frozenset(
    f"{_QUESTION_WORDS} {_DETERMINERS} {_PRONOUNS} {_AUXILIARIES} {_PREPOSITIONS} {_CONJUNCTIONS} {_ADVERBS}".split()
)

LANGUAGES = {"de": "German", "es": "Spanish", "fr": "French"}
READ = 400  # characters of a text that tell its language

_DE = (
    "der die das den dem des ein eine einen einem einer eines wer was wen wem wessen wann wo warum wie wieso weshalb welche "
    "welcher welches welchen welchem und oder aber nicht kein keine ist sind war waren wird werden wurde wurden hat haben hatte "
    "hatten kann können konnte soll sollte muss ich du er sie es wir ihr mich mir dich dir ihn ihm uns euch mein meine dein deine "
    "sein seine ihre ihrem ihren im am zum zur von vom zu in an auf für bei aus nach über unter als auch so viele viel wieviele "
    "vor mit um durch ohne gegen seit bis"
)
_ES = (
    "el la los las un una unos unas qué quién quiénes cuándo dónde por para cómo cuál cuáles cuánto cuánta cuántos cuántas que y o "
    "pero no es son era eran fue fueron ser está están estaba ha han había hay de del al en con se su sus mi mis tu tus yo él ella "
    "ellos ellas nosotros lo le les me te nos cuyo como más"
)
_FR = (
    "le la les un une des du de qui que quoi quand où pourquoi comment quel quelle quels quelles combien et ou mais ne pas est "
    "sont était étaient fut furent être a ont avait je tu il elle nous vous ils elles mon ma mes ton ta tes son sa ses leur leurs "
    "au aux en dans par pour sur ce cette ces cet qu se y"
)
_SHARED = "die war hat man son sa sur des pour or ton ma mes in an am a as so was no me he mit"
_ALSO_ENGLISH = frozenset(_SHARED.split())
WORDS: dict[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in (("de", _DE), ("es", _ES), ("fr", _FR))
}
_TELLING = {name: words - FUNCTION_WORDS - _ALSO_ENGLISH for name, words in WORDS.items()}
_NOT_ENGLISH = frozenset().union(*_TELLING.values())
_WORD = re.compile(r"[^\W\d_]+")
# Letters and marks that English does not use, and how many function words one counts for.
_MARKS = {"de": ("äöüß", 1), "es": ("¿¡", 2), "fr": ("çœèêàù", 1)}


def language(text: str) -> str:
    """`de`, `es` or `fr`, or nothing: English, another language, or too little to tell."""
    words = _WORD.findall(text[:READ].lower())
    if text.isascii() and _NOT_ENGLISH.isdisjoint(words):
        return ""
    counts = {name: sum(word in telling for word in words) for name, telling in _TELLING.items()}
    if not text.isascii():
        for name, (marks, worth) in _MARKS.items():
            counts[name] += worth * any(mark in marks for mark in text[:READ].lower())
    best = max(counts, key=lambda name: counts[name])
    english = sum(word in FUNCTION_WORDS and word not in WORDS[best] for word in words)
    return best if counts[best] >= 2 and counts[best] > english else ""


# Words of English too, and what speech is written down with: "um", "y- yes".
_UNCERTAIN = frozenset(("um", "wo", "comment", "hay", "era", "con", "par"))
_CERTAIN = {
    name: frozenset(word for word in telling if len(word) > 1) - _UNCERTAIN for name, telling in _TELLING.items()
}
TELLING = frozenset().union(*_CERTAIN.values())
_GLANCE = (
    120  # characters of an ASCII text that must have a telling word in small letters; all that most English ones cost
)


def written_in(text: str) -> str:
    """The language whose stems a text is indexed by: `de`, `es` or `fr`, or nothing.

    Stricter than `language`, as each word counts once: "Los Angeles Rams, Los Angeles Lakers" is not Spanish. What this gives for a
    text is part of the format of a store, so changing it needs a migration.
    """
    if TELLING.isdisjoint(text[: _GLANCE if text.isascii() else READ].split()):
        return ""
    words = set(_WORD.findall(text[:READ].lower()))
    counts = {name: len(words & telling) for name, telling in _CERTAIN.items()}
    if not text.isascii():
        marked = text[:READ].lower()
        for name, (marks, _) in _MARKS.items():
            counts[name] += any(mark in marks for mark in marked)
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= 2 and counts[best] > len(words & FUNCTION_WORDS - WORDS[best]) else ""
