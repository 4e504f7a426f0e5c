"""`check`: all that is looked at, in its order. The pure part."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ingress_manager.commands.check import admission, engine, gateways, hook, policies
from ingress_manager.commands.check.lines import Line, State, unknown
from ingress_manager.commands.check.seen import CRD, RIGHTS, SETTINGS, VERSION, Seen
from ingress_manager.commands.check.versions import KUBERNETES, by_version

AGAIN = "Apply this version's in the way in which it was installed, with your settings: docs/upgrade.md says how."
"""No command: over an installation by Helm, or with settings or a namespace of its own, it would change more."""

INSTALL = "Install it: docs/install.md says how."
REACH = "See whether it runs, and whether a NetworkPolicy is in the way."


class Check(NamedTuple):
    """One thing that is looked at."""

    part: str
    """The part of the installation."""

    what: str
    """What is to be seen."""

    needs: tuple[str, ...]
    """What has to have been read; where it wasn't, that is said, and nothing is looked at."""

    look: Callable[[Seen], Iterable[Line]]
    remedy: str = ""
    """What to do about what isn't well, where the line doesn't say it itself."""


def kubernetes(seen: Seen) -> Iterator[Line]:
    """Yield whether the version of Kubernetes is known to work."""
    yield by_version("Kubernetes", seen.kubernetes, KUBERNETES)


METACONTROLLER, DECORATOR, HOOK, WEBHOOK = "Metacontroller", "DecoratorController", "hook", "admission webhook"
GATEWAY_API, GUARD = "Gateway API", "NetworkPolicy of the hook"
POLICIES = (policies.POLICY, policies.BINDING)
ENGINES = ("Deployment", "StatefulSet")

CHECKS = (
    Check("Kubernetes", "its version is known to work", (VERSION,), kubernetes),
    Check(METACONTROLLER, "it runs, ready, in a known version, with harmless arguments", ENGINES, engine.runs, INSTALL),
    Check(DECORATOR, "it is as this version has it", (DECORATOR,), engine.decorator, AGAIN),
    Check(HOOK, "it runs, in this program's version", ("Deployment",), hook.runs, AGAIN),
    Check(HOOK, "its settings can be used, hold, and pause nothing", ("Deployment", "ConfigMap"), hook.settings, AGAIN),
    Check(HOOK, "Metacontroller reaches it", ("Event",), hook.reached, REACH),
    Check("admission policies", "each is as this version has it", POLICIES, policies.policies, AGAIN),
    Check(WEBHOOK, "it is there, if the settings deny", (admission.KIND,), admission.denies),
    Check(WEBHOOK, "its Pods run, as the hook does", (admission.KIND, "Deployment"), admission.program, AGAIN),
    Check(WEBHOOK, "its certificate is trusted, and lasts", (admission.KIND,), admission.certificates),
    Check("rights of Metacontroller", "it has what it needs, and no more", (RIGHTS,), engine.rights),
    Check(GUARD, "it says who may ask it", ("NetworkPolicy", "Deployment"), hook.guarded, AGAIN),
    Check("IngressClasses", "those of the settings are there", (SETTINGS, "IngressClass"), gateways.classes),
    Check(GATEWAY_API, "the CRDs of what is made are there", (DECORATOR, CRD), gateways.crds),
    Check(GATEWAY_API, "the DecoratorController makes what is asked for", (SETTINGS, DECORATOR), gateways.makes),
    Check(GATEWAY_API, "the Gateways of the settings serve", (SETTINGS, "Gateway"), gateways.gateways),
)


def check(seen: Seen) -> Iterator[Line]:
    """Yield a line for each thing that was looked at, and for what could not be, once in each part."""
    told: set[tuple[str, str]] = set()
    for each in CHECKS:
        unread = {need: why for need in each.needs if (why := seen.why_unread(need))}
        for need, why in unread.items():
            if (each.part, need) not in told:
                told.add((each.part, need))
                yield unknown(f"{seen.name_of(need)} could not be looked at: {why}", part=each.part)
        for line in () if unread else each.look(seen):
            is_well = line.state in {State.OK, State.UNKNOWN}
            yield line._replace(part=each.part, remedy=line.remedy or ("" if is_well else each.remedy))
