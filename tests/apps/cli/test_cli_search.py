"""recall, search-keywords, parse, and looking things up."""

import io
import math
import sys

import pytest
import typer.main

from thinkback.apps.cli import build
from thinkback.apps.cli.output import show_json
from thinkback.memory import Memory


@pytest.fixture
def pets(cli):
    """A handful of memories with ids that tell them apart."""
    cli.remember("Caroline adopted a grey cat, Oscar", "--tags", "pets,caroline", "--thread", "chat", "--id", "cat")
    cli.remember("Melanie feeds the dog twice a day", "--tags", "pets", "--thread", "chat", "--id", "dog")
    cli.remember(
        "The rent is 940 a month", "--kind", "fact", "--priority", "P1", "--meta", "amount=940", "--id", "rent"
    )
    cli.remember("Caroline paints", "--created-at", "2020-01-01", "--source", "diary", "--trust", ".2", "--id", "paint")
    return cli


def ids(ran):
    return [hit["id"] for hit in ran.lines]


def test_recall_prints_one_hit_a_line_with_its_whole_explanation(pets):
    hits = pets.ok("recall", "what is Caroline's cat called?", "--json").lines
    assert hits[0]["id"] == hits[0]["memory"]["id"] == "cat"
    assert hits[0]["text"] == "Caroline adopted a grey cat, Oscar"
    assert [hit["rank"] for hit in hits] == list(range(1, len(hits) + 1))
    for hit in hits:
        total = 0.0
        for contribution in hit["contributions"]:
            total += contribution["delta"]
        assert total == hit["score"]
    assert {placing["leg"]: placing["rank"] for placing in hits[0]["placings"]}["keyword"] == 1


def test_recall_for_people_shows_rank_score_text_tags_and_date(pets):
    first, second, *_ = pets.ok("recall", "paints", "--limit", "1").out.splitlines()
    rank, score, text = first.split(None, 2)
    assert (rank, text.strip()) == ("1", "Caroline paints")
    assert math.isfinite(float(score))
    assert "2020-01-01" in second
    assert "paint" in second
    assert "#pets  #caroline  chat" in pets.ok("recall", "grey cat").out


def test_explain_draws_bars_that_add_up_to_the_score(pets):
    out = pets.ok("recall", "grey cat", "--limit", "1", "--explain").out
    bars = [line for line in out.splitlines() if "█" in line or ":" in line]
    deltas = [float(word) for line in bars for word in line.split() if word[0] in "+-" and word[1:2].isdigit()]
    (total,) = [float(word[1:]) for line in bars for word in line.split() if word.startswith("=")]
    assert deltas
    assert sum(deltas) == pytest.approx(total, abs=1e-6 * len(deltas))
    assert "found by keyword #1" in out
    assert "fingerprint" in out


def test_the_last_bar_ends_where_the_score_ends():
    from thinkback.apps.cli.render_search import _bar

    assert _bar(0, 3) == "███"
    assert _bar(3, 5.5) == "   ██▌"
    assert _bar(-1, 0.125) == "▏"


