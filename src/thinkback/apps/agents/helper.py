"""The resident helper: it keeps stores and models open for the hooks of a user's sessions, on a private socket.

It ends by itself: when nobody asked for a while, when the last session ended, and when another helper took its socket.
"""

import json
import os
import socketserver
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from thinkback.apps.agents.answers import Agents
from thinkback.apps.agents.log import log_error

IDLE_S = 900.0
_LOOK_S = 1.0


class Helper(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers one request a connection."""

    daemon_threads = False  # a capture that has begun is finished

    def __init__(self, path: Path, agents: Agents, idle_s: float = IDLE_S) -> None:
        self.path, self.agents, self._idle_s = path, agents, idle_s
        self.timeout = min(_LOOK_S, idle_s)
        self.last_used = time.monotonic()
        super().__init__(str(path), _Request)
        os.chmod(path, 0o600)
        self._inode = path.stat().st_ino

    def run(self) -> None:
        """Serve until there is no reason to stay."""
        while not self._over():
            self.handle_request()

    def _over(self) -> bool:
        idle = time.monotonic() - self.last_used
        return idle > self._idle_s or self.agents.finished or not self._mine()

    def _mine(self) -> bool:
        try:
            return self.path.stat().st_ino == self._inode
        except OSError:
            return False

    def server_close(self) -> None:
        """Close, and remove the socket unless another helper took its place."""
        if self._mine():
            self.path.unlink()
        super().server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Log instead of printing."""
        error = sys.exception() if sys.version_info >= (3, 11) else sys.exc_info()[1]
        if error is not None:
            log_error("helper", error)


class _Request(socketserver.StreamRequestHandler):
    server: Helper

    def handle(self) -> None:
        self.server.last_used = time.monotonic()
        answer = self.server.agents.answer(json.loads(self.rfile.readline()))
        with suppress(BrokenPipeError):
            self.wfile.write(answer.encode())
        self.server.last_used = time.monotonic()


def main(path: Path, idle_s: float = IDLE_S) -> None:
    """Serve at this socket, unless a helper does so already."""
    lock = path.with_suffix(".lock")
    try:
        descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        if time.time() - lock.stat().st_mtime < 30:  # another one is starting
            return
        descriptor = os.open(lock, os.O_WRONLY)
    try:
        with suppress(FileNotFoundError):
            path.unlink()
        agents = Agents()
        helper = Helper(path, agents, idle_s)
    finally:
        os.close(descriptor)
        lock.unlink(missing_ok=True)
    warm = threading.Thread(target=agents.warm)
    warm.start()
    with agents, helper:
        helper.run()
        warm.join()


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else IDLE_S)
