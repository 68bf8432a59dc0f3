"""The pieces of a text that a proof of forgetting looks for."""

from thinkback.lifecycle.proof import runs_of


def test_a_text_is_cut_into_runs_that_cover_it() -> None:
    assert runs_of("x" * 7) == []
    assert runs_of("twelve bytes") == [b"twelve bytes"]
    assert runs_of("a" * 24 + "b" * 10) == [b"a" * 24, b"a" * 14 + b"b" * 10]
    text = "".join(chr(97 + n % 26) for n in range(100))
    runs = runs_of(text)
    assert all(len(run) == 24 for run in runs)
    assert runs[0] == text[:24].encode()
    assert runs[-1] == text[-24:].encode()
