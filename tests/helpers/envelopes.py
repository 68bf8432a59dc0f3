"""Reading an envelope the way a strict client would: any line outside a quotation is an error."""

import json
import re

MARKED = re.compile(r"^\[([0-9a-f]{16}) (memory|end of memory) (\d+)(?: (\{.*\}))?\]$")


def read(envelope: str) -> list[tuple[str, dict[str, object]]]:
    """The texts and their provenance."""
    opening, *lines = envelope.split("\n")
    mark = re.search(r"marked ([0-9a-f]{16})\.$", opening)
    assert mark is not None
    found: list[tuple[str, dict[str, object]]] = []
    inside: list[str] | None = None
    provenance: dict[str, object] = {}
    for line in lines:
        border = MARKED.match(line)
        if inside is None:
            assert border is not None, line
            assert (border[1], border[2], int(border[3])) == (mark[1], "memory", len(found) + 1)
            inside, provenance = [], json.loads(border[4])
        elif line.startswith("| "):
            inside.append(line[2:])
        else:
            assert border is not None, line
            assert (border[1], border[2], int(border[3])) == (mark[1], "end of memory", len(found) + 1)
            found.append(("\n".join(inside), provenance))
            inside = None
    assert inside is None
    return found
