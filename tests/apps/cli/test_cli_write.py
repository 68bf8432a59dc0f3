"""remember, update, forget, link, unlink."""

import pytest

from thinkback.stores.sqlite import SqliteStore, scrub

FIELDS = {
    "essence": "a cat",
    "kind": "fact",
    "tier": "episodic",
    "priority": "P1",
    "importance": 0.5,
    "confidence": 0.6,
    "tags": ["pets", "caroline"],
    "metadata": {"rooms": 3, "note": "by the sea", "deep": {"a": [1]}},
    "thread": "chat-7",
    "position": 4,
    "created_at": "2026-05-01T10:00:00.000000Z",
    "valid_from": "2026-05-08T00:00:00.000000Z",
    "valid_to": "2026-06-01T11:56:00.000000Z",
    "expires_at": "2030-01-01T00:00:00.000000Z",
    "source": "caroline",
    "trust": 0.75,
}


def test_remember_prints_the_record_with_its_id(cli):
    record = cli.ok("remember", "Oscar is a grey cat", "--json").json
    assert record["text"] == "Oscar is a grey cat"
    assert cli.ok("get", record["id"], "--json").json == record


def test_a_secret_is_warned_of_redacted_or_refused(cli, monkeypatch):
    key = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    warned = cli.ok("remember", f"the token is {key}", "--json")
    assert (warned.json["text"], "likely secrets were stored" in warned.err) == (f"the token is {key}", True)
    assert key[:8] not in warned.err
    monkeypatch.setenv("THINKBACK_SECRETS", "redact")
    assert key not in cli.ok("remember", f"the token is {key}", "--json").json["text"]
    monkeypatch.setenv("THINKBACK_SECRETS", "refuse")
    assert "nothing was stored" in cli("remember", f"the token is {key}").err


def test_every_field_of_a_memory_can_be_given(cli):
    given = ["--id", "oscar", "--essence", "a cat", "--kind", "fact", "--tier", "episodic", "--priority", "P1"]
    given += ["--importance", ".5", "--confidence", ".6", "--tags", "pets, caroline", "--thread", "chat-7"]
    given += ["--position", "4", "--meta", "rooms=3", "--meta", "note=by the sea", "--meta", 'deep={"a": [1]}']
    given += ["--created-at", "2026-05-01T12:00:00+02:00", "--valid-from", "2026-05-08"]
    given += ["--valid-to", "2026-06-01T11:56:00Z", "--expires-at", "2030-01-01", "--source", "caroline"]
    given += ["--trust", ".75"]
    record = cli.ok("remember", "Oscar is a grey cat", *given, "--json").json
    assert record["id"] == "oscar"
    assert {name: record[name] for name in FIELDS} == FIELDS


def test_a_dash_reads_the_text_from_stdin(cli):
    record = cli.ok("remember", "-", "--json", stdin="two\nlines\n").json
    assert record["text"] == "two\nlines"


def test_for_people_the_id_is_printed(cli):
    assert cli.ok("remember", "Oscar", "--id", "oscar", "--tags", "pets").out.startswith("remembered oscar")


