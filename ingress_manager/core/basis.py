"""The `Basis`: the inputs that decide how one entrance is served, and the problems with them.

Functions that take a `Basis` add the problems they find to its `problems`. If there are any, the results are discarded.
"""

import msgspec

from ingress_manager.core.annotations import Requested, key_prefix, object_name
from ingress_manager.core.effective import EffectiveSettings
from ingress_manager.core.errors import Problems, Reason
from ingress_manager.core.kubernetes import Observed, Service
from ingress_manager.core.text import quoted


class Basis(msgspec.Struct, frozen=True):
    service: Service
    observed: Observed
    entrance: str
    """The name of the entrance, or "" for the main one."""
    requested: Requested
    effective: EffectiveSettings
    problems: Problems

    @property
    def object_name(self) -> str:
        return object_name(self.entrance, self.service.metadata.name)

    @property
    def tls(self) -> bool:
        if self.requested.tls is not None:
            return self.requested.tls
        return self.requested.tls_secret is not None or self.effective.tls.enabled

    @property
    def secret(self) -> str | None:
        """Return the name of the Secret with the certificate, or None if the controller uses its own certificate."""
        return self.requested.tls_secret or self.effective.default_secret(self.object_name)

    def key(self, annotation: str) -> str:
        """Return an annotation's key in this entrance, such as internal.ingress/host for ingress/host."""
        return key_prefix(self.entrance) + annotation

    def is_invalid(self, annotation: str) -> bool:
        """Return whether an annotation (ingress/…) has an invalid value in this entrance."""
        problems = self.requested.problems.kept
        return bool(problems) and self.key(annotation) in {problem.annotation for problem in problems}

    def add(self, annotation: str, end: str, reason: Reason) -> None:
        """Add a problem with an annotation (ingress/…). Its message is the annotation's key, followed by `end`."""
        key = self.key(annotation)
        self.problems.add(f"{key}{end}", reason, key)

    def add_ignored(self, annotation: str, why: str, remedy: str = "") -> None:
        """Add a problem saying that an annotation (ingress/…) has no effect. The default remedy is to remove it."""
        value = quoted((self.service.metadata.annotations or {})[key := self.key(annotation)])
        self.add(annotation, f": {value} has no effect {why}; {remedy or f'remove {key}'}", Reason.CONTRADICTION)
