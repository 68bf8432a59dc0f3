"""Nothing only POSIX has is used without a guard, and the package works on a platform that lacks it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "thinkback"
FILES = sorted(SRC.rglob("*.py"))
POSIX_MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "posix", "tty", "pty", "syslog"}
POSIX_NAMES = {
    "fork", "getuid", "geteuid", "getgid", "fchmod", "fchown", "chown", "uname", "getpgid", "setsid", "killpg", "mkfifo",
    "register_at_fork", "sched_getaffinity", "O_NOFOLLOW", "O_DIRECTORY", "SIGPIPE", "SIGKILL", "SIGHUP", "SIGUSR1", "SIGALRM",
    "AF_UNIX",
}  # fmt: skip
# Reached only where `hook.answered` has found a private socket.
GUARDED = {"apps/agents/hook.py", "apps/agents/helper.py"}
TEXT_READERS = {"read_text", "write_text"}
PATHS = ("/tmp", "/dev/", "/etc/", "/usr/", "/home/", "C:\\")
# Where the settings of pip and uv are looked for, among other places; skipped where they are not.
ALLOWED = {"/etc/pip.conf", "/etc/uv/uv.toml", "/etc/xdg"}


def guarded(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether it stands below a check of the platform or of the name itself, or its failure is expected."""
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.If) and any(word in ast.dump(node.test) for word in ("platform", "hasattr", "'name'")):
            return True
        if isinstance(node, ast.Try) and any("ImportError" in ast.dump(one) for one in node.handlers):
            return True
    return False


def nodes() -> Iterator[tuple[str, ast.AST, bool]]:
    """Every node of the source: where it is, the node, and whether it is guarded."""
    for file in FILES:
        if file.relative_to(SRC).as_posix() in GUARDED:
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute | ast.Call | ast.Constant):
                yield f"{file.relative_to(SRC).as_posix()}:{node.lineno}", node, guarded(node, parents)


@pytest.mark.slow
def test_no_call_of_posix_alone_without_a_guard() -> None:
    for where, node, is_guarded in nodes():
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {one.name for one in node.names} if isinstance(node, ast.Import) else {node.module}
            assert not names & POSIX_MODULES or is_guarded, f"{where}: {names}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in POSIX_NAMES:
            own = node.value.id in {"os", "signal", "socket"}
            assert not own or is_guarded, f"{where}: {node.value.id}.{node.attr}"


@pytest.mark.slow
def test_paths_and_encodings_are_portable() -> None:
    """No path is written with its separators, and no text is read or written in the encoding of the machine."""
    for where, node, _ in nodes():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not node.value.startswith(PATHS) or node.value in ALLOWED, where
        if isinstance(node, ast.Call):
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            assert method not in TEXT_READERS or "encoding" in {one.arg for one in node.keywords}, where


FAKE = """
import asyncio, concurrent.futures, ctypes, http.server, inspect, os, pathlib, pkgutil, shutil, signal, socket, subprocess, sys
import tempfile, types, importlib, warnings, multiprocessing, logging.handlers, urllib.request, zipfile, ssl
import apsw, httpx, numpy, rich.console, rich.table, rich.progress, tokenizers, tomli_w, typer, onnxruntime
import mcp.server, prometheus_client, pydantic, starlette.responses, uvicorn  # what runs on Windows too, loaded before it is faked

for name in NAMES:
    for module in (os, signal, socket):
        if hasattr(module, name):
            delattr(module, name)
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
for name in MODULES:
    sys.modules.pop(name, None)
locking = types.ModuleType("msvcrt")
locking.LK_LOCK, locking.locking = 1, lambda descriptor, mode, size: None
sys.modules["msvcrt"] = locking
sys.platform, os.name = "win32", os.name

import thinkback
failed = []
for module in pkgutil.walk_packages(thinkback.__path__, "thinkback."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name in MODULES:
            failed.append(f"{module.name}: {error}")
    except AttributeError as error:
        failed.append(f"{module.name}: {error}")
    except Exception as error:  # a missing extra says so in its own words
        if "extra" not in type(error).__name__.lower():
            failed.append(f"{module.name}: {error!r}")
assert not failed, failed

from thinkback.testing import ToyEmbedder
with tempfile.TemporaryDirectory() as folder:
    with thinkback.open(pathlib.Path(folder) / "memory.db", embedder=ToyEmbedder()) as memory:
        kept = memory.remember("Caroline adopted a grey cat", tags=["pets"])
        gone = memory.remember("the code of the door is 44170000")
        assert memory.recall("what cat does Caroline have?", limit=1)[0].id == kept.id
        assert memory.forget_verified(gone.id).verified
print("portable")
"""


@pytest.mark.slow
def test_a_platform_without_posix_calls_remembers_and_recalls() -> None:
    """Every module is imported and a memory is used while the calls and modules of POSIX are gone and `sys.platform` is win32."""
    script = f"NAMES = {sorted(POSIX_NAMES - {'AF_UNIX', 'fork'})!r}\nMODULES = {sorted(POSIX_MODULES)!r}\n{FAKE}"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, encoding="utf-8", check=False)
    assert ran.stdout.strip().endswith("portable"), ran.stdout + ran.stderr
