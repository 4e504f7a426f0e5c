"""`check`: what others provide: Kubernetes, Metacontroller with its rights, and the Gateway API.

Our DecoratorController is here, too: it is Metacontroller's to read. docs/install.md names the tested versions.
"""

import json
import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import msgspec

from ingress_manager.commands.check.cluster import Cluster, Line, containers, engine_version, unknown, warning, wrong
from ingress_manager.commands.check.expected import differences, expected, folder_of
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, RESOURCES, KubectlFailed
from ingress_manager.commands.reading.settings import RESOURCE
from ingress_manager.commands.snapshot.items import Item, at, mappings
from ingress_manager.commands.snapshot.managed import CONTROLLER
from ingress_manager.core.policy import HTTPROUTE

PAGES = {"HTTPRoute": "docs/httproute.md", "ListenerSet": "docs/tls.md"}

BREAKING = ("spec.resources", "spec.attachments", "spec.hooks.finalize", "spec.hooks.sync.version")
"""Fields of the DecoratorController without which Services don't get their Ingresses, or can't be deleted."""

LEAST = {"Kubernetes": "1.30", "Metacontroller": "4.15"}
"""The oldest version of each that has all that is needed."""

_VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:[.+-].*)?")


def by_version(name: str, stated: str) -> Iterator[Line]:
    """Yield what is wrong with the major and minor version that a program states, as v1.36.3 or 4.17.2-distroless."""
    found, least = (_VERSION.fullmatch(each) for each in (stated, LEAST[name]))
    if not (found and least):
        yield unknown(f"the version of {name} can't be told from {stated}")
    elif [*map(int, found.groups())] < [*map(int, least.groups())]:
        yield wrong(f"{name} {stated} is too old: it takes {LEAST[name]} or later", f"Upgrade {name}.")


def kubernetes(cluster: Cluster) -> Iterator[Line]:
    """Yield what is wrong with the version of Kubernetes."""
    stated = json.loads(cluster.kubectl.run("version", "--output=json"))
    yield from by_version("Kubernetes", str(at(stated, "serverVersion", "gitVersion")))


def runs(cluster: Cluster) -> Iterator[Line]:
    """Yield what is wrong with what runs Metacontroller: its version, its replicas, its arguments."""
    engines = cluster.engines
    if not engines:
        yield wrong("no Deployment and no StatefulSet runs Metacontroller, so that nothing is made and nothing removed")
    for engine in engines:
        yield from by_version("Metacontroller", engine_version(engine))
        yield from replicas(engine)
        yield from arguments(cluster, engine)
    if len(engines) > 1:
        yield warning(f"several run it: {', '.join(map(str, engines))}; each writes what the others write", "Keep one.")


def replicas(item: Item) -> Iterator[Line]:
    """Yield how many replicas of a Deployment or StatefulSet are ready, unless all are."""
    stated, ready = at(item, "spec", "replicas"), at(item, "status", "readyReplicas") or 0
    wanted = 1 if stated is None else stated
    if not ready or ready < wanted:
        look = f"kubectl describe {str(item.object['kind']).lower()} --namespace={item.namespace} {item.name}"
        told = f"{item} has {ready} of {wanted} replicas ready"
        yield (warning if ready else wrong)(told, f"See why its Pods don't start: {look}")


def arguments(cluster: Cluster, engine: Item) -> Iterator[Line]:
    """Yield which of Metacontroller's arguments make it do harm, or nothing for us."""
    stated = (each.get(key) or () for each in containers(engine) for key in ("command", "args"))
    words = "\0".join(["", *(str(word) for each in stated for word in each), ""])
    # An argument has one dash or two, = or a space, and of several the last holds.
    values = dict(re.findall("\0--?(apply-strategy|target-label-selector)[=\0]([^\0]*)", words))
    wanted = at(engine, "spec", "replicas") or 1
    if wanted > 1 and not re.search("\0--?leader-election(=true)?\0", words):
        sentence = f"{engine} has {wanted} replicas without --leader-election: all of them write"
        yield wrong(sentence, "Add --leader-election to its arguments, or have one replica.")
    if values.get("apply-strategy") == "server-side-apply":
        sentence = f"{engine} has --apply-strategy=server-side-apply, by which it would overwrite what others have made"
        yield wrong(sentence, "Take that argument out.")
    selector = values.get("target-label-selector")
    if selector and cluster.controller:
        found = cluster.kubectl.run("get", f"--selector={selector}", "--output=name", "--", RESOURCE)
        if not any(name.endswith(f"/{CONTROLLER}") for name in found.split()):
            sentence = f"{engine} has --target-label-selector={selector}, which leaves out our DecoratorController"
            yield wrong(f"{sentence}: nothing is made or removed", "Give it those labels, by a patch of yours.")


