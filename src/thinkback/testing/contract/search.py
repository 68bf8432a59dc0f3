"""Laws of the searches."""

import math
from typing import Any

import numpy as np
import pytest

from thinkback.clock import DAY
from thinkback.errors import InvalidInput
from thinkback.model import Draft, Filter, KeywordQuery
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.testing.contract.words import NOW, TOY, by_keyword, by_vector, found_everywhere, ids, put, put_one
from thinkback.testing.errors import raises
from thinkback.where import filter_of

FILTERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tag": ({"tags": ("work", "home")}, {"tags": ("work", "home")}),
    "kind": ({"kind": "fact"}, {"kinds": ("fact", "event")}),
    "not that kind": ({"kind": "fact"}, {"without_kinds": ("observation",)}),
    "tier": ({"tier": "working"}, {"tiers": ("working",)}),
    "priority": ({"priority": "P1"}, {"priorities": ("P1", "P2")}),
    "thread": ({"thread": "t"}, {"threads": ("t", "u")}),
    "source": ({"source": "diary"}, {"sources": ("diary",)}),
    "user": ({"user": "ann"}, {"users": ("ann", "bea")}),
    "agent": ({"agent": "bot"}, {"agents": ("bot",)}),
    "trust": ({}, {"min_trust": 0.5}),
    "text in metadata": ({"metadata": {"a.b": 'x"y'}}, {"metadata": (("a.b", 'x"y'),)}),
    "number in metadata": ({"metadata": {"n": 3.0}}, {"metadata": (("n", 3),)}),
    "flag in metadata": ({"metadata": {"n": True}}, {"metadata": (("n", True),)}),
    "list in metadata": ({"metadata": {"n": [1, {"x": 2}]}}, {"metadata": (("n", [1, {"x": 2}]),)}),
    "since": ({"created_at": NOW - DAY}, {"since": NOW - DAY}),
    "since, by validity": ({"valid_from": NOW - DAY}, {"since": NOW - 2 * DAY}),
}

VARIED: tuple[dict[str, Any], ...] = (
    {},
    {"tags": ("work",), "metadata": {"n": 6}, "thread": "t", "importance": 0.5},
    {"tags": ("work", "home"), "metadata": {"n": 7, "who": "Zoë", "list": [1, "a", True]}, "kind": "fact"},
    {"tags": ("home",), "metadata": {"n": 6.5, "who": "Anna"}, "kind": "fact", "thread": "u", "importance": 0.3},
    {"metadata": {"n": True, "who": None, "list": ["b"]}, "speaker": "Zoë", "cycle": 3, "user": "ann"},
    {"metadata": {"n": "7", "list": "a", "deep": {"x": [1]}}, "speaker": "anna", "cycle": 1 << 60},
    {"metadata": {"n": (1 << 53) + 1, "who": "ångström"}, "valid_from": NOW - 5 * DAY, "trust": 0.25},
    {"metadata": {"n": 0.1 + 0.2}, "priority": "P1", "importance": 0.1 + 0.2, "source": "diary"},
    {"metadata": {"n": -0.0, "who": "ann"}, "tier": "working", "position": 4, "thread": "t"},
)
CONDITIONS: tuple[dict[str, Any], ...] = (
    *({"metadata": {"n": {op: bound}}} for op in ("gt", "gte", "lt", "lte") for bound in (6, 6.5, "7", 0.3, 1 << 60)),
    *({"metadata": {"n": {op: value}}} for op in ("eq", "ne", "not") for value in (6, True, None, 0.1 + 0.2, "7")),
    {"metadata.n": {"in": [6, 6.5, True, None]}},
    {"metadata.n": {"in": [7, "7"]}},
    {"metadata.n": {"gt": 0, "lt": 7}},
    {"metadata.n": {"not": {"gt": 6}}},
    {"metadata.n": {"gte": 9007199254740993}},
    {"metadata.who": {"gt": "Anna"}},
    {"metadata.who": {"lte": "ann"}},
    {"metadata.who": {"exists": True}},
    {"metadata.who": {"exists": False}},
    {"metadata.list": {"any": ["a", 1]}},
    {"metadata.list": {"all": ["a", 1]}},
    {"metadata.list": {"any": [True]}},
    {"metadata.list": {"any": [0.5]}},
    {"metadata.deep": {"eq": {"x": [1.0]}}},
    {"tags": {"any": ["work", "home"]}},
    {"tags": {"all": ["work", "home"]}},
    {"tags": ["work", "home"]},
    {"tags": {"not": ["home", "rare"]}},
    {"tags": {"exists": False}},
    {"kind": "fact"},
    {"kind": {"not": "fact"}},
    {"tier": ["working", "episodic"]},
    {"thread": {"not": ["t"]}},
    {"thread": {"exists": True}},
    {"thread": {"in": ["t", None]}},
    {"speaker": {"gt": "Anna", "lte": "anna"}},
    {"source": "diary", "priority": {"ne": "P3"}},
    {"cycle": {"gt": 2}},
    {"user": {"in": ["ann", None]}, "agent": {"exists": False}},
    {"not": {"user": "ann"}},
    {"cycle": {"in": [3, 1 << 60]}},
    {"importance": {"gte": 0.30000000000000004}},
    {"importance": {"in": [0.3, 0.5]}},
    {"importance": {"lt": 0.5}},
    {"trust": {"lt": 1}},
    {"position": 4},
    {"valid_from": {"lt": "2026-02-27"}},
    {"created_at": {"gte": "2026-03-01"}},
    {"or": [{"kind": "fact"}, {"metadata.n": {"gt": 100}}]},
    {"and": [{"tags": "work"}, {"not": {"metadata.n": 6}}]},
    {"not": {"or": [{"tags": {"any": ["work"]}}, {"speaker": {"exists": True}}]}},
    {"or": [{"metadata.n": 0.1 + 0.2}, {"not": {"thread": "t"}, "tags": "home"}]},
)


