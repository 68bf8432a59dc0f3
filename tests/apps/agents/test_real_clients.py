"""Claude Code and Codex themselves, with a model that answers one sentence; skipped where they are not installed.

npm install --global @anthropic-ai/claude-code @openai/codex
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_server import listening
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

pytestmark = pytest.mark.slow
FACT, QUESTION = "The staging database is called heron.", "What is the staging database called?"
ANSWER = "It is called heron, as you said."
COMMANDS = {
    "claude-code": ["claude", "-p"],
    "codex": ["codex", "exec", "--dangerously-bypass-hook-trust"],
}
CODEX = """model = "gpt-5"
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "{address}/v1"
env_key = "LOCAL_KEY"
wire_api = "responses"
"""


def events(*rows: dict[str, Any]) -> Response:
    lines = "".join(f"event: {row['type']}\ndata: {json.dumps(row)}\n\n" for row in rows)
    return Response(lines, media_type="text/event-stream")


def anthropic(model: str) -> Response:
    message = {"id": "m", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None}
    return events(
        {"type": "message_start", "message": {**message, "usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    )


def openai() -> Response:
    item = {"type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": ANSWER}]}
    usage = {"input_tokens": 1, "output_tokens": 9, "total_tokens": 10}
    return events(
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    )


@pytest.fixture
def model() -> Iterator[tuple[str, list[str]]]:
    """The address of a model, and what it was sent."""
    sent: list[str] = []

    async def answer(request: Request) -> Response:
        if request.method != "POST":
            return JSONResponse({"data": []})
        body = await request.json()
        if request.url.path.endswith("count_tokens"):
            return JSONResponse({"input_tokens": 1})
        sent.append(json.dumps(body))
        return openai() if request.url.path.endswith("/responses") else anthropic(str(body.get("model")))

    with listening(Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "HEAD", "POST"])])) as address:
        yield address, sent


@pytest.mark.parametrize("client", COMMANDS)
def test_a_real_session_is_captured_and_the_next_one_is_told(
    client: str, home: Path, repository: Path, model: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = shutil.which(COMMANDS[client][0])
    if program is None:
        pytest.skip(f"{COMMANDS[client][0]} is not installed")
    address, sent = model
    runtime = home.parent / "run"
    runtime.mkdir(mode=0o700)
    given = {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "sk-ant-none", "LOCAL_KEY": "none"}
    quiet = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "THINKBACK_EMBEDDER": "none",
        "THINKBACK_RERANKER": "none",
    }
    for name, value in {**given, **quiet, "XDG_RUNTIME_DIR": str(runtime)}.items():
        monkeypatch.setenv(name, value)
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(CODEX.format(address=address))
    shutil.rmtree(repository / ".git")
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    try:
        run([sys.executable, "-m", "thinkback", "agent", "install", client], repository)
        for prompt in (FACT, QUESTION):
            run([program, *COMMANDS[client][1:], prompt], repository)
    finally:
        subprocess.run(["pkill", "-f", f"agents.helper {runtime}"], check=False)
    asked = [body for body in sent if QUESTION in body]
    assert asked
    assert all(f"| {FACT}" in body for body in asked)


def run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, env=dict(os.environ), stdin=subprocess.DEVNULL, check=True, timeout=300)