@pytest.mark.parametrize(
    ("args", "stdin", "said"),
    [
        (["remember", ""], b"", "text is empty"),
        (["remember", " \n\t "], b"", "text is empty"),
        (["remember", "-"], b"", "text is empty"),
        (["remember", "-"], b"a\0b", "NUL byte at character 1"),
        (["remember", "-"], b"caf\xe9", "lone surrogate"),
        (["remember", "x", "--kind", "fatc"], b"", "Did you mean 'fact'?"),
        (["remember", "x", "--tier", "epsodic"], b"", "Did you mean 'episodic'?"),
        (["remember", "x", "--priority", "P9"], b"", "unknown priority 'P9'"),
        (["remember", "x", "--importance", "2"], b"", "importance must be a number from 0 to 1"),
        (["remember", "x", "--importance", "nan"], b"", "importance must be a number from 0 to 1"),
        (["remember", "x", "--confidence", ".9"], b"", "more than a caller may claim"),
        (["remember", "x", "--trust", "-1"], b"", "trust must be a number from 0 to 1"),
        (["remember", "x", "--created-at", "someday"], b"", "not a time: 'someday'"),
        (
            ["remember", "x", "--valid-from", "2026-02-01", "--valid-to", "2026-01-01"],
            b"",
            "(2026-01-01T00:00:00.000000Z) lies before",
        ),
        (["remember", "x", "--meta", "novalue"], b"", "KEY=VALUE"),
        (["remember", "x", "--position", "3"], b"", "without a thread"),
        (["remember", "x", "--id", "taken"], b"", "there is a memory 'taken' already"),
        (["update", "nobody", "--text", "x"], b"", "there is no memory 'nobody'"),
        (["update", "taken"], b"", "nothing to change"),
        (["update", "taken", "--text", " "], b"", "text is empty"),
        (["update", "taken", "--clear", "txet"], b"", "Did you mean 'text'?"),
        (["update", "taken", "--source", "a", "--clear", "source"], b"", "both given and cleared"),
        (["forget", "taken", "nobody"], b"", "nothing was forgotten"),
        (["link", "taken", "nobody"], b"", "there is no memory 'nobody'"),
        (["link", "taken", "taken"], b"", "cannot be linked to itself"),
        (["link", "taken", "other", "--weight", "-1"], b"", "weight must be a number, 0 or more"),
        (["link", "taken", "other", "--weight", "nan"], b"", "weight must be a number, 0 or more"),
        (["link", "taken", "other", "--kind", "next"], b"", "follow from thread and position"),
        (["unlink", "taken", "other"], b"", "there is no link"),
        (["judge", "record", " ", "taken"], b"", "query"),
        (["judge", "record", "q", "nobody"], b"", "there is no memory 'nobody'"),
    ],
)
def test_bad_input_fails_with_one_clear_line_and_changes_nothing(cli, args, stdin, said):
    cli.remember("first", "--id", "taken")
    cli.remember("second", "--id", "other")
    before = cli.ok("export").out
    ran = cli(*args, stdin=stdin)
    found = args[:2] == ["remember", "-"] or any(word in said for word in ("there is no", "nothing was forgotten"))
    assert ran.code == (1 if found else 2), "what was found wrong is a failure, what was typed wrong is wrong usage"
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert cli.ok("export").out == before


def test_update_keeps_the_older_version(cli):
    id = cli.remember("Oscar lives in Oslo", "--tags", "pets")
    assert cli.ok("update", id, "--text", "Oscar lives in Bergen", "--json").json["text"] == "Oscar lives in Bergen"
    assert [version["text"] for version in cli.ok("history", id, "--json").lines] == [
        "Oscar lives in Oslo",
        "Oscar lives in Bergen",
    ]
    assert "Oscar lives in Oslo" in cli.ok("history", id).out


def test_update_changes_fields_and_clears_them(cli):
    id = cli.remember("Oscar", "--valid-to", "2030-01-01", "--source", "a")
    changed = cli.ok("update", id, "--priority", "P1", "--tags", "x,y", "--clear", "valid_to,source", "--json").json
    assert (changed["priority"], changed["tags"]) == ("P1", ["x", "y"])
    assert (changed["valid_to"], changed["source"], changed["text"]) == (None, None, "Oscar")


def test_forget_removes_for_good(cli):
    id, other = cli.remember("the code is 4417"), cli.remember("keep me")
    gone = {"forgotten": [id], "reflections": [], "rebuilt": [], "dry_run": False, "tombstones": [], "warnings": []}
    assert cli.ok("forget", id, "--json").json == gone
    assert cli("get", id).code == 1
    assert [record["id"] for record in cli.ok("list", "--json").lines] == [other]
    assert b"4417" not in cli.store.read_bytes()