def decorator(cluster: Cluster) -> Iterator[Line]:
    """Yield how the DecoratorController is otherwise than this version has it, but for where the hook is."""
    controller = cluster.controller
    if controller is None:
        yield wrong(f"the DecoratorController {CONTROLLER} isn't there, so that Metacontroller does nothing")
        return
    ours = expected(folder_of(cluster))["DecoratorController", CONTROLLER]
    # Where the hook is, is otherwise in each installation.
    found = [each for each in differences(ours, controller) if not each.startswith("spec.hooks.sync.webhook")]
    # The one that breaks something goes first.
    for each in sorted(found, key=lambda each: not each.startswith(BREAKING))[:1]:
        yield (wrong if each.startswith(BREAKING) else warning)(each)


class Right(NamedTuple):
    """What somebody may do in all namespaces."""

    verb: str
    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}"


NEVER = tuple(Right(verb, "", "services") for verb in ("create", "update", "patch", "delete"))
"""The rights that Metacontroller must not have: a Service is never written to."""


def rights(cluster: Cluster) -> Iterator[Line]:
    """Yield which rights Metacontroller's ServiceAccount lacks, and which it has on Services."""
    if not cluster.engines:
        raise KubectlFailed("nothing was found that runs Metacontroller")
    engine = cluster.engines[0]
    account = f"{engine.namespace}:{at(engine, 'spec', 'template', 'spec', 'serviceAccountName') or 'default'}"
    needed = [
        Right(verb, group, resource)
        for rule in expected(folder_of(cluster))["ClusterRole", CONTROLLER]["rules"]
        for group, resource, verb in product(rule["apiGroups"], rule["resources"], rule["verbs"])
        if verb != "get"  # it doesn't use it
    ]
    has = may(cluster, account, [*needed, *NEVER])
    called = f"the ServiceAccount {account.replace(':', '/')}"
    if lacking := [str(right) for right in needed if right not in has]:
        remedy = "Bind the ClusterRole to it: metacontroller/README.md says how."
        yield wrong(f"{called} may not {', '.join(lacking)}", remedy)
    if more := [str(right) for right in NEVER if right in has]:
        remedy = "Metacontroller's own manifests grant it; metacontroller/install doesn't, as nothing needs it."
        yield warning(f"{called} may {', '.join(more)}", remedy)


def may(cluster: Cluster, account: str, asked: list[Right]) -> set[Right]:
    """Return which rights a ServiceAccount has, by what the API server says. It stores nothing of the question."""
    namespace = account.partition(":")[0]
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
    who = {"user": f"system:serviceaccount:{account}", "groups": groups}
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    reviews = [{**kind, "spec": {**who, "resourceAttributes": right._asdict()}} for right in asked]
    stdin = json.dumps({"apiVersion": "v1", "kind": "List", "items": reviews})
    answers = cluster.kubectl.run("create", "--filename=-", "--output=jsonpath={.status.allowed} ", stdin=stdin)
    return {right for right, answer in zip(asked, answers.split(), strict=True) if answer == "true"}


def gateway_api(cluster: Cluster) -> Iterator[Line]:
    """Yield what is asked for that the DecoratorController doesn't make, and what it makes that has no CRD."""
    made = [kind for kind in PAGES if cluster.makes(f"{kind.lower()}s")]
    for kind in made:
        name = RESOURCES[kind]
        found = cluster.all(f"customresourcedefinitions/{name}", IGNORE_NOT_FOUND)
        conditions = mappings(at(found[0], "status", "conditions")) if found else ()
        if not any((each.get("type"), each.get("status")) == ("Established", "True") for each in conditions):
            sentence = f"the CRD {name} isn't established: Metacontroller makes nothing at all until then"
            yield wrong(sentence, f"Install the CRDs of the Gateway API: {PAGES[kind]} says how.")
    policy = cluster.policy
    asked = [msgspec.to_builtins(each.defaults) for each in (policy, *policy.namespaces.values())]
    asked += policy.profiles.values()
    kinds = ["HTTPRoute"] if any(HTTPROUTE in each.get("outputs", ()) for each in asked) else []
    if kinds and any(at(each, "gateway", "listenerSets") for each in asked):
        kinds.append("ListenerSet")
    for kind in [kind for kind in kinds if kind not in made]:
        sentence = f"the settings ask for {kind}s, and the DecoratorController doesn't make them"
        yield wrong(sentence, f"{PAGES[kind]} says which one does.")
