"""judge, recipes, models, embed, settings."""

import json
import tomllib

import pytest

from thinkback.search.recipes.named import RECIPES, named
from thinkback.search.recipes.toml import from_data
from thinkback.stores.sqlite import SqliteStore


def test_judgements_are_recorded_listed_and_carried(cli, tmp_path):
    cat = cli.remember("Oscar is a cat", "--id", "cat")
    cli.remember("Rent is due", "--id", "rent")
    judged = cli.ok("judge", "record", "who is Oscar?", cat, "--grade", "3", "--json").json
    assert (judged["memory_id"], judged["grade"]) == ("cat", 3)
    cli.ok("judge", "record", "who is Oscar?", "rent", "--no")
    listed = cli.ok("judge", "list", "--json").lines
    assert [(one["memory_id"], one["grade"]) for one in listed] == [("cat", 3), ("rent", 0)]
    assert "who is Oscar?" in cli.ok("judge", "list").out
    cli.ok("judge", "export", "judged.jsonl")
    assert cli.ok("judge", "export").out == (tmp_path / "judged.jsonl").read_text()
    cli.ok("judge", "remove", "who is Oscar?", cat)
    carried = (tmp_path / "judged.jsonl").read_bytes()
    assert cli.ok("judge", "import", "-", "--json", stdin=carried).json == {"judgements": 1, "known": 1}
    assert [one["grade"] for one in cli.ok("judge", "list", "--json").lines] == [3, 0]
    cli.ok("judge", "record", "who is Oscar?", cat, "--grade", "1")
    cli.ok("judge", "import", "judged.jsonl")
    assert [one["grade"] for one in cli.ok("judge", "list", "--json").lines] == [1, 0]  # the later judgement holds


def test_a_judgement_can_be_taken_back(cli):
    cli.remember("Oscar is a cat", "--id", "cat")
    cli.ok("judge", "record", "who is Oscar?", "cat")
    assert cli.ok("judge", "remove", "who is Oscar?", "cat", "--json").json["removed"] is True
    assert cli.ok("judge", "list", "--json").out == ""
    again = cli("judge", "remove", "who is Oscar?", "cat")
    assert (again.code, again.out) == (1, "")
    assert "thinkback judge list" in again.err


@pytest.mark.parametrize(
    "line", ["{", '{"query": "q"}', '{"query": "q", "memory_id": "nobody", "grade": 1, "judged_at": "2026-01-01"}']
)
def test_a_bad_judgement_is_named_and_none_is_taken(cli, line):
    cli.remember("Oscar is a cat", "--id", "cat")
    good = '{"query": "q", "memory_id": "cat", "grade": 1, "judged_at": "2026-01-01"}'
    ran = cli("judge", "import", "-", stdin=f"{good}\n{line}\n")
    assert ran.code == 1
    assert "line 2" in ran.err or "nobody" in ran.err
    assert cli.ok("judge", "list", "--json").out == ""


def test_recipes_are_listed_and_shown(cli):
    assert [one["name"] for one in cli.ok("recipes", "--json").lines] == list(RECIPES)
    assert cli.ok("recipes", "list").out == cli.ok("recipes").out
    for name in RECIPES:
        written = tomllib.loads(cli.ok("recipes", "show", name).out)
        assert from_data(written, "x").fingerprint == named(name).fingerprint
        assert cli.ok("recipes", "show", name, "--json").json["fingerprint"] == named(name).fingerprint


def test_a_recipe_is_shown_with_changes(cli):
    written = tomllib.loads(cli.ok("recipes", "show", "engrava", "--set", "signals.graph.weight=.1").out)
    assert written["signals"]["graph"]["weight"] == 0.1


