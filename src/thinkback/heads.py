"""The speaker whom a short text names at its head, where the caller names none: "Caroline: I painted a sunrise".

A role ("assistant: …") counts in any case, a name only with capitals. Labels ("Note: …", "TODO: …"), titles ("Cell death: …") and
texts in which a second speaker has a line count for nobody. The suggestion is stored as the memory's `speaker`, so it can be seen,
filtered by, and corrected with `update`; the text stays as it is.
"""

import re
from functools import lru_cache

LONGEST_HEADED = 1000  # characters; a longer text is a document, whose first speaker did not say all of it
LONGEST_HEAD = 80
ROLES = {"user": "user", "human": "user", "assistant": "assistant", "tool": "tool", "system": "system"}

_NAME = r"[^\W\d_][\w.'’-]*"
_HEAD = re.compile(rf"\s*({_NAME}(?: {_NAME}){{0,2}}):\s")
_OTHER_HEAD = re.compile(rf"\n\s*({_NAME}(?: {_NAME}){{0,2}}):\s")
# Who has two names says something: a sentence, words like "I" and "you", or how one begins to speak. What has none of these is a
# title, "Climate Change: Causes".
_SAID = re.compile(
    r"[.!?…{](?:\s|$|\w)|\b(?:i|i['’]\w+|me|my|we|us|our|you|your|yes|yeah|no|okay|hi|hey|hello|thanks)\b"
    r"|(?<=:\s)\s*(?:and|but|so|well|um|uh|mm|oh|ah|because|actually|right|yep|it|that|that['’]s|he|she|they|there|this|or|ok|let)\b",
    re.IGNORECASE,
)
_LABELS = frozenset(
    """note notes todo fixme hack error errors warning warnings info debug hint tip tips caution danger important attention notice
    nb ps fyi eta tldr summary abstract overview introduction background context conclusion conclusions update updates status
    question questions answer answers faq example examples sample definition meaning synonym quote source sources reference
    references link links url website see also subject re fwd from to cc date time day week month year today yesterday tomorrow
    tonight deadline due start end begin duration monday tuesday wednesday thursday friday saturday sunday january february march
    july september october november december breakfast lunch dinner snack morning afternoon evening night name names title author
    address phone email mail location place city country price cost budget total amount number count size weight height age
    birthday password username login account key token pin code id version release changelog feature features bug bugs fix fixes
    issue issues feat chore refactor test tests docs build ci perf style step steps stage phase part chapter section page item
    option options choice list agenda minutes topic topics theme task tasks action actions decision decisions plan plans goal goals
    objective objectives idea ideas reminder reminders rule rules instruction instructions preference preferences fact facts memory
    memories lesson lessons learning learnings observation event events meeting call project problem solution cause effect reason
    result results outcome output input expected actual before after pros cons advantage advantages disadvantage risk risks benefit
    benefits requirement requirements dependency dependencies prerequisite prerequisites usage install installation setup
    configuration config settings default defaults command commands exception traceback failure success exit returns raises args
    arguments parameters param type types class function method module file files path folder directory repo repository branch
    commit database table column schema server client api sdk cli sql json yaml xml html css python java javascript typescript
    rust golang bash docker kubernetes linux windows macos git github gitlab postgres postgresql sqlite redis mysql react node
    ingredients recipe directions method yield serves allergies allergy diet medication medications symptoms diagnosis hobby hobbies
    interests skills education experience occupation job role company team department language languages currency timezone
    favourite favorite likes dislikes current new old next previous first second third last final main other others more less
    this that these those here there what when where which who whom why how and or but if then else the
    http https ftp""".split()  # noqa: SIM905
)
_FAULTS = ("error", "exception", "warning")


def suggested_speaker(text: str) -> str | None:
    """The speaker at the head of a text, a role in lower case; None if there is none."""
    if text.find(":", 0, LONGEST_HEAD) < 0 or len(text) > LONGEST_HEADED:
        return None
    head = _HEAD.match(text, 0, LONGEST_HEAD)
    if head is None:
        return None
    name = head[1]
    role = ROLES.get(name.lower())
    if role is None and not (_may_name(name) and (_plain(name) or _SAID.search(text, head.end() - 1))):
        return None
    if "\n" in text and any(other != name and _may_name(other) for other in _OTHER_HEAD.findall(text)):
        return None
    return role or name


@lru_cache(1 << 10)
def _may_name(head: str) -> bool:
    """Whether a head may name a speaker: a role, or capitalised words of which the last is no label."""
    lowered = head.lower()
    if lowered in ROLES:
        return True
    last = lowered.rpartition(" ")[2]
    capitals = len(head) > 1 and all(word[0].isupper() for word in head.split(" "))
    return capitals and last not in _LABELS and not last.endswith(_FAULTS)


def _plain(name: str) -> bool:
    """One word that is no abbreviation."""
    return " " not in name and not name.isupper()
