"""The shell commands of docs/http.md are run against a live server."""

import os
import re
import subprocess
from pathlib import Path

from thinkback.apps.http.routes import ROUTES

from live_server import listening  # isort: skip
from serving import Starter  # isort: skip

PAGE = Path(__file__).parents[3] / "docs" / "http.md"


def test_the_commands_work(start: Starter, tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    with listening(start(enter=False).server.app) as url:
        commands = "".join(block for block in blocks if "thinkback serve" not in block)
        script = "shopt -s expand_aliases\nset -e\n" + commands.replace("http://127.0.0.1:7077", url)
        environment = {**os.environ, "STORE_FOLDER": str(tmp_path)}
        ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert '"score":' in ran.stdout
    assert "there is no memory" in ran.stdout


def test_every_documented_route_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = [
        route.path
        for route in ROUTES
        if route.documented and route.path.split("/{id}/")[-1] not in page and route.path not in page
    ]
    assert missing == []
