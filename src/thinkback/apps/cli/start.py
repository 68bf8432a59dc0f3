"""Commands for the first minutes: demo shows, tour lets you try."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from typer import Typer

from thinkback.apps.cli.command import command
from thinkback.apps.cli.options import Common
from thinkback.apps.cli.output import show_json, stdout
from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    from thinkback.memory import Memory

app = Typer()
PANEL = "Start"


@command(app, panel=PANEL, example="thinkback demo\nthinkback demo --store bakery.db")
def demo(common: Common) -> None:
    """Watch a small story: remember, recall, explain, change, forget; in a temporary file unless you name a new one."""
    from thinkback.apps import demo, wire

    with _new_memory(common) as memory:
        if not common.json:
            demo.tell(memory, stdout())
            return
        demo.remember(memory)
        for question, found in demo.answers(memory):
            show_json({"question": question.text, "shows": question.shows, "hits": [wire.hit(hit) for hit in found]})


@command(app, panel=PANEL, example="thinkback tour\nthinkback tour --store mine.db")
def tour(common: Common) -> None:
    """Try it yourself in five minutes: write a memory, ask for it, see why; in a temporary file unless you name a new one."""
    from rich.console import Console

    from thinkback.apps.tour import Tour

    with _new_memory(common) as memory:
        if common.json:
            steps = Tour(memory, Console(quiet=True), ask=None)
            show_json(*steps.take())
        else:
            console = stdout()
            Tour(memory, console, ask=console.input if sys.stdin.isatty() else None).take()


@contextmanager
def _new_memory(common: Common) -> "Iterator[Memory]":
    """An empty memory: a new file if one is named, else a temporary one."""
    import tempfile
    from pathlib import Path

    from thinkback.apps.cli.output import FetchProgress
    from thinkback.apps.cli.session import has_store
    from thinkback.apps.demo import warnings_once
    from thinkback.opening import Opener
    from thinkback.settings import load

    file = load(store=common.store).store_path if common.store is not None else None
    if file is not None and has_store(file):
        raise InvalidInput(f"{common.store} has memories already; name a new file, or leave --store out")
    with tempfile.TemporaryDirectory() as folder, warnings_once():
        opener = Opener(load(), secrets="warn", progress=FetchProgress())
        with opener(file or Path(folder) / "memory.db", recipe="default") as memory:
            yield memory