def test_forget_warns_while_somebody_reads_what_was_forgotten(cli):
    for number in range(3):
        cli.remember(f"the secret of the {number}th drawer is tzatziki", "--id", f"s{number}")
    with SqliteStore(cli.store) as other:
        reading = other.export_records()
        next(reading)
        told = cli.ok("forget", "s0")
        assert told.out.split() == ["forgotten", "1", "s0"]
        assert told.err.startswith("warning: ")
        assert "thinkback doctor --repair" in told.err
        assert len(cli.ok("forget", "s1", "--json").json["warnings"]) == 1
        reading.close()
    assert cli.ok("forget", "s2").err == ""
    assert b"tzatziki" not in cli.store.read_bytes()


def test_forget_clears_a_large_file_before_it_tells(cli, monkeypatch):
    monkeypatch.setattr(scrub, "IMMEDIATE_UP_TO", 0)
    cli.remember("the secret is tzatziki", "--id", "s")
    assert cli.ok("forget", "s").err == ""
    assert b"tzatziki" not in cli.store.read_bytes()


def test_links_can_be_made_seen_and_removed(cli):
    a, b = cli.remember("a"), cli.remember("b")
    edge = cli.ok("link", a, b, "--kind", "caused_by", "--weight", "0.5", "--json").json
    assert (edge["from_id"], edge["to_id"], edge["kind"], edge["weight"]) == (a, b, "caused_by", 0.5)
    assert cli.ok("neighbours", b, "--json").lines == [edge]
    assert "caused_by" in cli.ok("neighbours", a).out
    assert cli.ok("unlink", a, b, "--json").json == {"removed": 1}
    assert cli.ok("neighbours", a, "--json").lines == []


def test_neighbours_of_a_thread_come_by_themselves(cli):
    a, b = cli.remember("first", "--thread", "t"), cli.remember("second", "--thread", "t")
    (edge,) = cli.ok("neighbours", a, "--json").lines
    assert (edge["kind"], edge["from_id"], edge["to_id"]) == ("next", a, b)


def test_forget_by_a_condition(cli):
    kept, gone = cli.remember("a dog", "--user", "bob"), cli.remember("a cat", "--user", "ann")
    dry = cli.ok("forget", "--where", '{"user": "ann"}', "--dry-run", "--json").json
    assert (dry["forgotten"], dry["dry_run"]) == ([gone], True)
    assert cli.ok("forget", "--where", '{"user": "ann"}', "--json").json["forgotten"] == [gone]
    assert [one["id"] for one in cli.ok("list", "--json").lines] == [kept]
    for args in (["forget"], ["forget", "--where", "{}"], ["forget", "--where", '{"usr": "ann"}']):
        assert cli(*args).code == 2


def test_remember_a_folder(cli, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# One\nfirst\n\n# Two\nsecond\n")
    assert len(cli.ok("remember", "--file", str(tmp_path / "notes"), "--tags", "notes", "--json").json["added"]) == 2
    assert cli.ok("remember", "--file", str(tmp_path / "notes"), "--tags", "notes", "--json").json["unchanged"] == 2
    assert cli("remember").code == cli("remember", "x", "--file", "y").code == 2


def test_tombstones_are_set_listed_and_revoked(cli):
    id = cli.remember("Oscar is a grey cat", "--id", "cat")
    done = cli.ok("forget", id, "--tombstone", "--json").json
    assert [row["hash"] for row in cli.ok("tombstones", "--json").lines] == sorted(done["tombstones"])
    assert cli.ok("tombstones", "--revoke", done["tombstones"][0], "--json").json == {"revoked": done["tombstones"][:1]}
    assert len(cli.ok("tombstones").out.splitlines()) == 1
    receipt = cli.ok("forget", cli.remember("Rex is a dog"), "--verify", "--tombstone", "--json").json
    assert len(receipt["tombstones"]) == 2
