"""The audit lists duplicates, stale facts, memories never recalled, secrets and orphans; redaction reaches every version."""

import json
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from lifecycle_fixtures import living
from numpy.typing import NDArray

from thinkback.apps.cli import main
from thinkback.clock import DAY, WEEK
from thinkback.errors import Action, ModelError, Remedy
from thinkback.lifecycle.audit import AuditReport, Finding
from thinkback.lifecycle.redact import Redacted
from thinkback.lifecycle.reflect.promote import RAISED, raised
from thinkback.memory import Memory
from thinkback.model import CORROBORATES
from thinkback.testing import ToyEmbedder

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


def test_what_the_store_took_for_a_repetition_is_a_duplicate() -> None:
    with living() as (memory, clock):
        first = memory.remember("Oscar is a grey cat").id
        clock.advance(1)
        second = memory.remember("Oscar is a grey cat!").id
        assert [(edge.to_id, edge.kind) for edge in memory.neighbours(second)] == [(first, CORROBORATES)]
        assert memory.audit().duplicates == ((first, second),)
        assert not memory.audit().clean


def test_duplicates_by_letter_and_by_meaning_form_one_group() -> None:
    """Anna and Ben wrote the same words, Anna once more with another mark: one group of three."""
    with living() as (memory, clock):
        ids = []
        for source, text in (("anna", "Oscar is grey"), ("ben", "oscar is  grey"), ("anna", "Oscar is grey!")):
            ids.append(memory.remember(text, source=source).id)
            clock.advance(1)
        memory.remember("Oscar is not grey", source="anna")
        assert memory.audit().duplicates == (tuple(ids),)


def test_short_replies_are_duplicates_by_letter_only() -> None:
    with living() as (memory, _):
        first, second = memory.remember("oh yes").id, memory.remember("Oh yes").id
        memory.remember("oh yes!")
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
            closed: "no longer valid since 2026-05-09T12:00:00.000000Z",
            contested: f"contradicted by {newer}, and still visible",
            expired: "expired at 2026-05-11T12:00:00.000000Z, not archived yet",
        }
        clock.advance(20 * WEEK)
        memory.tidy(dry_run=False)
        assert Finding(newer, "confidence fell to its minimum") in memory.audit().stale


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
        meta = memory.remember("the login", metadata={"deep": [{"note": TOKEN}], "password": "swordfish"}).id
        clock.advance(1)
        memory.update(text, text="my token is gone")
        judged = memory.remember("how to log in").id
        memory.judge(f"what is {TOKEN}?", judged)
        assert [(finding.id, finding.what) for finding in memory.audit().secrets] == sorted(
            [
                (text, "GitHub token (ghp_…) in text, in the version of 2026-05-08T12:00:00.000000Z"),
                (meta, "GitHub token (ghp_…) in metadata"),
                (meta, "password (swor…) in metadata"),
                (judged, "GitHub token (ghp_…) in a judged query"),
            ]
        )


def test_orphans_are_what_points_to_nothing(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, _):
        ids = [memory.remember(f"the small grey cat Oscar likes his {thing}").id for thing in ("sofa", "fish", "birds")]
        (theme,) = memory.reflect().created
        memory.store.forget([ids[0]])  # behind the back of what rebuilds reflections
        assert memory.audit().orphans == (Finding(theme, "a reflection on 1 memories that do not exist"),)
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


def test_redaction_works_without_an_embedder() -> None:
    with living(embedder=None) as (memory, _):
        id = memory.remember(f"my token is {TOKEN}").id
        assert memory.redact() == Redacted((id,))
        assert memory.get(id).text == "my token is [redacted GitHub token]"


class Failing(ToyEmbedder):
    """Works until it is told not to."""

    down = False

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.down:
            raise ModelError("the model is gone")
        return super().embed_passages(texts)


@pytest.mark.filterwarnings("ignore::thinkback.ThinkbackWarning")
def test_redaction_tells_which_vectors_and_reflections_it_lost() -> None:
    embedder = Failing()
    with living(embedder=embedder) as (memory, _):
        ids = [
            memory.remember(f"the small grey cat Oscar likes his {thing}, password=hunter2").id
            for thing in ("sofa", "fish", "birds")
        ]
        assert len(memory.reflect().created) == 1
        embedder.down = True
        bare, lost = memory.redact(ids[0]).warnings
        assert (bare.code, bare.remedy) == ("redacted_without_vectors", Remedy(Action.EMBED_MISSING))
        assert ids[0] in bare.message
        assert "the model is gone" in bare.message
        assert (lost.code, lost.remedy) == ("reflections_removed", Remedy(Action.REFLECT))
        assert not memory.get(ids[0]).embedded

        embedder.down = False
        assert memory.embed_missing() == 1
        assert len(memory.reflect().created) == 1
        assert memory.redact().warnings == ()
        assert all(memory.get(id).embedded for id in ids)


def test_the_command_line_tells_the_warnings_of_a_redaction_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living(tmp_path / "memory.db") as (memory, _):
        id = memory.remember(f"my token is {TOKEN}").id
    with warnings.catch_warnings(), pytest.raises(SystemExit) as left:
        main(["audit", "--redact", "--json", "--store", str(tmp_path / "memory.db"), "--embedder", "none"])
    printed = capsys.readouterr()
    assert (left.value.code or 0, json.loads(printed.out)["redacted"]) == (0, [id])
    told = " ".join(printed.err.split())
    assert told.count("warning:") == told.count(id) == 1


