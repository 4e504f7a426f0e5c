"""`check`: each part of an installation, and whether it is as it should be. The pure part."""

from collections.abc import Iterator

from ingress_manager.commands.check.admission import admission
from ingress_manager.commands.check.engine import crds, decorator, metacontroller, rights
from ingress_manager.commands.check.hook import hook, network
from ingress_manager.commands.check.lines import Line, State
from ingress_manager.commands.check.policies import leftovers, policies
from ingress_manager.commands.check.routes import classes, gateways
from ingress_manager.commands.check.seen import Seen
from ingress_manager.commands.check.versions import KUBERNETES, by_version


def check(seen: Seen, version: str) -> Iterator[Line]:
    """Yield a line for each thing that was looked at. `version` is that of this program."""
    yield from kubernetes(seen)
    yield from metacontroller(seen)
    yield from crds(seen)
    yield from decorator(seen)
    yield from hook(seen, version)
    yield from policies(seen)
    yield from admission(seen)
    yield from rights(seen)
    yield from network(seen)
    yield from classes(seen)
    yield from gateways(seen)
    yield from leftovers(seen)


def kubernetes(seen: Seen) -> Iterator[Line]:
    part = "Kubernetes"
    if "version" in seen.unread:
        yield Line(part, State.UNKNOWN, f"the version could not be looked at: {seen.unread['version']}")
    else:
        yield by_version(part, part, seen.kubernetes, KUBERNETES)
