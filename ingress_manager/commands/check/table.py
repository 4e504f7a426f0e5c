"""`check`: all that is looked at, in its order."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ingress_manager.commands.check import expected, hook, metacontroller, provided
from ingress_manager.commands.check.cluster import Cluster
from ingress_manager.commands.check.lines import Line, State, ok, unknown
from ingress_manager.commands.reading.kubectl import KubectlFailed

AGAIN = "Apply this version's in the way in which it was installed, with your settings: docs/upgrade.md says how."
"""No command: over an installation by Helm, or with settings or a namespace of its own, it would change more."""

INSTALL = "Install it: docs/install.md says how."
REACH = "See whether it runs, and whether a NetworkPolicy is in the way."


class Check(NamedTuple):
    """One thing that is looked at."""

    part: str
    """The part of the installation."""

    what: str
    """What should be. It is said where it is so, and where that isn't known."""

    look: Callable[[Cluster], Iterable[Line]]
    """Yields what is otherwise. Raises KubectlFailed where that can't be read."""

    remedy: str = ""
    """What to do, where a line doesn't say it itself."""


CHECKS = (
    Check("Kubernetes", "its version is known to work", provided.kubernetes),
    Check("Metacontroller", "it runs, in a known version, with harmless arguments", metacontroller.runs, INSTALL),
    Check("DecoratorController", "it is as this version has it", metacontroller.decorator, AGAIN),
    Check("hook", "it runs, in this program's version", hook.runs, AGAIN),
    Check("hook", "its settings can be used, pause nothing, and hold, as far as it tells", hook.settings, AGAIN),
    Check("hook", "Metacontroller reaches it, as far as Events tell", hook.reached, REACH),
    Check("admission policies", "each is as this version has it", expected.policies, AGAIN),
    Check("admission webhook", "it is there, if the settings deny, and runs as the hook does", hook.webhook, AGAIN),
    Check("admission webhook", "its certificate, if there is one, is for its Service, and lasts", hook.certificates),
    Check("rights of Metacontroller", "it has what it needs, and may not write Services", metacontroller.rights),
    Check("IngressClasses", "those of the settings are there", provided.classes),
    Check(
        "Gateway API",
        "HTTPRoutes and ListenerSets are made, if asked for, and have CRDs",
        provided.gateway_api,
    ),
)


def check(cluster: Cluster) -> Iterator[Line]:
    """Yield a line for each thing that isn't well, isn't known, or is well."""
    for part, what, look, remedy in CHECKS:
        try:
            found = [*look(cluster)] or [ok(what)]
        except KubectlFailed as failed:
            found = [unknown(f"it isn't known whether {what}: {failed.message}")]
        for state, sentence, its in found:
            is_well = state in {State.OK, State.UNKNOWN}
            yield Line(state, f"{part}: {sentence}", its or ("" if is_well else remedy))
