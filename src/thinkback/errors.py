"""Every error Thinkback raises on purpose, in one tree, and the warnings that results carry.

ThinkbackError
├── InvalidInput (ValueError)      an argument is invalid
│   └── InvalidFile                a file or an environment variable cannot be used
├── NotFound (LookupError)         no memory, thread or judgement of that name
├── RecipeError (ValueError)       a recipe or setting names something that does not exist
├── DatasetError (ValueError)      a benchmark file is invalid
├── MissingExtra (ImportError)     an optional dependency is not installed
├── StoreError
│   ├── NotAStore                  the file is something else; it is left alone
│   ├── StoreDamaged               the file is a store, and broken; it is left alone
│   ├── StoreTooNew                written by a newer Thinkback
│   ├── StoreReadOnly              the file or folder cannot be written
│   ├── StoreBusy                  another process held the lock for too long
│   ├── StoreConflict              another transaction was in the way; trying again is safe
│   └── StoreUnreachable           the server is gone, or the connection to it
├── ModelError
│   ├── ModelUnavailable           weights are not here and could not be fetched
│   ├── ModelDamaged               weights do not match their checksum
│   └── EmbeddingSpaceMismatch     vectors of two models would be mixed
└── RemoteError                    a server that we called failed or returned an invalid response

An error is a value: a stable `code` for programs, a `message` about what happened, and a `remedy` that names an action. The engine
names no command line: each front end words the remedy for its own users, and `str(error)` words it for Python.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum

from thinkback.values import dataclass


class Action(StrEnum):
    """An action that resolves an error or a warning; front ends name their command for it."""

    LIST_MEMORIES = "list_memories"
    LIST_BATCHES = "list_batches"
    EMBED_MISSING = "embed_missing"
    REEMBED = "reembed"
    REFLECT = "reflect"
    AUDIT = "audit"
    JUDGE = "judge"
    CHECK = "check"
    REPAIR = "repair"
    SALVAGE = "salvage"  # subject: the damaged file
    RENEW_BACKUPS = "renew_backups"  # subject: the files
    SKIP_BAD_LINES = "skip_bad_lines"
    PULL_MODEL = "pull_model"  # subject: the model's name
    CHOOSE_EMBEDDER = "choose_embedder"  # subject: the model's name
    INSTALL_EXTRA = "install_extra"  # subject: the extra's name


@dataclass(frozen=True, slots=True)
class Remedy:
    """An action and its subject."""

    action: Action
    subject: str = ""

    def worded(self, words: Mapping[Action, str]) -> str:
        """The remedy as a sentence of one front end; an action it has no words for gives none."""
        return words.get(self.action, "").format(subject=self.subject)


# How a Python program acts on a remedy.
PYTHON_WORDS: Mapping[Action, str] = {
    Action.LIST_MEMORIES: "memory.list() shows the ids.",
    Action.LIST_BATCHES: "memory.journal() shows the batches.",
    Action.EMBED_MISSING: "To embed them: memory.embed_missing().",
    Action.REEMBED: "To embed everything with the model in use: memory.reembed().",
    Action.REFLECT: "To write themes again: memory.reflect().",
    Action.AUDIT: "memory.audit() lists them.",
    Action.JUDGE: "Judge some answers first: memory.judge(query, id).",
    Action.CHOOSE_EMBEDDER: 'To read it: thinkback.open(…, embedder="{subject}"), then memory.reembed().',
    Action.CHECK: "To see what is wrong: memory.check(). Otherwise restore a copy.",
    Action.REPAIR: "To repair it: memory.repair().",
    Action.SALVAGE: "Restore a backup, or save what can be read: thinkback.opening.salvage({subject!r}, NEW).",
    Action.RENEW_BACKUPS: "Make new ones and delete the old: {subject}",
    Action.SKIP_BAD_LINES: "Correct the line, or leave out bad lines with skip_bad=True.",
    Action.PULL_MODEL: "Fetch it with: python -m thinkback models pull {subject}",
    Action.INSTALL_EXTRA: "Install it with: pip install 'thinkback[{subject}]'",
}


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning in a result: something optional failed or was left out, and the rest was done."""

    code: str
    message: str
    remedy: Remedy | None = None

    def __str__(self) -> str:
        return worded(self, PYTHON_WORDS)


def _snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


