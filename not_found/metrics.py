"""The metrics of the 404 page, in Prometheus' text format."""

from collections.abc import Iterable
from itertools import product

from prometheus_client import Counter, generate_latest

from hooks.metrics import registry_of


class NotFoundMetrics:
    """The metrics of one process that serves the 404 page."""

    METHODS = ("GET", "HEAD", "POST", "other")

    def __init__(self, version: str, formats: Iterable[str], languages: Iterable[str]) -> None:
        self._registry = registry_of(version)
        self._pages = Counter(
            "ingress_manager_not_found_pages",
            "404 pages that were answered, by method, format and language.",
            ["method", "format", "language"],
            registry=self._registry,
        )
        # Here, too, each counter is there from the start; there are no others.
        self._by_labels = {labels: self._pages.labels(*labels) for labels in product(self.METHODS, formats, languages)}

    def count_page(self, method: str, format_: str, language: str) -> None:
        """Count one answer. Methods of which there can be any number count as one."""
        self._by_labels[method if method in self.METHODS else "other", format_, language].inc()

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format, version 0.0.4."""
        return generate_latest(self._registry)
