"""backup, restore-backup, salvage, and where doctor points."""

from pathlib import Path


def test_backup_and_back(cli):
    cli.ok("remember", "the cat is grey", "--id", "cat")
    done = cli.ok("backup", "copy.db", "--json").json
    assert Path(done["file"]).stat().st_size == done["bytes"]
    assert done["file"] in cli.ok("forget", "cat").err
    assert cli("backup", "copy.db").code == 2
    assert cli("restore-backup", "copy.db").code == 1
    moved = cli.ok("restore-backup", "copy.db", "--replace", "--json").json["moved"]
    assert Path(moved).exists()
    assert cli.ok("get", "cat", "--json").json["text"] == "the cat is grey"


def test_doctor_points_to_salvage_which_tells_what_is_lost(cli):
    cli.ok("remember", "zzzz the cat is grey", "--id", "cat")
    cli.ok("remember", "the dog is brown", "--id", "dog")
    cli.store.write_bytes(cli.store.read_bytes().replace(b"zzzz the", b"zz\xff\xff the"))
    sick = cli("doctor")
    assert sick.code == 1
    assert "thinkback salvage" in sick.out
    saved = cli("salvage", cli.store.name, "saved.db", "--json")
    assert saved.code == 1
    assert saved.json["rows"]["memories"] == 1
    assert "row 1 of memories has a text that is not UTF-8" in saved.json["lost"]
    assert cli.ok("get", "dog", "--store", "saved.db", "--json").json["text"] == "the dog is brown"
