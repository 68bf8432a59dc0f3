"""Verbs of which every app tells more than the engine returns."""

from collections.abc import Sequence
from dataclasses import replace

from thinkback.apps.words import counted
from thinkback.lifecycle import forget as forgetting
from thinkback.lifecycle.forget import Forgotten
from thinkback.lifecycle.receipt import Receipt
from thinkback.lifecycle.reflect.model import PUBLISHED, Consolidation, Reflected
from thinkback.lifecycle.reflect.observations import pages
from thinkback.memory import Memory, Progress
from thinkback.model import REFLECTION, Filter
from thinkback.search.pipeline import members

WHOLE_JOURNAL = 10_000_000


def forget(memory: Memory, ids: Sequence[str], *, closing: bool = False) -> Forgotten:
    """Forgets, and warns while the files may still hold something of it; before closing, large files are cleared too."""
    done = forgetting.forget(memory.store, ids, memory.clock())
    warnings = forgetting.lingering(memory.store) if done.ids else ()
    if warnings and closing and memory.store.scrub():
        return done
    return replace(done, warnings=warnings)


def still_naming(memory: Memory, receipt: Receipt) -> list[str]:
    """The reflections that keep a receipt from being verified: written by hand, they name what was forgotten."""
    if not any(search.where == "reflections" and search.found for search in receipt.searches):
        return []
    gone = set(receipt.forgotten)
    reflections = pages(memory.store, Filter(now=memory.clock(), kinds=(REFLECTION,), everything=True))
    return [reflection.id for reflection in reflections if gone.intersection(members(reflection))]


def reflect(
    memory: Memory, dry_run: bool, progress: Progress | None = None, settings: Consolidation = PUBLISHED
) -> Reflected:
    """Consolidates, and warns when memories take no part in it because they have no vector."""
    done = memory.reflect(dry_run, progress, settings=settings)
    bare = memory.stats().get("unembedded", 0)
    if not bare:
        return done
    without = f"{counted(bare, 'memory', 'memories')} without a vector can be in no theme; embed with: thinkback embed --missing"
    return replace(done, warnings=(*done.warnings, without))
