"""Sentences of a language model: added after everything else, kept while they hold, and without them nothing is different."""

import contextlib
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from reflect_fixtures import NOW, SPACE, expected, fill, snapshot

from thinkback.errors import RemoteError, ThinkbackError
from thinkback.lifecycle.forget import forget
from thinkback.lifecycle.reflect.model import Consolidation, Reflected
from thinkback.lifecycle.reflect.run import reflect
from thinkback.lifecycle.reflect.sentences import SENTENCE_OF, Limits, first_sentence, sentence
from thinkback.model import Draft, StoredRecord, Vector
from thinkback.models.chat import OpenAiChat
from thinkback.stores.base import Store
from thinkback.stores.sqlite import SqliteStore

LATER = NOW * 2
FEW = 120  # memories, of which some eight themes are made


class Model:
    """Answers after a script; the last step stays. A step is an answer, or what is raised."""

    def __init__(self, *script: str | Exception) -> None:
        self.script = list(script) or ["About it."]
        self.asked: list[list[str]] = []

    def complete(self, system: str, user: str, max_tokens: int) -> str:
        self.asked.append(json.loads(user))
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(step, Exception):
            raise step
        return step


class Topics:
    """Says of every theme what only that theme is about."""

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, system: str, user: str, max_tokens: int) -> str:
        self.asked += 1
        return f"All about {json.loads(user)[0].split()[0]}."


DOWN = OSError("nobody answers")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "memory.db") as opened:
        fill(opened, FEW, themes=8)
        yield opened


def essences(store: Store) -> dict[str, str]:
    return {r.id: str(r.essence) for r in store.export_records() if r.kind == "reflection" and r.retired_at is None}


def keywords_of(made: Reflected) -> dict[str, str]:
    return {theme.id: ", ".join(theme.keywords) for theme in made.themes}


# -- what is taken of an answer


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        ("  Oscar\n the cat. ", "Oscar the cat."),
        ("Oscar is a cat. He is grey. He likes fish.", "Oscar is a cat."),
        ("Is Oscar grey? Yes!", "Is Oscar grey?"),
        ("Oscar is a cat.\n\nLet me know if you need more.", "Oscar is a cat."),
        ("No end at all", "No end at all"),
        ("Dr. Lin met J. S. Bach at 3.5 km. Then more.", "Dr. Lin met J. S. Bach at 3.5 km."),
        ("Pets, e.g. cats and dogs. More.", "Pets, e.g. cats and dogs."),
        ('He said "stop." Then he went.', 'He said "stop."'),
        ("猫の話。犬の話。", "猫の話。"),
        ("Here is the sentence:\n\nOscar is a cat. He is grey.", "Oscar is a cat."),
        ("<think>Notes. About a cat.</think>\n\nOscar is a cat.", "Oscar is a cat."),
        ("<think>Notes about a cat, so", ""),
        ("Oscar\x00 is\ud800 a cat.", "Oscar is a cat."),
        (" \n\t ", ""),
    ],
)
def test_the_first_sentence_is_taken(answer: str, first: str) -> None:
    assert first_sentence(answer) == first


@pytest.mark.parametrize("answer", ["word " * 200, "x" * 1000, "and " * 74 + "anderswo " * 20 + "."])
def test_one_that_is_too_long_ends_with_a_whole_word_if_there_are_words(answer: str) -> None:
    first = first_sentence(answer)
    assert 250 < len(first) <= 300
    assert first.endswith("…")
    assert " " not in answer or answer.startswith(first[:-1] + " ")


@pytest.mark.parametrize("answer", ["", "  ", DOWN, ValueError("nonsense"), RemoteError("down")])
def test_a_failure_is_ours(answer: str | Exception) -> None:
    with pytest.raises(ThinkbackError):
        sentence(Model(answer), [StoredRecord(id="a", text="a")])


# -- when it is written


def test_every_theme_is_given_its_sentence_once(store: SqliteStore) -> None:
    model = Topics()
    made = reflect(store, LATER, chat=model)
    assert model.asked == len(made.created) > 4
    assert (made.refreshed, made.warnings) == ((), ())
    for theme in made.themes:
        record = store.get([theme.id])[theme.id]
        topic = store.get([theme.members[0]])[theme.members[0]].text.split()[0]
        assert record.essence == f"All about {topic}."
        assert json.loads(record.text)["keywords"] == list(theme.keywords)
    state = store.state()
    assert reflect(store, LATER, chat=model).refreshed == ()
    assert (store.state(), model.asked) == (state, len(made.created))
    assert store.check() == []


def test_a_dry_run_asks_nothing(store: SqliteStore) -> None:
    model = Topics()
    reflect(store, LATER, dry_run=True, chat=model)
    assert model.asked == 0


