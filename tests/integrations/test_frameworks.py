"""Every adapter, tested in an environment of its own with its framework installed: they need versions that exclude each other.

The environments are kept in the folder `.frameworks`, so that a second run is quick.
"""

import os
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".frameworks"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Each environment: the extras it has, the tests and the examples that run in it.
ENVIRONMENTS = {
    "lang": (("langgraph", "langchain"), ("langgraph", "langchain"), ("langgraph_store", "langchain_retriever")),
    "llama-index": (("llama-index",), ("llama_index",), ("llama_index_memory",)),
    "openai-agents": (("openai-agents",), ("openai_agents",), ("openai_agents_session",)),
    "google-adk": (("google-adk",), ("google_adk",), ("google_adk_memory",)),
    "crewai": (("crewai",), ("crewai",), ("crewai_storage",)),
    "pydantic-ai": (("pydantic-ai",), ("pydantic_ai",), ("pydantic_ai_toolset",)),
    "haystack": (("haystack",), ("haystack",), ("haystack_pipeline",)),
}


def python_of(name: str, extras: tuple[str, ...]) -> Path:
    """The interpreter of an environment; it is made again when what it needs has changed."""
    core = [
        one for one in PROJECT["dependencies"] if not one.startswith(("onnxruntime", "tokenizers"))
    ]  # no model is run
    wanted = [*core, "pytest>=8.3", *(one for extra in extras for one in PROJECT["optional-dependencies"][extra])]
    folder = FOLDER / f"{name}-{sha256(repr(wanted).encode()).hexdigest()[:8]}"
    python = folder / "bin" / "python"
    done = folder / "installed"
    if not done.exists():
        run([sys.executable, "-m", "venv", "--clear", str(folder)], 120)
        run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted], 1200)
        packages = next((folder / "lib").glob("python*/site-packages"))
        (packages / "thinkback.pth").write_text(f"{ROOT / 'src'}\n", encoding="utf-8")
        done.touch()
    return python


def run(command: list[str], seconds: int) -> str:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("THINKBACK_", "PYTHON", "PYTEST"))
    }
    quiet = {"OTEL_SDK_DISABLED": "true", "CREWAI_DISABLE_TELEMETRY": "true", "HAYSTACK_TELEMETRY_ENABLED": "False"}
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, cwd=ROOT, env={**clean, **quiet}, check=False
    )
    assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout[-4000:]}\n{ran.stderr[-4000:]}"
    return ran.stdout


def test_every_adapter_has_an_extra_a_test_an_example_and_a_place_in_the_docs() -> None:
    adapters = {path.stem for path in (ROOT / "src/thinkback/integrations").glob("*.py")} - {"__init__"}
    assert adapters == {test for _, tests, _ in ENVIRONMENTS.values() for test in tests}
    assert {name.replace("_", "-") for name in adapters} <= PROJECT["optional-dependencies"].keys()
    examples = {example for _, _, examples in ENVIRONMENTS.values() for example in examples}
    assert examples <= {path.stem for path in (ROOT / "examples").glob("*.py")}
    page = (ROOT / "docs/frameworks.md").read_text(encoding="utf-8")
    assert all(f"examples/{example}.py" in page for example in examples)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_adapter_works_with_its_framework(name: str) -> None:
    extras, tests, examples = ENVIRONMENTS[name]
    python = str(python_of(name, extras))
    here = ROOT / "tests/integrations"
    files = [str(here / f"test_{test}.py") for test in tests]
    plain = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={here}", f"--confcutdir={here}"]
    told = run([python, "-m", "pytest", *plain, *files], 600)
    assert "skipped" not in told, told
    for example in examples:
        assert run([python, str(ROOT / "examples" / f"{example}.py")], 120).strip()


def test_without_a_framework_its_extra_is_named() -> None:
    code = "import sys; sys.modules['langgraph'] = None; import thinkback.integrations.langgraph"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtra" in ran.stderr
    assert "thinkback[langgraph]" in ran.stderr
