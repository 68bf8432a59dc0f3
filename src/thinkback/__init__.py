"""Thinkback gives an AI agent a memory it can search, and explains every score."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# The public names by module. Each is loaded on first use: `import thinkback` must cost next to nothing.
_MODULES = {
    "thinkback.aio": ("AsyncMemory", "AsyncRecall"),
    "thinkback.clock": ("Moment",),
    "thinkback.errors": (
        *("Action", "Notice", "Remedy", "SecretWarning", "ThinkbackError", "ThinkbackWarning"),
        *("InvalidInput", "InvalidFile", "NotFound", "RecipeError", "DatasetError", "MissingExtra", "RemoteError"),
        *("StoreError", "NotAStore", "StoreDamaged", "StoreTooNew", "StoreReadOnly", "StoreBusy"),
        *("ModelError", "ModelUnavailable", "ModelDamaged", "EmbeddingSpaceMismatch"),
    ),
    "thinkback.fields": ("Kind", "Priority", "Tier"),
    "thinkback.inputs": ("Changes", "Fields", "Where"),
    "thinkback.lifecycle.audit": ("AuditReport",),
    "thinkback.lifecycle.documents": ("Synced",),
    "thinkback.lifecycle.backup": ("BackedUp",),
    "thinkback.lifecycle.forget": ("Forgotten", "Receipt"),
    "thinkback.lifecycle.tombstones": ("Tombstone",),
    "thinkback.lifecycle.redact": ("Redacted",),
    "thinkback.lifecycle.reflect.model": ("Consolidation", "Reflected"),
    "thinkback.lifecycle.tidy": ("Tidied",),
    "thinkback.lifecycle.transfer": ("Header", "ImportReport"),
    "thinkback.lifecycle.undo": ("Undone",),
    "thinkback.memory": ("Memory",),
    "thinkback.model": (
        *("Contribution", "Draft", "Edge", "Hit", "JournalEntry", "Judgement", "Placing", "Record"),
        *("StoredEdge", "StoredJudgement", "StoredRecord"),
    ),
    "thinkback.models.chat": ("Chat",),
    "thinkback.models.embedders.adapters": ("CallbackEmbedder",),
    "thinkback.models.embedders.base": ("Embedder",),
    "thinkback.models.rerankers.base": ("Reranker",),
    "thinkback.opening": ("open",),
    "thinkback.search.query.time": ("AnchorExtractor",),
    "thinkback.search.ranking": ("Gathered",),
    "thinkback.search.recipes.model": ("Recipe",),
    "thinkback.search.trace": ("Recall", "Trace", "WhyNot"),
    "thinkback.settings": ("Settings",),
    "thinkback.stores.base": ("Problem", "Snapshot", "StoreState"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_HOMES)

if TYPE_CHECKING:
    from thinkback.aio import AsyncMemory as AsyncMemory
    from thinkback.aio import AsyncRecall as AsyncRecall
    from thinkback.clock import Moment as Moment
    from thinkback.errors import Action as Action
    from thinkback.errors import DatasetError as DatasetError
    from thinkback.errors import EmbeddingSpaceMismatch as EmbeddingSpaceMismatch
    from thinkback.errors import InvalidFile as InvalidFile
    from thinkback.errors import InvalidInput as InvalidInput
    from thinkback.errors import MissingExtra as MissingExtra
    from thinkback.errors import ModelDamaged as ModelDamaged
    from thinkback.errors import ModelError as ModelError
    from thinkback.errors import ModelUnavailable as ModelUnavailable
    from thinkback.errors import NotAStore as NotAStore
    from thinkback.errors import NotFound as NotFound
    from thinkback.errors import Notice as Notice
    from thinkback.errors import RecipeError as RecipeError
    from thinkback.errors import Remedy as Remedy
    from thinkback.errors import RemoteError as RemoteError
    from thinkback.errors import SecretWarning as SecretWarning
    from thinkback.errors import StoreBusy as StoreBusy
    from thinkback.errors import StoreDamaged as StoreDamaged
    from thinkback.errors import StoreError as StoreError
    from thinkback.errors import StoreReadOnly as StoreReadOnly
    from thinkback.errors import StoreTooNew as StoreTooNew
    from thinkback.errors import ThinkbackError as ThinkbackError
    from thinkback.errors import ThinkbackWarning as ThinkbackWarning
    from thinkback.fields import Kind as Kind
    from thinkback.fields import Priority as Priority
    from thinkback.fields import Tier as Tier
    from thinkback.inputs import Changes as Changes
    from thinkback.inputs import Fields as Fields
    from thinkback.inputs import Where as Where
    from thinkback.lifecycle.audit import AuditReport as AuditReport
    from thinkback.lifecycle.backup import BackedUp as BackedUp
    from thinkback.lifecycle.documents import Synced as Synced
    from thinkback.lifecycle.forget import Forgotten as Forgotten
    from thinkback.lifecycle.forget import Receipt as Receipt
    from thinkback.lifecycle.redact import Redacted as Redacted
    from thinkback.lifecycle.reflect.model import Consolidation as Consolidation
    from thinkback.lifecycle.reflect.model import Reflected as Reflected
    from thinkback.lifecycle.tidy import Tidied as Tidied
    from thinkback.lifecycle.tombstones import Tombstone as Tombstone
    from thinkback.lifecycle.transfer import Header as Header
    from thinkback.lifecycle.transfer import ImportReport as ImportReport
    from thinkback.lifecycle.undo import Undone as Undone
    from thinkback.memory import Memory as Memory
    from thinkback.model import Contribution as Contribution
    from thinkback.model import Draft as Draft
    from thinkback.model import Edge as Edge
    from thinkback.model import Hit as Hit
    from thinkback.model import JournalEntry as JournalEntry
    from thinkback.model import Judgement as Judgement
    from thinkback.model import Placing as Placing
    from thinkback.model import Record as Record
    from thinkback.model import StoredEdge as StoredEdge
    from thinkback.model import StoredJudgement as StoredJudgement
    from thinkback.model import StoredRecord as StoredRecord
    from thinkback.models.chat import Chat as Chat
    from thinkback.models.embedders.adapters import CallbackEmbedder as CallbackEmbedder
    from thinkback.models.embedders.base import Embedder as Embedder
    from thinkback.models.rerankers.base import Reranker as Reranker
    from thinkback.opening import open as open
    from thinkback.search.query.time import AnchorExtractor as AnchorExtractor
    from thinkback.search.ranking import Gathered as Gathered
    from thinkback.search.recipes.model import Recipe as Recipe
    from thinkback.search.trace import Recall as Recall
    from thinkback.search.trace import Trace as Trace
    from thinkback.search.trace import WhyNot as WhyNot
    from thinkback.settings import Settings as Settings
    from thinkback.stores.base import Problem as Problem
    from thinkback.stores.base import Snapshot as Snapshot
    from thinkback.stores.base import StoreState as StoreState
else:  # hidden from type checkers, so that a misspelt name is an error to them

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'thinkback' has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
