"""`check`: what others provide, Kubernetes and the Gateway API; and which versions are known to work, in one table."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from ingress_manager.commands.check.cluster import Cluster, Line, unknown, warning, wrong
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND
from ingress_manager.commands.reading.manifests import at, mappings
from ingress_manager.core.policy import HTTPROUTE

GROUP = "gateway.networking.k8s.io"
PAGES = {"HTTPRoute": "docs/httproute.md", "ListenerSet": "docs/tls.md"}


class Known(NamedTuple):
    """The versions of a program that are known to work."""

    least: str
    """The oldest that has all that is needed."""

    tested: tuple[str, ...]
    """Those that have been tried, the oldest first."""


KUBERNETES = Known("1.30", ("1.30.14", "1.36.3", "1.37.2"))
METACONTROLLER = Known("4.15", ("4.15.1", "4.17.2"))
GATEWAY_API = Known("1.0", ("1.6.3",))

_VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:[.+-].*)?")


def by_version(name: str, stated: str, known: Known) -> Iterator[Line]:
    """Yield what is wrong with the major and minor version that a program states, as v1.36.3 or 4.17.2-distroless."""
    found = [_VERSION.fullmatch(each) for each in (stated, known.least, known.tested[-1])]
    version, least, newest = ((int(each[1]), int(each[2])) if each else (0, 0) for each in found)
    if not found[0]:
        yield unknown(f"the version of {name} can't be told from {stated}")
    elif version < least:
        yield wrong(f"{name} {stated} is too old: it takes {known.least} or later", f"Upgrade {name}.")
    elif version > newest:
        sentence = f"{name} {stated} is newer than {known.tested[-1]}, with which ingress-manager is tested"
        yield warning(sentence, "It may well work; nobody has tried it.")


def kubernetes(cluster: Cluster) -> Iterator[Line]:
    """Yield what is wrong with the version of Kubernetes."""
    stated = json.loads(cluster.kubectl.run("version", "--output=json"))
    yield from by_version("Kubernetes", str(at(stated, "serverVersion", "gitVersion")), KUBERNETES)


def gateway_api(cluster: Cluster) -> Iterator[Line]:
    """Yield what is asked for that the DecoratorController doesn't make, and what it makes that has no CRD."""
    made = [kind for kind in PAGES if cluster.makes(f"{kind.lower()}s")]
    for kind in made:
        name = f"{kind.lower()}s.{GROUP}"
        found = cluster.all(f"customresourcedefinitions/{name}", IGNORE_NOT_FOUND)
        conditions = mappings(at(found[0], "status", "conditions")) if found else ()
        if not any((each.get("type"), each.get("status")) == ("Established", "True") for each in conditions):
            sentence = f"the CRD {name} isn't established: Metacontroller makes nothing at all until then"
            yield wrong(sentence, f"Install the CRDs of the Gateway API: {PAGES[kind]} says how.")
        else:
            version = found[0].annotations.get(f"{GROUP}/bundle-version", "its CRD")
            yield from by_version(f"the Gateway API's {kind}", version, GATEWAY_API)
    policy = cluster.policy
    in_namespaces = [each.defaults for each in policy.namespaces.values() if each.defaults is not UNSET]
    asked = [policy.defaults, *in_namespaces, *policy.profiles.values()]
    kinds = ["HTTPRoute"] if any(HTTPROUTE in each.outputs for each in asked if each.outputs is not UNSET) else []
    if kinds and any(each.gateway and each.gateway.listener_sets for each in asked):
        kinds.append("ListenerSet")
    for kind in [kind for kind in kinds if kind not in made]:
        sentence = f"the settings ask for {kind}s, and the DecoratorController doesn't make them"
        yield wrong(sentence, f"{PAGES[kind]} says which one does.")
