"""What the pipeline makes of a question: the language model's help, the focused second look, the asker's time zone."""

from datetime import UTC, datetime, timedelta, timezone

import httpx
import pytest
from engine_fixtures import START, memory, toy_memory

from thinkback.clock import DAY, to_us
from thinkback.errors import RemoteError
from thinkback.memory import Memory
from thinkback.model import Filter
from thinkback.search.recipes.named import DEFAULT

NOW = to_us(START)


class Chat:
    """Answers what it was told to, and remembers what it was asked."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def complete(self, system: str, user: str, max_tokens: int) -> str:
        self.asked.append(user)
        answer = self.answers.pop(0) if self.answers else "{}"
        if isinstance(answer, Exception):
            raise answer
        return answer


def tagged(m: Memory) -> None:
    m.remember("walked along the river", tags=["sport"])
    m.remember("walked along the street", tags=["errand"])


def test_the_model_is_asked_for_tags_only_when_nothing_else_gave_one() -> None:
    chat = Chat('["sport"]')
    with toy_memory(chat=chat) as m:
        tagged(m)
        known = m.recall("walked for sport")
        assert [(tag.tag, tag.origin) for tag in known.trace.query.tags] == [("sport", "vocabulary")]
        assert chat.asked == []
        chosen = m.recall("where did I go running")
        assert [(tag.tag, tag.origin) for tag in chosen.trace.query.tags] == [("sport", "llm")]
        assert len(chat.asked) == 1


def test_a_model_that_fails_changes_nothing_but_the_warnings() -> None:
    with toy_memory() as m:
        tagged(m)
        plain = [(hit.id, hit.score) for hit in m.recall("where was I walking a while ago")]
        m.chat = Chat(RemoteError("no route to the model"), RemoteError("no route to the model"))
        found = m.recall("where was I walking a while ago")
        assert [(hit.id, hit.score) for hit in found] == plain
        assert {warning.code for warning in found.warnings} == {"remote_error"}
        m.chat, m.strict = Chat(RemoteError("no route"), RemoteError("no route")), True
        with pytest.raises(RemoteError):
            m.recall("where was I walking a while ago")


@pytest.mark.parametrize(
    "failure", [ConnectionError("refused"), KeyError("choices"), httpx.ConnectError("refused"), RuntimeError("odd")]
)
def test_a_chat_of_ones_own_may_fail_as_it_likes(failure: Exception) -> None:
    with toy_memory() as m:
        tagged(m)
        plain = [(hit.id, hit.score) for hit in m.recall("where was I walking the other day")]
        m.chat = Chat(failure, failure)
        found = m.recall("where was I walking the other day")
        assert [(hit.id, hit.score) for hit in found] == plain
        assert [warning.code for warning in found.warnings] == ["remote_error"] * 2  # for tags, and for a time
        assert all(f"{type(failure).__name__}: {failure}" in warning.message for warning in found.warnings)
        m.chat, m.strict = Chat(failure, failure), True
        with pytest.raises(RemoteError):
            m.recall("where was I walking the other day")


def test_a_chat_that_answers_no_text_is_told() -> None:
    with toy_memory(chat=Chat(None, None)) as m:  # type: ignore[arg-type]
        tagged(m)
        found = m.recall("where was I walking the other day")
        assert ["NoneType" in warning.message for warning in found.warnings] == [True, True]


def test_tags_that_do_not_exist_are_not_believed() -> None:
    with toy_memory(chat=Chat('["invented", "sport", 7]')) as m:
        tagged(m)
        assert [tag.tag for tag in m.recall("where did I go running").trace.query.tags] == ["sport"]


def test_a_loose_time_is_left_to_the_model() -> None:
    day = datetime.fromisoformat(START) - timedelta(days=30)
    answer = f'{{"phrase": "a few days before my trip", "date": "{day:%Y-%m-%d}", "tolerance_days": 5}}'
    recipe = DEFAULT.with_(parsing={"tags": False})
    with toy_memory(chat=Chat(answer), recipe=recipe) as m:
        then = m.remember("packed the suitcase", created_at=NOW - 30 * DAY)
        m.remember("unpacked the suitcase", created_at=NOW)
        found = m.recall("what did I do the suitcase a few days before my trip")
        anchor = found.trace.query.anchor
        assert anchor is not None
        assert anchor.phrase == "a few days before my trip"
        assert found[0].id == then.id


# -- focus -------------------------------------------------------------------------------------------------------------------------


def crowd(m: Memory) -> None:
    m.remember_many([f"Caroline: note number {n} about thing {n}" for n in range(15)])
    m.remember_many([f"Caroline and the {animal}" for animal in ("cat", "dog", "bird", "fish", "horse", "mouse")])


def test_words_that_stand_in_more_than_half_of_all_memories_are_left_out_of_the_second_look() -> None:
    with toy_memory() as m:
        crowd(m)
        assert m.store.frequencies(["caroline", "cat", "nobody"]) == (21, {"caroline": 21, "cat": 1, "nobody": 0})
        query = m.recall("what is Caroline's cat called?").trace.query
        assert query.focused == "what is cat called?"
        assert m.recall("which cat is it?").trace.query.focused is None
        assert m.recall("Caroline?").trace.query.focused is None, "nothing else would remain"


def test_frequencies_follow_the_store() -> None:
    with memory() as m:
        record = m.remember("running dogs")
        assert m.store.frequencies(["dog", "ran"]) == (1, {"dog": 1, "ran": 0})
        m.remember("a dog runs")
        assert dict(m.store.frequencies(["dog", "run"])[1]) | {"dog": 2, "run": 2} == dict(
            m.store.frequencies(["dog", "run"])[1]
        )
        m.forget(record.id)
        assert m.store.frequencies(["dog"])[1]["dog"] == 1


# -- threads -----------------------------------------------------------------------------------------------------------------------


def test_between_counts_what_passes_the_filter_up_to_a_bound() -> None:
    with memory() as m:
        ids = [m.remember(f"turn {n}", thread="t").id for n in range(6)]
        everything = Filter(now=NOW)
        pairs = [(ids[0], ids[1]), (ids[0], ids[2]), (ids[0], ids[5])]
        assert m.store.between(pairs, everything, 3) == [0, 1, 3]
        m.forget(ids[1])
        assert m.store.between([(ids[0], ids[2]), (ids[0], ids[3])], everything, 3) == [0, 1]


def test_a_forgotten_turn_leaves_its_neighbours_as_if_it_had_never_been() -> None:
    def scores(forgotten: bool) -> list[tuple[str, float]]:
        with toy_memory() as m:
            for n, text in enumerate(
                ["Ann: which flower?", "noise", "Bob: red tulips", "Ann: lovely", "Bob: and a fern"]
            ):
                if text != "noise":
                    m.remember(text, thread="t")
                elif forgotten:
                    canary = m.remember(f"{text} {n}", thread="t").id
            if forgotten:
                m.forget(canary)
            return [(hit.text, hit.score) for hit in m.recall("which flower did Bob bring")]

    assert scores(forgotten=True) == scores(forgotten=False)


def test_days_are_those_of_the_zone_in_which_now_was_given() -> None:
    tokyo = timezone(timedelta(hours=9))
    with memory() as m:
        m.remember("tea")
        now = datetime(2026, 5, 8, 1, 0, tzinfo=tokyo)
        there = m.recall("what happened on 7 May 2026", now=now).trace.query.anchor
        here = m.recall("what happened on 7 May 2026", now=now.astimezone(UTC)).trace.query.anchor
        assert there is not None
        assert here is not None
        assert here.centre_us - there.centre_us == 9 * 3600 * 1_000_000


def test_a_zone_in_the_text_of_now_counts_like_one_in_an_object() -> None:
    """Half past midnight at +10 is still yesterday in UTC: "today" is another day."""
    moment = datetime(2026, 5, 8, 0, 30, tzinfo=timezone(timedelta(hours=10)))
    with toy_memory() as asked:
        asked.remember("fed the cat", created_at="2026-05-08T00:10:00+10:00")

        def today(now: datetime | str) -> object:
            return asked.recall("what happened today?", now=now).trace.query.anchor

        assert today(moment) == today(moment.isoformat())
        assert today(moment) != today(moment.astimezone(UTC))
