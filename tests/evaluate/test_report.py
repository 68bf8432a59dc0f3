"""The report: one page that stands alone, says everything, and runs nothing."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from evaluate_toys import DATASET, TALK, Toy

from thinkback.evaluate.bench import BenchSettings, Contender, bench
from thinkback.evaluate.datasets import Document, Question
from thinkback.evaluate.rankings import Ranking
from thinkback.evaluate.report import mean_curve, page, shown_texts, worst, write_report
from thinkback.evaluate.svg import Bar, Curve, grouped_bars, horizontal_bars, line_chart

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \" onload='x' &amp;"


class Page(HTMLParser):
    """Tags, attributes and text of a page; void elements need no end."""

    VOID = frozenset({"meta", "line", "rect", "polyline", "br"})

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self._open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self._open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def balanced(self):
        return not self._open


@pytest.fixture(scope="module")
def hostile_result():
    corpus = replace(TALK, id=HOSTILE, documents=(*TALK.documents, Document("bad<id>", HOSTILE)))
    questions = (
        Question("q<1>", HOSTILE, HOSTILE, {"missing": 1.0}, f"cat {HOSTILE}"),
        replace(DATASET.questions[0], corpus_id=HOSTILE),
    )
    dataset = replace(DATASET, name=f"toy {HOSTILE}", corpora=(corpus,), questions=questions, left_out={HOSTILE: 1})
    contenders = [Contender(HOSTILE, HOSTILE, HOSTILE, {HOSTILE: 0.5, "minus": -0.25}), Contender("plain")]
    toy = Toy(HOSTILE, "plain")
    return dataset, bench(dataset, contenders, toy.open, BenchSettings(explain=True))


def test_nothing_from_outside_becomes_markup(hostile_result, tmp_path):
    dataset, result = hostile_result
    write_report(tmp_path / "out" / "report.html", result, dataset)
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    parsed = Page(text)
    assert parsed.balanced
    assert not {"script", "img", "link", "iframe", "object", "base", "form", "a"} & set(parsed.tags)
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name in ("src", "href")]
    assert HOSTILE in "".join(parsed.text)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["report.html"]


def test_the_page_asks_for_nothing_from_anywhere(hostile_result):
    _, result = hostile_result
    text = page(result, {})
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert "@import" not in text
    assert "http://" not in text
    assert "https://" not in text


def test_the_page_holds_table_plots_weights_and_the_worst_questions_with_their_reason():
    result = bench(
        replace(DATASET, questions=(*DATASET.questions, Question("q4", "talk", "gone?", {"t9": 1.0}, "hard"))),
        [Contender("overlap", "f00d", "toy-embedder", {"legs.keyword": 0.5}), Contender("nothing")],
        Toy("overlap", "nothing").open,
        BenchSettings(explain=True),
    )
    text = page(result, shown_texts(result, DATASET.corpora))
    parsed = Page(text)
    words = "".join(parsed.text)
    assert parsed.tags.count("svg") == 4 + 1
    assert "Nothing to draw: weights of nothing" in words
    for needed in ("any@5 by category", "p95 ms", "f00d", "legs.keyword", "why q4", "not found", "nothing − overlap"):
        assert needed in words
    assert "Ben named his boat Gull" in words
    assert "prefers-color-scheme: dark" in text


def test_a_page_is_the_same_bytes_every_time(hostile_result):
    _, result = hostile_result
    assert page(result, {}) == page(result, {})


def test_lone_surrogates_do_not_stop_the_report(tmp_path, hostile_result):
    _, result = hostile_result
    write_report(tmp_path / "r.html", replace(result, dataset="bad \ud800 text"))
    assert "bad ? text" in (tmp_path / "r.html").read_text(encoding="utf-8")


def _at(question, rank):
    ids = tuple(f"x{i}" for i in range(20))
    ids = ids if rank is None else (*ids[: rank - 1], "g", *ids[rank:])
    return Ranking(question, {"g": 1.0}, ids, tuple(map(float, range(20))))


def test_the_worst_questions_are_those_never_found_then_those_found_last():
    rankings = [_at("a", 1), _at("b", 3), _at("c", None), _at("d", 12), _at("e", None)]
    assert [r.question_id for r in worst(rankings)] == ["c", "e", "d", "b"]
    assert [r.question_id for r in worst(rankings, 2)] == ["c", "e"]


def test_a_curve_is_the_mean_at_every_cut_off():
    assert mean_curve([_at("a", 1), _at("b", 3)], "any", 3) == [(1.0, 0.5), (2.0, 0.5), (3.0, 1.0)]
    assert mean_curve([], "any", 3) == []


def test_a_curve_starts_and_ends_where_its_points_lie():
    """The axes span 52…544 by 16…256: the point (0, 0) is bottom left, (10, 1) top right."""
    drawing = line_chart([Curve("up", [(0.0, 0.0), (10.0, 1.0)])], x_label="k", y_label="share", y_max=1.0)
    assert 'points="52,256 544,16"' in drawing


def test_a_bar_is_as_high_as_its_value_and_its_whisker_as_long_as_its_bounds():
    """Half of 240 pixels is 120; bounds .25 and .75 lie at 196 and 76."""
    drawing = grouped_bars([("one", [Bar("x", 0.5, 0.25, 0.75)])], y_label="any@5")
    assert 'height="120"' in drawing
    assert 'y1="196" y2="76"' in drawing


def test_negative_weights_go_to_the_left_of_zero():
    """From −1 to 1 over 300 pixels beginning at 190: zero at 340."""
    drawing = horizontal_bars([Bar("a", 1.0), Bar("b", -1.0)], label="weights")
    assert 'x="340" y="11" width="150"' in drawing
    assert 'x="190" y="33" width="150"' in drawing


def test_one_weight_alone_is_drawn():
    assert 'width="300"' in horizontal_bars([Bar("a", 2.0)], label="weights")