def test_why_not_names_the_reason(pets):
    assert pets.ok("recall", "cat", "--why-not", "rent", "--kind", "observation", "--json").json == {
        "id": "rent",
        "verdict": "filtered out: it is of kind fact",
        "legs": [],
    }
    assert "there is no memory 'nobody'" in pets.ok("recall", "cat", "--why-not", "nobody").out
    assert "hit number 1" in pets.ok("recall", "cat", "--why-not", "cat", "--json").json["verdict"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["--tags", "pets"], {"cat", "dog"}),
        (["--tags", "pets,caroline"], {"cat"}),
        (["--tags", "pets", "--tags", "caroline"], {"cat"}),
        (["--kind", "fact"], {"rent"}),
        (["--kinds", "fact,observation"], {"cat", "dog", "rent", "paint"}),
        (["--priority", "P1"], {"rent"}),
        (["--thread", "chat"], {"cat", "dog"}),
        (["--source", "diary"], {"paint"}),
        (["--meta", "amount=940"], {"rent"}),
        (["--meta", "amount=941"], set()),
        (["--until", "2021-01-01"], {"paint"}),
        (["--since", "2021-01-01"], {"cat", "dog", "rent"}),
        (["--min-trust", ".5"], {"cat", "dog", "rent"}),
        (["--known-at", "2021-01-01"], set()),
        (["--as-of", "2019-01-01"], set()),
    ],
)
def test_filters_hold_for_list_and_recall_alike(pets, filters, expected):
    assert set(ids(pets.ok("list", *filters, "--json"))) == expected
    assert set(ids(pets.ok("recall", "", *filters, "--json"))) == expected


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["recall", "cat", "--kind", "fcat"], "Did you mean 'fact'?"),
        (["recall", "cat", "--tier", "smeantic"], "Did you mean 'semantic'?"),
        (["recall", "cat", "--priority", "P7"], "P7"),
        (["list", "--kind", "nonsense"], "nonsense"),
        (["recall", "cat", "--since", "soon"], "not a time: 'soon'"),
        (["recall", "cat", "--now", "soon"], "not a time: 'soon'"),
        (["recall", "cat", "--recipe", "defualt"], "Did you mean 'default'?"),
        (["recall", "cat", "--recipe", "absent.toml"], "cannot read the recipe absent.toml"),
        (["recall", "cat", "--set", "signals.qualty.weight=.3"], "Did you mean 'quality'?"),
        (["recall", "cat", "--set", "signals.quality.wieght=.3"], "Did you mean 'weight'?"),
        (["recall", "cat", "--set", "signals.quality.weight=lots"], "must be a finite number"),
        (["recall", "cat", "--set", "limit"], "PATH=VALUE"),
        (["recall", "cat", "--embedder", "e5-smal-v2"], "Did you mean 'e5-small-v2'?"),
        (["list", "--after", "nobody"], "nobody"),
        (["get", "nobody"], "there is no memory 'nobody'"),
        (["history", "nobody"], "there is no memory 'nobody'"),
        (["neighbours", "nobody"], "there is no memory 'nobody'"),
        (["recipes", "show", "engrva"], "Did you mean 'engrava'?"),
    ],
)
def test_wrong_names_fail_with_the_nearest_right_one(pets, args, said):
    ran = pets(*args)
    said_at = ran.err
    assert said in said_at
    assert "Traceback" not in said_at
    # An embedder that cannot be opened costs the vectors, not the answer.
    unfound = {"nobody", "absent.toml"} & set(args)
    assert ran.code == (0 if "--embedder" in args else 1 if unfound else 2)


def test_set_changes_the_recipe_of_one_call(pets):
    plain = pets.ok("recall", "cat", "--json").lines[0]
    bare = pets.ok("recall", "cat", "--set", "signals.tags=false", "--set", "selection.limit=1", "--json")
    assert len(bare.lines) == 1
    assert "tags" not in {one["name"] for one in bare.json["contributions"]}
    assert plain["id"] == bare.json["id"]


def test_a_recipe_file_ranks_like_the_recipe_it_shows(pets, tmp_path):
    (tmp_path / "mine.toml").write_text(pets.ok("recipes", "show", "memini").out)
    named = pets.ok("recall", "cat", "--recipe", "memini", "--json").json["contributions"]
    assert pets.ok("recall", "cat", "--recipe", "mine.toml", "--json").json["contributions"] == named


def test_limit_zero_is_no_limit_and_max_tokens_is_a_budget(pets):
    assert len(pets.ok("recall", "", "--limit", "0", "--json").lines) == 4
    # "Caroline paints" has 15 characters, 4 tokens; no other text fits.
    assert ids(pets.ok("recall", "", "--max-tokens", "4", "--json")) == ["paint"]


@pytest.mark.slow
def test_a_query_of_a_megabyte_is_answered(pets):
    ran = pets("recall", "-", "--json", stdin="cat " * 250_000 + "Oscar")
    assert ran.code == 0
    assert ids(ran)[0] == "cat"


@pytest.mark.parametrize(
    "query", ['"unclosed', "AND OR NOT", "cat AND (", "essence:(", "*", "^", "NEAR(", "{}: x", '""']
)
def test_malformed_expressions_never_fail(pets, query):
    assert pets("search-keywords", query).code == 0
    assert pets("recall", query).code == 0


