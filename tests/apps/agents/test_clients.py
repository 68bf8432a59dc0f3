"""Codex and Cursor, memory files, and which store belongs to a folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thinkback
from thinkback.apps.agents.answers import Agents
from thinkback.apps.agents.files import sections
from thinkback.apps.agents.scope import repository_of, store_of
from thinkback.apps.agents.transcripts import read
from thinkback.model import Record
from thinkback.settings import Settings

New = Callable[[], Agents]
FACT = "The nightly build runs at four in the morning on the machine called walrus."
ANSWER = "The crontab on walrus says the same: four in the morning."


def item(kind: str, text: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """A message in a transcript of Codex 0.166."""
    content = {"type": "Text" if kind == "AgentMessage" else "text", "text": text, **more}
    return "event_msg", {
        "type": "item_completed",
        "turn_id": "1",
        "item": {"type": kind, "id": "m", "content": [content]},
    }


def newer_rollout(path: Path) -> None:
    """A transcript of Codex, in the format of its version 0.166."""
    written = [
        ("session_meta", {"id": "019a", "cwd": "/src/app", "originator": "codex_exec", "cli_version": "0.166.0"}),
        ("event_msg", {"type": "task_started", "turn_id": "1"}),
        (
            "response_item",
            {"type": "message", "id": "m", "role": "user", "content": [{"type": "input_text", "text": FACT}]},
        ),
        item("UserMessage", FACT, text_elements=[]),
        item("AgentMessage", "I will check the crontab."),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}),
        item("AgentMessage", ANSWER),
        ("world_state", {"full": True, "state": {"agents_md": {}}}),
        ("event_msg", {"type": "task_complete", "turn_id": "1", "last_agent_message": ANSWER}),
    ]
    write(path, written)


def rollout(path: Path) -> None:
    """A transcript of Codex, in the format of its version 0.130."""
    rows: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": "019a", "cwd": "/src/app", "originator": "codex_cli_rs", "cli_version": "0.130.0"}),
        (
            "response_item",
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "# AGENTS.md …"}]},
        ),
        ("event_msg", {"type": "user_message", "message": FACT, "images": []}),
        ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": FACT}]}),
        ("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}),
        ("event_msg", {"type": "agent_message", "message": "I will check the crontab."}),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}),
        ("response_item", {"type": "function_call_output", "call_id": "c", "output": "0 4 * * *"}),
        ("event_msg", {"type": "agent_message", "message": ANSWER}),
        ("event_msg", {"type": "token_count", "info": None}),
    ]
    write(path, rows)


def write(path: Path, rows: list[tuple[str, dict[str, Any]]]) -> None:
    lines = [
        {"timestamp": f"2026-05-08T09:00:{n:02d}.000Z", "type": kind, "payload": data}
        for n, (kind, data) in enumerate(rows)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def stored(settings: Settings, folder: Path) -> list[Record]:
    path = store_of(repository_of(folder) or Path(), settings.store_path.parent)
    with thinkback.open(path, settings=settings, read_only=True) as memory:
        return sorted(memory.list(limit=100), key=lambda record: (record.created_at, record.id))


@pytest.mark.parametrize("write_rollout", [rollout, newer_rollout])
def test_codex(
    agents: New, settings: Settings, repository: Path, tmp_path: Path, write_rollout: Callable[[Path], None]
) -> None:
    running, path = agents(), tmp_path / "rollout-2026-05-08.jsonl"
    write_rollout(path)
    base = {
        "session_id": "019a",
        "transcript_path": str(path),
        "cwd": str(repository),
        "model": "gpt-5.6",
        "turn_id": "1",
    }
    stop = {**base, "hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "…"}
    for _ in range(2):
        assert running.answer({"client": "codex", "event": stop, "cwd": "/"}) == ""
    turns = stored(settings, repository)
    assert [(turn.speaker, turn.text) for turn in turns] == [
        ("user", FACT),
        ("assistant", ANSWER),
    ]
    ask = {
        **base,
        "session_id": "019b",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "when does the nightly build on walrus run?",
    }
    printed = json.loads(running.answer({"client": "codex", "event": ask, "cwd": "/"}))
    assert f"| {FACT}" in printed["hookSpecificOutput"]["additionalContext"]


def test_cursor(agents: New, settings: Settings, repository: Path) -> None:
    running = agents()
    base = {
        "conversation_id": "c1",
        "generation_id": "g1",
        "workspace_roots": [str(repository)],
        "cursor_version": "3.20.17",
    }

    def sent(name: str, **more: Any) -> str:
        return running.answer({"client": "cursor", "event": {**base, "hook_event_name": name, **more}, "cwd": "/"})

    assert sent("sessionStart", session_id="c1", is_background_agent=False) == ""
    for _ in range(2):
        assert sent("beforeSubmitPrompt", prompt=FACT, attachments=[]) == ""
        assert sent("afterAgentResponse", text="Noted: the nightly build runs on walrus.") == ""
    assert sent("stop", status="completed", loop_count=0) == ""
    assert len(stored(settings, repository)) == 2
    base |= {"conversation_id": "c2", "generation_id": "g2"}
    printed = json.loads(sent("beforeSubmitPrompt", prompt="when does the nightly build on walrus run?"))
    assert printed["continue"] is True
    assert f"| {FACT}" in printed["additional_context"]
    assert f"| {FACT}" in json.loads(sent("sessionStart"))["additional_context"]


def test_memory_files_are_read_again_when_they_change(
    agents: New, settings: Settings, repository: Path, tmp_path: Path
) -> None:
    running = agents()
    file = repository / "AGENTS.md"

    def start(client: str = "claude-code") -> str:
        data = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(repository), "transcript_path": ""}
        return running.answer({"client": client, "event": data, "cwd": "/"})

    file.write_text("# Build\nRun the tests with tox.\n\n## Style\nTabs, never spaces.\n")
    assert start() == "", "files are found by prompts; they are no part of the brief"
    first = {record.text: record.id for record in stored(settings, repository)}
    assert set(first) == {"# Build\nRun the tests with tox.", "## Style\nTabs, never spaces."}
    start()
    file.write_text("# Build\nRun the tests with nox.\n\n## Review\nTwo people look at each change.\n")
    start()
    second = {record.text: record.id for record in stored(settings, repository)}
    assert set(second) == {"# Build\nRun the tests with nox.", "## Review\nTwo people look at each change."}
    assert second["# Build\nRun the tests with nox."] == first["# Build\nRun the tests with tox."], "the same memory"
    ask = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "t",
        "cwd": str(repository),
        "prompt": "how do I run the tests with nox?",
    }
    assert "nox" in running.answer({"client": "claude-code", "event": ask, "cwd": "/"})
    assert running.answer({"client": "codex", "event": ask, "cwd": "/"}) == "", "Codex reads AGENTS.md by itself"
    file.unlink()
    start()
    assert stored(settings, repository) == []


def test_sections_are_split_at_headings_outside_of_code() -> None:
    text = "---\na: b\n---\nIntro.\n# A\n```sh\n# no heading\n```\n# B\n# C\nend\n# C\nagain\n"
    assert [body for _, body in sections(text)] == ["Intro.", "# A\n```sh\n# no heading\n```", "# C\nend", "# C\nagain"]
    assert len({title for title, _ in sections(text)}) == 4


def test_worktrees_share_a_store_and_strangers_do_not(tmp_path: Path) -> None:
    main, tree, evil = tmp_path / "main", tmp_path / "tree", tmp_path / "evil"
    private = main / ".git" / "worktrees" / "tree"
    for folder in (private, tree / "deep", evil):
        folder.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {private}\n")
    (private / "gitdir").write_text(f"{tree / '.git'}\n")
    (private / "commondir").write_text("../..\n")
    (evil / ".git").write_text(f"gitdir: {private}\n")
    assert repository_of(tree / "deep") == repository_of(main) == (main / ".git").resolve()
    assert repository_of(evil) == evil / ".git", "a folder that the repository does not know gets a store of its own"
    assert repository_of(tmp_path) is None
    data = Path("/data")
    assert store_of(main / ".git", data) == store_of(main / ".git", data) != store_of(evil / ".git", data)
    assert store_of(main / ".git", data).name.startswith("main-")


def test_a_line_that_is_being_written_waits(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    line = json.dumps({"type": "user", "uuid": "u", "message": {"role": "user", "content": FACT}})
    path.write_text(f"{line}\nbroken\n{line[:30]}")
    first = read(path, "claude-code")
    assert ([turn.text for turn in first.turns], first.left_out["unreadable"]) == ([FACT], 1)
    with path.open("a") as file:
        file.write(line[30:] + "\n")
    assert [turn.text for turn in read(path, "claude-code", first.end).turns] == [FACT]


@pytest.mark.parametrize("lines", [10, 200])
def test_long_code_is_left_out(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "t.jsonl"
    said = "Please look at this code:\n```python\n" + "x = 1\n" * lines + "```\nand say why it is slow."
    path.write_text(json.dumps({"type": "user", "uuid": "u", "message": {"role": "user", "content": said}}) + "\n")
    (turn,) = read(path, "claude-code").turns
    assert ("x = 1" in turn.text, "[200 lines of code]" in turn.text) == (lines == 10, lines == 200)
