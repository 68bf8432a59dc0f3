"""The audit lists duplicates, stale facts, memories never recalled, secrets and orphans; redaction reaches every version."""

from pathlib import Path

import pytest
from lifecycle_fixtures import living

from recollect.clock import DAY, WEEK
from recollect.lifecycle.auditing import AuditReport, Finding
from recollect.memory import Memory

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJaB3d"


def test_a_tidy_store_is_clean() -> None:
    with living() as (memory, _):
        memory.remember("Oscar is a grey cat")
        assert memory.audit() == AuditReport(1, (), (), (), (), ())
        assert memory.audit().clean


def test_duplicates_are_grouped_oldest_first() -> None:
    with living() as (memory, clock):
        first = memory.remember("Oscar is a grey cat").id
        clock.advance(1)
        second = memory.remember("oscar  is a GREY cat").id
        memory.remember("Rex is a brown dog")
        assert memory.audit().duplicates == ((first, second),)


def test_stale_facts_are_told_with_the_reason() -> None:
    with living() as (memory, clock):
        closed = memory.remember("Caroline lives in Oslo", valid_to=clock() + DAY).id
        contested = memory.remember("Oscar is a grey cat").id
        newer = memory.remember("Oscar is a black cat").id
        memory.contest(newer, contested)
        expired = memory.remember("call the plumber tomorrow", tier="working").id
        clock.advance(4 * DAY)
        told = {finding.id: finding.what for finding in memory.audit().stale}
        assert told == {
            closed: "stopped being true at 2026-05-09T12:00:00.000000Z",
            contested: f"contradicted by {newer}, and still standing",
            expired: "expired at 2026-05-11T12:00:00.000000Z, not archived yet",
        }
        clock.advance(20 * WEEK)
        memory.tidy(dry_run=False)
        assert Finding(newer, "confidence fell to its floor; nothing confirmed it") in memory.audit().stale


def test_never_recalled_means_for_thirty_days() -> None:
    with living() as (memory, clock):
        unseen = memory.remember("Oscar is a grey cat").id
        memory.remember("Rex is a brown dog")
        memory.recall("Rex brown dog", limit=1)
        memory.flush()
        clock.advance(30 * DAY - 1)
        assert memory.audit().never_recalled == ()
        clock.advance(1)
        assert memory.audit().never_recalled == (unseen,)


def test_secrets_are_found_in_every_field_and_in_history() -> None:
    with living() as (memory, clock):
        text = memory.remember(f"my token is {TOKEN}").id
        meta = memory.remember("the login", metadata={"deep": [{"token": TOKEN}]}).id
        clock.advance(1)
        memory.update(text, text="my token is gone")
        judged = memory.remember("how to log in").id
        memory.judge(f"what is {TOKEN}?", judged)
        assert [(finding.id, finding.what) for finding in memory.audit().secrets] == sorted(
            [
                (text, "GitHub token (ghp_…) in text, in the version of 2026-05-08T12:00:00.000000Z"),
                (meta, "GitHub token (ghp_…) in metadata"),
                (judged, "GitHub token (ghp_…) in a judged query"),
            ]
        )


def test_orphans_are_what_points_to_nothing(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, _):
        ids = [memory.remember(f"the small grey cat Oscar likes his {thing}").id for thing in ("sofa", "fish", "birds")]
        (theme,) = memory.reflect().created
        memory.store.forget([ids[0]])  # behind the back of what rebuilds reflections
        assert memory.audit().orphans == (Finding(theme, "a reflection on 1 memories that are gone"),)
        memory.forget(ids[1])
        assert memory.audit().orphans == ()


# -- redaction


def holds(memory: Memory, folder: Path, needle: str) -> bool:
    memory.store.scrub()
    return any(needle.encode() in file.read_bytes() for file in folder.iterdir())


def test_redaction_reaches_every_version_index_and_byte(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, clock):
        other = memory.remember("where the keys are kept").id
        id = memory.remember(f"my token is {TOKEN}", tags=["keys"], metadata={"raw": TOKEN}, tier="episodic").id
        memory.link(id, other, kind="about", weight=0.5)
        memory.judge(f"is it {TOKEN}?", id, grade=2)
        clock.advance(DAY)
        memory.update(id, text=f"my token is {TOKEN} until May")
        memory.recall("token")
        memory.flush()
        before = memory.get(id)
        assert holds(memory, tmp_path, TOKEN)

        assert memory.redact().ids == (id,)

        after = memory.get(id)
        assert after.text == "my token is [redacted GitHub token] until May"
        assert after.metadata == {"raw": "[redacted GitHub token]"}
        kept = ("tags", "tier", "confidence", "expires_at", "created_at", "recorded_at", "access_count", "last_access")
        assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]
        assert [record.text for record in memory.history(id)] == [
            "my token is [redacted GitHub token]",
            "my token is [redacted GitHub token] until May",
        ]
        assert [(e.to_id, e.kind, e.weight) for e in memory.neighbours(id)] == [(other, "about", 0.5)]
        assert [(j.query, j.grade) for j in memory.store.judgements()] == [("is it [redacted GitHub token]?", 2)]
        assert memory.audit().secrets == ()
        assert not memory.recall(TOKEN, recipe="keyword").hits
        assert [hit.id for hit in memory.recall("redacted", recipe="keyword")] == [id]
        assert not holds(memory, tmp_path, TOKEN)
        assert list(memory.check()) == []
        assert memory.redact().ids == ()


def test_redaction_can_be_limited_to_some_memories() -> None:
    with living() as (memory, _):
        one, two = memory.remember(f"one {TOKEN} here").id, memory.remember(f"two {TOKEN} here").id
        assert memory.redact(one).ids == (one,)
        assert TOKEN in memory.get(two).text


def test_a_reflection_does_not_keep_what_was_redacted() -> None:
    with living() as (memory, _):
        for thing in ("sofa", "fish", "birds"):
            memory.remember(f"the small grey cat {TOKEN} likes his {thing}")
        (theme,) = memory.reflect().created
        assert TOKEN.removeprefix("ghp_") in memory.get(theme).text
        assert len(memory.redact().ids) == 3
        assert all(TOKEN.removeprefix("ghp_") not in record.text for record in memory.list(everything=True))


@pytest.mark.parametrize("embedder", [None])
def test_redaction_works_without_an_embedder(embedder: None) -> None:
    with living(embedder=embedder) as (memory, _):
        id = memory.remember(f"my token is {TOKEN}").id
        assert memory.redact().ids == (id,)
        assert memory.get(id).text == "my token is [redacted GitHub token]"
