"""The basis of an exposure: the inputs for one entrance of a Service, and the problems with them.

Functions that take it add every problem to `problems`; their results are discarded if there are any.
"""

import msgspec

from ingress_manager.core.annotations import Requested, begin_of, ingress_of
from ingress_manager.core.effective import EffectiveSettings
from ingress_manager.core.errors import Problems, Reason
from ingress_manager.core.kubernetes import Observed, Service
from ingress_manager.core.text import quoted


class Basis(msgspec.Struct, frozen=True):
    service: Service
    observed: Observed
    entrance: str
    """Its name; "" for the main one."""
    requested: Requested
    effective: EffectiveSettings
    problems: Problems

    @property
    def name(self) -> str:
        """Return the name of the Ingress: SERVICE, or SERVICE.ENTRANCE."""
        return ingress_of(self.entrance, self.service.metadata.name)

    @property
    def tls(self) -> bool:
        """Return whether its hosts are served with TLS."""
        if self.requested.tls is not None:
            return self.requested.tls
        return self.requested.tls_secret is not None or self.effective.tls.enabled

    @property
    def secret(self) -> str | None:
        """Return the Secret with its certificate; None: the ingress controller's own certificate."""
        return self.requested.tls_secret or self.effective.default_secret(self.name)

    def key(self, annotation: str) -> str:
        """Return the key of an annotation of ours on the Service: internal.ingress/host."""
        return begin_of(self.entrance) + annotation

    def has_wrong(self, annotation: str) -> bool:
        """Return whether an annotation of ours has an invalid value."""
        wrong = self.requested.problems.kept
        return bool(wrong) and self.key(annotation) in {problem.annotation for problem in wrong}

    def add(self, annotation: str, end: str, reason: Reason) -> None:
        """Add a problem whose sentence begins with the key of an annotation of ours."""
        key = self.key(annotation)
        self.problems.add(f"{key}{end}", reason, key)

    def add_ignored(self, annotation: str, why: str) -> None:
        """Add the problem that an annotation of ours has no effect."""
        value = quoted((self.service.metadata.annotations or {})[self.key(annotation)])
        self.add(annotation, f": {value} has no effect {why}; remove it", Reason.CONTRADICTION)
