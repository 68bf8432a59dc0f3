"""reflect, tidy, undo, archive, restore, contest, audit, forget --verify."""

import json
import math
import re

import numpy as np
import pytest

import thinkback
from thinkback.model import Draft
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import FixedClock, ToyEmbedder

MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"
THINGS = ("sofa", "fish", "birds", "garden")
TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJaB3d"


def fill(cli):
    """A store with one theme, made in the past."""
    with thinkback.open(cli.store, embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2020-01-01")) as memory:
        for number, thing in enumerate(THINGS):
            memory.remember(f"the small grey cat Oscar likes his {thing}", id=f"m{number}")
        memory.remember("call the plumber tomorrow", id="old", tier="working")


def test_reflect_shows_the_themes_before_and_after(cli):
    fill(cli)
    dry = cli.ok("reflect", "--dry-run", "--json").json
    assert [theme["members"] for theme in dry["themes"]] == [["m0", "m1", "m2", "m3"]]
    assert cli.ok("list", "--kind", "reflection", "--json").out == ""
    assert "grey cat" in cli.ok("reflect", "--dry-run").out
    wet = cli.ok("reflect", "--json").json
    assert wet["created"] == dry["created"] == [dry["themes"][0]["id"]]
    assert "(a theme of 4 memories)" in " ".join(cli.ok("list", "--kind", "reflection").out.split())
    again = cli.ok("reflect").out
    assert "0 new" in again
    cli.ok("undo", wet["batch"])
    assert cli.ok("list", "--kind", "reflection", "--json").out == ""


def test_reflect_groups_by_labels_or_by_linkage(cli):
    """A chain m0 – m1 – m2 – m3 – m4 whose nearest neighbours are two and three, while every link of it holds."""
    angles = (0, 20, 41, 63, 84)
    with SqliteStore(cli.store) as store:
        rows = [np.array([math.cos(math.radians(a)), math.sin(math.radians(a))], dtype=np.float32) for a in angles]
        drafts = [Draft(id=f"m{n}", text=f"violin lesson number{n}", vector=row) for n, row in enumerate(rows)]
        store.add(drafts, 1, EmbeddingSpace("flat", 2))
    usual = cli.ok("reflect", "--dry-run", "--json").json["themes"]
    assert cli.ok("reflect", "--dry-run", "--clustering", "labels", "--json").json["themes"] == usual
    (whole,) = cli.ok("reflect", "--dry-run", "--clustering", "linkage", "--json").json["themes"]
    assert whole["members"] == ["m0", "m1", "m2", "m3", "m4"]
    assert [theme["members"] for theme in usual] != [whole["members"]]
    assert cli("reflect", "--clustering", "guess").code == 2


def test_reflect_shows_who_is_in_a_theme_while_there_is_news(cli):
    fill(cli)
    dry = " ".join(cli.ok("reflect", "--dry-run").out.split())
    assert "m0 the small grey cat Oscar likes his sofa m1 the small grey cat Oscar likes his fish m2" in dry
    assert "and 1 more" in dry
    wet = cli.ok("reflect").out
    assert "likes his sofa" in wet
    again = cli.ok("reflect")
    assert again.out == "promoted 0, linked 0, reflections 0 new, 0 refreshed, 0 gone\n"
    assert again.err == ""
    assert "likes his sofa" in cli.ok("reflect", "--dry-run").out


def test_recall_shows_a_theme_with_its_first_members(cli):
    fill(cli)
    cli.ok("reflect")
    told = " ".join(cli.ok("recall", "grey cat", "--kind", "reflection").out.split())
    assert "(a theme of 4 memories) m0 the small grey cat Oscar likes his sofa m1 the small grey cat" in told
    assert "likes his birds and 1 more" in told


def test_recall_boosts_reflections(cli):
    fill(cli)
    cli.ok("reflect")
    asked = ("recall", "grey cat", "--kind", "reflection", "--json")
    (usual,), (boosted,) = cli.ok(*asked).lines, cli.ok(*asked, "--reflection-boost", "3").lines
    assert boosted["score"] > usual["score"]
    names = [part["name"] for part in boosted["contributions"]]
    before = sum(part["delta"] for part in boosted["contributions"][: names.index("reflection")])
    assert boosted["contributions"][names.index("reflection")]["delta"] == pytest.approx(2 * before)
    assert cli(*asked, "--reflection-boost", "-1").code == 2


@pytest.mark.parametrize("members", ['[1, "a"]', '[["x"]]', '"abc"', "5"])
def test_a_reflection_written_by_hand_keeps_nobody_from_reflecting(cli, members):
    cli.remember(f'{{"members": {members}}}', "--kind", "reflection", "--id", "mine")
    assert cli.ok("reflect").out == "promoted 0, linked 0, reflections 0 new, 0 refreshed, 0 gone\n"
    cli.ok("audit")
    assert cli.ok("get", "mine", "--json").json["text"] == f'{{"members": {members}}}'


def test_reflect_says_when_memories_have_no_vector(cli):
    cli.remember("Oscar is a grey cat")
    ran = cli.ok("reflect", "--json")
    assert ran.err.startswith("warning: ")
    assert ran.err.endswith("thinkback embed --missing\n")
    assert len(ran.json["warnings"]) == 1
    assert "thinkback embed --missing" in cli.ok("reflect", "--dry-run").err


def test_tidy_tells_then_does_then_undoes(cli):
    fill(cli)
    told = cli.ok("tidy", "--json").json
    assert told["batch"] is None
    assert {(action["action"], action["id"]) for action in told["actions"]} >= {("expire", "old"), ("decay", "m0")}
    assert "--apply does it" in cli.ok("tidy").out
    done = cli.ok("tidy", "--apply", "--json").json
    assert cli.ok("get", "old", "--json").json["archived_at"] is not None
    assert done["batch"] in cli.ok("undo", "--list").out
    listed = cli.ok("undo", "--list", "--json").lines
    assert [one["undone"] for one in listed if one["batch"] == done["batch"]] == [False]
    assert len(cli.ok("undo", "--json").json["undone"]) == 5
    assert cli.ok("get", "old", "--json").json["archived_at"] is None
    assert cli("undo", "nonsense").code == 1


def test_tidy_tells_where_all_it_did_can_be_seen(cli):
    with thinkback.open(cli.store, embedder=None, reranker=None, clock=FixedClock("2020-01-01")) as memory:
        memory.remember_many([f"note number {number}" for number in range(60)])
    told = cli.ok("tidy", "--dry-run").out
    assert "and 10 more; --json lists all" in told
    assert "60 to do" in told
    done = cli.ok("tidy", "--apply").out
    batch = cli.ok("undo", "--list", "--json").lines[0]["batch"]
    assert f"and 10 more; thinkback undo {batch} --list shows all" in done
    assert cli.ok("undo", batch, "--list").out.count(" decay ") == 60
    assert f"and 10 more; thinkback undo {batch} --list shows all" in cli.ok("undo").out


def test_tidying_both_dry_and_wet_is_refused(cli):
    fill(cli)
    ran = cli("tidy", "--apply", "--dry-run")
    assert (ran.code, ran.out) == (2, "")
    assert "one of the two" in ran.err


def test_times_are_iso_8601_with_every_microsecond(cli):
    """As HTTP tells them."""
    fill(cli)
    (expired,) = [one for one in cli.ok("tidy", "--json").json["actions"] if one["action"] == "expire"]
    assert re.fullmatch(MOMENT, expired["after"]["archived_at"])
    done = cli.ok("tidy", "--apply", "--json").json
    (listed,) = cli.ok("undo", "--list", "--json").lines
    assert listed["batch"] == done["batch"]
    assert re.fullmatch(MOMENT, listed["at"])


def test_what_leaves_no_trace_in_the_journal_names_no_batch(cli):
    fill(cli)
    assert cli.ok("reflect", "--dry-run", "--json").json["batch"] is None
    made = cli.ok("reflect", "--json").json["batch"]
    assert [one["batch"] for one in cli.ok("undo", "--list", "--json").lines] == [made]
    assert cli.ok("reflect", "--json").json["batch"] is None


def test_undo_says_what_it_passed_over_and_what_it_took_back_instead(cli):
    cli.remember("Oscar is a grey cat", "--id", "k1")
    cli.remember(f"my token is {TOKEN}", "--id", "t")
    cli.ok("archive", "k1")
    cli.remember("Rex is a brown dog", "--id", "k2")
    cli.ok("archive", "k2")
    cli.ok("audit", "--redact")
    redaction, archiving, _ = (one["batch"] for one in cli.ok("undo", "--list", "--json").lines)
    done = cli.ok("undo")
    assert f"passed over {redaction}, of which nothing can be undone: a redaction cannot be undone (t)" in done.err
    assert done.out.split() == ["undone", "1", archiving, "k2"]
    again = cli.ok("undo", "--json").json
    assert (again["undone"], again["passed_over"]) == (["k1"], {redaction: {"t": "a redaction cannot be undone"}})
    nothing = cli("undo")
    assert (nothing.code, redaction in nothing.err) == (1, True)


def test_a_batch_that_cannot_be_undone_is_an_error(cli):
    cli.remember(f"my token is {TOKEN}", "--id", "t")
    cli.ok("audit", "--redact")
    (one,) = cli.ok("undo", "--list", "--json").lines
    ran = cli("undo", one["batch"])
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"error: nothing of {one['batch']} can be undone: a redaction cannot be undone (t)\n"
    ran = cli("undo", one["batch"], "--json")
    assert (ran.code, ran.json["skipped"]) == (1, {"t": "a redaction cannot be undone"})


def test_the_journal_tells_what_can_be_undone_from_what_cannot(cli):
    for id in ("a", "b", "c"):
        cli.remember(f"a memory called {id}", "--id", id)
    cli.remember(f"my token is {TOKEN}", "--id", "t")
    for id in ("a", "b", "c"):
        cli.ok("archive", id)
    cli.ok("audit", "--redact")
    cli.ok("forget", "a")
    cli.ok("undo", next(one["batch"] for one in cli.ok("undo", "--list", "--json").lines if one["why_not"] is None))
    listed = cli.ok("undo", "--list", "--json").lines
    assert [one["why_not"] for one in listed] == ["a redaction cannot be undone", "was undone already", None]
    told = cli.ok("undo", "--list").out
    assert [reason in told for reason in ("no: a redaction cannot be undone", "no: was undone already")] == [True] * 2


def test_the_journal_says_how_much_of_it_is_not_shown(cli):
    cli.remember("Oscar is a grey cat", "--id", "k")
    for _ in range(26):
        cli.ok("archive", "k")
        cli.ok("restore", "k")
    assert "and 2 more; --limit 0 lists all" in cli.ok("undo", "--list").out
    assert "more" not in cli.ok("undo", "--list", "--limit", "0").out
    assert len(cli.ok("undo", "--list", "--json").lines) == 52
    assert len(cli.ok("undo", "--list", "--json", "--limit", "3").lines) == 3
    assert cli("undo", "--limit", "3").code == 2


def test_the_journal_shows_what_a_batch_did(cli):
    fill(cli)
    batch = cli.ok("tidy", "--apply", "--json").json["batch"]
    entries = cli.ok("undo", batch, "--list", "--json").lines
    (expired,) = [one for one in entries if one["action"] == "expire"]
    assert (expired["id"], expired["before"], expired["undone_at"]) == ("old", {"archived_at": None}, None)
    assert expired["after"] == {"archived_at": expired["at"]}
    (decayed,) = [one for one in entries if one["action"] == "decayed-until"]
    assert re.fullmatch(MOMENT, decayed["after"]["until"])
    assert "expire" in cli.ok("undo", batch, "--list").out
    assert cli.ok("get", "old", "--json").json["archived_at"] is not None
    unknown = cli("undo", "nonsense", "--list")
    assert (unknown.code, "no batch 'nonsense'" in unknown.err) == (1, True)


def test_archive_and_restore(cli):
    fill(cli)
    assert cli.ok("archive", "m0", "--json").json == {"archived": ["m0"]}
    assert "m0" not in cli.ok("list", "--json").out
    assert "restored 1" in cli.ok("restore", "m0").out
    assert "m0" in cli.ok("list", "--json").out
    assert "no memory 'x'" in cli("archive", "x").err


def test_contest(cli):
    fill(cli)
    assert cli.ok("contest", "m1", "m0", "--json").json["kind"] == "contested_by"
    assert "closed" in cli.ok("contest", "m1", "m0", "--close").out
    assert cli.ok("get", "m0", "--json").json["valid_to"] is not None


def test_audit_finds_and_redacts_secrets(cli):
    cli.remember(f"my token is {TOKEN}", "--id", "t")
    found = cli("audit", "--json")
    assert found.code == 1
    assert [one["id"] for one in found.json["secrets"]] == ["t"]
    assert TOKEN not in found.out
    shown = cli("audit")
    assert (shown.code, "GitHub token" in shown.out, TOKEN in shown.out) == (1, True, False)
    assert cli.ok("audit", "--redact", "--json").json["redacted"] == ["t"]
    assert TOKEN not in cli.ok("get", "t", "--json").out
    assert cli.ok("audit", "--json").json["clean"]


def test_audit_lists_every_concern_and_says_how_much_is_left_out(cli):
    with thinkback.open(cli.store, embedder=None, reranker=None, clock=FixedClock("2020-01-01")) as memory:
        memory.remember_many({"id": f"s{n:02}", "text": f"token {n}: ghp_{n:036}"} for n in range(70))
        memory.remember_many(
            [{"id": "old", "text": "Oscar is a grey cat"}, {"id": "new", "text": "oscar is a grey cat!"}]
        )
    told = " ".join(cli("audit").out.split())
    assert "likely secrets s00 GitHub token" in told
    assert "likely secrets and 20 more; --json lists all" in told
    assert "never recalled new never recalled old never recalled s00" in told
    assert "never recalled and 22 more; --json lists all" in told
    assert "duplicates new old" in told


def test_forget_verified_gives_a_receipt(cli):
    fill(cli)
    receipt = cli.ok("forget", "m0", "--verify", "--json").json
    assert (receipt["forgotten"], receipt["verified"]) == (["m0"], True)
    assert {search["where"] for search in receipt["searches"]} >= {"keyword leg", "vector leg", "links"}
    assert "nothing is left" in cli.ok("forget", "m1", "--verify").out


def test_forget_says_what_became_of_the_themes(cli):
    fill(cli)
    cli.ok("reflect")
    rebuilt = cli.ok("forget", "m0")
    assert "themes: 1 written anew" in rebuilt.out
    removed = cli.ok("forget", "m1", "--json").json
    assert (len(removed["reflections"]), removed["rebuilt"]) == (1, [])
    cli.remember("nothing to do with it", "--id", "x")
    assert "theme" not in cli.ok("forget", "x").out


def test_a_receipt_tells_of_themes_too(cli):
    fill(cli)
    cli.ok("reflect")
    assert "themes: 1 written anew" in cli.ok("forget", "m0", "--verify").out
    assert "themes: 1 removed" in cli.ok("forget", "m1", "--verify").out


def test_a_receipt_says_what_was_too_short_to_look_for_in_files(cli):
    cli.remember("4417", "--id", "code")
    told = " ".join(cli.ok("forget", "code", "--verify").out.split())
    assert "but 2 texts or ids of less than 8 bytes could be looked for in the indexes alone, not in the files" in told


def test_a_receipt_names_the_reflection_that_still_names_the_forgotten(cli):
    cli.remember("Oscar is a grey cat", "--id", "o1")
    cli.remember('{"members": ["o1", "o2"], "keywords": []}', "--kind", "reflection", "--id", "mine")
    ran = cli("forget", "o1", "--verify", "--json")
    assert (ran.code, ran.json["verified"], ran.json["named_by"]) == (1, False, ["mine"])
    assert "the reflection mine, written by hand, still names what was forgotten" in ran.err
    assert "`thinkback forget mine`" in ran.err


def test_a_receipt_that_proves_nothing_exits_with_1(cli):
    fill(cli)
    (cli.store.parent / f"{cli.store.name}.bak").write_bytes(cli.store.read_bytes())
    ran = cli("forget", "m0", "--verify", "--json")
    assert ran.code == 1
    assert not json.loads(ran.out)["verified"]
