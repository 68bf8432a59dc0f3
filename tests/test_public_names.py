"""What `import thinkback` offers: every type that a public method takes or returns, each name real and documented."""

import ast
import inspect
import tomllib
import typing
from pathlib import Path
from typing import Any

import pytest

import thinkback


def test_every_public_name_is_there_and_documented():
    for name in thinkback.__all__:
        value = getattr(thinkback, name)
        assert value.__doc__ or not isinstance(value, type), name
    assert set(thinkback.__all__) <= set(dir(thinkback))


def test_type_checkers_and_programs_see_the_same_names():
    """The names are listed twice, for the type checker and for loading on first use; this finds the line that is missing."""
    (block,) = (node for node in ast.parse(Path(thinkback.__file__).read_text()).body if isinstance(node, ast.If))
    checked = {(alias.asname, node.module) for node in block.body for alias in node.names}
    assert checked == set(thinkback._HOMES.items())


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(thinkback, "recall")


@pytest.mark.parametrize("name", ["Memory", "AsyncMemory", "Recall", "AsyncRecall", "Hit"])
def test_every_type_that_a_public_method_takes_or_returns_is_exported(name):
    members = [member for verb, member in vars(getattr(thinkback, name)).items() if not verb.startswith("_")]
    functions = [inspect.unwrap(getattr(member, "fget", member)) for member in members]
    hints = [typing.get_type_hints(function) for function in functions if inspect.isfunction(function)]
    named = {one for hint in hints for value in hint.values() for one in classes(value)}
    missing = sorted(f"{one.__module__}.{one.__name__}" for one in named if one.__name__ not in thinkback.__all__)
    assert missing == []


def classes(hint: Any) -> set[type]:
    """The classes of ours that a type hint names."""
    found = {one for part in typing.get_args(hint) for one in classes(part)}
    ours = isinstance(hint, type) and hint.__module__.startswith("thinkback")
    return found | {hint} if ours else found


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert thinkback.__version__ == project["version"]
