"""The metrics of the hook, of the webhook and of the 404 page, in Prometheus' text format.

No label grows with the number of Services, nor with the hosts and paths that are asked for. Each counter is there from
the start, at 0: otherwise Prometheus would see no increase at the first refusal.
"""

from collections.abc import Iterable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from hooks.admission import ANSWERS, UNREAD
from ingress_manager.core.errors import Reason, Refused

SECONDS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
STATUSES = ("200", "400", "413", "422", "429", "500")

# Otherwise each counter would have a second sample: the time at which it was made. ProcessCollector shows that already.
disable_created_metrics()  # type: ignore[no-untyped-call]


def registry_of(version: str) -> CollectorRegistry:
    """Return a registry with what every program of ingress-manager tells: its version, and what the process takes."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    Info("ingress_manager_build", "The version of ingress-manager.", registry=registry).info({"version": version})
    return registry


class Metrics:
    """The metrics of one process: of the hook, which answers Metacontroller, or of the webhook."""

    def __init__(self, version: str, settings_sha256: str, *, paused: bool = False, is_webhook: bool = False) -> None:
        self._registry = registry_of(version)
        self._is_webhook = is_webhook
        # The webhook's settings have another name: where there is no other, no hook answers Metacontroller.
        settings, answers = ("admission_settings", "admission") if is_webhook else ("settings", "answer")
        about = "The SHA-256 of the settings file."
        Info(f"ingress_manager_{settings}", about, registry=self._registry).info({"sha256": settings_sha256})
        words, label = (ANSWERS, "answer") if is_webhook else (STATUSES, "code")
        self._answers = self._counter(f"{answers}s", "Answers to a body, by HTTP status or answer.", label, words)
        self._seconds = Histogram(
            f"ingress_manager_{answers}_seconds",
            "Seconds from a request that has been read to its answer.",
            registry=self._registry,
            buckets=[each for each in SECONDS if each <= 1 or not is_webhook],
        )
        if is_webhook:
            return
        about = "1 if the settings pause ingress-manager, everywhere or in some namespaces; else 0."
        Gauge("ingress_manager_paused", about, registry=self._registry).set(paused)
        about = "Refused requests, by reason; one that is refused for several reasons counts for each."
        self._refusals = self._counter("refusals", about, "reason", Reason)
        about = "Answers that remove what may not stand, by reason."
        self._removals = self._counter("removals", about, "reason", Reason)

    def _counter(self, name: str, about: str, label: str, words: Iterable[str]) -> Counter:
        made = Counter(f"ingress_manager_{name}", about, [label], registry=self._registry)
        for word in words:
            made.labels(word)
        return made

    def count(self, answer: str, seconds: float) -> None:
        """Count one answer, and how long it took."""
        self._answers.labels(answer).inc()
        self._seconds.observe(seconds)

    def count_error(self, status: int) -> None:
        """Count a request that was answered with an error. Without an answer of the webhook, the API server writes."""
        self._answers.labels(UNREAD if self._is_webhook else str(status)).inc()

    def count_refusal(self, refused: Refused) -> None:
        """Count why one request is refused."""
        for reason in {problem.reason for problem in refused.problems}:
            self._refusals.labels(reason).inc()

    def count_removal(self, reason: Reason) -> None:
        """Count one answer that removes what may not stand."""
        self._removals.labels(reason).inc()

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format, version 0.0.4."""
        return generate_latest(self._registry)
