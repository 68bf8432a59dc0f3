"""The locked requirements: every package of pyproject.toml is there, each with its hashes, and no package index is named."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = ("dev.txt", "release.txt")


def locked(name: str) -> dict[str, list[str]]:
    """The hashes of every package."""
    text = (ROOT / "requirements" / name).read_text()
    found: dict[str, list[str]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        pinned = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==\S+", line)
        if pinned:
            found.setdefault(pinned[1].lower(), []).extend(re.findall(r"--hash=(sha256:[0-9a-f]{64})", line))
    return found


def wanted() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked, names = list(project["dependencies"]) + list(extras["dev"]), set()
    while asked:
        one = asked.pop()
        name = re.match(r"[A-Za-z0-9._-]+", one)[0].lower()  # type: ignore[index]
        if name != "thinkback":
            names.add(name)
            continue
        asked += [inner for extra in re.search(r"\[(.*)\]", one)[1].split(",") for inner in extras[extra.strip()]]  # type: ignore[index]
    return names


def test_every_dependency_is_locked() -> None:
    missing = sorted(wanted() - set(locked("dev.txt")))
    assert not missing, f"run `make lock`: {missing}"


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_has_hashes_and_no_index_is_named(name: str) -> None:
    assert len(locked(name)) > 10
    assert all(locked(name).values())
    assert "://" not in (ROOT / "requirements" / name).read_text()
