"""When a program looks for garbage: rarely while it starts, as usual while it serves, and not at its end.

A full collection looks at every object, and most of what is loaded stays for good: modules, classes, schemas. While an MCP server
starts, that took a sixth of the time, and at the end of a short command as much; while a server answers, it stops every request.
"""

import gc

_USUAL = gc.get_threshold()
_RARELY = 100_000  # new objects between two looks at the youngest; a command that answers at once makes few more


def collect_rarely() -> None:
    """From the start of a program on; a command that soon ends stays with it."""
    gc.set_threshold(_RARELY, *_USUAL[1:])


def collect_as_usual() -> None:
    """Where a program begins to serve: as usual again, without what is loaded by now."""
    gc.freeze()
    gc.set_threshold(*_USUAL)


def leave_garbage() -> None:
    """At the end of a program, whose memory the system takes back as a whole."""
    gc.freeze()