def test_a_sentence_makes_no_theme_fresher(store: SqliteStore) -> None:
    made = reflect(store, LATER)
    before = {r.id: (r.updated_at, r.date) for r in store.get(list(made.created)).values()}
    reflect(store, LATER + 1, chat=Topics())
    assert {r.id: (r.updated_at, r.date) for r in store.get(list(made.created)).values()} == before


def test_everything_else_is_written_before_the_model_is_asked(store: SqliteStore, tmp_path: Path) -> None:
    seen: list[int] = []

    class Looking:
        def complete(self, system: str, user: str, max_tokens: int) -> str:
            with SqliteStore(tmp_path / "memory.db") as other:
                seen.append(sum(text == "About it." for text in essences(other).values()))
                assert len(essences(other)) > 4
            return "About it."

    made = reflect(store, LATER, chat=Looking())
    assert seen == list(range(len(made.themes)))  # and every sentence before the next question


def test_a_later_run_gives_sentences_to_themes_that_have_none_the_largest_first(store: SqliteStore) -> None:
    made = reflect(store, LATER)
    few, rest = Topics(), Topics()
    first = reflect(store, LATER, chat=few, limits=Limits(themes=3))
    assert first.refreshed == tuple(theme.id for theme in made.themes[:3])
    assert (few.asked, first.batch, first.warnings) == (3, None, ())
    second = reflect(store, LATER, chat=rest)
    assert second.refreshed == tuple(theme.id for theme in made.themes[3:])


def test_a_short_form_written_by_hand_is_nobody_elses_business(store: SqliteStore) -> None:
    theme = reflect(store, LATER).created[0]
    store.update(theme, {"essence": "my own words"}, LATER)
    reflect(store, LATER, chat=Topics())
    assert essences(store)[theme] == "my own words"


def test_an_archived_theme_is_not_asked_about(store: SqliteStore) -> None:
    theme = reflect(store, LATER).created[0]
    store.amend({theme: {"archived_at": LATER}}, LATER)
    assert theme not in reflect(store, LATER, chat=Topics()).refreshed


# -- when it fails


def test_a_model_that_fails_changes_nothing_and_is_given_up(store: SqliteStore) -> None:
    model = Model(DOWN)
    made = reflect(store, LATER, chat=model)
    assert len(model.asked) == 2
    (warning,) = made.warnings
    assert warning.code == "themes_without_sentence"
    assert str(len(made.themes)) in warning.message
    assert "nobody answers" in warning.message
    assert essences(store) == keywords_of(made)
    state = store.state()
    assert reflect(store, LATER, chat=model).warnings == made.warnings
    assert store.state() == state


def test_it_leaves_what_a_run_without_it_leaves(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "silent.db") as store:
        fill(store)
        reflect(store, LATER, chat=Model(DOWN))
        assert snapshot(store) == expected(tmp_path)


def test_failures_now_and_then_are_borne(store: SqliteStore) -> None:
    model = Model(DOWN, "One.", "", "Two.", DOWN, "More.")
    made = reflect(store, LATER, chat=model)
    assert len(model.asked) == len(made.themes)
    failed = [made.themes[n].id for n in (0, 2, 4)]
    assert {id for id, said in essences(store).items() if said == keywords_of(made)[id]} == set(failed)
    (warning,) = made.warnings
    assert warning.code == "themes_without_sentence"
    assert "3 themes" in warning.message
    assert set(reflect(store, LATER, chat=Topics()).refreshed) == set(failed)


def test_a_closed_port_costs_two_calls_of_three_tries(store: SqliteStore) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    waits: list[float] = []
    made = reflect(store, LATER, chat=OpenAiChat(f"http://127.0.0.1:{port}/v1", "m", sleep=waits.append))
    assert waits == [0.5, 1.0] * 2
    assert essences(store) == keywords_of(made)


def test_a_server_that_never_answers_costs_two_time_outs(store: SqliteStore) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        chat = OpenAiChat(f"http://127.0.0.1:{silent.getsockname()[1]}/v1", "m", timeout_s=0.2)
        made = reflect(store, LATER, chat=chat)
    assert "took longer than 0.2 s" in made.warnings[0].message
    assert essences(store) == keywords_of(made)


def test_a_slow_model_is_asked_no_longer_than_a_run_has_time(store: SqliteStore) -> None:
    model = Topics()
    made = reflect(store, LATER, chat=model, limits=Limits(seconds=0))
    assert model.asked == 0
    assert [warning.code for warning in made.warnings] == ["themes_without_sentence"]
    assert "0 s" in made.warnings[0].message


# -- how long it is kept


def violins(
    store: Store, texts: Sequence[str] = ("violin lesson one", "violin lesson two", "violin lesson three")
) -> None:
    drafts = [Draft(id=f"v{n}", text=text, vector=_near(n)) for n, text in enumerate(texts)]
    store.add(drafts, NOW, SPACE)


