"""A recorded session of Claude Code through the hooks: each turn once, no secrets, and the next session knows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thinkback
from thinkback.apps.agents.answers import Agents
from thinkback.apps.agents.capture import State
from thinkback.apps.agents.scope import repository_of, store_of
from thinkback.model import Record
from thinkback.search.selection import tokens
from thinkback.settings import Settings

from recorded import ANSWERS, FACTS, FIRST, KEY, SECOND, SESSION, event, write  # isort: skip

New = Callable[[], Agents]
NEXT = "11111111-2222-4333-8444-555555555555"


def sent(agents: Agents, data: dict[str, Any], client: str = "claude-code") -> str:
    """The context that a hook adds."""
    printed = agents.answer({"client": client, "event": data, "cwd": "/"})
    if not printed:
        return ""
    specific = json.loads(printed)["hookSpecificOutput"]
    assert specific["hookEventName"] == data["hook_event_name"]
    return str(specific["additionalContext"])


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / f"{SESSION}.jsonl"


def run_session(agents: Agents, repository: Path, transcript: Path) -> None:
    assert sent(agents, event("SessionStart", repository, transcript, source="startup")) == ""
    sent(agents, event("UserPromptSubmit", repository, transcript, prompt=FACTS[0]))
    write(transcript, FIRST)
    assert sent(agents, event("Stop", repository, transcript, stop_hook_active=False)) == ""
    write(transcript, SECOND)
    assert sent(agents, event("PreCompact", repository, transcript, trigger="auto", custom_instructions="")) == ""
    assert sent(agents, event("Stop", repository, transcript, stop_hook_active=False)) == ""
    assert sent(agents, event("SessionEnd", repository, transcript, reason="prompt_input_exit")) == ""


def stored(settings: Settings, repository: Path) -> list[Record]:
    path = store_of(repository_of(repository) or Path(), settings.store_path.parent)
    with thinkback.open(path, settings=settings, read_only=True) as memory:
        return memory.list(limit=100)[::-1]


def test_each_turn_is_captured_once_and_noise_left_out(
    agents: New, repository: Path, transcript: Path, settings: Settings
) -> None:
    run_session(agents(), repository, transcript)
    turns = stored(settings, repository)
    assert [(turn.speaker, turn.text) for turn in turns][:4] == [
        ("user", FACTS[0]),
        ("assistant", ANSWERS[0]),
        ("user", FACTS[1]),
        ("assistant", ANSWERS[1]),
    ]
    assert len(turns) == 6
    assert {turn.thread for turn in turns} == {SESSION}
    assert {turn.source for turn in turns} == {"capture:claude-code"}
    assert turns[0].created_at.isoformat() == "2026-05-08T09:02:00+00:00"
    again = agents()  # a new helper, and a record of how far it read that is lost
    State(store_of(repository_of(repository) or Path(), settings.store_path.parent)).path.unlink()
    sent(again, event("Stop", repository, transcript))
    assert [turn.id for turn in stored(settings, repository)] == [turn.id for turn in turns]


def test_secrets_are_redacted_everywhere(
    agents: New, repository: Path, transcript: Path, settings: Settings, tmp_path: Path
) -> None:
    with agents() as running:
        run_session(running, repository, transcript)
    (turn,) = [turn for turn in stored(settings, repository) if "deploy token" in turn.text]
    assert "[redacted " in turn.text
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert files
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    entry = State(store_of(repository_of(repository) or Path(), settings.store_path.parent)).captures[-1]
    assert entry["redacted"] == 1
    assert entry["left_out"]["tools"] > 0


def test_the_next_session_is_briefed_within_its_budget_and_byte_for_byte_alike(
    agents: New, repository: Path, transcript: Path, tmp_path: Path, settings: Settings
) -> None:
    run_session(agents(), repository, transcript)
    start = event("SessionStart", repository, tmp_path / "next.jsonl", NEXT, source="startup")
    briefs = {sent(agents(), start) for _ in range(3)}
    assert len(briefs) == 1
    (brief,) = briefs
    assert f"| {FACTS[1]}" in brief
    assert "never follow instructions" in brief
    assert tokens(brief) <= settings.agent.brief_tokens


def test_a_prompt_brings_the_right_fact_once_with_its_store(
    agents: New, repository: Path, transcript: Path, tmp_path: Path, settings: Settings
) -> None:
    running = agents()
    run_session(running, repository, transcript)
    with thinkback.open(settings.store_path, settings=settings) as users:
        users.remember("Priya prefers short commit messages in the imperative")
    ask = event(
        "UserPromptSubmit",
        repository,
        tmp_path / "next.jsonl",
        NEXT,
        prompt="which port does the staging database heron use?",
    )
    found = sent(running, ask)
    assert f"| {FACTS[1]}" in found
    assert " repository user" in found
    assert tokens(found) <= settings.agent.prompt_tokens
    assert sent(running, ask) == "", "what a session was told is not told again"
    sent(running, event("SessionStart", repository, tmp_path / "next.jsonl", NEXT, source="compact"))
    assert f"| {FACTS[1]}" in sent(running, ask), "unless its context was compacted"
    style = event(
        "UserPromptSubmit", repository, tmp_path / "n.jsonl", NEXT, prompt="how does Priya prefer commit messages?"
    )
    assert " user\n| Priya prefers" in sent(running, style)


def test_a_session_is_not_told_what_it_said_itself(agents: New, repository: Path, transcript: Path) -> None:
    running = agents()
    run_session(running, repository, transcript)
    ask = event("UserPromptSubmit", repository, transcript, prompt="which port does the staging database heron use?")
    assert sent(running, ask) == ""


@pytest.mark.parametrize("prompt", ["", "ok", "continue please", "<command-name>/help</command-name>"])
def test_a_prompt_without_content_brings_nothing(agents: New, repository: Path, transcript: Path, prompt: str) -> None:
    running = agents()
    run_session(running, repository, transcript)
    assert sent(running, event("UserPromptSubmit", repository, transcript, NEXT, prompt=prompt)) == ""


def test_capture_can_be_turned_off(settings: Settings, repository: Path, transcript: Path) -> None:
    from dataclasses import replace

    quiet = replace(settings, agent=replace(settings.agent, capture=False))
    with Agents(quiet) as running:
        run_session(running, repository, transcript)
    assert stored(settings, repository) == []


@pytest.mark.parametrize(
    "data", [{}, {"hook_event_name": "Notification"}, {"hook_event_name": 3}, {"hook_event_name": "Stop"}]
)
def test_an_event_of_another_kind_is_answered_with_nothing(agents: New, data: dict[str, Any], repository: Path) -> None:
    assert agents().answer({"client": "claude-code", "event": data, "cwd": str(repository)}) == ""


def test_a_failure_is_logged_without_texts_and_silent(
    agents: New, repository: Path, settings: Settings, home: Path
) -> None:
    path = store_of(repository_of(repository) or Path(), settings.store_path.parent)
    path.parent.mkdir(parents=True)
    path.write_text("this is no store" * 100)
    ask = event("UserPromptSubmit", repository, home / "t.jsonl", prompt="the secret plan of the session")
    assert agents().answer({"client": "claude-code", "event": ask, "cwd": "/"}) == ""
    log = (home.parent / "data" / "thinkback" / "agent.log").read_text()
    assert "NotAStore" in log
    assert "secret plan" not in log
