"""The language of a text as far as tables go, its function words, and whether an embedder reads it.

A script tells most languages apart; German, Spanish and French are told from English by their function words, of which a text
must have two that are no English words, and more than of English.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from thinkback.models.weights.pinned import MODELS
from thinkback.search.query.stopwords import FUNCTION_WORDS

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
# What a Chinese question asks with; single characters are left, as they are parts of words too.
CHINESE_QUESTIONS = re.compile(
    r"什么时候|为什么|多少|什么|哪里|哪儿|哪个|哪些|怎么样|怎么|如何|是谁|请问|有没有|吗(?=\W*$)|呢(?=\W*$)"
)
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


def tongue(text: str) -> str:
    """The language of a text as `language` tells it, `en` for English, or nothing."""
    words = _WORD.findall(text[:READ].lower())
    return language(text) or ("en" if sum(word in FUNCTION_WORDS for word in words) >= 2 else "")


def across(question: str, texts: Sequence[str], embedder: str | None) -> bool:
    """Whether a question is in another language than most of these texts, and the embedder is known to read both."""
    model = MODELS.get((embedder or "").partition("@")[0])
    if model is None or model.languages or not texts:
        return False
    asked = tongue(question)
    others = sum(bool(told := tongue(text)) and told != asked for text in texts)
    return bool(asked) and 2 * others > len(texts)


def function_words(text: str) -> frozenset[str]:
    """The words that shape a question in the language of this text; English ones if it cannot be told."""
    found = language(text)
    return WORDS[found] if found else FUNCTION_WORDS


def script(text: str) -> str:
    """The script of most letters, such as `LATIN` or `DEVANAGARI`; empty without letters."""
    text = text[:READ]
    if text.isascii():
        return "LATIN" if any(map(str.isalpha, text)) else ""
    counts: dict[str, int] = {}
    for letter in text:
        if letter.isalpha():
            name = _script(letter)
            counts[name] = counts.get(name, 0) + 1
    return max(counts, key=lambda name: counts[name], default="")


@cache
def _script(letter: str) -> str:
    return "LATIN" if letter.isascii() else unicodedata.name(letter, "UNKNOWN").partition(" ")[0]


def unread(text: str, embedder: str | None) -> tuple[str, bool]:
    """What an embedder does not read of a text, and whether that is a whole script; empty if it does or is not known."""
    model = MODELS.get((embedder or "").partition("@")[0])
    if model is None or not model.languages:
        return "", False
    written = script(text)
    if written not in ("", "LATIN"):
        return {"CJK": "Chinese"}.get(written, f"{written.capitalize()} script"), True
    found = language(text)
    return (LANGUAGES[found], False) if found and found not in model.languages else ("", False)
