"""A kind suggested from the text, where the caller names none: standing instructions and preferences are `preference`.

No language model reads them: "always", "never" and "from now on" at the beginning of a sentence, "I prefer", "when I ask" and
their like. The suggestion is stored as the memory's kind, so it can be seen, filtered by, and corrected with `update`.
"""

import re

from thinkback.fields import Kind

LONGEST_READ = 2000  # characters; what stands later in a long text is no instruction about it
LONGEST_UNSAID = 1500  # characters; a longer text that nobody is said to have said is a document
_SENTENCE = r"(?:^|[.!?:\n]\s{0,4})(?:please |and |so )?"
_STANDING = re.compile(
    rf"{_SENTENCE}(?:always|never|don['’]t ever|from now on|going forward|in (?:the )?future,)\b"
    r"|\bplease (?:always|never|remember to|make sure to)\b"
    r"|\bwhen(?:ever)? i (?:ask|say|request|mention|tell you)\b"
    r"|\bi(?:['’]d| would)? (?:\w{1,12} )?(?:prefer|rather)\b|\bmy preferences?\b|\bas i prefer\b"
    r"|\bi(?:['’]d| would) like (?:you|it if|all|my)\b|\bi want you to\b|\bi (?:do not|don['’]t) (?:like|want) (?:you|it when)\b",
    re.IGNORECASE,
)
# Every such phrase holds one of these; a text without them is not searched further.
_HINTS = (
    *("always", "never", "t ever", "from now on", "going forward", "future", "remember to", "make sure to"),
    *("when i ", "whenever i ", "prefer", "rather", " like ", " want "),
)


def suggested_kind(text: str, speaker: str | None = None) -> Kind:
    """The kind of a memory for which none was given; what an assistant, a tool or a document says is no instruction."""
    if len(text) > LONGEST_UNSAID if speaker is None else speaker.lower() in ("assistant", "tool", "system"):
        return "observation"
    read = text[:LONGEST_READ]
    lowered = read.lower()
    hinted = any(hint in lowered for hint in _HINTS)
    return "preference" if hinted and _STANDING.search(read) else "observation"
