"""Metrics for Prometheus; labels are routes, steps and statuses, never spaces, tokens or texts."""

from collections.abc import Callable
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from thinkback.apps.http.spaces import Pooled, Spaces
from thinkback.apps.http.workers import Workers
from thinkback.search.trace import Recall

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """The metrics of one server, in a separate registry; those of several workers are added up from the files of a folder.

    A worker sets `PROMETHEUS_MULTIPROC_DIR` to that folder before this module is imported. Counts of a worker that ended stay,
    its gauges go. A gauge is as of the last request of each worker.
    """

    def __init__(self, folder: Path | None = None) -> None:
        registry = self._registry = CollectorRegistry()
        self._folder = folder
        self._measure: Callable[[], None] = lambda: None
        self._requests = Counter(
            "thinkback_requests", "Requests answered.", ["route", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "thinkback_request_seconds", "Time to answer.", ["route"], buckets=_SECONDS, registry=registry
        )
        self._steps = Histogram(
            "thinkback_search_step_seconds",
            "Time of each step of a search.",
            ["step"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._warnings = Counter(
            "thinkback_search_warnings", "Searches that answered with warnings.", registry=registry
        )
        self._open_spaces = self._gauge("thinkback_open_spaces", "Open files.")
        self._pool = self._gauge("thinkback_pool_connections", "Connections to the database.", "state")
        self._copies = self._gauge("thinkback_copies_bytes", "Memory that copies of spaces of a database take.")
        self._pending = self._gauge("thinkback_requests_pending", "Requests that run or wait.")
        self._gauge("thinkback_workers", "Processes that serve.").set(1)

    def watch(self, spaces: Spaces, workers: Workers) -> None:
        """Show how many spaces are open, how many requests are pending and, of a database, its connections."""

        def measure() -> None:
            self._open_spaces.set(spaces.open_count)
            self._pending.set(workers.pending)
            if isinstance(spaces.place, Pooled):
                facts = spaces.place.facts()
                for name in ("size", "max", "available", "waiting"):
                    self._pool.labels(name).set(facts[f"pool_{name}"])
                self._copies.set(facts["copies_bytes"])

        self._measure = measure

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        known = method if method in ("GET", "POST", "PATCH", "DELETE") else "other"
        self._requests.labels(route, known, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
        if self._folder is not None:
            self._measure()

    def __call__(self, found: Recall) -> None:
        """Count a search."""
        for timing in found.trace.timings:
            self._steps.labels(timing.step).observe(timing.us / 1e6)
        if found.warnings:
            self._warnings.inc()

    def text(self) -> bytes:
        """All metrics in the text format."""
        self._measure()
        if self._folder is None:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together, str(self._folder))  # type: ignore[no-untyped-call]
        return generate_latest(together)

    def _gauge(self, name: str, about: str, *labels: str) -> Gauge:
        return Gauge(name, about, labels, registry=self._registry, multiprocess_mode="livesum")
