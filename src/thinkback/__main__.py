"""The `thinkback` command, also as `python -m thinkback`."""

import os
import sys

from thinkback.apps.garbage import collect_rarely, leave_garbage


def main() -> None:
    """Run the command line."""
    # NumPy's OpenBLAS starts a thread for every core, and each spins for 40 ms before it sleeps; so it sleeps at once.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    collect_rarely()
    try:
        _run()
    finally:
        leave_garbage()


def _run() -> None:
    """A hook of a coding agent, which waits for it, is run without loading the rest."""
    if sys.argv[1:2] == ["hook"] and len(sys.argv) == 3 and not sys.argv[2].startswith("-"):
        from thinkback.apps.agents.hook import main as hook

        sys.exit(hook(sys.argv[2:]))
    from thinkback.apps.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