def test_search_keywords_understands_the_expert_syntax(pets):
    assert ids(pets.ok("search-keywords", '"grey cat"', "--json")) == ["cat"]
    assert ids(pets.ok("search-keywords", "tags:caroline NOT rent", "--json")) == ["cat"]
    assert ids(pets.ok("search-keywords", "feed*", "--limit", "1", "--json")) == ["dog"]


def test_nothing_found_is_said_and_is_no_failure(pets):
    assert pets.ok("search-keywords", "zebra").out == "nothing found\n"
    assert pets.ok("search-keywords", "zebra", "--json").out == ""


def test_a_question_without_an_answer_is_told_apart(pets):
    assert "--min-relevance" in pets.ok("recall", "cat zebra qwerty").out
    assert "--min-relevance" not in pets.ok("recall", "grey cat").out
    assert {hit["answered"] for hit in pets.ok("recall", "cat zebra qwerty", "--json").lines} == {False}
    assert {hit["answered"] for hit in pets.ok("recall", "grey cat", "--json").lines} == {True}


def test_the_gate_leaves_out_what_does_not_answer(pets):
    assert ids(pets.ok("recall", "grey cat", "--min-relevance", "0.4", "--json")) == ["cat"]
    assert "(2 left out)" in pets.ok("recall", "cat zebra qwerty", "--min-relevance", "0.4").out
    assert pets.ok("recall", "cat zebra qwerty", "--min-relevance", "0.4", "--json").out == ""


@pytest.mark.parametrize("bad", ["-1", "2", "abc", "nan", "inf", "null", ""])
def test_a_gate_that_is_no_probability_is_wrong_usage(pets, bad):
    ran = pets("recall", "cat", "--min-relevance", bad)
    assert ran.code == 2
    assert "--min-relevance" in ran.err


def test_parse_shows_what_is_understood(pets):
    parsed = pets.ok("parse", "what did #pets and caroline do three weeks ago?", "--now", "2026-05-29", "--json").json
    assert parsed["mode"] == "bare"
    assert "what" in parsed["dropped"]
    assert parsed["tags"] == [{"tag": "pets", "origin": "hashtag"}, {"tag": "caroline", "origin": "vocabulary"}]
    # three weeks before 29 May is 8 May, give or take 5 days
    assert parsed["time"]["centre"] == "2026-05-08T00:00:00.000000Z"
    assert parsed["time"]["since"] == "2026-05-03T00:00:00.000000Z"
    assert parsed["time"]["until"] == "2026-05-13T00:00:00.000000Z"


def test_days_are_those_of_the_time_zone_the_question_is_asked_in(cli):
    """Half past midnight in Oslo is still the day before in UTC."""
    oslo = cli.ok("parse", "today", "--now", "2026-05-05T00:30:00+02:00", "--json").json["time"]
    assert (oslo["since"], oslo["until"]) == ("2026-05-04T22:00:00.000000Z", "2026-05-05T22:00:00.000000Z")
    utc = cli.ok("parse", "today", "--now", "2026-05-04T22:30:00", "--json").json["time"]
    assert (utc["since"], utc["until"]) == ("2026-05-04T00:00:00.000000Z", "2026-05-05T00:00:00.000000Z")


def test_without_a_moment_named_days_are_the_users_own(monkeypatch):
    import time

    from thinkback.apps.cli.search import time_of

    monkeypatch.setenv("TZ", "Pacific/Kiritimati")  # fourteen hours ahead of UTC
    time.tzset()
    try:
        assert time_of(None).utcoffset().total_seconds() == 14 * 3600
    finally:
        monkeypatch.undo()
        time.tzset()


def test_parse_asks_the_language_model_of_the_settings_and_goes_on_without_it(pets, monkeypatch):
    monkeypatch.setenv("THINKBACK_LLM_BASE_URL", "http://127.0.0.1:1/v1")  # nobody listens there
    monkeypatch.setenv("THINKBACK_LLM_MODEL", "m")
    ran = pets.ok("parse", "something furry", "--json")
    assert ran.json["tags"] == []
    assert ran.err.startswith("warning: ")
    assert "language model" in ran.err


def test_parse_needs_no_store(cli):
    assert cli.ok("parse", '"a phrase" AND more', "--json").json["mode"] == "expert"
    assert not cli.store.exists()


