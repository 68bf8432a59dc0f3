"""A search as spans: one for the whole, one for each step and leg, and never a word of the query or the memories."""

from dataclasses import dataclass, field
from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN_CONTEXT, Span, get_current_span

from thinkback.apps.http.spans import Spans
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.testing import ToyEmbedder


@dataclass(eq=False)
class Kept(Span):
    """A span that can be looked at afterwards."""

    name: str
    parent: "Kept | None"
    start: int
    ended: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)

    def end(self, end_time: int | None = None) -> None:
        self.ended = end_time or 0

    def get_span_context(self) -> Any:
        return INVALID_SPAN_CONTEXT

    def set_attributes(self, attributes: Any) -> None:
        self.attributes.update(attributes)

    def set_attribute(self, key: str, value: Any) -> None:
        self.attributes[key] = value

    def add_event(self, name: str, attributes: Any = None, timestamp: int | None = None) -> None: ...
    def update_name(self, name: str) -> None: ...
    def is_recording(self) -> bool:
        return True

    def set_status(self, status: Any, description: str | None = None) -> None: ...
    def record_exception(self, *args: Any, **kwargs: Any) -> None: ...


class Recorder:
    """A tracer that keeps its spans."""

    def __init__(self) -> None:
        self.spans: list[Kept] = []

    def start_span(self, name: str, context: Context | None = None, start_time: int = 0, **_: Any) -> Kept:
        parent = get_current_span(context) if context is not None else None
        span = Kept(name, parent if isinstance(parent, Kept) else None, start_time)
        self.spans.append(span)
        return span


def test_a_search_becomes_spans(tmp_path: Any) -> None:
    recorder = Recorder()
    opener = Opener(Settings(embedder="none", reranker="none"), embedder=ToyEmbedder())
    opener.watch(Spans(recorder))  # type: ignore[arg-type]
    with opener(tmp_path / "memory.db") as memory:
        memory.remember("Oscar keeps a secret")
        found = memory.recall("the secret of Oscar", recipe="memini")
    spans = {span.name: span for span in recorder.spans}
    whole, retrieve = spans["thinkback.recall"], spans["thinkback.retrieve"]
    assert whole.parent is None
    assert whole.attributes == {"thinkback.recipe": "memini", "thinkback.hits": 1, "thinkback.warnings": 0}
    assert retrieve.parent is whole
    for leg in ("keyword", "vector"):
        span = spans[f"thinkback.leg.{leg}"]
        assert span.parent is retrieve
        assert span.attributes == {"thinkback.found": 1, "thinkback.skipped": ""}
        assert span.ended - span.start == 1000 * next(t.us for t in found.trace.timings if t.step == f"leg:{leg}")
    steps = [t for t in found.trace.timings if not t.step.startswith("leg:")]
    assert whole.ended - whole.start == 1000 * sum(step.us for step in steps)
    assert spans["thinkback.rank"].start == spans["thinkback.retrieve"].ended
    assert "secret" not in str([(span.name, span.attributes) for span in recorder.spans])
