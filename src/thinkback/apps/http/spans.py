"""OpenTelemetry: a span for every search, with a child for each step and leg."""

import time
from typing import TYPE_CHECKING

from thinkback.errors import MissingExtra
from thinkback.model import Timing
from thinkback.search.trace import Recall

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

LEG = "leg:"
RETRIEVE = "retrieve"


class Spans:
    """Writes a finished search as spans: the times of its trace, end to end, ending now."""

    def __init__(self, tracer: "Tracer") -> None:
        self._tracer = tracer

    def __call__(self, found: Recall) -> None:
        """Record a search, without the query or any text."""
        from opentelemetry.trace import set_span_in_context

        steps = [timing for timing in found.trace.timings if not timing.step.startswith(LEG)]
        legs = [timing for timing in found.trace.timings if timing.step.startswith(LEG)]
        end = time.time_ns()
        start = end - sum(step.us for step in steps) * 1000
        whole = self._tracer.start_span("thinkback.recall", start_time=start)
        whole.set_attribute("thinkback.recipe", found.trace.recipe.name)
        whole.set_attribute("thinkback.hits", len(found))
        whole.set_attribute("thinkback.warnings", len(found.warnings))
        inside = set_span_in_context(whole)
        at = start
        for step in steps:
            span = self._tracer.start_span(f"thinkback.{step.step}", context=inside, start_time=at)
            for leg in legs if step.step == RETRIEVE else ():
                self._leg(leg, found, at, span)
            at += step.us * 1000
            span.end(at)
        whole.end(end)

    def _leg(self, timing: Timing, found: Recall, start: int, parent: "Span") -> None:
        from opentelemetry.trace import set_span_in_context

        name = timing.step.removeprefix(LEG)
        span = self._tracer.start_span(f"thinkback.leg.{name}", context=set_span_in_context(parent), start_time=start)
        run = next((run for run in found.trace.runs if run.leg == name), None)
        if run is not None:
            span.set_attribute("thinkback.found", len(run.hits))
            span.set_attribute("thinkback.skipped", run.skipped or "")
        span.end(start + timing.us * 1000)


def exporting() -> Spans:
    """Spans that are exported by OTLP, as configured by the standard OTEL_ variables."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise MissingExtra.of("OpenTelemetry", "otel") from None
    provider = TracerProvider(resource=Resource.create({"service.name": "thinkback"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Spans(provider.get_tracer("thinkback"))
