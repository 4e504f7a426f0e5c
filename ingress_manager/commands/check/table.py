"""`check`: all that is looked at, in its order."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ingress_manager.commands.check import expected, hook, metacontroller, provided
from ingress_manager.commands.check.cluster import Cluster
from ingress_manager.commands.check.lines import Line, State, unknown
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
    """What is to be seen; where that can't be read, it is said."""

    look: Callable[[Cluster], Iterable[Line]]
    """Yields what is seen. Raises KubectlFailed where that can't be read."""

    remedy: str = ""
    """What to do about what isn't well, where the line doesn't say it itself."""


CHECKS = (
    Check("Kubernetes", "its version is known to work", provided.kubernetes),
    Check("Metacontroller", "it runs, in a known version, with harmless arguments", metacontroller.runs, INSTALL),
    Check("DecoratorController", "it is as this version has it", metacontroller.decorator, AGAIN),
    Check("hook", "it runs, in this program's version", hook.runs, AGAIN),
    Check("hook", "its settings can be used, hold, and pause nothing", hook.settings, AGAIN),
    Check("hook", "Metacontroller reaches it", hook.reached, REACH),
    Check("admission policies", "each is as this version has it", expected.policies, AGAIN),
    Check("admission webhook", "it is there, if the settings deny, and runs as the hook does", hook.webhook, AGAIN),
    Check("admission webhook", "its certificate is trusted, and lasts", hook.certificates),
    Check("rights of Metacontroller", "it has what it needs, and no more", metacontroller.rights),
    Check("IngressClasses", "those of the settings are there", provided.classes),
    Check("Gateway API", "what is asked for is made, and its CRDs are there", provided.gateway_api),
)


def check(cluster: Cluster) -> Iterator[Line]:
    """Yield a line for each thing that was looked at, and for what could not be."""
    for each in CHECKS:
        try:
            for line in each.look(cluster):
                is_well = line.state in {State.OK, State.UNKNOWN}
                yield line._replace(part=each.part, remedy=line.remedy or ("" if is_well else each.remedy))
        except KubectlFailed as failed:
            yield unknown(f"it isn't known whether {each.what}: {failed.message}", part=each.part)
