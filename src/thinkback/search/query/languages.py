"""The language of a question, its function words, and whether an embedder reads it.

A script tells most languages apart; German, Spanish and French are told from English by their function words.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from thinkback.languages import FUNCTION_WORDS, LANGUAGES, READ, WORDS, language

if TYPE_CHECKING:
    from thinkback.models.weights.pinned import Model

_WORD = re.compile(r"[^\W\d_]+")
# What a Chinese question asks with; single characters are left, as they are parts of words too.
CHINESE_QUESTIONS = re.compile(
    r"什么时候|为什么|多少|什么|哪里|哪儿|哪个|哪些|怎么样|怎么|如何|是谁|请问|有没有|吗(?=\W*$)|呢(?=\W*$)"
)


def tongue(text: str) -> str:
    """The language of a text as `language` tells it, `en` for English, or nothing."""
    words = _WORD.findall(text[:READ].lower())
    return language(text) or ("en" if sum(word in FUNCTION_WORDS for word in words) >= 2 else "")


def _pinned(embedder: str | None) -> "Model | None":
    """The model of a fingerprint, if it is one of the pinned list."""
    if embedder is None:
        return None
    from thinkback.models.weights.pinned import MODELS

    return MODELS.get(embedder.partition("@")[0])


def across(question: str, texts: Sequence[str], embedder: str | None) -> bool:
    """Whether a question is in another language than most of these texts, and the embedder is known to read both."""
    model = _pinned(embedder)
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
    model = _pinned(embedder)
    if model is None or not model.languages:
        return "", False
    written = script(text)
    if written not in ("", "LATIN"):
        return {"CJK": "Chinese"}.get(written, f"{written.capitalize()} script"), True
    found = language(text)
    return (LANGUAGES[found], False) if found and found not in model.languages else ("", False)
