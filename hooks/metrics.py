"""The metrics of the hook and of the 404 page, in Prometheus' text format.

No label grows with the number of Services, nor with the hosts and paths that are asked for.
"""

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
ADMISSION_SECONDS = tuple(each for each in SECONDS if each <= 1)
"""The API server waits for a second."""

STATUSES = (200, 400, 413, 422, 429, 500)


# Otherwise each counter would have a second sample: the time at which it was made. ProcessCollector shows that already.
disable_created_metrics()  # type: ignore[no-untyped-call]


def registry_of(version: str) -> CollectorRegistry:
    """Return a registry with what every program of ingress-manager tells: its version, and what the process takes."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    Info("ingress_manager_build", "The version of ingress-manager.", registry=registry).info({"version": version})
    return registry


class Metrics:
    """The metrics of one process that serves the hook."""

    def __init__(self, version: str, settings_sha256: str, *, paused: bool) -> None:
        self._registry = registry_of(version)
        Info("ingress_manager_settings", "The SHA-256 of the settings file.", registry=self._registry).info(
            {"sha256": settings_sha256}
        )
        Gauge(
            "ingress_manager_paused",
            "1 if the settings pause ingress-manager, everywhere or in some namespaces; else 0.",
            registry=self._registry,
        ).set(paused)
        self._answers = Counter(
            "ingress_manager_answers", "Answers to Metacontroller, by HTTP status.", ["code"], registry=self._registry
        )
        self._refusals = Counter(
            "ingress_manager_refusals",
            "Refused requests, by reason; one that is refused for several reasons counts for each.",
            ["reason"],
            registry=self._registry,
        )
        self._removals = Counter(
            "ingress_manager_removals",
            "Answers that remove an Ingress which the settings forbid, by reason.",
            ["reason"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "ingress_manager_answer_seconds",
            "Seconds from a request that has been read to its answer.",
            registry=self._registry,
            buckets=SECONDS,
        )
        # Each counter is there from the start, at 0: otherwise Prometheus would see no increase at the first refusal.
        self._answers_by_status = {status: self._answers.labels(str(status)) for status in STATUSES}
        self._refusals_by_reason = {reason: self._refusals.labels(reason.value) for reason in Reason}
        self._removals_by_reason = {reason: self._removals.labels(reason.value) for reason in Reason}

    def count_answer(self, status: int, refused: Refused | None = None, seconds: float | None = None) -> None:
        """Count one answer to Metacontroller, why it was refused, and how long it took."""
        (self._answers_by_status.get(status) or self._answers.labels(str(status))).inc()
        if refused is not None:
            for reason in {problem.reason for problem in refused.problems}:
                self._refusals_by_reason[reason].inc()
        if seconds is not None:
            self._seconds.observe(seconds)

    count_error = count_answer

    def count_removal(self, reason: Reason) -> None:
        """Count one answer that removes an Ingress or HTTPRoutes which the settings forbid."""
        self._removals_by_reason[reason].inc()

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format, version 0.0.4."""
        return generate_latest(self._registry)


class AdmissionMetrics:
    """The metrics of one process that serves the API server."""

    def __init__(self, version: str, settings_sha256: str) -> None:
        self._registry = registry_of(version)
        # Not ingress_manager_settings: where there is none, no hook answers Metacontroller.
        Info("ingress_manager_admission_settings", "The SHA-256 of the settings file.", registry=self._registry).info(
            {"sha256": settings_sha256}
        )
        self._answers = Counter(
            "ingress_manager_admissions", "Answers to the API server, by answer.", ["answer"], registry=self._registry
        )
        self._seconds = Histogram(
            "ingress_manager_admission_seconds",
            "Seconds from a request of the API server that has been read to its answer.",
            registry=self._registry,
            buckets=ADMISSION_SECONDS,
        )
        self._by_answer = {answer: self._answers.labels(answer) for answer in ANSWERS}

    def count(self, answer: str, seconds: float | None = None) -> None:
        """Count one answer, and how long it took."""
        self._by_answer[answer].inc()
        if seconds is not None:
            self._seconds.observe(seconds)

    def count_error(self, _status: int) -> None:
        """Count a request that was not answered: the API server writes."""
        self.count(UNREAD)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format, version 0.0.4."""
        return generate_latest(self._registry)
