"""Nothing is better than noise: prompts about other things bring nothing, and those about what is known bring it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from itertools import product
from pathlib import Path

import pytest

import thinkback
from thinkback.apps.agents.answers import Agents
from thinkback.apps.agents.scope import repository_of, store_of
from thinkback.settings import Settings

from recorded import FIRST, SECOND, event, write  # isort: skip

pytestmark = pytest.mark.models
TASKS = (
    "refactor the {} so that it is easier to test",
    "why does the {} throw a null pointer exception on startup?",
    "write a unit test for the {}",
    "add dark mode to the {}",
    "translate the strings of the {} into Portuguese",
    "the {} is slow, profile it and tell me what takes the time",
    "document the public functions of the {}",
    "replace the deprecated calls in the {} by their successors",
    "is there a memory leak in the {}?",
    "rename the variables in the {} to camel case",
    "add type hints to the {} and run the checker",
    "make the {} keyboard accessible",
    "how would you structure the {} in Rust?",
    "catch the timeout in the {} and retry three times",
    "draw a sequence diagram of the {}",
    "remove the dead code from the {}",
    "move the {} into a package of its own",
    "why is the coverage of the {} so low?",
    "add pagination to the {}",
    "explain the regular expression in the {}",
)
PARTS = (
    "login form", "image uploader", "invoice parser", "search box", "video player", "chart component", "address validator",
    "shopping cart", "calendar widget", "password reset page", "markdown renderer", "thumbnail generator", "webhook receiver",
    "rate limiter", "tree view", "audio mixer", "map overlay", "spell checker", "file watcher", "CSV importer",
    "email template", "feature toggle", "colour picker", "undo stack", "quiz engine", "weather panel", "PDF exporter",
    "job scheduler", "seat planner", "tax calculator", "barcode scanner", "chat bubble", "avatar cropper", "game loop",
    "physics solver", "date picker", "drag and drop list", "news ticker", "voice recorder", "shader compiler",
    "tag editor", "recipe card", "loyalty counter", "progress bar", "sitemap crawler", "cookie banner", "tooltip",
    "keyboard layout", "sprite sheet", "poll widget",
)  # fmt: skip
PROMPTS = [task.format(part) for task, part in product(TASKS, PARTS)]
KNOWN = {
    "what is the staging database called, and on which port does it run?": "heron",
    "whom do I ask before I reset the staging database?": "Priya",
    "can I make a release on Friday?": "never on a Friday",
    "from which branch do we run make ship?": "stable",
}


@pytest.fixture
def running(settings: Settings, repository: Path, tmp_path: Path) -> Iterator[Agents]:
    """A session that was captured, and another project's story in the user's store."""
    chosen = replace(settings, embedder="default")
    story = [
        json.loads(line) for line in (resources.files("thinkback.apps") / "nordlys.jsonl").read_text().splitlines()
    ]
    settings.store_path.parent.mkdir(parents=True, exist_ok=True)
    with thinkback.open(settings.store_path, settings=chosen) as users:
        users.remember_many([line["text"] for line in story if "text" in line])
    write(tmp_path / "t.jsonl", FIRST, SECOND)
    with Agents(chosen) as agents:
        agents.answer({"client": "claude-code", "event": event("Stop", repository, tmp_path / "t.jsonl"), "cwd": "/"})
        yield agents
    assert store_of(repository_of(repository) or Path(), settings.store_path.parent).exists()


def answered(agents: Agents, folder: Path, prompt: str, session: str) -> str:
    data = event("UserPromptSubmit", folder, folder / "none.jsonl", session, prompt=prompt)
    return agents.answer({"client": "claude-code", "event": data, "cwd": "/"})


def test_prompts_about_other_things_bring_nothing(running: Agents, repository: Path) -> None:
    assert len(set(PROMPTS)) == 1000
    noisy = [prompt for number, prompt in enumerate(PROMPTS) if answered(running, repository, prompt, f"s{number}")]
    print(f"{len(noisy)} of 1000 brought something: {noisy[:10]}")
    assert len(noisy) <= 100


@pytest.mark.parametrize("prompt", KNOWN)
def test_prompts_about_what_is_known_bring_it(running: Agents, repository: Path, prompt: str) -> None:
    assert KNOWN[prompt] in answered(running, repository, prompt, "s")
