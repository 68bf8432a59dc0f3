"""Every error Thinkback raises on purpose, in one tree.

ThinkbackError
├── InvalidInput (ValueError)      what was given cannot be used
│   └── InvalidFile                what stands in a file or in the environment cannot be used
├── NotFound (LookupError)         no memory, thread or judgement of that name
├── RecipeError (ValueError)       a recipe or setting names something that does not exist
├── DatasetError (ValueError)      a benchmark file is not what it claims to be
├── MissingExtra (ImportError)     an optional dependency is not installed
├── StoreError
│   ├── NotAStore                  the file is something else; it is left alone
│   ├── StoreDamaged               the file is a store, and broken; it is left alone
│   ├── StoreTooNew                written by a newer Thinkback
│   ├── StoreReadOnly              the file or folder cannot be written
│   └── StoreBusy                  another process held the lock for too long
├── ModelError
│   ├── ModelUnavailable           weights are not here and could not be fetched
│   ├── ModelDamaged               weights do not match their checksum
│   └── EmbeddingSpaceMismatch     vectors of two models would be mixed
└── RemoteError                    a server we called failed or answered nonsense
"""

from collections.abc import Iterable
from difflib import get_close_matches


class ThinkbackError(Exception):
    """The root of the tree; `str(error)` says what, the value given, and the remedy."""


class InvalidInput(ThinkbackError, ValueError):
    """What was given cannot be used."""


class InvalidFile(InvalidInput):
    """What stands in a file or in the environment cannot be used, however well the call was written."""


class NotFound(ThinkbackError, LookupError):
    """There is nothing of that name."""


class RecipeError(ThinkbackError, ValueError):
    """A recipe or a setting names something that does not exist."""


class DatasetError(ThinkbackError, ValueError):
    """A benchmark file is not what it claims to be."""


class MissingExtra(ThinkbackError, ImportError):
    """An optional dependency is not installed."""

    @classmethod
    def of(cls, what: str, extra: str) -> "MissingExtra":
        return cls(f"{what} requires an optional dependency. Install it with: pip install 'thinkback[{extra}]'")


class StoreError(ThinkbackError):
    """The store cannot do what was asked."""


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


class ModelError(ThinkbackError):
    """A model cannot be used."""


class ModelUnavailable(ModelError):
    """The weights are not here and could not be fetched."""


class ModelDamaged(ModelError):
    """The weights do not match their checksum."""


class EmbeddingSpaceMismatch(ModelError):
    """Vectors of two different models would be mixed."""


class RemoteError(ThinkbackError):
    """A server we called failed or answered nonsense."""


def sentence(message: object) -> str:
    """The message with an end, so that another sentence may follow it."""
    text = str(message)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def did_you_mean(given: str, valid: Iterable[str]) -> str:
    """The nearest valid name as a sentence to append to an error, or nothing."""
    near = get_close_matches(given, list(valid), n=1, cutoff=0.5)
    return f" Did you mean {near[0]!r}?" if near else ""