class ThinkbackError(Exception):
    """The root of the tree; `str(error)` has the message and the remedy in the words of Python.

    Every class has a `code`; a call may give a narrower one where programs or tests need to tell two cases apart.
    """

    code: str = "error"

    def __init__(self, message: object = "", *, code: str | None = None, remedy: Remedy | None = None) -> None:
        super().__init__(message)
        self.message = str(message)
        self.remedy = remedy
        if code is not None:
            self.code = code

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "code" not in cls.__dict__:
            cls.code = _snake_case(cls.__name__)

    def __str__(self) -> str:
        return worded(self, PYTHON_WORDS)

    def notice(self, what: str = "") -> Notice:
        """The error as a warning; `what` names the operation that failed."""
        return Notice(self.code, f"{what}: {self.message}" if what else self.message, self.remedy)


class InvalidInput(ThinkbackError, ValueError):
    """An argument is invalid."""


class InvalidFile(InvalidInput):
    """The content of a file or of an environment variable cannot be used; the call itself was valid."""


class NotFound(ThinkbackError, LookupError):
    """There is nothing of that name."""


class RecipeError(ThinkbackError, ValueError):
    """A recipe or a setting names something that does not exist."""


class DatasetError(ThinkbackError, ValueError):
    """A benchmark file is invalid."""


class MissingExtra(ThinkbackError, ImportError):
    """An optional dependency is not installed."""

    @classmethod
    def of(cls, what: str, extra: str) -> "MissingExtra":
        return cls(f"{what} requires an optional dependency", remedy=Remedy(Action.INSTALL_EXTRA, extra))


class StoreError(ThinkbackError):
    """An operation of the store failed."""


class NotAStore(StoreError):
    """The file is not a Thinkback store."""


class StoreDamaged(StoreError):
    """The file is a store, and it is broken."""


class StoreTooNew(StoreError):
    """The store was written by a newer version."""


class StoreReadOnly(StoreError):
    """The store cannot be written."""


class StoreBusy(StoreError):
    """Another process held the lock for too long."""


class StoreConflict(StoreError):
    """A deadlock or a failed serialization: nothing was written, and trying again is safe."""


class StoreUnreachable(StoreError):
    """The server of the store cannot be reached, or the connection was lost.

    With the code `commit_unknown` a write may have been committed; with any other code nothing was written.
    """


class ModelError(ThinkbackError):
    """A model cannot be used."""


class ModelUnavailable(ModelError):
    """The weights are not here and could not be fetched."""


class ModelDamaged(ModelError):
    """The weights do not match their checksum."""


class EmbeddingSpaceMismatch(ModelError):
    """Vectors of two different models would be mixed."""


class RemoteError(ThinkbackError):
    """A server that we called failed or returned an invalid response."""


class ThinkbackWarning(UserWarning):
    """Something optional failed; the operation was completed without it."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(str(notice))
        self.notice = notice


class SecretWarning(ThinkbackWarning):
    """What was stored may hold a secret; the message names its kind and nothing of it."""


_gathered: ContextVar[list[Notice] | None] = ContextVar("gathered", default=None)


@contextmanager
def gathered_warnings() -> Iterator[list[Notice]]:
    """Collect the warnings of calls that return none; a server answers with them instead of logging them."""
    heard: list[Notice] = []
    token = _gathered.set(heard)
    try:
        yield heard
    finally:
        _gathered.reset(token)


def warn(notice: Notice, category: type[ThinkbackWarning] = ThinkbackWarning, stacklevel: int = 2) -> None:
    """Give a warning to whoever collects them in this call, else to Python's warnings."""
    heard = _gathered.get()
    if heard is None:
        warnings.warn(category(notice), stacklevel=stacklevel + 1)
    else:
        heard.append(notice)


def worded(about: ThinkbackError | Notice, words: Mapping[Action, str]) -> str:
    """An error or a warning with its remedy in the words of one front end."""
    remedy = about.remedy.worded(words) if about.remedy else ""
    return f"{sentence(about.message)} {remedy}" if remedy else about.message


def unknown_memory(id: object) -> NotFound:
    """There is no memory with this id."""
    return NotFound(f"there is no memory {id!r}", code="unknown_memory", remedy=Remedy(Action.LIST_MEMORIES))


def sentence(message: object) -> str:
    """The message with an end, so that another sentence may follow it."""
    text = str(message)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def did_you_mean(given: str, valid: Iterable[str]) -> str:
    """The nearest valid name as a sentence to append to an error, or nothing."""
    from difflib import get_close_matches

    near = get_close_matches(given, list(valid), n=1, cutoff=0.5)
    return f" Did you mean {near[0]!r}?" if near else ""
