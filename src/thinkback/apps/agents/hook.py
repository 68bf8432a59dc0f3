"""`thinkback hook CLIENT`: hand an event of a coding agent to the resident helper and print its answer.

An agent waits for its hooks, so this process loads nothing but a socket: opening a store and a model costs a second, which the
helper pays once. Whatever goes wrong, a hook prints nothing and exits with 0; the log names the error.
"""

import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

ANSWER_S = 4.0  # the longest that an agent waits for an answer
START_S = 20.0  # the longest that it waits for the helper to start, at the beginning of a session
LONGEST_FOLDER = 60  # characters; the address of a socket has room for about a hundred
LIMIT = 32 << 20  # bytes of an event
# What a helper depends on: two sessions with different settings have different helpers.
_DEPENDS = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")


def main(arguments: list[str]) -> int:
    """Answer one event on standard input; always exits with 0, because a memory is no reason to stop an agent."""
    try:
        sys.stdout.write(answered(arguments[0] if arguments else "", sys.stdin.buffer.read(LIMIT)))
        sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - an agent must not notice
        _log(error)
    return 0


def answered(client: str, event: bytes) -> str:
    """What to print for an event."""
    data = json.loads(event)
    if not isinstance(data, dict):
        return ""
    request = {"client": client, "event": data, "cwd": os.getcwd()}
    starts = str(data.get("hook_event_name", "")).lower() == "sessionstart"
    if not hasattr(socket, "AF_UNIX"):  # no private socket here: do the work in this process
        from thinkback.apps.agents.answers import Agents

        with Agents() as agents:
            return agents.answer(request)
    return _asked(request, START_S if starts else ANSWER_S)


def _asked(request: dict[str, Any], seconds: float) -> str:
    end = time.monotonic() + seconds
    path = socket_path()
    started = False
    while (left := end - time.monotonic()) > 0:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(left)
            try:
                connection.connect(str(path))
            except (FileNotFoundError, ConnectionRefusedError):
                if not started:
                    start_helper(path)
                    started = True
                time.sleep(0.02)
                continue
            connection.sendall(json.dumps(request).encode() + b"\n")
            connection.shutdown(socket.SHUT_WR)
            return _whole(connection)
    raise TimeoutError("the helper did not answer in time")


def _whole(connection: socket.socket) -> str:
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts).decode()


def start_helper(path: Path) -> None:
    """Start the resident helper, apart from this process and its terminal."""
    subprocess.Popen(
        [sys.executable, "-m", "thinkback.apps.agents.helper", str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def socket_path() -> Path:
    """The socket of the helper for this user, program and environment, in a folder that only the user may enter."""
    places = (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp")
    place = next(place for place in places if place and len(place) < LONGEST_FOLDER)
    folder = Path(place) / f"thinkback-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077 or folder.is_symlink():
        raise PermissionError(f"{folder} is not private")
    settings = sorted((name, value) for name, value in os.environ.items() if name.startswith("THINKBACK_"))
    known = (sys.executable, __file__, settings, [os.environ.get(name) for name in _DEPENDS])
    return folder / f"{hashlib.sha256(repr(known).encode()).hexdigest()[:16]}.sock"


def _log(error: Exception) -> None:
    with suppress(Exception):  # nothing is left to tell anybody
        from thinkback.apps.agents.log import log_error

        log_error("hook", error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
