"""Searches of your own program as OpenTelemetry spans, printed to the console: pip install 'thinkback[otel]'.

To send them to a collector, replace the exporter by `OTLPSpanExporter()`; the OTEL_ variables say where it is.
"""

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

from thinkback.apps.http.spans import Spans
from thinkback.opening import Opener
from thinkback.settings import Settings


def main() -> None:
    """One search, one span with a child for each step and leg; no text and no query leaves the program."""
    provider = TracerProvider(resource=Resource.create({"service.name": "my-agent"}))
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter()))
    opener = Opener(Settings(embedder="none", reranker="none"))
    opener.watch(Spans(provider.get_tracer("thinkback")))
    with opener(":memory:") as memory:
        memory.remember("Caroline adopted a grey cat, Oscar")
        memory.recall("what is Caroline's cat called?")


if __name__ == "__main__":
    main()
