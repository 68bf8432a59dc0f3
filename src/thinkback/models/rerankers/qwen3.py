"""Qwen3-Reranker: a causal language model asked whether a document meets a query, "yes" or "no" (extra `qwen`).

    score = softmax(logit of "no", logit of "yes") at the last position, taking "yes"

The content is cut to the limit before the chat prompt is put around it, so that the prompt is never cut; batches are padded
on the left.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from thinkback.errors import InvalidInput, MissingExtra, ModelDamaged, ModelError, ModelUnavailable
from thinkback.models.embedders.base import fingerprint_of
from thinkback.models.rerankers.base import Deadline, never
from thinkback.models.sessions import DEVICES
from thinkback.models.tokenizer import open_tokenizer, well_formed
from thinkback.values import dataclass

INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"
PREFIX = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
SUFFIX = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


@dataclass(frozen=True, slots=True)
class Qwen3Settings:
    """The instruction the model judges by, and how much it is given at once."""

    name: str = "Qwen3-Reranker-0.6B"
    weights: str = ""
    instruction: str = INSTRUCTION
    max_tokens: int = 8192
    batch: int = 4


class Qwen3Reranker:
    """Runs a Qwen3-Reranker through transformers: half precision on CUDA, single elsewhere."""

    def __init__(
        self,
        folder: Path,
        settings: Qwen3Settings | None = None,
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        self._settings = settings or Qwen3Settings()
        self._torch, self._model = _load(folder, device, threads)
        self._tokenizer = open_tokenizer(folder / "tokenizer.json")
        self._prefix, self._suffix = self._ids(PREFIX), self._ids(SUFFIX)
        self._room = self._settings.max_tokens - len(self._prefix) - len(self._suffix)
        if self._room < 1:
            message = f"max_tokens must leave room for the prompt, {self._settings.max_tokens} does not"
            raise InvalidInput(message, code="out_of_range")
        self._no, self._yes = self._answer("no"), self._answer("yes")

    @property
    def fingerprint(self) -> str:
        settings = self._settings
        return fingerprint_of(
            settings.name,
            weights=settings.weights,
            instruction=settings.instruction,
            max_tokens=settings.max_tokens,
        )

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        asked = self._asked(query, texts)
        return [score or 0.0 for score in self._batched(asked, sorted(asked, key=lambda i: len(asked[i])), len(texts))]

    def scores_until(self, query: str, texts: Sequence[str], deadline: Deadline) -> list[float | None]:
        """Score in the given order, so that a time limit cuts off the end of the list."""
        asked = self._asked(query, texts)
        return self._batched(asked, list(asked), len(texts), deadline)

    def _asked(self, query: str, texts: Sequence[str]) -> dict[int, list[int]]:
        """The whole prompt of every text that is not blank."""
        return {index: self.prompt(query, text) for index, text in enumerate(texts) if text.strip()}

    def prompt(self, query: str, text: str) -> list[int]:
        """The token ids of one pair: prefix, content cut to the room between, suffix."""
        content = f"<Instruct>: {self._settings.instruction}\n<Query>: {query}\n<Document>: {text}"
        return [*self._prefix, *self._ids(content)[: self._room], *self._suffix]

    def _batched(
        self, asked: dict[int, list[int]], order: list[int], count: int, deadline: Deadline = never
    ) -> list[float | None]:
        scores: list[float | None] = [None if index in asked else 0.0 for index in range(count)]
        for start in range(0, len(order), self._settings.batch):
            if deadline():
                break
            part = order[start : start + self._settings.batch]
            for index, score in zip(part, self._judged([asked[index] for index in part]), strict=True):
                scores[index] = score
        return scores

    def _judged(self, prompts: list[list[int]]) -> list[float]:
        try:
            return self._judge(prompts)
        except RuntimeError as error:  # torch raises it for full memory and for a lost device
            settings = self._settings
            raise ModelError(
                f"{settings.name} failed on {len(prompts)} texts at once: {str(error)[:200]}. If memory ran out, give it "
                f"a smaller batch than {settings.batch} or fewer max_tokens than {settings.max_tokens}",
                code="run_failed",
            ) from error

    def _judge(self, prompts: list[list[int]]) -> list[float]:
        torch = self._torch
        longest = max(map(len, prompts))
        padded = [[0] * (longest - len(ids)) + ids for ids in prompts]
        mask = [[0] * (longest - len(ids)) + [1] * len(ids) for ids in prompts]
        ids = torch.tensor(padded, device=self._model.device)
        seen = torch.tensor(mask, device=self._model.device)
        # Positions count from each prompt's own start: padding must not move the rotary phases.
        positions = (seen.cumsum(-1) - 1).clamp(min=0)
        with torch.inference_mode():
            output = self._model(
                input_ids=ids, attention_mask=seen, position_ids=positions, use_cache=False, logits_to_keep=1
            )
        answers = output.logits[:, -1, [self._no, self._yes]].float()
        return [float(value) for value in torch.softmax(answers, dim=-1)[:, 1].tolist()]

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(well_formed(text), add_special_tokens=False).ids
        return ids

    def _answer(self, word: str) -> int:
        token = self._tokenizer.token_to_id(word)
        if token is None:
            raise ModelDamaged(
                f"the tokenizer of {self._settings.name} has no token {word!r}; it is not a Qwen3-Reranker"
            )
        return int(token)


def _load(folder: Path, device: str, threads: int | None) -> tuple[Any, Any]:
    try:
        torch: Any = import_module("torch")
        transformers: Any = import_module("transformers")
    except ImportError:
        raise MissingExtra.of("Qwen3-Reranker", "qwen") from None
    if threads is not None:
        torch.set_num_threads(threads)
    chosen = _device(device, bool(torch.cuda.is_available()))
    try:
        with _no_progress_bar():
            model = transformers.AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise ModelDamaged(f"{folder} holds no causal language model: {str(error)[:200]}") from None
    try:
        return torch, model.to(device=chosen, dtype=torch.float16 if chosen == "cuda" else torch.float32).eval()
    except RuntimeError as error:
        raise ModelError(f"the model in {folder} does not fit on {chosen}: {str(error)[:200]}") from error


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """transformers draws one on stderr whether or not that is a terminal."""
    logging: Any = import_module("transformers.utils.logging")
    drawn = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            logging.enable_progress_bar()


def _device(asked: str, cuda: bool) -> str:
    if asked not in DEVICES:
        raise InvalidInput(f"no device {asked!r}; choose one of {', '.join(DEVICES)}", code="unknown_device")
    if asked == "cuda" and not cuda:
        raise ModelUnavailable("torch does not find CUDA; choose the device cpu or auto")
    return "cuda" if asked != "cpu" and cuda else "cpu"
