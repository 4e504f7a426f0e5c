"""Checks the hook's dependencies. Versions must be supported, and objects in the cluster must match installed/."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache, reduce
from importlib import resources
from itertools import product
from operator import getitem
from typing import Any, NamedTuple

import click
import msgspec
import yaml

from ingress_manager.commands.check.cluster import Cluster, Result, containers, engine_version, unknown, warning, wrong
from ingress_manager.commands.policies import policies_of
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, MANAGED_RESOURCES, KubectlFailed
from ingress_manager.commands.reading.settings import DECORATORS
from ingress_manager.commands.snapshot.drift import field_differences
from ingress_manager.commands.snapshot.items import Item, at, mappings
from ingress_manager.commands.snapshot.managed import CONTROLLER
from ingress_manager.core.kubernetes import API_VERSIONS, Object
from ingress_manager.core.settings import HTTPROUTE, Settings
from ingress_manager.core.text import cut, listed, quoted

PAGES = {"HTTPRoute": "docs/httproute.md", "ListenerSet": "docs/tls.md"}

BREAKING = ("spec.resources", "spec.attachments", "spec.hooks.finalize", "spec.hooks.sync.version")
"""DecoratorController fields in which a difference may leave Services without Ingresses, or undeletable."""

MINIMUM_VERSIONS = {"Kubernetes": "1.30", "Metacontroller": "4.15"}

_BY_CRD = re.compile("strict decoding error: | is invalid: ")
_VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:[.+-].*)?")


def by_version(name: str, version: str) -> Iterator[Result]:
    """Yield a result if a version of Kubernetes or Metacontroller, such as v1.36.3, is too old or can't be parsed."""
    actual, least = _VERSION.fullmatch(version), _VERSION.fullmatch(MINIMUM_VERSIONS[name])
    if not (actual and least):
        yield unknown(f"can't parse its version: {version}")
    elif [*map(int, actual.groups())] < [*map(int, least.groups())]:
        yield wrong(f"{name} {version} is too old: {MINIMUM_VERSIONS[name]} or later is needed", f"Upgrade {name}.")


def kubernetes(cluster: Cluster) -> Iterator[Result]:
    versions = json.loads(cluster.kubectl.run("version", "--output=json"))
    yield from by_version("Kubernetes", str(at(versions, "serverVersion", "gitVersion")))


def runs(cluster: Cluster) -> Iterator[Result]:
    engines = cluster.engines
    if not engines:
        yield wrong("no Deployment or StatefulSet runs Metacontroller, so nothing is created or removed")
    for engine in engines:
        yield from by_version("Metacontroller", engine_version(engine))
        yield from replicas(engine)
        yield from arguments(cluster, engine)
    if len(engines) > 1:
        sentence = f"several workloads run it and write the same objects: {', '.join(map(str, engines))}"
        yield warning(sentence, "Keep only one.")


def replicas(item: Item) -> Iterator[Result]:
    """Yield a warning if a Deployment or StatefulSet has too few ready replicas, or an error if none is ready."""
    replicas, ready = at(item, "spec", "replicas"), at(item, "status", "readyReplicas") or 0
    wanted = 1 if replicas is None else replicas
    if not ready or ready < wanted:
        sentence = f"{item} has {ready} of {wanted} replicas ready"
        remedy = f"Find out why its Pods aren't ready: kubectl describe pods --namespace={item.namespace}"
        yield (warning if ready else wrong)(sentence, remedy)


def arguments(cluster: Cluster, engine: Item) -> Iterator[Result]:
    """Yield an error for each harmful Metacontroller argument, and for several replicas without --leader-election."""
    lists = (container.get(key) or () for container in containers(engine) for key in ("command", "args"))
    words = "\0".join(["", *(str(word) for arguments in lists for word in arguments), ""])
    # An argument has one or two dashes, and its value follows = or a space. If it is repeated, the last value wins.
    values = dict(re.findall("\0--?(apply-strategy|target-label-selector)[=\0]([^\0]*)", words))
    wanted = at(engine, "spec", "replicas") or 1
    if wanted > 1 and not re.search("\0--?leader-election(=true)?\0", words):
        sentence = f"{engine} has {wanted} replicas without --leader-election, so all of them write objects"
        yield wrong(sentence, "Add --leader-election to its arguments, or run one replica.")
    if values.get("apply-strategy") == "server-side-apply":
        sentence = f"{engine} has --apply-strategy=server-side-apply, so it would overwrite objects that others created"
        yield wrong(sentence, "Remove this argument.")
    selector = values.get("target-label-selector")
    if selector and cluster.controller:
        names = cluster.kubectl.run("get", f"--selector={selector}", "--output=name", "--", DECORATORS)
        if not any(name.endswith(f"/{CONTROLLER}") for name in names.split()):
            text = f'{engine} has "--target-label-selector={selector}", which excludes the DecoratorController'
            yield wrong(f"{text}, so nothing is created or removed", "Make the selector match the DecoratorController.")


