"""Benchmark files become one immutable shape, or an error that names file, place and expectation."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from codes import raises

from thinkback.clock import to_us
from thinkback.errors import DatasetError
from thinkback.evaluate.datasets import (
    Corpus,
    Dataset,
    Document,
    Question,
    TrecRun,
    read_beir,
    read_locomo,
    read_longmemeval,
    read_qrels,
    read_run,
    write_run,
)
from thinkback.evaluate.datasets.base import checked
from thinkback.evaluate.datasets.files import read_array

LOCOMO_DEV = Path(__file__).parents[3] / "shared" / "data" / "locomo-dev.json"


def _write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def _conversation() -> dict:
    return {
        "sample_id": "talk-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_2_date_time": "12:05 am on 1 June, 2024",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "My boat is named Gull."}],
            "session_1_date_time": "1:56 pm on 8 May, 2024",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I planted figs."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a red kite"},
                {"speaker": "Ada", "dia_id": "D1:3", "text": "", "blip_caption": "a dog"},
            ],
            "session_3_date_time": "9:00 am on 2 June, 2024",
            "session_3": [],
        },
        "qa": [
            {"question": "What did Ada plant?", "answer": "figs", "evidence": ["D1:1"], "category": 4},
            {"question": "Boat and kite?", "answer": "…", "evidence": ["D2:1; D1:2", "D:1:03"], "category": 1},
            {"question": "Lost?", "answer": "…", "evidence": ["D9:9", "D"], "category": 2},
            {"question": "None?", "answer": "…", "evidence": [], "category": 3},
            {"question": "Trick?", "adversarial_answer": "x", "evidence": ["D2:1"], "category": 5},
        ],
    }


class TestLoCoMo:
    def test_turns_are_memories_in_the_order_of_their_sessions(self, tmp_path):
        dataset = read_locomo(_write(tmp_path / "talks.json", [_conversation()]))
        may, june = to_us(datetime(2024, 5, 8, 13, 56, tzinfo=UTC)), to_us(datetime(2024, 6, 1, 0, 5, tzinfo=UTC))
        assert dataset.name == "talks (turn)"
        assert dataset.corpora == (
            Corpus(
                "talk-1",
                (
                    Document("D1:1", "Ada: I planted figs.", "S1", 0, may, "Ada"),
                    Document("D1:2", "Ben: Look! [image: a red kite]", "S1", 1, may, "Ben"),
                    Document("D1:3", "Ada: [image: a dog]", "S1", 2, may, "Ada"),
                    Document("D2:1", "Ben: My boat is named Gull.", "S2", 0, june, "Ben"),
                ),
            ),
        )

    def test_questions_keep_the_evidence_that_exists_and_say_what_was_left_out(self, tmp_path):
        dataset = read_locomo(_write(tmp_path / "talks.json", [_conversation()]))
        june = to_us(datetime(2024, 6, 1, 0, 5, tzinfo=UTC))
        assert dataset.questions == (
            Question("talk-1/q1", "talk-1", "What did Ada plant?", {"D1:1": 1.0}, "4 single-hop", june),
            Question(
                "talk-1/q2", "talk-1", "Boat and kite?", {"D2:1": 1.0, "D1:2": 1.0, "D1:3": 1.0}, "1 multi-hop", june
            ),
        )
        assert dataset.left_out == {
            "without evidence that exists": 1,
            "without evidence": 1,
            "adversarial (category 5)": 1,
        }
        assert dataset.notes == {"evidence ids that do not exist": 2}

    def test_adversarial_questions_are_added_on_request(self, tmp_path):
        dataset = read_locomo(_write(tmp_path / "talks.json", [_conversation()]), adversarial=True)
        assert [q.category for q in dataset.questions] == ["4 single-hop", "1 multi-hop", "5 adversarial"]
        assert "adversarial (category 5)" not in dataset.left_out

    def test_at_session_level_a_memory_is_a_session_and_gold_its_sessions(self, tmp_path):
        dataset = read_locomo(_write(tmp_path / "talks.json", [_conversation()]), level="session")
        first, second = dataset.corpora[0].documents
        assert first.text == "Ada: I planted figs.\nBen: Look! [image: a red kite]\nAda: [image: a dog]"
        assert (first.id, first.thread, second.id) == ("S1", None, "S2")
        assert [q.gold for q in dataset.questions] == [{"S1": 1.0}, {"S2": 1.0, "S1": 1.0}]

    @pytest.mark.parametrize(
        ("break_it", "code", "place"),
        [
            (lambda c: c.pop("qa"), "missing_field", "[0]: the field 'qa'"),
            (lambda c: c["qa"][1].pop("evidence"), "missing_field", "[0].qa[1]: the field 'evidence'"),
            (
                lambda c: c["qa"][0].update(evidnce=c["qa"][0].pop("evidence")),
                "missing_field",
                "Did you mean 'evidnce'?",
            ),
            (lambda c: c["qa"][0].update(evidence="D1:1"), "wrong_type", "[0].qa[0].evidence"),
            (lambda c: c["qa"][0].update(category=9), "unknown_category", "qa[0].category"),
            (lambda c: c["qa"][0].update(category="4"), "wrong_type", "qa[0].category"),
            (lambda c: c["qa"][0].update(question=None), "wrong_type", "qa[0].question"),
            (lambda c: c["conversation"].pop("session_1_date_time"), "missing_field", "'session_1_date_time'"),
            (
                lambda c: c["conversation"].update(session_1_date_time="8 May 2024"),
                "not_a_date",
                "session_1_date_time",
            ),
            (
                lambda c: c["conversation"].update(session_1_date_time="1:00 pm on 31 June, 2024"),
                "not_a_date",
                "session_1_date_time",
            ),
            (
                lambda c: c["conversation"]["session_1"][0].pop("dia_id"),
                "missing_field",
                "session_1[0]: the field 'dia_id'",
            ),
            (lambda c: c["conversation"]["session_1"][1].update(dia_id="D1:1"), "duplicate_document", "'D1:1'"),
            (lambda c: c.update(conversation={"speaker_a": "Ada"}), "no_session", "[0].conversation"),
            (lambda c: c.update(qa=c["qa"][3:4]), "no_question", "1 without evidence"),
        ],
    )
    def test_a_wrong_file_is_explained(self, tmp_path, break_it, code, place):
        content = _conversation()
        break_it(content)
        with raises(DatasetError, code) as caught:
            read_locomo(_write(tmp_path / "talks.json", [content]))
        assert "talks" in str(caught.value)
        assert place in str(caught.value)

    @pytest.mark.parametrize(
        ("text", "code", "place"),
        [
            ("", "empty_file", "talks.json"),
            ("  \n", "empty_file", "talks.json"),
            ('{"a": 1}', "not_a_list", "talks.json"),
            ("[]", "no_question", "talks"),
            ('[\n{"sample_id": 1,\n}]', "not_json", "line 3"),
            ("[7]", "wrong_type", "[0]"),
        ],
    )
    def test_malformed_json_is_located(self, tmp_path, text, code, place):
        with raises(DatasetError, code) as caught:
            read_locomo(_write(tmp_path / "talks.json", text))
        assert place in str(caught.value)

    @pytest.mark.parametrize(
        ("text", "place", "found"),
        [
            ("[1", "line 1", "found the end of the file"),
            ("[1,\n\n2 3]", "line 3", "found '3]'"),
            ("[1,]", "line 1", "found ',]'"),
            ("[1,", "line 1", "column 4, element 1"),
        ],
    )
    def test_a_broken_list_is_located(self, tmp_path, text, place, found):
        with raises(DatasetError, "not_json") as caught:
            list(read_array(_write(tmp_path / "talks.json", text)))
        assert place in str(caught.value)
        assert found in str(caught.value)

    def test_text_after_the_list_is_refused(self, tmp_path):
        text = json.dumps([_conversation()]) + "\n[]"
        with raises(DatasetError, "not_json"):
            read_locomo(_write(tmp_path / "talks.json", text))

    def test_a_missing_file_and_a_file_that_is_not_text_are_named(self, tmp_path):
        with raises(DatasetError, "no_file"):
            read_locomo(tmp_path / "nowhere.json")
        (tmp_path / "bytes.json").write_bytes(b"[\xff\xfe]")
        with raises(DatasetError, "not_utf8"):
            read_locomo(tmp_path / "bytes.json")

    def test_a_folder_is_not_a_file(self, tmp_path):
        with raises(DatasetError, "unreadable"):
            read_locomo(tmp_path)

    def test_an_unknown_level_is_refused_with_the_nearest(self, tmp_path):
        with pytest.raises(DatasetError, match=r"no level 'turns'.*Did you mean 'turn'"):
            read_locomo(tmp_path / "any.json", level="turns")

    @pytest.mark.skipif(not LOCOMO_DEV.exists(), reason="the LoCoMo development file is not here")
    def test_the_development_file_has_the_known_size(self):
        dataset = read_locomo(LOCOMO_DEV)
        assert [len(corpus.documents) for corpus in dataset.corpora] == [419, 369, 663, 629, 680]
        assert len(dataset.questions) == 762 - 2
        assert dataset.left_out == {"without evidence": 2, "adversarial (category 5)": 237}


def _haystack(**changes: object) -> dict:
    question = {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "Where did I park?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["noise_1", "answer_9"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Tell me a joke"}, {"role": "assistant", "content": "No."}],
            [
                {"role": "user", "content": "I parked at level 3", "has_answer": True},
                {"role": "assistant", "content": ""},
                {"role": "assistant", "content": "Noted", "has_answer": False},
            ],
        ],
        "answer_session_ids": ["answer_9"],
    }
    return question | changes


class TestLongMemEval:
    def test_sessions_are_memories_under_neutral_ids(self, tmp_path):
        dataset = read_longmemeval(_write(tmp_path / "lme_s.json", [_haystack()]))
        first, second = dataset.corpora[0].documents
        assert (first.id, second.id) == ("s1", "s2")
        assert second.text == "user: I parked at level 3\nassistant: Noted"
        assert second.created_us == to_us(datetime(2023, 5, 21, 10, 0, tzinfo=UTC))
        now = to_us(datetime(2023, 5, 30, 23, 40, tzinfo=UTC))
        assert dataset.questions == (Question("q1", "q1", "Where did I park?", {"s2": 1.0}, "multi-session", now),)
        assert dataset.notes == {"turns without text": 1}

    def test_turns_are_memories_of_their_sessions_thread(self, tmp_path):
        dataset = read_longmemeval(_write(tmp_path / "lme_s.json", [_haystack()]), level="turn")
        assert [(d.id, d.thread, d.position, d.speaker) for d in dataset.corpora[0].documents] == [
            ("s1:1", "s1", 0, "user"),
            ("s1:2", "s1", 1, "assistant"),
            ("s2:1", "s2", 0, "user"),
            ("s2:2", "s2", 1, "assistant"),
        ]
        assert dataset.corpora[0].documents[2].text == "I parked at level 3"
        assert dataset.questions[0].gold == {"s2:1": 1.0}

    @pytest.mark.parametrize("level", ["session", "turn"])
    def test_gold_ids_never_reach_an_index(self, tmp_path, level):
        dataset = read_longmemeval(_write(tmp_path / "lme_s.json", [_haystack()]), level=level)
        assert "answer_9" not in repr(dataset)

    def test_abstention_questions_are_left_out_by_default_and_n_says_so(self, tmp_path):
        path = _write(tmp_path / "lme_oracle.json", [_haystack(), _haystack(question_id="q2_abs")])
        dataset = read_longmemeval(path)
        assert (len(dataset.questions), dataset.left_out) == (1, {"abstention (nothing to find)": 1})
        kept = read_longmemeval(path, abstention=True)
        assert [q.category for q in kept.questions] == ["multi-session", "abstention"]

    def test_a_session_listed_twice_is_gold_in_both_places(self, tmp_path):
        twice = _haystack(haystack_session_ids=["answer_9", "answer_9"])
        dataset = read_longmemeval(_write(tmp_path / "lme.json", [twice]))
        assert dataset.questions[0].gold == {"s1": 1.0, "s2": 1.0}

    def test_a_question_whose_answer_is_not_in_the_haystack_is_left_out_and_noted(self, tmp_path):
        lost = _haystack(question_id="q2", answer_session_ids=["answer_1"])
        dataset = read_longmemeval(_write(tmp_path / "lme.json", [_haystack(), lost]))
        assert dataset.left_out == {"without an answer session": 1}
        assert dataset.notes["answer sessions that do not exist"] == 1

    def test_equal_texts_of_many_haystacks_are_kept_once(self, tmp_path):
        path = _write(tmp_path / "lme.json", [_haystack(), _haystack(question_id="q2")])
        first, second = (corpus.documents[0].text for corpus in read_longmemeval(path, level="turn").corpora)
        assert first is second

    @pytest.mark.parametrize(
        ("changes", "code", "place"),
        [
            ({"haystack_dates": []}, "unequal_lengths", "not 2, 0 and 2"),
            ({"question_date": "30 May"}, "not_a_date", "question_date"),
            ({"question_date": "2023/13/30 (Tue) 23:40"}, "not_a_date", "question_date"),
            ({"question_id": ""}, "empty_id", "question_id"),
            ({"haystack_sessions": [[{"role": "user"}], []]}, "missing_field", "haystack_sessions[0][0]"),
            ({"answer_session_ids": ["answer_1"]}, "no_question", "1 without an answer session"),
        ],
    )
    def test_a_wrong_file_is_explained(self, tmp_path, changes, code, place):
        with raises(DatasetError, code) as caught:
            read_longmemeval(_write(tmp_path / "lme.json", [_haystack(**changes)]))
        assert place in str(caught.value)

    def test_a_missing_field_is_named_with_its_near_miss(self, tmp_path):
        question = _haystack()
        question["haystack_session"] = question.pop("haystack_sessions")
        with pytest.raises(DatasetError, match=r"'haystack_sessions' is missing\. Did you mean 'haystack_session"):
            read_longmemeval(_write(tmp_path / "lme.json", [question]))

    def test_an_unknown_level_is_refused(self, tmp_path):
        with raises(DatasetError, "unknown_level"):
            read_longmemeval(tmp_path / "any.json", level="word")


def _lines(*rows: dict) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def collection(tmp_path):
    folder = tmp_path / "scitoy"
    (folder / "qrels").mkdir(parents=True)
    _write(
        folder / "corpus.jsonl",
        _lines(
            {"_id": "d1", "title": "Figs", "text": "They ripen late.", "metadata": {}},
            {"_id": "d2", "title": "", "text": "A kite."},
            {"_id": "d3", "title": "", "text": " "},
            {"_id": "q3", "text": "Itself"},
        ),
    )
    _write(
        folder / "queries.jsonl",
        _lines({"_id": "q1", "text": "figs?"}, {"_id": "q2", "text": "boat?"}, {"_id": "q3", "text": "Itself"}),
    )
    _write(folder / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq3\td2\t1\nq4\td1\t1\n")
    _write(folder / "qrels" / "train.tsv", "query-id\tcorpus-id\tscore\nq2\td2\t1\nq2\td9\t1\n")
    return folder


class TestBeir:
    def test_documents_are_title_and_text_and_gold_is_graded(self, collection):
        dataset = read_beir(collection)
        assert dataset.name == "scitoy (test)"
        assert dataset.corpora[0].documents == (
            Document("d1", "Figs\nThey ripen late."),
            Document("d2", "A kite."),
            Document("q3", "Itself"),
        )
        assert [(q.id, q.text, q.gold) for q in dataset.questions] == [
            ("q1", "figs?", {"d1": 2.0}),
            ("q3", "Itself", {"d2": 1.0}),
        ]
        assert dataset.left_out == {"not judged in this split": 1, "judged but not in queries.jsonl": 1}
        assert dataset.notes == {"documents without text": 1}

    def test_a_query_may_not_answer_itself(self, collection):
        assert read_beir(collection).questions[1].excluded == {"q3"}

    def test_a_judged_document_that_the_corpus_lacks_still_counts_in_the_ideal(self, collection):
        dataset = read_beir(collection, split="train")
        assert dataset.questions[0].gold == {"d2": 1.0, "d9": 1.0}
        assert dataset.notes["judged documents that the corpus lacks"] == 1

    def test_one_qrels_file_beside_the_corpus_serves_too(self, collection):
        judgements = (collection / "qrels" / "test.tsv").read_text()
        for path in (collection / "qrels").iterdir():
            path.unlink()
        _write(collection / "qrels.tsv", judgements)
        assert len(read_beir(collection).questions) == 2

    def test_an_unknown_split_names_those_given(self, collection):
        with pytest.raises(DatasetError, match=r"no split 'tests'; given are test, train\. Did you mean 'test'"):
            read_beir(collection, split="tests")

    def test_a_query_judged_only_irrelevant_is_left_out(self, collection):
        _write(collection / "qrels" / "test.tsv", "q1\td1\t1\nq2\td2\t0\n")
        assert read_beir(collection).left_out["without a relevant document"] == 1

    @pytest.mark.parametrize(
        ("file", "text", "code", "place"),
        [
            ("corpus.jsonl", '{"_id": "d1", "text": "x"}\n{"_id"', "not_json", "corpus.jsonl: line 2"),
            ("corpus.jsonl", "", "empty_file", "corpus.jsonl"),
            ("corpus.jsonl", '{"id": "d1", "text": "x"}', "missing_field", "Did you mean 'id'"),
            ("corpus.jsonl", '{"_id": "zz", "text": "x"}', "unknown_document", "corpus.jsonl"),
            ("queries.jsonl", '{"_id": "q1"}', "missing_field", "queries.jsonl: line 1"),
            ("qrels/test.tsv", "q1 d1 1\n", "wrong_fields", "test.tsv: line 1"),
            ("qrels/test.tsv", "q1\td1\tyes\n", "not_a_number", "test.tsv: line 1"),
            ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "no_judgements", "test.tsv"),
        ],
    )
    def test_a_wrong_file_is_explained(self, collection, file, text, code, place):
        _write(collection / file, text)
        with raises(DatasetError, code) as caught:
            read_beir(collection)
        assert place in str(caught.value)

    def test_missing_parts_are_named(self, collection, tmp_path):
        with raises(DatasetError, "no_folder"):
            read_beir(tmp_path / "nothing")
        (collection / "queries.jsonl").unlink()
        with raises(DatasetError, "no_file"):
            read_beir(collection)
        for path in (collection / "qrels").iterdir():
            path.unlink()
        with raises(DatasetError, "no_judgements"):
            read_beir(collection)


class TestTrec:
    def test_the_score_decides_and_equal_scores_keep_their_order(self, tmp_path):
        path = _write(
            tmp_path / "a.run", "q1 Q0 low 1 0.5 sys\nq1 Q0 b 2 2.0 sys\nq1 Q0 a 3 2.0 sys\nq2 Q0 x 1 1 sys\n"
        )
        run = read_run(path)
        assert run.name == "sys"
        assert run.rankings["q1"] == (("b", 2.0), ("a", 2.0), ("low", 0.5))
        assert run.rankings["q2"] == (("x", 1.0),)

    def test_lines_of_several_tags_take_the_file_name(self, tmp_path):
        assert read_run(_write(tmp_path / "mix.run", "q1 Q0 a 1 2 s\nq1 Q0 b 2 1 t\n")).name == "mix"

    def test_writing_and_reading_lose_nothing(self, tmp_path):
        run = TrecRun("mine", {"q1": (("a", 1 / 3), ("b", 1e-17)), "q2": (("c", -2.0),)})
        write_run(tmp_path / "out.run", run)
        assert read_run(tmp_path / "out.run") == run

    def test_qrels_are_questions_with_graded_gold(self, tmp_path):
        questions = read_qrels(_write(tmp_path / "q.txt", "q1 0 a 2\nq1 0 b 0\nq2 0 c 0\n"))
        assert [(q.id, q.gold) for q in questions] == [("q1", {"a": 2.0}), ("q2", {})]

    @pytest.mark.parametrize(
        ("text", "code", "place"),
        [
            ("", "empty_file", "a.run"),
            ("q1 Q0 a 1 0.5\n", "wrong_fields", "line 1"),
            ("q1 Q0 a 1 high s\n", "not_a_number", "line 1"),
            ("q1 Q0 a 1 nan s\n", "not_a_number", "line 1"),
            ("q1 Q0 a 1 2 s\n\nq1 Q0 a 2 1 s\n", "duplicate_document", "line 3"),
        ],
    )
    def test_a_wrong_run_is_explained(self, tmp_path, text, code, place):
        with raises(DatasetError, code) as caught:
            read_run(_write(tmp_path / "a.run", text))
        assert place in str(caught.value)

    def test_a_wrong_grade_is_explained(self, tmp_path):
        with raises(DatasetError, "not_a_number"):
            read_qrels(_write(tmp_path / "q.txt", "q1 0 a x\n"))


def _toy(**changes: object) -> Dataset:
    documents = (Document("a", "A"), Document("b", "B"))
    fields = {
        "name": "toy",
        "corpora": (Corpus("one", documents), Corpus("two", documents)),
        "questions": tuple(
            Question(f"q{i}", corpus, f"question {i}", {"a": 1.0})
            for i, corpus in enumerate(["one", "one", "one", "two", "two"])
        ),
    }
    return Dataset(**(fields | changes))


class TestDataset:
    def test_the_first_questions_are_spread_over_the_corpora(self):
        part = _toy().first(3)
        assert [q.id for q in part.questions] == ["q0", "q1", "q3"]
        assert part.left_out == {"beyond the limit": 2}

    def test_only_the_corpora_asked_are_kept(self):
        assert [c.id for c in _toy().first(1).corpora] == ["one"]

    def test_a_limit_beyond_the_end_changes_nothing(self):
        assert _toy().first(5) == _toy()
        assert _toy().first(None) == _toy()

    def test_a_limit_of_zero_is_refused(self):
        with raises(DatasetError, "no_question"):
            _toy().first(0)

    def test_a_part_keeps_the_identity_of_its_whole(self):
        assert _toy().first(1).fingerprint == _toy().fingerprint

    @pytest.mark.parametrize(
        "changes",
        [
            {"corpora": (Corpus("one", (Document("a", "A!"),)),)},
            {"questions": (Question("q0", "one", "question 0", {"b": 1.0}),)},
        ],
    )
    def test_the_fingerprint_follows_the_content(self, changes):
        assert _toy(**changes).fingerprint != _toy().fingerprint

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"questions": ()}, "no_question"),
            ({"corpora": (Corpus("one", ()), Corpus("one", ()))}, "duplicate_corpus"),
            ({"questions": (Question("q", "one", "?", {"a": 1.0}),) * 2}, "duplicate_question"),
            ({"questions": (Question("q", "six", "?", {"a": 1.0}),)}, "unknown_corpus"),
            ({"questions": (Question("q", "one", "?", {}),)}, "no_gold"),
            ({"questions": (Question("q", "one", "?", {"z": 1.0}),)}, "unknown_document"),
        ],
    )
    def test_ids_are_unique_and_references_lead_somewhere(self, changes, code):
        with raises(DatasetError, code):
            checked(_toy(**changes))
