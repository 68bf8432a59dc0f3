"""How a long text is split into passages."""

from hypothesis import given
from hypothesis import strategies as st

from thinkback.passages import SIZE, WHOLE, Span, size, split


def texts_of(text: str) -> list[str]:
    return [span.of(text) for span in split(text)]


def test_a_short_text_is_not_split() -> None:
    assert split("a short text") == ()
    assert split("x" * WHOLE) == ()
    assert len(split("x" * (WHOLE + 1))) == 2
    assert split("中" * (WHOLE // 3)) == ()
    assert len(split("中" * (WHOLE // 3 + 1))) == 2


def test_paragraphs_stay_whole() -> None:
    paragraphs = [f"Paragraph {number}. " + "word " * 80 for number in range(8)]
    found = texts_of("\n\n".join(paragraphs))
    assert all(passage.startswith("Paragraph") and passage.endswith("word") for passage in found)
    assert "".join(found).count("Paragraph") == 8


def test_a_section_begins_a_passage() -> None:
    sections = [f"## Section {number}\n\n" + "some words here " * 30 for number in range(6)]
    found = texts_of("\n\n".join(sections))
    assert [passage.splitlines()[0] for passage in found] == [f"## Section {number}" for number in range(6)]


def test_a_heading_is_not_left_behind() -> None:
    text = "word " * 230 + "\n\n# Title\n\n" + "other " * 190
    assert not any(passage.endswith("# Title") for passage in texts_of(text))


def test_a_code_block_stays_whole_with_its_blank_lines() -> None:
    code = "```python\n" + "\n\n".join(f"print({number})  # of a program" for number in range(20)) + "\n```"
    found = texts_of("Before. " * 140 + "\n\n" + code + "\n\n" + "After. " * 140)
    assert sum(code in passage for passage in found) == 1


def test_a_number_sign_in_code_is_no_heading() -> None:
    code = "```\n" + "# a comment\nx = 1\n" * 30 + "```"
    found = texts_of("Before. " * 140 + "\n\n" + code + "\n\n" + "After. " * 140)
    assert sum(code in passage for passage in found) == 1


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    found = texts_of("The quick brown fox jumps over the lazy dog again. " * 60)
    assert len(found) > 1
    assert all(passage.startswith("The") and passage.endswith("again.") for passage in found)


def test_chinese_is_cut_between_sentences() -> None:
    found = texts_of("今天天气很好我们去公园散步。" * 60)
    assert all(passage.endswith("。") for passage in found)
    assert all(size(passage) <= WHOLE for passage in found)


def test_a_short_rest_joins_the_passage_before_it() -> None:
    text = "\n\n".join(["word " * 200, "word " * 200, "The end."])
    found = texts_of(text)
    assert len(found) == 2
    assert found[-1].endswith("The end.")


def test_dialogue_is_cut_between_lines() -> None:
    lines = [f"Speaker {number % 2}: I say something of a few words, number {number}." for number in range(90)]
    found = texts_of("\n".join(lines))
    assert [line for passage in found for line in passage.splitlines()] == lines


@given(
    st.lists(
        st.sampled_from(["word ", "A sentence. ", "\n", "\n\n", "# Head\n", "```\n", "中文。", "é" * 50, " "]),
        max_size=900,
    )
)
def test_passages_cover_the_text_in_order_and_fit(parts: list[str]) -> None:
    text = "".join(parts)
    spans = split(text)
    if size(text) <= WHOLE:
        assert spans == ()
        return
    at = 0
    for span in spans:
        assert span.start < span.end
        assert not text[at : span.start].strip()  # only white space is left out
        assert span.of(text) == span.of(text).strip()
        assert size(span.of(text)) <= WHOLE
        at = span.end
    assert not text[at:].strip()
    assert spans == split(text)


def test_a_large_text_takes_linear_time() -> None:
    text = "A sentence of several words stands here. " * 25_000  # a megabyte in one paragraph
    spans = split(text)
    assert len(spans) == len({span.start for span in spans})
    assert len(text) / SIZE <= len(spans) <= 2 * len(text) / SIZE
    assert spans[0] == Span(0, spans[0].end)
