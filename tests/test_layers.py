"""The layers of docs/architecture.md: each room imports only from the rooms below it, and some things are done in one room only."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import thinkback

ROOT = Path(thinkback.__file__).parent
# From the top of the house to its ground; names on one line may not import each other either, but for the last.
LAYERS = (
    ("__main__",),
    ("apps",),
    ("testing",),
    ("integrations",),
    ("interop",),
    ("evaluate",),
    ("aio",),
    ("opening",),
    ("memory", "library"),
    ("lifecycle",),
    ("search",),
    ("models",),
    ("stores",),
    ("messages", "where"),
    ("inputs",),
    (
        "conditions",
        "fields",
        "heads",
        "kinds",
        "languages",
        "mentions",
        "model",
        "passages",
        "plain",
        "reflections",
        "settings",
        "errors",
        "clock",
        "ids",
        "file_lock",
        "values",
    ),
)
HEIGHT = {room: len(LAYERS) - place for place, rooms in enumerate(LAYERS) for room in rooms}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
    if path != ROOT / "__init__.py"
}


def imported(tree: ast.Module, package: str = "thinkback") -> Iterator[str]:
    """Modules of ours that a module imports, wherever in it, but for what only the type checker sees."""
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == package:
                yield from (alias.name for alias in node.names)
            elif node.module.startswith(f"{package}."):
                below = node.module.removeprefix(f"{package}.")
                names = [f"{below}.{alias.name}" for alias in node.names]
                yield from (name if name in MODULES else below for name in names)
        elif isinstance(node, ast.Import):
            yield from (
                name.name.removeprefix(f"{package}.") for name in node.names if name.name.startswith(f"{package}.")
            )


def room(module: str) -> str:
    return module.partition(".")[0]


IMPORTS = {
    module: sorted({name for name in imported(ast.parse(path.read_text(encoding="utf-8"))) if name in MODULES})
    for module, path in MODULES.items()
}


def test_every_module_stands_in_a_layer():
    assert {room(module) for module in MODULES} <= set(HEIGHT)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_below(module):
    above = [
        name for name in IMPORTS[module] if room(name) != room(module) and HEIGHT[room(name)] > HEIGHT[room(module)]
    ]
    assert not above, f"{module} imports from above: {', '.join(above)}"


def test_no_module_imports_itself_by_a_detour():
    """Inside a room too: no cycle of imports, not even one that is broken by importing late."""
    graph = {
        module: [name for name in names if name != module and not module.startswith(f"{name}.")]
        for module, names in IMPORTS.items()
    }
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def users(*names: str) -> set[str]:
    """The rooms in which one of these outside modules is imported."""
    found = set()
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                modules.append(node.module)
            if any(name.partition(".")[0] in names for name in modules):
                found.add(room(module))
    return found


def test_only_stores_know_their_database():
    assert users("apsw", "sqlite3") == {"stores"}


def test_only_front_ends_use_what_serves_them():
    assert users("starlette", "uvicorn", "mcp", "typer", "rich", "pydantic") <= {"apps", "integrations"}


def attributes(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def test_the_environment_and_the_working_folder_are_read_by_programs_only():
    """`settings.load` is what programs call."""
    readers = {
        room(module)
        for module in MODULES
        if any(name in ("os.environ", "os.getenv", "os.getcwd", "Path.cwd") for name in attributes(module))
    }
    assert readers <= {"__main__", "apps", "settings"}
    loaders = {
        room(module)
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and node.module == "thinkback.settings"
        and "load" in {a.name for a in node.names}
    }
    assert loaders <= {"apps"}


@pytest.mark.parametrize(
    "module", [name for name in MODULES if HEIGHT[room(name)] > HEIGHT["memory"] and room(name) != "testing"]
)
def test_nobody_above_reaches_past_the_memory(module):
    past = [name for name in attributes(module) if name.endswith("memory.store") or "._memory.store" in name]
    assert not past, f"{module} uses {', '.join(past)}"