def _near(n: int) -> Vector:
    axes = np.eye(SPACE.dimensions, dtype=np.float32)
    row = axes[0] + 0.2 * axes[n + 1]
    unit: Vector = (row / np.linalg.norm(row)).astype(np.float32)
    return unit


@pytest.fixture
def lessons(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "lessons.db") as opened:
        violins(opened)
        reflect(opened, LATER, chat=Model("Learning the violin."))
        yield opened


def tag(store: Store) -> None:
    for id in ("v0", "v1", "v2"):
        store.update(id, {"tags": ("music",)}, LATER)


def move(store: Store) -> None:
    store.update("v2", {}, LATER, _near(7), SPACE)


@pytest.mark.parametrize("change", [tag, move])
@pytest.mark.parametrize("model", [None, Model(DOWN)], ids=["without a model", "while it fails"])
def test_it_stays_when_the_theme_is_refreshed_and_its_members_say_the_same(
    lessons: SqliteStore, change: Callable[[Store], None], model: Model | None
) -> None:
    (theme,) = essences(lessons)
    change(lessons)
    made = reflect(lessons, LATER, chat=model)
    assert (made.refreshed, made.warnings) == ((theme,), ())
    assert essences(lessons) == {theme: "Learning the violin."}
    assert reflect(lessons, LATER).refreshed == ()


@pytest.mark.parametrize("text", ["violin lesson four", "cello lesson two"])
def test_it_goes_when_a_member_says_something_else(lessons: SqliteStore, text: str) -> None:
    (theme,) = essences(lessons)
    lessons.update("v1", {"text": text}, LATER, _near(1), SPACE)
    assert reflect(lessons, LATER).refreshed == (theme,)
    assert "Learning" not in essences(lessons)[theme]
    assert SENTENCE_OF not in lessons.get([theme])[theme].metadata
    assert reflect(lessons, LATER, chat=Model("Strings.")).refreshed == (theme,)
    assert essences(lessons) == {theme: "Strings."}


def test_it_goes_with_a_member(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "more.db") as store:
        violins(store, [f"violin lesson {n}" for n in ("one", "two", "three", "four")])
        reflect(store, LATER, chat=Model("Four lessons."))
        forget(store, ["v3"], LATER)
        assert "Four lessons." not in essences(store).values()
        reflect(store, LATER, chat=Model("Three lessons."))
        assert list(essences(store).values()) == ["Three lessons."]


# -- broken off, and two at once


def test_broken_off_at_any_question_nothing_is_lost(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "whole.db") as store:
        fill(store, FEW, themes=8)
        themes = len(reflect(store, LATER, chat=Topics()).themes)
        whole = snapshot(store)
    for n in range(themes):
        with SqliteStore(tmp_path / f"broken{n}.db") as store:
            fill(store, FEW, themes=8)

            class Broken(Topics):
                def complete(self, system: str, user: str, max_tokens: int, n: int = n) -> str:
                    if self.asked == n:
                        raise KeyboardInterrupt
                    return super().complete(system, user, max_tokens)

            with contextlib.suppress(KeyboardInterrupt):
                reflect(store, LATER, chat=Broken())
            assert sum(said.startswith("All about") for said in essences(store).values()) == n
            rest = Topics()
            reflect(store, LATER, chat=rest)
            assert rest.asked == themes - n
            assert snapshot(store) == whole


def test_of_two_processes_the_first_answer_stays(store: SqliteStore, tmp_path: Path) -> None:
    class Overtaken(Topics):
        def complete(self, system: str, user: str, max_tokens: int) -> str:
            if not self.asked:
                with SqliteStore(tmp_path / "memory.db") as other:
                    reflect(other, LATER, chat=Model("The other was faster."))
            return super().complete(system, user, max_tokens)

    made = reflect(store, LATER, chat=Overtaken())
    assert set(essences(store).values()) == {"The other was faster."}
    assert len(made.created) == len(essences(store))


@pytest.mark.parametrize("what", ["changed", "forgotten", "rewritten", "regrouped"])
def test_what_becomes_of_a_theme_while_it_is_asked_about(lessons: SqliteStore, tmp_path: Path, what: str) -> None:
    lessons.update("v1", {"text": "violin lesson four"}, LATER, _near(1), SPACE)

    class Meanwhile:
        def complete(self, system: str, user: str, max_tokens: int) -> str:
            with SqliteStore(tmp_path / "lessons.db") as other:
                (theme,) = essences(other)
                if what == "changed":
                    other.update("v1", {"text": "violin lesson five"}, LATER, _near(1), SPACE)
                elif what == "forgotten":
                    forget(other, ["v1"], LATER)
                elif what == "rewritten":
                    other.update(theme, {"text": "mine"}, LATER)
                else:
                    reflect(other, LATER, Consolidation(smallest=4))
            return "Too late."

    reflect(lessons, LATER, chat=Meanwhile())
    assert "Too late." not in essences(lessons).values()
