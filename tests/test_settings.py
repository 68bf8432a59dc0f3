"""Settings: which source wins, what is refused, what is never shown."""

from pathlib import Path

import pytest
from codes import raises

import thinkback
from thinkback.errors import InvalidFile, InvalidInput
from thinkback.opening import fetch_options, open_options
from thinkback.search.recipes.named import named
from thinkback.settings import (
    Settings,
    described,
    layers,
    leaves,
    load,
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


def user_file(home: Path) -> Path:
    return home / "config" / "thinkback" / "thinkback.toml"


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
    write(home / "here" / "thinkback.toml", "threads = 2\n")
    monkeypatch.setenv("THINKBACK_LLM_KEY", "very-secret")
    shown = {one.key: (one.shown, one.source) for one in described(store="x.db")}
    assert shown["device"] == ("cpu", str(home / "config" / "thinkback" / "thinkback.toml"))
    assert shown["threads"] == (2, "thinkback.toml")
    assert shown["llm.key"] == ("********", "the environment")
    assert shown["store"] == ("x.db", "the call")
    assert shown["recipe"] == ("default", "default")


def test_secrets_are_in_no_representation(monkeypatch):
    monkeypatch.setenv("THINKBACK_LLM_KEY", "very-secret")
    monkeypatch.setenv("THINKBACK_API_KEY", "also-secret")
    settings = load()
    assert (settings.llm.key, settings.api_key) == ("very-secret", "also-secret")
    assert "-secret" not in repr(settings) + repr(open_options(settings))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('recpie = "x"', "unknown_setting"),
        ('[llm]\nbaseurl = "x"', "unknown_setting"),
        ('[lmm]\nmodel = "x"', "unknown_setting"),
        ('llm = "x"', "unknown_setting"),
        ("offline = 3", "invalid_setting"),
        ('threads = "many"', "invalid_setting"),
        ("threads = 0", "invalid_setting"),
        ("threads = true", "invalid_setting"),
        ('device = "gpu"', "invalid_setting"),
        ("recipe = 3", "invalid_setting"),
        ('store = ""', "invalid_setting"),
        ("recipe = ", "not_toml"),
    ],
)
def test_a_wrong_file_is_an_error_that_says_so(home, text, code):
    write(home / "here" / "thinkback.toml", text)
    with raises(InvalidFile, code):
        load()


def test_some_counts_may_be_zero(home):
    write(user_file(home), "journal_days = 0\npostgres.copies_mb = 0")
    settings = load()
    assert (settings.journal_days, settings.postgres.copies_mb) == (0, 0)


def test_an_unknown_key_names_the_nearest(home):
    write(home / "here" / "thinkback.toml", 'recpie = "x"')
    with pytest.raises(InvalidFile, match="Did you mean 'recipe'"):
        load()


def test_a_wrong_secret_is_not_shown(home):
    write(user_file(home), "llm.key = 31337")
    with pytest.raises(InvalidFile) as error:
        load()
    assert "31337" not in str(error.value)


def test_a_file_that_is_no_text_is_an_error(home):
    (home / "here" / "thinkback.toml").write_bytes(b"\xff\xfe")
    with raises(InvalidFile, "not_toml"):
        load()


@pytest.mark.parametrize(
    "text",
    [
        '[llm]\nbase_url = "http://evil.example/v1"',
        '[llm]\nmodel = "m"',
        '[llm]\nkey = "k"',
        'api_key = "k"',
        'index_url = "http://evil.example/simple"',
        'models = "weights"',
    ],
)
def test_a_file_in_a_working_folder_sets_no_address_and_no_key(home, text):
    write(home / "here" / "thinkback.toml", text)
    with raises(InvalidFile, "untrusted_setting"):
        load()
    write(user_file(home), text)
    (home / "here" / "thinkback.toml").unlink()
    load()


@pytest.mark.parametrize(
    "name", ["openai:m@http://evil.example/v1", "ollama:m@http://evil.example", "st:any/model", "weights"]
)
@pytest.mark.parametrize("role", ["embedder", "reranker"])
def test_a_file_in_a_working_folder_names_pinned_models_only(home, role, name):
    (home / "here" / "weights").mkdir()
    write(home / "here" / "thinkback.toml", f'{role} = "{name}"')
    with raises(InvalidInput, "untrusted_setting"):
        thinkback.open(home / "m.db", settings=load())
    write(home / "here" / "thinkback.toml", f'{role} = "bge-small-en-v1.5"')
    thinkback.open(home / "m.db", settings=load()).close()


def test_a_key_goes_only_to_an_address_of_the_same_place(home, monkeypatch):
    """A key in the user's file is not sent to a server that only the shell named, nor the other way round."""
    write(user_file(home), 'api_key = "mine"\nembedder = "openai:m@https://one.example/v1"')
    assert load().key_for("api_key", "embedder") == "mine"
    assert load(embedder="openai:m@https://two.example/v1").key_for("api_key", "embedder") is None
    monkeypatch.setenv("THINKBACK_API_KEY", "shell's")
    assert load().key_for("api_key", "embedder") is None
    assert load(embedder="openai:m@https://two.example/v1").key_for("api_key", "embedder") == "shell's"


def test_an_unknown_variable_is_warned_of(monkeypatch, caplog):
    """Kubernetes sets THINKBACK_SERVICE_HOST in every pod beside a service of that name."""
    monkeypatch.setenv("THINKBACK_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("THINKBACK_RECPIE", "x")
    assert load() == Settings()
    warned = " ".join(record.getMessage() for record in caplog.records)
    assert "THINKBACK_SERVICE_HOST" in warned
    assert "Did you mean 'THINKBACK_RECIPE'?" in warned


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
    fetch = fetch_options(load())
    assert (fetch.offline, fetch.folder) == (True, Path("weights"))
    assert fetch.indexes.index_urls == ("https://index.example/simple",)
    options = open_options(load())
    assert (options.device, options.threads, options.fetch) == ("cpu", 3, fetch)


def test_programs_pass_settings_and_the_call_wins(home, monkeypatch):
    monkeypatch.setenv("THINKBACK_STORE", str(home / "mine.db"))
    monkeypatch.setenv("THINKBACK_EMBEDDER", "none")
    monkeypatch.setenv("THINKBACK_RECIPE", "keyword")
    with thinkback.open(settings=load()) as memory:
        memory.remember("Oscar")
        assert memory.recipe.name == "keyword"
        assert memory.recall("Oscar").warnings == ()
    assert (home / "mine.db").exists()
    with thinkback.open(home / "other.db", settings=load(), recipe="memini") as memory:
        assert memory.recipe.name == "memini"


def test_a_library_call_reads_neither_environment_nor_folder(home, monkeypatch):
    monkeypatch.setenv("THINKBACK_STORE", str(home / "mine.db"))
    monkeypatch.setenv("THINKBACK_RECIPE", "keyword")
    write(home / "here" / "thinkback.toml", "this is not TOML")
    with thinkback.open(embedder=None) as memory:
        memory.remember("Oscar")
        assert memory.recipe.name == "default"
    assert not (home / "mine.db").exists()
    assert (home / "data" / "thinkback" / "memory.db").exists()


def test_a_recipe_names_no_server(home):
    recipe = named("precise").with_(reranker={"model": "rerank:m@http://evil.example", "within": 0})
    with thinkback.open(home / "m.db", embedder=None, recipe=recipe, strict=True) as memory:
        memory.remember("Oscar is a cat")
        with raises(InvalidInput, "server_in_recipe"):
            memory.recall("Oscar")
