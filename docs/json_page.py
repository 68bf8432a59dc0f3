"""Writes docs/json.md from the shapes that `--json`, HTTP and MCP share: python docs/json_page.py."""

from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from thinkback.apps import wire, wire_upkeep

HEAD = """# JSON output

What `--json` prints, one object, or one object a line for lists. HTTP answers with the same shapes; `/openapi.json` has them as
JSON Schema. Times are ISO 8601 in UTC. Fields may be added in later versions; none is renamed or removed without a major version.
This page is written by `docs/json_page.py`, and a test compares it with the code.

| command | prints |
|---|---|
| `recall`, `search-keywords`, `search-reflections` | a [hit](#hit) a line, beside it `id`, `text`, `answered`, `backends_used` |
| `recall --why-not ID` | one [why not](#why-not) |
| `remember`, `update`, `get`, `list`, `history` | [memories](#memory) |
| `link`, `contest`, `neighbours` | [edges](#edge) |
| `forget`, `forget --verify` | [forgotten](#forgotten), a [receipt](#receipt) |
| `reflect`, `tidy`, `undo` | [reflected](#reflected), [tidied](#tidied), [undone](#undone) |
| `undo --list` | [batches](#batch), or the [entries](#entry) of one |
| `audit` | [audit](#audit) and `redacted` |
| `judge list` | [judgements](#judgement) |
| `recipes list` | [recipes](#recipe) |
| `doctor` | `healthy`, and what was found; see [the command line](cli.md#doctor) |
"""
LEFT_OUT = {"TraceShape", "RecallShape", "TracedRecallShape"}  # of HTTP alone


def page() -> str:
    """The whole page."""
    shapes = {
        name: value
        for module in (wire, wire_upkeep)
        for name, value in vars(module).items()
        if is_typeddict(value) and name not in LEFT_OUT
    }
    return HEAD + "".join(section(name, shape) for name, shape in sorted(shapes.items()))


def section(name: str, shape: Any) -> str:
    """One shape with its fields."""
    rows = "".join(f"| `{field}` | {kind(hint)} |\n" for field, hint in get_type_hints(shape).items())
    doc = (shape.__doc__ or "").split("\n\n")[0].replace("\n", " ").strip()
    return f"\n## {title(name)}\n{doc}\n\n| field | type |\n|---|---|\n{rows}"


def title(name: str) -> str:
    """`WhyNotShape` as a heading: Why not."""
    words = "".join(
        f" {letter.lower()}" if letter.isupper() else letter for letter in name.removesuffix("Shape")
    ).strip()
    return words[0].upper() + words[1:]


def kind(hint: Any) -> str:
    """A type in words."""
    if is_typeddict(hint):
        return f"[{title(hint.__name__).lower()}](#{title(hint.__name__).lower().replace(' ', '-')})"
    parts = get_args(hint)
    if get_origin(hint) is list:
        return f"list of {kind(parts[0])}"
    if get_origin(hint) is dict:
        return "object"
    if parts:
        return " or ".join(kind(part) for part in parts)
    names = {str: "text", int: "integer", float: "number", bool: "true or false", type(None): "null"}
    return names.get(hint, "any")


if __name__ == "__main__":
    Path(__file__).with_name("json.md").write_text(page(), encoding="utf-8")
