"""Settings: which source wins, what is refused, what is never shown."""

from pathlib import Path

import pytest

import thinkback
from thinkback.errors import InvalidInput
from thinkback.settings import (
    Settings,
    described,
    fetch_options,
    layers,
    leaves,
    load,
    open_options,
    settings_of,
    variable,
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without files and without variables."""
    for key in leaves():
        monkeypatch.delenv(variable(key), raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "config" / "thinkback").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def test_nothing_said_is_every_default(home):
    assert load() == Settings()
    assert load().store_path == home / "data" / "thinkback" / "memory.db"


def test_the_later_source_wins(home, monkeypatch):
    """User's file, then the file here, then the environment, then the call."""
    write(
        home / "config" / "thinkback" / "thinkback.toml",
        'recipe = "memini"\nembedder = "a"\nreranker = "b"\ndevice = "cpu"\n',
    )
    write(home / "here" / "thinkback.toml", 'recipe = "gorag"\nembedder = "c"\nreranker = "d"\n')
    monkeypatch.setenv("THINKBACK_RECIPE", "engrava")
    monkeypatch.setenv("THINKBACK_EMBEDDER", "e")
    settings = load(recipe="precise", reranker=None)
    assert (settings.recipe, settings.embedder, settings.reranker, settings.device) == ("precise", "e", "d", "cpu")


def test_each_value_says_where_it_came_from(home, monkeypatch):
    write(home / "config" / "thinkback" / "thinkback.toml", 'device = "cpu"\n')
    write(home / "here" / "thinkback.toml", "[llm]\nmodel = 'm'\n")
    monkeypatch.setenv("THINKBACK_LLM_KEY", "very-secret")
    shown = {one.key: (one.shown, one.source) for one in described(store="x.db")}
    assert shown["device"] == ("cpu", str(home / "config" / "thinkback" / "thinkback.toml"))
    assert shown["llm.model"] == ("m", "thinkback.toml")
    assert shown["llm.key"] == ("********", "the environment")
    assert shown["store"] == ("x.db", "the call")
    assert shown["recipe"] == ("default", "default")


def test_secrets_are_in_no_representation(monkeypatch):
    monkeypatch.setenv("THINKBACK_LLM_KEY", "very-secret")
    monkeypatch.setenv("THINKBACK_API_KEY", "also-secret")
    settings = load()
    assert (settings.llm.key, settings.api_key) == ("very-secret", "also-secret")
    assert "secret" not in repr(settings) + repr(open_options(settings))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('recpie = "x"', "Did you mean 'recipe'?"),
        ('[llm]\nbaseurl = "x"', "Did you mean 'llm.base_url'?"),
        ('[lmm]\nmodel = "x"', "Did you mean 'llm.model'?"),
        ('llm = "x"', "unknown"),
        ("offline = 3", "offline must be true or false"),
        ('threads = "many"', "threads must be a whole number above 0"),
        ("threads = 0", "threads must be a whole number above 0"),
        ("threads = true", "threads must be a whole number above 0"),
        ('device = "gpu"', "device must be auto, cpu, cuda"),
        ("recipe = 3", "recipe must be a text; thinkback.toml has 3"),
        ('store = ""', "store must be a path"),
        ("recipe = ", "thinkback.toml is not TOML"),
        ("llm.key = 3", "a value that is kept secret"),
    ],
)
def test_a_wrong_file_is_an_error_that_says_so(home, text, said):
    write(home / "here" / "thinkback.toml", text)
    with pytest.raises(InvalidInput) as error:
        load()
    assert said in str(error.value)


def test_a_file_that_is_no_text_is_an_error(home):
    (home / "here" / "thinkback.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match=r"thinkback\.toml is not TOML"):
        load()


def test_an_unknown_variable_is_an_error_with_the_nearest(monkeypatch):
    monkeypatch.setenv("THINKBACK_RECPIE", "x")
    with pytest.raises(InvalidInput, match="Did you mean 'THINKBACK_RECIPE'"):
        load()


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("1", True),
        ("true", True),
        ("YES", True),
        ("on", True),
        ("0", False),
        ("false", False),
        ("no", False),
        ("off", False),
    ],
)
def test_truth_in_the_environment(word, value):
    assert settings_of(layers({}, {"THINKBACK_OFFLINE": word})).offline is value


def test_an_empty_variable_is_none():
    assert settings_of(layers({}, {"THINKBACK_OFFLINE": "", "THINKBACK_STORE": ""})) == Settings()


def test_a_relative_path_belongs_to_its_file(home):
    write(
        home / "config" / "thinkback" / "thinkback.toml", 'store = "m.db"\nrecipe = "mine.toml"\nmodels = "~/weights"\n'
    )
    settings = load()
    assert settings.store == home / "config" / "thinkback" / "m.db"
    assert settings.recipe == str(home / "config" / "thinkback" / "mine.toml")
    assert settings.models == Path.home() / "weights"


def test_settings_reach_the_models(monkeypatch):
    monkeypatch.setenv("THINKBACK_OFFLINE", "1")
    monkeypatch.setenv("THINKBACK_MODELS", "weights")
    monkeypatch.setenv("THINKBACK_INDEX_URL", "https://index.example/simple")
    monkeypatch.setenv("THINKBACK_DEVICE", "cpu")
    monkeypatch.setenv("THINKBACK_THREADS", "3")
    fetch = fetch_options()
    assert (fetch.offline, fetch.folder) == (True, Path("weights"))
    assert fetch.indexes.index_urls == ("https://index.example/simple",)
    options = open_options()
    assert (options.device, options.threads, options.fetch) == ("cpu", 3, fetch)


def test_python_uses_the_same_settings_and_the_call_wins(home, monkeypatch):
    monkeypatch.setenv("THINKBACK_STORE", str(home / "mine.db"))
    monkeypatch.setenv("THINKBACK_EMBEDDER", "none")
    monkeypatch.setenv("THINKBACK_RECIPE", "keyword")
    with thinkback.open() as memory:
        memory.remember("Oscar")
        assert memory.recipe.name == "keyword"
        assert memory.recall("Oscar").warnings == ()
    assert (home / "mine.db").exists()
    with thinkback.open(home / "other.db", recipe="memini") as memory:
        assert memory.recipe.name == "memini"


def test_the_default_store_gets_its_folder(home, monkeypatch):
    monkeypatch.setenv("THINKBACK_EMBEDDER", "none")
    with thinkback.open() as memory:
        memory.remember("Oscar")
    assert (home / "data" / "thinkback" / "memory.db").exists()