def test_list_pages_by_the_last_id(pets):
    first = ids(pets.ok("list", "--limit", "3", "--json"))
    rest = ids(pets.ok("list", "--limit", "3", "--after", first[-1], "--json"))
    assert sorted(first + rest) == ["cat", "dog", "paint", "rent"]
    assert f"--after {first[-1]}" in pets.ok("list", "--limit", "3").err


def test_stats_counts(pets):
    assert pets.ok("stats", "--json").json["memories"] == 4
    assert "memories" in pets.ok("stats").out


def test_recalls_are_counted_as_accesses(pets):
    pets.ok("recall", "grey cat", "--limit", "1")
    assert pets.ok("get", "cat", "--json").json["access_count"] == 1


@pytest.mark.parametrize("args", [["recall", "cat"], ["search-keywords", "cat"]])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_hits_are_printed_before_the_memory_is_closed(pets, monkeypatch, args, form):
    """Closing writes down what was recalled and may wait behind a writer; nothing found is held back for it."""
    printed = []
    monkeypatch.setattr("sys.stdout", io.StringIO())
    close = Memory.close
    monkeypatch.setattr(Memory, "close", lambda self: (printed.append(sys.stdout.getvalue()), close(self))[1])
    pets.ok(*args, *form)
    assert "Caroline adopted a grey cat, Oscar" in printed[0]


def test_json_leaves_the_buffer_at_once(pets, monkeypatch):
    flushed = []
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr(sys.stdout, "flush", lambda: flushed.append(sys.stdout.getvalue()))
    show_json({"id": 1}, {"id": 2})
    assert flushed == ['{"id": 1}\n{"id": 2}\n']


@pytest.mark.parametrize("several", ["tags", "kinds", "tiers", "priorities", "threads", "sources"])
def test_filters_of_several_take_the_singular_too(several):
    single = {"priorities": "priority"}.get(several, several.removesuffix("s"))
    for command in ("recall", "list", "search-keywords"):
        assert {f"--{single}", f"--{several}"} <= options_of(command)
    assert {"--tag", "--tags"} <= options_of("remember") & options_of("update")


def options_of(name):
    command = typer.main.get_command(build()).commands[name]
    return {option for parameter in command.params for option in parameter.opts}


def test_tag_and_tags_are_the_same(pets):
    pets.remember("Oscar sleeps", "--tag", "pets", "--tag", "naps", "--id", "nap")
    assert ids(pets.ok("list", "--tag", "pets", "--tags", "naps", "--json")) == ["nap"]


@pytest.mark.parametrize("option", ["--limit", "--max-tokens"])
def test_no_limit_is_zero_and_less_is_wrong_usage(pets, option):
    assert len(pets.ok("recall", "Caroline OR Melanie OR rent", option, "0", "--json").lines) >= 3
    ran = pets("recall", "cat", option, "-1")
    assert (ran.code, ran.out) == (2, "")
    assert option in ran.err


def test_the_cycle_and_the_backends_of_one_call(cli):
    """As in Python: recency by cycles is skipped without a cycle, and the answer says what ran."""
    cli.remember("a grey cat", "--id", "old", "--cycle", "1")
    cli.remember("a grey cat on the roof", "--id", "new", "--cycle", "90")
    asked = ("recall", "grey cat", "--recipe", "engrava", "--json")
    without, by_cycle = cli.ok(*asked).lines, cli.ok(*asked, "--cycle", "90").lines
    assert "recency" not in {one["name"] for one in without[0]["contributions"]}
    assert "recency" in {one["name"] for one in by_cycle[0]["contributions"]}
    assert by_cycle[0]["backends_used"] == ["keyword", "recency", "priority"]


def test_filters_take_operators(pets):
    assert ids(pets.ok("recall", "rent", "--where", '{"metadata.amount": {"gt": 900}}', "--json")) == ["rent"]
    assert ids(pets.ok("list", "--meta", 'amount={"lt": 900}', "--json")) == []
    assert ids(pets.ok("list", "--where", '{"tags": {"any": ["caroline"]}}', "--json")) == ["cat"]
    assert pets("list", "--where", "amount > 900").code == 2