def test_models_are_listed(cli, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    listed = {one["model"]: one for one in cli.ok("models", "list", "--json").lines}
    assert listed["e5-small-v2"]["state"] == "missing"
    assert listed["e5-small-v2"]["licence"] == "MIT"
    assert "e5-small-v2" in cli.ok("models", "list").out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["models", "path", "e5-small-v2"], "thinkback models pull e5-small-v2"),
        (["models", "path", "e5-smal-v2"], "Did you mean 'e5-small-v2'?"),
        (["models", "pull", "e5-smal-v2"], "Did you mean 'e5-small-v2'?"),
        (["models", "pull"], "offline"),
        (["models", "remove", "e5-small-v2"], "nothing to remove"),
    ],
)
def test_models_that_are_not_here_say_how_to_get_them(cli, monkeypatch, tmp_path, args, said):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("THINKBACK_OFFLINE", "yes")
    ran = cli(*args)
    assert ran.code == 1
    assert said in ran.err
    assert ran.out == ""


def test_verify_fails_for_weights_that_are_not_here(cli, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ran = cli("models", "verify", "e5-small-v2", "--json")
    assert ran.code == 1
    assert ran.json["problems"] != []


def test_doctor_counts_one_problem_as_one(cli):
    cli.remember("the code of the door is 4417", "--id", "code")
    with SqliteStore(cli.store) as other:
        reading = other.export_records()
        next(reading)
        cli.ok("forget", "code")
        assert cli("doctor").out.endswith("\n1 problem; try --repair\n")
        assert cli("doctor", "--repair").out.endswith("\n1 problem left\n")
        reading.close()
    assert cli.ok("doctor").out.endswith("the store is healthy\n")


def test_embed_says_what_it_needs(cli):
    cli.remember("Oscar is a cat")
    assert "thinkback embed --missing" in cli("embed").err
    assert cli("embed", "--missing").code == 1


@pytest.mark.models
def test_what_was_stored_without_a_model_is_embedded_later(cli):
    cli.remember("Oscar is a grey cat")
    assert cli.ok("embed", "--missing", "--embedder", "potion-base-8M", "--json").json == {"embedded": 1}
    assert cli.ok("embed", "--missing", "--embedder", "potion-base-8M", "--json").json == {"embedded": 0}
    hit = cli.ok("recall", "a feline", "--embedder", "potion-base-8M", "--json").json
    assert "vector" in {placing["leg"] for placing in hit["placings"]}
    refused = cli("recall", "cat", "--embedder", "e5-small-v2", "--json")
    assert "thinkback reembed" in refused.err
    assert refused.code == 0
    assert cli.ok("reembed", "--embedder", "e5-small-v2", "--json").json == {"embedded": 1}
    assert cli.ok("recall", "cat", "--embedder", "e5-small-v2").err == ""


def test_settings_are_shown_with_their_sources(cli, monkeypatch, tmp_path):
    (tmp_path / "thinkback.toml").write_text('recipe = "precise"\n')
    monkeypatch.setenv("THINKBACK_LLM_KEY", "very-secret")
    shown = {one["key"]: one for one in cli.ok("settings", "--store", "x.db", "--json").lines}
    assert (shown["recipe"]["value"], shown["recipe"]["source"]) == ("precise", "thinkback.toml")
    assert (shown["embedder"]["value"], shown["embedder"]["source"]) == ("none", "the environment")
    assert (shown["store"]["value"], shown["store"]["source"]) == ("x.db", "the call")
    assert (shown["offline"]["value"], shown["offline"]["source"]) == (False, "default")
    assert "very-secret" not in json.dumps(shown) + cli.ok("settings").out


def test_a_wrong_setting_stops_every_command(cli, tmp_path):
    (tmp_path / "thinkback.toml").write_text('recpie = "precise"\n')
    ran = cli("remember", "x")
    assert ran.code == 1
    assert "Did you mean 'recipe'?" in ran.err
    assert not cli.store.exists()


def test_the_recipe_of_the_settings_ranks(cli, tmp_path):
    cli.remember("Oscar is a cat")
    (tmp_path / "thinkback.toml").write_text('recipe = "keyword"\n')
    assert {one["step"] for one in cli.ok("recall", "cat", "--json").json["contributions"]} == {"leg"}
