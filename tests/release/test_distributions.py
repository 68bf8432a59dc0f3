"""What users install: the wheel and the sdist, built here and installed into an empty environment."""

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.release]

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LARGEST_INSTALL = 260_000_000  # bytes of the base install with everything it depends on
BIN = "Scripts" if os.name == "nt" else "bin"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was made from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=True)
    run(str(folder / BIN / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    return folder


def run(*command: str, **settings: str) -> str:
    """What a command prints; it must succeed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("THINKBACK_", "PYTHON", "COV"))}
    ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env={**kept, **settings})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"thinkback", f"thinkback-{PROJECT['version']}.dist-info"}
    assert "thinkback/py.typed" in names
    assert not [name for name in names if name.endswith((".pyc", ".db"))]
    here = {
        f"thinkback/{file.relative_to(ROOT / 'src/thinkback').as_posix()}" for file in files_of(ROOT / "src/thinkback")
    }
    assert {name for name in names if name.startswith("thinkback/")} == here


def files_of(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts]


def test_the_wheel_tells_what_it_is(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    about = message_from_bytes(archive.read(f"thinkback-{PROJECT['version']}.dist-info/METADATA"))
    assert set(about.get_all("Provides-Extra") or ()) == set(PROJECT["optional-dependencies"])
    assert {url.split(", ")[0] for url in about.get_all("Project-URL") or ()} == set(PROJECT["urls"])
    versions = {line.rpartition(" ")[2] for line in about.get_all("Classifier") or () if "Python :: 3." in line}
    assert versions == {"3.11", "3.12", "3.13", "3.14"}
    assert about["License-Expression"] == "Apache-2.0"


def test_the_sdist_can_be_tested_and_holds_nothing_private(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "Makefile", "src/thinkback/py.typed"} <= names
    assert "tests/conftest.py" in names
    assert not [name for name in names if name.startswith((".venv", ".git/", "build"))]


def test_an_empty_environment_runs_it(environment: Path, tmp_path: Path) -> None:
    command = str(environment / BIN / "thinkback")
    assert run(command, "--version") == f"thinkback {PROJECT['version']}\n"
    assert run(str(environment / BIN / "python"), "-m", "thinkback", "--version") == f"thinkback {PROJECT['version']}\n"
    store = str(tmp_path / "memory.db")
    run(command, "remember", "Caroline adopted a grey cat", "--store", store, "--embedder", "none")
    assert "grey cat" in run(command, "recall", "cat", "--store", store, "--embedder", "none")


def test_an_empty_environment_has_the_page_and_the_story(environment: Path) -> None:
    script = (
        "from importlib.resources import files\n"
        "static = files('thinkback.apps.inspector').joinpath('static')\n"
        "print(*sorted(file.name for file in static.iterdir()))\n"
        "print(files('thinkback.apps').joinpath('nordlys.jsonl').is_file())\n"
    )
    page, story = run(str(environment / BIN / "python"), "-c", script).splitlines()
    assert page.split() == sorted(file.name for file in (ROOT / "src/thinkback/apps/inspector/static").iterdir())
    assert story == "True"


def test_servers_say_which_extra_they_need(environment: Path) -> None:
    ran = subprocess.run(
        [environment / BIN / "thinkback", "serve"], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert ran.returncode == 1
    assert "thinkback[serve]" in ran.stderr


@pytest.mark.models
def test_the_demo_runs_offline_after_one_fetch(environment: Path) -> None:
    command = str(environment / BIN / "thinkback")
    run(command, "models", "pull")
    story = run(command, "demo", THINKBACK_OFFLINE="true")
    assert "nothing is left" in story
    assert "My brother lends us his truck" in story


def test_the_base_install_stays_light(environment: Path, record_property: pytest.FixtureRequest) -> None:
    (packages,) = [path for path in environment.rglob("site-packages") if path.is_dir()]
    sizes = {
        entry.name: sum(file.stat().st_size for file in files_of(entry)) if entry.is_dir() else entry.stat().st_size
        for entry in packages.iterdir()
        if not entry.name.startswith(("pip", "setuptools"))
    }
    record_property("bytes", sum(sizes.values()))  # type: ignore[operator]
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:6]
    print(f"base install: {sum(sizes.values()) / 1e6:.0f} MB; {largest}")
    assert sum(sizes.values()) < LARGEST_INSTALL, largest
    assert not {"torch", "transformers", "sentence_transformers", "pandas", "scipy", "mkdocs"} & set(sizes)
