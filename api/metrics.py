"""Prometheus counters of one host. Labels are methods, route templates and statuses, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST
_KNOWN_METHODS = frozenset({"GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"})
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """One registry per host, so that several can live in one process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "memvouch_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "memvouch_request_seconds",
            "Time from the first byte in to the last byte out.",
            ["method", "route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._running = Gauge("memvouch_requests_running", "Requests being served.", registry=self._registry)
        self._answers = Counter(
            "memvouch_answers",
            "Searches by how they ended.",
            ["mode", "result"],
            registry=self._registry,
        )

    @contextmanager
    def in_progress(self) -> Iterator[None]:
        """Count a running request."""
        self._running.inc()
        try:
            yield
        finally:
            self._running.dec()

    def served(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request. Unknown methods share one label, so callers cannot add series."""
        known = method if method in _KNOWN_METHODS else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(known, route).observe(seconds)

    def answered(self, mode: str, result: str) -> None:
        """Count how a search ended: `matches`, or the reason of a no-match."""
        self._answers.labels(mode, result).inc()

    def render(self) -> bytes:
        """All series in the text format of Prometheus."""
        return generate_latest(self._registry)