class SearchLaws:
    """Higher is better, best first, ties by id; filters apply before the limit."""

    def test_bm25_by_hand(self, store: Store) -> None:
        """Three rows of 2, 2 and 4 tokens: avgdl = 8/3; "cat" is in one of them, so idf = ln((3 − 1 + .5) / (1 + .5))."""
        put(store, "grey cat", "brown dog", "nothing else in here")
        (hit,) = by_keyword(store, "cat")
        idf = math.log((3 - 1 + 0.5) / (1 + 0.5))
        assert hit.score == pytest.approx(idf * (1 * 2.2) / (1 + 1.2 * (1 - 0.75 + 0.75 * 2 / (8 / 3))), rel=1e-12)

    def test_words_are_found_by_their_stem_in_text_essence_and_tags(self, store: Store) -> None:
        a = put_one(store, "She was running home")
        b = put_one(store, "A long story", essence="a run")
        c = put_one(store, "Another story", tags=("runs",))
        put(store, "nothing")
        assert set(ids(by_keyword(store, "run"))) == {a.id, b.id, c.id}

    def test_german_spanish_and_french_words_are_found_by_their_stems(self, store: Store) -> None:
        de = put_one(store, "Die Kinder haben in den alten Häusern der Stadt gewohnt", tags=("reisen",))
        es = put_one(store, "Los niños que vivían en la ciudad cantaron canciones")
        fr = put_one(store, "Les enfants qui habitaient dans la maison ont chanté des chansons", essence="les chansons")
        en = put_one(store, "The houses of the painters were painted")
        for query, found in (
            ("Haus", de),
            ("Haeusern alte", de),
            ("reise", de),
            ("cantar", es),
            ("canción", es),
            ("chanson", fr),
            ("enfant habite", fr),
            ("painter", en),
            ("Häuser AND Kind", de),
            ("Haus NOT enfants", de),
            ("content:Städte", de),
        ):
            assert ids(by_keyword(store, query)) == [found.id], query
        assert store.frequencies(["Kinder", "Hauses", "house", "absent"]) == (
            4,
            {"Kinder": 1, "Hauses": 1, "house": 1, "absent": 0},
        )

    def test_as_spelt_words_of_any_language_are_what_they_are(self, store: Store) -> None:
        record = put_one(store, "Die Kinder haben in den alten Häusern der Stadt gewohnt")
        assert ids(by_keyword(store, '"alten Häusern"')) == ids(by_keyword(store, "gewohn*")) == [record.id]
        assert by_keyword(store, '"alte Häuser"') == []
        store.update(record.id, {"text": "Die Kinder haben in der Hütte gewohnt"}, NOW + 1)
        assert by_keyword(store, '"alten Häusern"') == by_keyword(store, "Haus") == []
        assert ids(by_keyword(store, "Haus", Filter(now=NOW + 2, known_at=NOW))) == [record.id]
        assert ids(by_keyword(store, '"alten Häusern"', Filter(now=NOW + 2, known_at=NOW))) == [record.id]
        store.forget([record.id])
        assert by_keyword(store, "Kind") == by_keyword(store, '"Kinder"') == []
        assert store.check() == []

    def test_the_forms_of_a_word_share_one_weight(self, store: Store) -> None:
        """Of a word in two of six rows, one of them too short to tell its language, idf = ln((6 − 2 + .5) / (2 + .5))."""
        guessed = put_one(store, "das ist nicht der Kinder")
        short = put_one(store, "alle Kinder heute hier so")
        put(store, *(f"nothing {n} else in here" for n in range(4)))
        scores = {hit.id: hit.score for hit in by_keyword(store, "kinder")}
        mean = (6 + 5 + 4 * 5) / 6  # a text that is stemmed by language has a word that says so
        idf = math.log((6 - 2 + 0.5) / (2 + 0.5))
        for record, length in ((guessed, 6), (short, 5)):
            expected = idf * 2.2 / (1 + 1.2 * (1 - 0.75 + 0.75 * length / mean))
            assert scores[record.id] == pytest.approx(expected, rel=1e-12)

    def test_accents_and_case_do_not_matter(self, store: Store) -> None:
        record = put_one(store, "Crème Brûlée")
        assert ids(by_keyword(store, "creme")) == ids(by_keyword(store, "BRULEE")) == [record.id]

    def test_text_without_spaces_is_found_by_one_to_four_characters(self, store: Store) -> None:
        record = put_one(store, "昨日は京都で猫を見た")
        put(store, "今日は雨が降る")
        for query in ("猫", "京都", "京都で", "京都で猫"):
            assert ids(by_keyword(store, query)) == [record.id]
        assert by_keyword(store, "犬") == []

    def test_expert_syntax_prefix_and_columns(self, store: Store) -> None:
        a, b = put(store, "automatic door", "autumn leaves")
        c = put_one(store, "something", essence="autumn")
        assert set(ids(by_keyword(store, "auto*"))) == {a.id}
        assert set(ids(by_keyword(store, "aut*"))) == {a.id, b.id, c.id}
        assert ids(by_keyword(store, '"automatic door"')) == [a.id]
        assert set(ids(by_keyword(store, "autumn NOT leaves"))) == {c.id}
        assert ids(by_keyword(store, "essence:autumn")) == [c.id]

    def test_a_refused_expression_falls_back_once(self, store: Store) -> None:
        record = put_one(store, "a cat")
        broken = KeywordQuery("expert", (), (), "cat AND (", fallback='"cat"')
        assert ids(store.search_keywords(broken, Filter(now=NOW), 5)) == [record.id]
        for query in (KeywordQuery("expert", (), (), "(", fallback='"'), KeywordQuery("expert", (), (), "nobody:cat")):
            with raises(InvalidInput, "bad_expression"):
                store.search_keywords(query, Filter(now=NOW), 5)
        assert store.search_keywords(parse_keywords(""), Filter(now=NOW), 5) == []

    def test_a_query_of_a_megabyte_is_a_query(self, store: Store) -> None:
        record = put_one(store, "a cat")
        assert ids(by_keyword(store, "cat " + "nonsense word " * 70_000)) == [record.id]

    def test_frequencies_are_those_of_the_present_index(self, store: Store) -> None:
        a, b, c = put(store, "grey cats", "a cat, a cat", "dogs", tags=("running",))
        assert store.frequencies(["Cat", "run", "bird", "…"]) == (3, {"Cat": 2, "run": 3, "bird": 0, "…": 0})
        store.update(a.id, {"text": "birds"}, NOW + 1)
        store.forget([c.id])
        assert store.frequencies(["cat", "bird", "dog"]) == (2, {"cat": 1, "bird": 1, "dog": 0})
        assert store.get([b.id])

    def test_reflections_are_found_and_change_no_other_score(self, store: Store) -> None:
        put(store, "a grey cat sleeps", "a cat and a dog", "the dog barks at night", "rain again")
        before, frequencies = by_keyword(store, "cat dog", limit=10), store.frequencies(["cat", "dog"])
        themes = put(store, "cat dog cat dog", "dog, cats, grey", *["cat"] * 5, kind="reflection")
        after = by_keyword(store, "cat dog", limit=20)
        assert {theme.id for theme in themes} <= set(ids(after))
        assert [hit for hit in after if hit.id in set(ids(before))] == list(before)
        assert store.frequencies(["cat", "dog"]) == frequencies
        store.update(themes[0].id, {"text": "cat"}, NOW + 1)
        then = by_keyword(store, "cat dog", Filter(now=NOW + 1, known_at=NOW), limit=20)
        assert [(hit.id, hit.score) for hit in then if hit.id in set(ids(before))] == [(h.id, h.score) for h in before]
        only = by_keyword(store, "cat dog", Filter(now=NOW, kinds=("reflection",)), limit=20)
        assert set(ids(only)) == {theme.id for theme in themes}
        without = by_keyword(store, "cat dog", Filter(now=NOW, without_kinds=("reflection",)), limit=20)
        assert list(without) == list(before)

    def test_ties_go_by_id(self, store: Store) -> None:
        records = put(store, *["the same text"] * 7)
        for found in (by_keyword(store, "same text", limit=5), by_vector(store, "same text", limit=5)):
            assert ids(found) == sorted(ids(records))[:5]
            assert len({hit.score for hit in found}) == 1

    def test_nearest_are_by_cosine(self, store: Store) -> None:
        space = EmbeddingSpace("axes", 2)
        vectors = {"east": [1, 0], "north-east": [3, 3], "north": [0, 2], "west": [-0.1, 0]}
        store.add([Draft(text=t, id=t, vector=np.array(v, dtype=np.float32)) for t, v in vectors.items()], NOW, space)
        found = store.search_vectors(np.array([5, 0], dtype=np.float32), Filter(now=NOW), 10)
        assert ids(found) == ["east", "north-east", "north", "west"]
        assert [hit.score for hit in found] == pytest.approx([1.0, 0.5**0.5, 0.0, -1.0], abs=1e-7)
        assert ids(store.search_vectors(np.array([5, 0], dtype=np.float32), Filter(now=NOW), 2)) == [
            "east",
            "north-east",
        ]

    def test_a_vector_that_cannot_be_compared_is_refused(self, store: Store) -> None:
        assert store.search_vectors(TOY.embed_query("x"), Filter(now=NOW), 5) == []
        put(store, "a cat")
        nan, zero = np.full(64, np.nan, dtype=np.float32), np.zeros(64, np.float32)
        wrong = {"wrong_dimensions": np.ones(3, dtype=np.float32), "not_finite": nan, "zero_vector": zero}
        for code, vector in wrong.items():
            with raises(InvalidInput, code):
                store.search_vectors(vector, Filter(now=NOW), 5)

    def test_recent_goes_by_date(self, store: Store) -> None:
        old = put_one(store, "written now, happened long ago", valid_from=NOW - 9 * DAY)
        new = put_one(store, "yesterday", created_at=NOW - DAY)
        found = store.recent(Filter(now=NOW), 10)
        assert [(hit.id, hit.score) for hit in found] == [(new.id, float(NOW - DAY)), (old.id, float(NOW - 9 * DAY))]
        assert ids(store.recent(Filter(now=NOW), 1)) == [new.id]

    def test_dated_goes_by_distance_on_either_side(self, store: Store) -> None:
        days = {day: put_one(store, f"day {day}", created_at=NOW + day * DAY).id for day in (-9, -3, -1, 0, 2, 5, 6)}
        happened = put_one(store, "written late", valid_from=NOW + 4 * DAY, created_at=NOW + 40 * DAY).id
        asked = NOW + 3 * DAY
        found = store.dated(asked, Filter(now=NOW), 5)
        assert ids(found) == [*sorted([days[2], happened]), days[5], *sorted([days[0], days[6]])]
        assert [hit.score for hit in found] == [float(-away * DAY) for away in (1, 1, 2, 3, 3)]
        assert ids(store.dated(asked, Filter(now=NOW, until=asked), 2)) == [days[2], days[0]]
        assert ids(store.dated(asked, Filter(now=NOW, since=asked), 2)) == [happened, days[5]]
        assert ids(store.dated(NOW - 99 * DAY, Filter(now=NOW), 2)) == [days[-9], days[-3]]
        assert len(store.dated(asked, Filter(now=NOW), 99)) == 8
        assert store.dated(asked, Filter(now=NOW), 0) == []

    def test_the_times_that_texts_tell_of(self, store: Store) -> None:
        """Those that overlap the period, the nearest middle first, ties by id; a memory that tells of none is not found."""
        spans = {"a": (0, 1), "b": (2, 3), "c": (2, 3), "d": (0, 10), "e": (9, 10)}
        drafts = [
            Draft(text=f"memory {id}", id=id, about_from=NOW + first * DAY, about_to=NOW + last * DAY)
            for id, (first, last) in spans.items()
        ]
        store.add([*drafts, Draft(text="of no time", id="f")], NOW)
        begin, end = NOW + 2 * DAY, NOW + 3 * DAY
        found = store.about(begin, end, Filter(now=NOW), 9)
        assert [(hit.id, hit.score) for hit in found] == [("b", 0.0), ("c", 0.0), ("d", -2.5 * DAY)]
        assert ids(store.about(NOW, NOW + DAY, Filter(now=NOW), 9)) == ["a", "d"]
        assert ids(store.about(begin, end, Filter(now=NOW, ids=frozenset("df")), 9)) == ["d"]
        assert store.about(begin, end, Filter(now=NOW), 0) == []
        store.forget(["b"])
        assert ids(store.about(begin, end, Filter(now=NOW), 9)) == ["c", "d"]

    @pytest.mark.parametrize(("fields", "asked"), FILTERS.values(), ids=FILTERS)
    def test_every_search_obeys_every_filter(self, store: Store, fields: dict[str, Any], asked: dict[str, Any]) -> None:
        wanted = put_one(store, "a word to find", **fields)
        put(store, "a word to hide", created_at=NOW - 9 * DAY, trust=0.4, source="web")
        put(store, "a word to hide as well", created_at=NOW - 9 * DAY, trust=0.4, tags=("work",), metadata={"n": 1})
        found = found_everywhere(store, "a word", Filter(now=NOW, **asked))
        assert all(ids == {wanted.id} for ids in found.values()), found
        assert store.count(Filter(now=NOW, **asked)) == 1

    def test_every_search_obeys_every_condition(self, store: Store) -> None:
        records = [put_one(store, "a word to find", **fields) for fields in VARIED]
        for given in CONDITIONS:
            filter = filter_of(NOW, {"where": given})
            wanted = {record.id for record in records if filter.rejects(record) is None}
            found = found_everywhere(store, "a word", filter)
            assert all(ids == wanted for ids in found.values()), (given, wanted, found)
            assert store.count(filter) == len(wanted)

    def test_filters_apply_before_the_limit(self, store: Store) -> None:
        put(store, *["cat cat cat"] * 30)
        wanted = put_one(store, "a rather long story, in which a cat is only mentioned", tags=("rare",))
        filter = Filter(now=NOW, tags=("rare",))
        assert ids(by_keyword(store, "cat", filter, 1)) == ids(by_vector(store, "cat", filter, 1)) == [wanted.id]

    def test_ids_narrow_a_search_to_nothing_or_something(self, store: Store) -> None:
        a, _ = put(store, "cat one", "cat two")
        assert ids(by_keyword(store, "cat", Filter(now=NOW).only([a.id, "nobody"]))) == [a.id]
        assert not any(found_everywhere(store, "cat", Filter(now=NOW).only([])).values())

    def test_no_limit_below_one(self, store: Store) -> None:
        put(store, "a cat")
        assert by_keyword(store, "cat", limit=0) == by_vector(store, "cat", limit=0) == []
