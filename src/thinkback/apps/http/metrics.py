"""Metrics for Prometheus; labels are routes, steps and statuses, never spaces, tokens or texts."""

from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from thinkback.search.trace import Recall

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """The metrics of one server, in a separate registry."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
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
        self.open_spaces = Gauge("thinkback_open_spaces", "Open files.", registry=registry)
        self._pool = Gauge("thinkback_pool_connections", "Connections to the database.", ["state"], registry=registry)
        self.pending = Gauge("thinkback_requests_pending", "Requests that run or wait.", registry=registry)

    def pool(self, facts: Mapping[str, Any]) -> None:
        """Show the pool of connections of a server that keeps the spaces."""
        for name in ("size", "max", "available", "waiting"):
            self._pool.labels(name).set(facts.get(f"pool_{name}", 0))

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        known = method if method in ("GET", "POST", "PATCH", "DELETE") else "other"
        self._requests.labels(route, known, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def __call__(self, found: Recall) -> None:
        """Count a search."""
        for timing in found.trace.timings:
            self._steps.labels(timing.step).observe(timing.us / 1e6)
        if found.warnings:
            self._warnings.inc()

    def text(self) -> bytes:
        """All metrics in the text format."""
        return generate_latest(self._registry)
