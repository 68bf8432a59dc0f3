"""Qwen3 scoring end to end on a tiny random model: prompt, padding, the two logits, cutting, and company."""

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from codes import raises

pytest.importorskip("torch", reason="torch is not installed: pip install 'thinkback[qwen]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'thinkback[qwen]'")

from tiny_qwen3 import write_model, write_tokenizer

from thinkback.errors import InvalidInput, ModelDamaged, ModelError, ModelUnavailable
from thinkback.models.rerankers import open_reranker
from thinkback.models.rerankers.qwen3 import INSTRUCTION, PREFIX, SUFFIX, Qwen3Reranker, Qwen3Settings

pytestmark = pytest.mark.torch

QUERY = "what is the cat called?"
TEXTS = [
    "Oscar is a cat.",
    "It rained.",
    "The cat, adopted in June by Caroline, is grey and is called Oscar. " * 3,
    "x",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny-qwen3")
    write_tokenizer(path)
    write_model(path)
    return path


@pytest.fixture(scope="module")
def reranker(folder: Path) -> Qwen3Reranker:
    return Qwen3Reranker(folder, device="cpu")


def tokenizer_of(folder: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json"))


class Watched:
    """The model, with what it was called with kept."""

    def __init__(self, model: Any) -> None:
        self.model, self.device, self.calls = model, model.device, []

    def __call__(self, **given: Any) -> Any:
        self.calls.append(given)
        return self.model(**given)


@pytest.fixture
def watched(folder: Path) -> tuple[Qwen3Reranker, Watched]:
    reranker = Qwen3Reranker(folder, Qwen3Settings(batch=2), device="cpu")
    watch = Watched(reranker._model)
    reranker._model = watch
    return reranker, watch


def test_the_prompt_is_the_models_chat(folder: Path, reranker: Qwen3Reranker) -> None:
    text = tokenizer_of(folder).decode(reranker.prompt(QUERY, "Oscar is a cat."), skip_special_tokens=False)
    assert text == (
        "<|im_start|>system\n"
        "Judge whether the Document meets the requirements based on the Query and the Instruct provided. "
        'Note that the answer can only be "yes" or "no".<|im_end|>\n'
        "<|im_start|>user\n"
        "<Instruct>: Given a web search query, retrieve relevant passages that answer the query\n"
        "<Query>: what is the cat called?\n"
        "<Document>: Oscar is a cat.<|im_end|>\n"
        "<|im_start|>assistant\n"
        "<think>\n\n</think>\n\n"
    )


def test_chat_marks_are_single_tokens(folder: Path, reranker: Qwen3Reranker) -> None:
    tokenizer = tokenizer_of(folder)
    ids = reranker.prompt(QUERY, "x")
    assert [ids.count(tokenizer.token_to_id(mark)) for mark in ("<|im_start|>", "<|im_end|>", "<think>")] == [3, 2, 1]


def test_the_score_is_the_softmax_of_no_and_yes_at_the_last_position(folder: Path, reranker: Qwen3Reranker) -> None:
    """Against the model called by hand on one prompt without padding: e^yes / (e^no + e^yes)."""
    import torch
    from transformers import Qwen3ForCausalLM

    model, tokenizer = Qwen3ForCausalLM.from_pretrained(folder).float().eval(), tokenizer_of(folder)
    yes, no = tokenizer.token_to_id("yes"), tokenizer.token_to_id("no")
    for text, score in zip(TEXTS, reranker.scores(QUERY, TEXTS), strict=True):
        with torch.no_grad():
            last = model(torch.tensor([reranker.prompt(QUERY, text)])).logits[0, -1]
        expected = math.exp(last[yes]) / (math.exp(last[no]) + math.exp(last[yes]))
        assert score == pytest.approx(expected, abs=1e-5)


def test_scores_differ_and_stay_between_0_and_1(reranker: Qwen3Reranker) -> None:
    scores = reranker.scores(QUERY, TEXTS)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert len({round(score, 6) for score in scores}) == len(TEXTS)


def test_company_does_not_change_a_score(folder: Path) -> None:
    """Alone, in batches of any size, in any order."""
    alone = [Qwen3Reranker(folder, device="cpu").scores(QUERY, [text])[0] for text in TEXTS]
    for batch in (1, 2, 3, 8):
        reranker = Qwen3Reranker(folder, Qwen3Settings(batch=batch), device="cpu")
        assert reranker.scores(QUERY, TEXTS) == pytest.approx(alone, abs=1e-5)
        assert reranker.scores(QUERY, TEXTS[::-1])[::-1] == pytest.approx(alone, abs=1e-5)


def test_padding_stands_on_the_left_and_moves_no_position(watched: tuple[Qwen3Reranker, Watched]) -> None:
    reranker, watch = watched
    reranker.scores(QUERY, TEXTS[:2])
    (call,) = watch.calls
    lengths = sorted(len(reranker.prompt(QUERY, text)) for text in TEXTS[:2])
    for ids, mask, positions, length in zip(
        call["input_ids"].tolist(), call["attention_mask"].tolist(), call["position_ids"].tolist(), lengths, strict=True
    ):
        padding = lengths[-1] - length
        assert mask == [0] * padding + [1] * length
        assert positions[padding:] == list(range(length))
        assert ids[-1] == reranker.prompt(QUERY, "x")[-1]


def test_batches_are_of_like_length_and_padded_only_to_their_longest(watched: tuple[Qwen3Reranker, Watched]) -> None:
    """Four texts, two at a time: the two shortest together, the two longest together."""
    reranker, watch = watched
    reranker.scores(QUERY, TEXTS)
    lengths = sorted(len(reranker.prompt(QUERY, text)) for text in TEXTS)
    assert [tuple(call["input_ids"].shape) for call in watch.calls] == [(2, lengths[1]), (2, lengths[3])]


def test_cutting_keeps_prefix_and_suffix(folder: Path) -> None:
    tokenizer = tokenizer_of(folder)
    prefix = tokenizer.encode(PREFIX, add_special_tokens=False).ids
    suffix = tokenizer.encode(SUFFIX, add_special_tokens=False).ids
    limit = len(prefix) + len(suffix) + 150
    reranker = Qwen3Reranker(folder, Qwen3Settings(max_tokens=limit), device="cpu")
    ids = reranker.prompt(QUERY, "cat " * 500)
    assert len(ids) == limit
    assert ids[: len(prefix)] == prefix
    assert ids[-len(suffix) :] == suffix
    content = f"<Instruct>: {INSTRUCTION}\n<Query>: {QUERY}\n<Document>: " + "cat " * 500
    assert ids[len(prefix) : -len(suffix)] == tokenizer.encode(content, add_special_tokens=False).ids[:150]
    assert 0.0 <= reranker.scores(QUERY, ["cat " * 500])[0] <= 1.0


def test_a_limit_without_room_is_refused(folder: Path) -> None:
    with raises(InvalidInput, "out_of_range"):
        Qwen3Reranker(folder, Qwen3Settings(max_tokens=20), device="cpu")


def test_the_instruction_is_a_parameter(folder: Path, reranker: Qwen3Reranker) -> None:
    other = Qwen3Reranker(folder, Qwen3Settings(instruction="Find pets"), device="cpu")
    assert "<Instruct>: Find pets\n" in tokenizer_of(folder).decode(other.prompt(QUERY, "x"))
    assert other.scores(QUERY, TEXTS) != pytest.approx(reranker.scores(QUERY, TEXTS), abs=1e-4)
    assert other.fingerprint != reranker.fingerprint


def test_blank_texts_score_0_and_are_not_asked(watched: tuple[Qwen3Reranker, Watched]) -> None:
    reranker, watch = watched
    assert reranker.scores(QUERY, ["", " \n"]) == [0.0, 0.0]
    assert watch.calls == []


def test_the_deadline_is_asked_before_each_batch(watched: tuple[Qwen3Reranker, Watched]) -> None:
    reranker, _ = watched
    calls = itertools.count()
    scores = reranker.scores_until(QUERY, TEXTS, lambda: next(calls) >= 1)
    assert scores[2:] == [None, None]
    assert scores[:2] == pytest.approx(reranker.scores(QUERY, TEXTS)[:2], abs=1e-5)


def test_a_folder_opens_as_reranker(folder: Path, reranker: Qwen3Reranker) -> None:
    assert open_reranker(str(folder)).scores(QUERY, TEXTS) == pytest.approx(reranker.scores(QUERY, TEXTS), abs=1e-5)


def test_a_tokenizer_without_the_answers_is_told(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    write_tokenizer(tmp_path, size=260)  # hardly more than the bytes: no word is one token
    with raises(ModelDamaged):
        Qwen3Reranker(tmp_path, device="cpu")


def test_a_folder_with_other_files_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with raises(ModelDamaged):
        Qwen3Reranker(tmp_path, device="cpu")


@pytest.mark.parametrize(("device", "error"), [("tpu", InvalidInput), ("cuda", ModelUnavailable)])
def test_impossible_devices_are_refused(folder: Path, device: str, error: type[Exception]) -> None:
    import torch

    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("there is CUDA here")
    with pytest.raises(error):
        Qwen3Reranker(folder, device=device)


def test_a_device_that_fails_is_a_model_error_with_a_remedy(watched: tuple[Qwen3Reranker, Watched]) -> None:
    reranker, watch = watched

    def full(**_: Any) -> Any:
        raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB")

    watch.model = full
    with raises(ModelError, "run_failed"):
        reranker.scores(QUERY, TEXTS)