def decorator(cluster: Cluster) -> Iterator[Result]:
    """Yield the DecoratorController's most serious difference from installed/, ignoring the hook's address."""
    controller = cluster.controller
    if controller is None:
        yield wrong(f"DecoratorController {CONTROLLER} doesn't exist, so Metacontroller does nothing")
        return
    ours = expected(folder_of(cluster))["DecoratorController", CONTROLLER]
    sentences = (text for text in spec_differences(ours, controller) if not text.startswith("spec.hooks.sync.webhook"))
    for sentence in sorted(sentences, key=lambda text: not text.startswith(BREAKING))[:1]:
        yield (wrong if sentence.startswith(BREAKING) else warning)(sentence)


class Access(NamedTuple):
    verb: str
    group: str
    resource: str


NEVER = tuple(Access(verb, "", "services") for verb in ("create", "update", "patch", "delete"))
"""The permissions that Metacontroller shouldn't have, because it never needs to write Services."""


def permissions(cluster: Cluster) -> Iterator[Result]:
    if not cluster.engines:
        raise KubectlFailed("Metacontroller isn't running")
    engine = cluster.engines[0]
    account = f"{engine.namespace}:{at(engine, 'spec', 'template', 'spec', 'serviceAccountName') or 'default'}"
    needed = [
        Access(verb, group, resource)
        for rule in expected(folder_of(cluster))["ClusterRole", CONTROLLER]["rules"]
        for group, resource, verb in product(rule["apiGroups"], rule["resources"], rule["verbs"])
        if verb != "get"  # Metacontroller doesn't use it
    ]
    has = allowed_access(cluster, account, [*needed, *NEVER])
    called = f"ServiceAccount {account.replace(':', '/')}"
    if missing := [f"{access.verb} {access.resource}" for access in needed if access not in has]:
        remedy = "Bind ClusterRole ingress-manager to this ServiceAccount: metacontroller/README.md shows how."
        yield wrong(f"{called} lacks permissions: {', '.join(missing)}", remedy)
    if excessive := [f"{access.verb} {access.resource}" for access in NEVER if access in has]:
        remedy = "Remove these permissions from the ServiceAccount's roles; metacontroller/install doesn't grant them."
        yield warning(f"{called} has permissions that Metacontroller doesn't need: {', '.join(excessive)}", remedy)


def allowed_access(cluster: Cluster, account: str, wanted: list[Access]) -> set[Access]:
    """Return the `wanted` permissions that a ServiceAccount (namespace:name) has, according to SubjectAccessReviews."""
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{account.partition(':')[0]}", "system:authenticated"]
    who = {"user": f"system:serviceaccount:{account}", "groups": groups}
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    reviews = [{**kind, "spec": {**who, "resourceAttributes": access._asdict()}} for access in wanted]
    stdin = json.dumps({"apiVersion": "v1", "kind": "List", "items": reviews})
    answers = cluster.kubectl.run("create", "--filename=-", "--output=jsonpath={.status.allowed} ", stdin=stdin)
    return {access for access, answer in zip(wanted, answers.split(), strict=True) if answer == "true"}


def gateway_api(cluster: Cluster) -> Iterator[Result]:
    """Yield errors if settings use a kind that isn't managed, a managed kind has no CRD, or a CRD rejects a profile."""
    managed = [kind for kind in PAGES if cluster.makes(f"{kind.lower()}s")]
    for kind in managed:
        name = MANAGED_RESOURCES[kind]
        crds = cluster.all(f"customresourcedefinitions/{name}", IGNORE_NOT_FOUND)
        conditions = mappings(at(crds[0], "status", "conditions")) if crds else ()
        if not any((one.get("type"), one.get("status")) == ("Established", "True") for one in conditions):
            sentence = f"the CRD {name} is missing or not established, so Metacontroller creates nothing at all"
            yield wrong(sentence, f"Install the CRDs of the Gateway API: {PAGES[kind]} shows how.")
    settings = cluster.settings
    defaults = [msgspec.to_builtins(entry.defaults) for entry in (settings, *settings.namespaces.values())]
    defaults += settings.profiles.values()
    kinds = ["HTTPRoute"] if any(HTTPROUTE in entry.get("outputs", ()) for entry in defaults) else []
    if kinds and any(at(entry, "gateway", "listenerSets") for entry in defaults):
        kinds.append("ListenerSet")
    for kind in [kind for kind in kinds if kind not in managed]:
        sentence = f"the settings need {kind}s, but the DecoratorController doesn't manage them"
        yield wrong(sentence, f"Apply the DecoratorController that manages {kind}s: {PAGES[kind]} shows how.")
    yield from profiles(cluster, settings)


