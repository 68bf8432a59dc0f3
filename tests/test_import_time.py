"""What is loaded when: starting must cost next to nothing, so heavy modules wait for their first use."""

import subprocess
import sys

import pytest

HEAVY = (
    "apsw",
    "asyncio",
    "httpx",
    "mcp",
    "numpy",
    "onnxruntime",
    "pydantic",
    "starlette",
    "tokenizers",
    "torch",
    "uvicorn",
)
MODELS = (
    "httpx",
    "mcp",
    "onnxruntime",
    "snowballstemmer",
    "starlette",
    "tokenizers",
    "torch",
    "transformers",
    "uvicorn",
)


def loaded(code: str, heavy: tuple[str, ...]) -> list[str]:
    """Which heavy modules are loaded after this code ran in a process of its own."""
    return run(code, f"print(*(m for m in {heavy!r} if m in sys.modules), file=sys.stderr)")


def run(code: str, seen: str) -> list[str]:
    """The words that the last statement prints after this code ran in a process of its own."""
    script = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\n{seen}"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stderr.splitlines()[-1].split()


def ours(code: str) -> list[str]:
    """Which modules of Thinkback are loaded after this code."""
    seen = "print(*sorted(m for m in sys.modules if m.split('.')[0] == 'thinkback'), file=sys.stderr)"
    return run(code, seen)


def test_importing_thinkback_loads_nothing_heavy():
    assert loaded("import thinkback", (*HEAVY, "platformdirs", "rich", "typer")) == []


def test_importing_thinkback_loads_none_of_its_parts():
    assert ours("import thinkback") == ["thinkback"]


def test_help_loads_few_of_its_parts():
    assert len(ours("from thinkback.apps.cli import main; main(['--help'])")) <= 35


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_loads_nothing_heavy(option):
    assert loaded(f"from thinkback.apps.cli import main; main([{option!r}])", HEAVY) == []


def test_a_memory_without_models_loads_none():
    code = "import thinkback; m = thinkback.open(':memory:', embedder=None); m.remember('He is here'); m.recall('x'); m.close()"
    assert loaded(code, (*MODELS, "numpy.ma")) == []


def test_a_first_recall_loads_only_what_it_needs():
    """Every process pays for this: a command line, an agent's helper, a worker."""
    code = "import thinkback; thinkback.open(':memory:', embedder=None).recall('What did Oscar eat yesterday?')"
    found = ours(code)
    rest = (
        "lifecycle.forget",
        "lifecycle.reflect",
        "lifecycle.secrets.detect",
        "lifecycle.transfer",
        "lifecycle.write",
    )
    models = ("models.chat", "models.weights", "search.explain", "search.present", "search.query.ask_model")
    upkeep = ("stores.sqlite.backup", "stores.sqlite.byte_search", "stores.sqlite.health", "stores.sqlite.snapshot")
    assert not {f"thinkback.{name}" for name in (*rest, *models, *upkeep)}.intersection(found)
    assert (
        loaded(code, ("configparser", "difflib", "fractions", "html", "platformdirs", "shutil", "socket", "tempfile"))
        == []
    )


def test_settings_need_no_engine():
    assert loaded("from thinkback.settings import load; load()", HEAVY) == []


def test_a_recall_after_a_write_does_not_load_masked_arrays() -> None:
    """`np.unique` and `np.union1d` load them, which takes longer than the recall."""
    code = (
        "import thinkback; memory = thinkback.open(':memory:', embedder=None, reranker=None); vector = [0.6, 0.8]; "
        "memory.remember_many([{'text': f'tea and honey {n}', 'id': str(n), 'vector': vector} for n in range(9)]); "
        "ask = lambda: memory.recall('tea', vector=vector); ask(); "
        "memory.remember('more tea', vector=vector); ask(); memory.archive('3'); ask(); memory.forget('4'); ask()"
    )
    assert loaded(code, ("numpy.ma",)) == []


def test_a_program_lets_idle_threads_of_openblas_sleep_at_once() -> None:
    """Else each spins for some 40 ms when NumPy is loaded, one a core: a tenth of what a command takes, or several times that."""
    code = "from thinkback.__main__ import main; sys.argv[1:] = ['--version']; {before}main()"
    seen = "import os; print(os.environ['OPENBLAS_THREAD_TIMEOUT'], file=sys.stderr)"
    assert run(code.format(before=""), seen) == ["20"]
    given = "import os; os.environ['OPENBLAS_THREAD_TIMEOUT'] = '26'; "
    assert run(code.format(before=given), seen) == ["26"]


def test_a_program_looks_for_garbage_rarely_while_it_starts() -> None:
    code = "from thinkback.__main__ import main; sys.argv[1:] = ['--version']; main()"
    assert run(code, "import gc; print(gc.get_threshold()[0], file=sys.stderr)") == ["100000"]


def test_a_program_does_not_look_for_garbage_at_its_end() -> None:
    """The interpreter would look through all that is loaded, which takes as long as a sixth of a recall."""
    code = "from thinkback.__main__ import main; sys.argv[1:] = ['--version']; main()"
    assert run(code, "import gc; print(gc.get_freeze_count() > 1000, file=sys.stderr)") == ["True"]


def test_a_library_sets_nothing_for_its_process() -> None:
    code = "import gc; before = gc.get_threshold(); import thinkback; thinkback.open(':memory:', embedder=None).recall('tea')"
    seen = "import os; print('OPENBLAS_THREAD_TIMEOUT' in os.environ, gc.get_threshold() == before, file=sys.stderr)"
    assert run(code, seen) == ["False", "True"]
