"""A kind suggested from the text, where the caller names none: standing instructions and preferences are `preference`.

No language model reads them: "always", "never" and "from now on" at the beginning of a sentence, "I prefer", "when I ask" and
their like. The suggestion is stored as the memory's kind, so it can be seen, filtered by, and corrected with `update`.
"""

import re

from thinkback.fields import Kind

LONGEST_READ = 2000  # characters; what stands later in a long text is no instruction about it
LONGEST_UNSAID = 1500  # characters; a longer text that nobody is said to have said is a document
_SENTENCE = r"(?:^|[.!?:\n]\s{0,4})(?:please |and |so )?"


def _row(hints: tuple[str, ...], form: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    return hints, re.compile(form, re.IGNORECASE)


# Standing instructions and preferences; every match holds one of the hints before it.
_ROWS = (
    _row(
        ("always", "never", "t ever", "from now on", "going forward", "future"),
        rf"{_SENTENCE}(?:always|never|don['’]t ever|from now on|going forward|in (?:the )?future,)\b",
    ),
    _row(("always", "never", "remember to", "make sure to"), r"\bplease (?:always|never|remember to|make sure to)\b"),
    _row(("when i ", "whenever i "), r"\bwhen(?:ever)? i (?:ask|say|request|mention|tell you)\b"),
    _row(
        ("prefer", "rather"),
        r"\bi(?:['’]d| would)? (?:\w{1,12} )?(?:prefer|rather)\b|\bmy preferences?\b|\bas i prefer\b",
    ),
    _row(
        ("d like ", "t like ", "i want you to", "t want "),
        r"\bi(?:['’]d| would) like (?:you|it if|all|my)\b|\bi want you to\b"
        r"|\bi (?:do not|don['’]t) (?:like|want) (?:you|it when)\b",
    ),
)
_HINTS = tuple(dict.fromkeys(hint for hints, _ in _ROWS for hint in hints))
_SHARED = ("ever", " like ", " want ")
_SOME_HINT = (*_SHARED, *(hint for hint in _HINTS if not any(map(hint.__contains__, _SHARED))))  # each hint holds one


def suggested_kind(text: str, speaker: str | None = None) -> Kind:
    """The kind of a memory for which none was given; what an assistant, a tool or a document says is no instruction."""
    if len(text) > LONGEST_UNSAID if speaker is None else speaker.lower() in ("assistant", "tool", "system"):
        return "observation"
    read = text[:LONGEST_READ]
    lowered = read.lower()
    for hint in _SOME_HINT:
        if hint in lowered:
            break
    else:
        return "observation"
    found = set(filter(lowered.__contains__, _HINTS))
    # A pattern that ignores case takes letters that are not ASCII for others, which hints do not.
    rows = (form for hints, form in _ROWS if not found.isdisjoint(hints) or not read.isascii()) if found else ()
    return "preference" if any(form.search(read) for form in rows) else "observation"