def test_redaction_keeps_closed_links_and_the_vector_of_a_text_that_held_nothing() -> None:
    with living(embedder=None) as (memory, _):
        vector = np.array([0.6, 0.8], dtype=np.float32)
        one = memory.remember("Oscar is a grey cat", metadata={"key": "AKIAIOSFODNN7EXAMPLE"}, vector=vector).id
        two = memory.remember("Caroline is a vet").id
        memory.link(one, two, kind="owned by", valid_from="2020-01-01", valid_to="2021-01-01")
        before = list(memory.store.export_edges())
        assert memory.redact().warnings == ()
        assert memory.store.vectors([one])[one].tolist() == vector.tolist()
        assert list(memory.store.export_edges()) == before
        assert "AKIA" not in str(memory.get(one).metadata)


def test_redaction_keeps_the_journal_and_who_was_promoted() -> None:
    """The memory is there again under its id, so what was done to it can still be undone."""
    with living() as (memory, _):
        id = memory.remember(f"my token is {TOKEN}").id
        other = memory.remember("my token is gone").id
        memory.archive(id)
        memory.contest(id, other)
        contesting, archiving = (entry.batch for entry in memory.store.journal())
        memory.store.set_setting(RAISED, json.dumps({id: "P2"}))
        memory.redact()
        assert [entry.action for entry in memory.store.journal()] == ["redact", "contest", "archive"]
        assert raised(memory.store) == {id: "P2"}
        assert (memory.undo(contesting).undone, memory.undo(archiving).undone) == ((other,), (id,))


ANT = "sk-ant-" + "a1B2c3D4e5F6g7H8i9J0k1"
OTHER_ANT = "sk-ant-" + "z9Y8x7W6v5U4t3S2r1Q0p9"


def test_secrets_are_found_in_names_too() -> None:
    with living() as (memory, _):
        memory.remember("Oscar is a grey cat", id=ANT)
        thread = memory.remember("Rex is a brown dog", thread=f"talk {ANT}").id
        link = memory.remember("Caroline is a vet").id
        memory.link(link, thread, kind=f"via {ANT}")
        assert {(finding.id, finding.what) for finding in memory.audit().secrets} == {
            (
                ANT,
                "Anthropic key (sk-a…) in its id; an id cannot be redacted, so forget the memory and remember it under another",
            ),
            (thread, "Anthropic key (sk-a…) in thread"),
            (link, "Anthropic key (sk-a…) in the kind of a link"),
        }


def test_a_random_name_is_no_secret() -> None:
    with living() as (memory, _):
        random = "thread_BKr3Vd7sWq0cRz9uLmN1xPaT"
        memory.link(memory.remember("a cat", id=random, thread=random).id, memory.remember("a dog").id, kind=random)
        assert memory.audit().secrets == ()


def test_redacted_threads_keep_together_in_order_and_apart_from_others(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, clock):
        said = [memory.remember(f"turn number {n}", thread=f"talk {ANT}").id for n in range(3)]
        apart = [memory.remember(f"other turn {n}", thread=f"talk {OTHER_ANT}").id for n in range(2)]
        clean = memory.remember("a third", thread="talk [redacted Anthropic key]").id
        moved = memory.remember("moved since", thread=f"talk {ANT}").id
        clock.advance(1)
        memory.update(moved, thread="elsewhere")
        assert set(memory.redact(said[1]).ids) == {*said, moved}
        assert set(memory.redact().ids) == set(apart)
        assert [memory.get(id).thread for id in (said[0], apart[0], clean)] == [
            "talk [redacted Anthropic key] 2",
            "talk [redacted Anthropic key] 3",
            "talk [redacted Anthropic key]",
        ]
        assert [memory.get(id).position for id in (*said, *apart)] == [0, 1, 2, 0, 1]
        assert {(e.from_id, e.to_id) for e in memory.neighbours(said[1]) if e.kind == "next"} == {
            (said[0], said[1]),
            (said[1], said[2]),
        }
        assert memory.history(moved)[0].thread == "talk [redacted Anthropic key] 2"
        assert memory.audit().secrets == ()
        assert not holds(memory, tmp_path, ANT)
        assert not holds(memory, tmp_path, OTHER_ANT)


def test_redacted_kinds_of_links_stay_as_many_as_they_were(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, _):
        one, two, three = (memory.remember(f"memory number {n}").id for n in range(3))
        for kind, weight in ((ANT, 0.25), (OTHER_ANT, 0.5)):
            memory.link(one, two, kind=kind, weight=weight)
        memory.link(three, two, kind=ANT, weight=0.75)
        assert set(memory.redact(one).ids) == {one, three}
        assert {(e.from_id, e.to_id, e.kind, e.weight) for e in memory.store.export_edges()} == {
            (one, two, "[redacted Anthropic key]", 0.25),
            (one, two, "[redacted Anthropic key] 2", 0.5),
            (three, two, "[redacted Anthropic key]", 0.75),
        }
        assert memory.audit().secrets == ()
        assert not holds(memory, tmp_path, ANT)


def test_of_who_is_only_in_the_same_thread_nothing_else_is_redacted() -> None:
    with living() as (memory, _):
        one = memory.remember("hello", thread=ANT).id
        two = memory.remember(f"my token is {TOKEN}", thread=ANT).id
        assert set(memory.redact(one).ids) == {one, two}
        assert (memory.get(two).text, memory.get(two).thread) == (f"my token is {TOKEN}", "[redacted Anthropic key]")


@pytest.mark.filterwarnings("ignore::thinkback.ThinkbackWarning")
def test_redaction_says_that_an_id_stays() -> None:
    with living() as (memory, _):
        memory.remember("Oscar is a grey cat", id=ANT)
        done = memory.redact()
        assert (done.ids, [warning.code for warning in done.warnings]) == ((), ["secrets_in_ids"])
        assert ANT not in done.warnings[0].message