def profiles(cluster: Cluster, settings: Settings) -> Iterator[Result]:
    """Yield errors for profiles with fields that the API server rejects in a dry run of an HTTPRoute."""
    by_fields: dict[str, list[str]] = {}
    for name, profile in settings.profiles.items():
        if fields := {field: profile[field] for field in ("filters", "timeouts", "retry") if profile.get(field)}:
            by_fields.setdefault(json.dumps(fields), []).append(name)
    metadata = {"generateName": "check-", "namespace": cluster.installation.namespace}
    route = {"apiVersion": API_VERSIONS["HTTPRoute"], "kind": "HTTPRoute", "metadata": metadata}
    for text, names in by_fields.items():
        stdin = json.dumps({**route, "spec": {"rules": [json.loads(text)]}})
        try:
            cluster.kubectl.run("create", "--dry-run=server", "--validate=strict", "--filename=-", stdin=stdin)
        except KubectlFailed as failed:
            if _BY_CRD.search(failed.message):
                problem = f"the API server rejects HTTPRoutes of profile {listed(names, quoted)}: {failed.message}"
                yield wrong(problem, f"Correct the profile, or upgrade the Gateway API CRDs: see {PAGES['HTTPRoute']}.")
            elif " denied " not in failed.message:  # by a policy or a webhook, which run after the CRD's checks
                raise


FOLDERS = ("controller", "httproute", "listenerset")
"""Folders in metacontroller/. Each folder's DecoratorController manages one more kind than the previous folder's."""

POLICIES = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies.admissionregistration.k8s.io",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings.admissionregistration.k8s.io",
}

LIMITS = "Apply the output of `ingress-manager settings --policies FILE`: docs/tenants.md shows how."

LONGEST = 200  # characters of a difference that are shown: a CEL expression may have thousands
ADDED: Object = {"matchPolicy": "Equivalent", "scope": "*", "parameterNotFoundAction": "Allow"}
ADDED |= {"namespaceSelector": {}, "objectSelector": {}}
"""The defaults that the API server adds to admission policies."""


@cache
def expected(folder: str) -> dict[tuple[str, str], Object]:
    """Return the objects that a folder of installed/ (a link to metacontroller/) defines, by (kind, name)."""
    files = sorted(resources.files(__package__).joinpath("installed", folder).iterdir(), key=lambda file: file.name)
    documents = [obj for file in files for obj in yaml.load_all(file.read_text(encoding="utf-8"), yaml.CSafeLoader)]
    # As in kustomize, each patch of an overlay extends lists in one object.
    patches = [patch for obj in documents for patch in obj.get("patches", ())]
    objects = deepcopy(expected(FOLDERS[FOLDERS.index(folder) - 1])) if patches else {}
    objects |= {(obj["kind"], obj["metadata"]["name"]): obj for obj in documents if obj["kind"] != "Kustomization"}
    for patch in patches:
        for added in yaml.load(patch["patch"], yaml.CSafeLoader):
            _, *path, _ = added["path"].split("/")
            entries: Any = reduce(getitem, path, objects[patch["target"]["kind"], patch["target"]["name"]])
            entries.append(added["value"])
    return objects


def folder_of(cluster: Cluster) -> str:
    """Return the folder whose DecoratorController manages the same kinds as the cluster's DecoratorController."""
    return next((folder for folder in reversed(FOLDERS) if cluster.makes(f"{folder}s")), FOLDERS[0])


def spec_differences(ours: Object, observed: Any) -> list[str]:
    return [cut(text, LONGEST) for text in field_differences(plain(at(observed, "spec")), plain(ours["spec"]), "spec")]


def plain(value: Any) -> Any:
    """Return a value in a comparable form: without the API server's defaults, and with normalized white space."""
    if isinstance(value, dict):
        return {key: plain(field) for key, field in value.items() if key not in ADDED or field != ADDED[key]}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def policies(cluster: Cluster) -> Iterator[Result]:
    """Yield an error for each admission policy or binding that is missing or outdated. Additional ones are allowed."""
    folders = FOLDERS[FOLDERS.index(folder_of(cluster)) :]
    for kind, name in expected(folders[0]):
        if resource := POLICIES.get(kind):
            observed = cluster.one(resource, name)
            by_folder = [spec_differences(expected(folder)[kind, name], observed) for folder in folders]
            if observed is None:
                yield wrong(f"{kind} {name} doesn't exist")
            elif all(by_folder):
                yield wrong(f"{kind} {name}: {by_folder[0][0]}")
    yield from limits(cluster)


def limits(cluster: Cluster) -> Iterator[Result]:
    """Yield the first difference between the cluster's admission policies and those generated from the settings."""
    settings = cluster.settings_text and cluster.settings_text.parse()
    try:
        objects = policies_of(settings) if isinstance(settings, Settings) else []
    except click.UsageError as error:
        yield warning(error.message, LIMITS)
        return
    for ours in objects:
        kind, name = ours["kind"], ours["metadata"]["name"]
        observed = cluster.one(POLICIES[kind], name)
        if sentences := spec_differences(ours, observed):
            sentence = f": {sentences[0]}" if observed else " doesn't exist, so hand-written routes go unchecked"
            is_stale = observed and "policyName" not in ours["spec"]
            yield (wrong if is_stale else warning)(f"{kind} {name}{sentence}", LIMITS)
            return
