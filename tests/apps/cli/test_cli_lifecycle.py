"""reflect, tidy, undo, archive, restore, contest, audit, forget --verify."""

import json
import re

import recollect
from recollect.testing import FixedClock, ToyEmbedder

MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"
THINGS = ("sofa", "fish", "birds", "garden")
TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJaB3d"


def fill(cli):
    """A store with one theme, made in the past."""
    with recollect.open(cli.store, embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2020-01-01")) as memory:
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


def test_forget_verified_gives_a_receipt(cli):
    fill(cli)
    receipt = cli.ok("forget", "m0", "--verify", "--json").json
    assert (receipt["forgotten"], receipt["verified"]) == (["m0"], True)
    assert {search["where"] for search in receipt["searches"]} >= {"keyword leg", "vector leg", "links"}
    assert "nothing is left" in cli.ok("forget", "m1", "--verify").out


def test_a_receipt_that_proves_nothing_exits_with_1(cli):
    fill(cli)
    (cli.store.parent / f"{cli.store.name}.bak").write_bytes(cli.store.read_bytes())
    ran = cli("forget", "m0", "--verify", "--json")
    assert ran.code == 1
    assert not json.loads(ran.out)["verified"]
