"""Raw rankings on disk, one JSON line for each question, from which any metric can be computed and a run resumed.

A line holds `run` (the identity of dataset, recipe and embedder), `question`, `text`, `category`, `group` (the corpus),
`gold` (id to grade), `ids` and `scores` (best first), `ms`, `cpu_ms`, and `why` where an explanation was requested.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from thinkback.errors import DatasetError
from thinkback.evaluate.datasets.files import Node, malformed, numbered_lines
from thinkback.evaluate.metrics import first_rank
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class Ranking:
    """The results of one recipe for one question, and the question's gold."""

    question_id: str
    gold: Mapping[str, float]
    ids: tuple[str, ...]
    scores: tuple[float, ...]
    ms: float = 0.0
    cpu_ms: float = 0.0
    text: str = ""
    category: str = ""
    group: str = ""
    run: str = ""
    why: str = field(default="", compare=False)

    @property
    def first_rank(self) -> int | None:
        """The rank of the first relevant document."""
        return first_rank(self.gold, self.ids)


def to_line(ranking: Ranking) -> str:
    """One JSON line, without its line end."""
    fields: dict[str, object] = {
        "run": ranking.run,
        "question": ranking.question_id,
        "text": ranking.text,
        "category": ranking.category,
        "group": ranking.group,
        "gold": dict(ranking.gold),
        "ids": list(ranking.ids),
        "scores": list(ranking.scores),
        "ms": round(ranking.ms, 3),
        "cpu_ms": round(ranking.cpu_ms, 3),
    }
    if ranking.why:
        fields["why"] = ranking.why
    return json.dumps(fields, ensure_ascii=False, allow_nan=False)


def read_rankings(path: Path) -> tuple[Ranking, ...]:
    """Every ranking of a file, in order; an incomplete line is an error that names it."""
    rankings: dict[str, Ranking] = {}
    for number, line in numbered_lines(path):
        try:
            node = Node(str(path), f"line {number}", json.loads(line))
        except json.JSONDecodeError as error:
            raise malformed(path, number, f"{error.msg} (column {error.colno})") from None
        ranking = _from_node(node)
        if ranking.question_id in rankings:
            raise node.error(f"question {ranking.question_id!r} is there twice", "duplicate_question")
        rankings[ranking.question_id] = ranking
    if not rankings:
        raise DatasetError(f"{path}: the file is empty; expected one JSON line a question", code="empty_file")
    return tuple(rankings.values())


def _from_node(node: Node) -> Ranking:
    ids = tuple(entry.label() for entry in node.get("ids").each())
    scores = tuple(_number(entry) for entry in node.get("scores").each())
    if len(ids) != len(scores):
        raise node.error(f"expected as many scores as ids, not {len(scores)} and {len(ids)}", "unequal_lengths")
    if len(set(ids)) != len(ids):
        raise node.error("an id is ranked twice", "duplicate_document")
    return Ranking(
        question_id=node.get("question").label(),
        gold={key: _number(node.get("gold").get(key)) for key in node.get("gold").fields()},
        ids=ids,
        scores=scores,
        ms=_number(node.get("ms")) if node.has("ms") else 0.0,
        cpu_ms=_number(node.get("cpu_ms")) if node.has("cpu_ms") else 0.0,
        text=_optional(node, "text"),
        category=_optional(node, "category"),
        group=_optional(node, "group"),
        run=_optional(node, "run"),
        why=_optional(node, "why"),
    )


def _optional(node: Node, key: str) -> str:
    return node.get(key).text() if node.has(key) else ""


def _number(node: Node) -> float:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise node.error(f"expected a finite number, found {value!r}", "not_a_number")
    return float(value)


class RankingLog:
    """Rankings appended as they are made; opening the file again resumes the run.

    An incomplete last line is dropped. Rankings of another run are refused, because metrics of a mixed file mean nothing.
    """

    def __init__(self, path: Path, run: str) -> None:
        self.path = path
        self.run = run
        path.parent.mkdir(parents=True, exist_ok=True)
        _drop_torn_line(path)
        found = read_rankings(path) if path.exists() and path.stat().st_size else ()
        other = next((ranking.run for ranking in found if ranking.run != run), None)
        if other is not None:
            raise DatasetError(
                f"{path}: holds rankings of another run ({other or 'unnamed'}, not {run}); "
                "the data, the recipe or the embedder changed. Save to another folder or remove the file",
                code="another_run",
            )
        self.done: dict[str, Ranking] = {ranking.question_id: ranking for ranking in found}
        self._file: IO[str] = path.open("a", encoding="utf-8")

    def add(self, ranking: Ranking) -> None:
        self._file.write(to_line(ranking) + "\n")
        self._file.flush()
        self.done[ranking.question_id] = ranking

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _drop_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        content = file.read()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            file.truncate(end)
