"""A cluster in memory, as our commands see it by kubectl: an API server, Metacontroller with the hook, and the rest.

The API server keeps uids and resourceVersions, refuses what has changed meanwhile, and has our admission policies.
Metacontroller knows Services and Ingresses by copies of its own, each of which can lag; it asks the hook itself, and
does what the stand-in does (devcluster/standin). What has failed it tries again when its copies are up to date: a try
just before that, which takes some milliseconds of bad luck, is left out. The garbage collector removes what belongs to
a Service that is gone.
"""

import copy
import json
from collections.abc import Callable, Iterable
from random import Random

from devcluster.api import EVENTS, HTTPROUTES, INGRESSES, NAMESPACES, SERVICES, ApiError, Object, Resource
from devcluster.standin import children
from devcluster.standin.contract import SyncError
from devcluster.standin.objects import controller_of, group_key
from devcluster.standin.updating import with_annotation
from devcluster.sync_requests import by_name, sync_request
from hooks.sync import answer
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.core.observed import DECORATOR
from ingress_manager.core.policy import Policy
from tests.commands.commands import by_name as called_by_name
from tests.e2e.objects import CONFIG_MAPS, DEPLOYMENTS, INGRESS_CLASSES, POLICIES, POLICY_BINDINGS, SECRETS, new
from tests.moving.kubectl_words import Words, jsonpath, operated, parse, read_by, values
from tools.dumps import patched

_METACONTROLLER = "metacontroller.k8s.io/v1alpha1"
DECORATORS = Resource(_METACONTROLLER, "decoratorcontrollers", "DecoratorController", namespaced=False)
COMPOSITES = Resource(_METACONTROLLER, "compositecontrollers", "CompositeController", namespaced=False)
QUOTAS = Resource("v1", "resourcequotas", "ResourceQuota")
KINDS = (
    *(SERVICES, INGRESSES, EVENTS, NAMESPACES, CONFIG_MAPS, DEPLOYMENTS, SECRETS, INGRESS_CLASSES, POLICIES),
    *(POLICY_BINDINGS, DECORATORS, COMPOSITES, QUOTAS),
)
ASIDE = {
    *("clusterrole", "clusterrolebinding", "crd", "serviceaccount", "networkpolicy", "poddisruptionbudget"),
    "validatingwebhookconfiguration",
}
"""Kinds that are deleted with ingress-manager, and play no part here."""

LONGEST = 50
"""Rounds of Metacontroller's, after which it would go on for ever."""

Place = tuple[str, str, str]
"""The plural of the kind, the namespace and the name of an object."""

Written = Callable[[str], None]
"""Is told of each write: who did what."""


class Model:
    """The cluster. `run` is kubectl."""

    def __init__(self, policy: Policy, *, httproutes: bool = False, address: str = "") -> None:
        self.policy, self.httproutes = policy, httproutes
        self.address = address
        """What the controller of the class nginx writes into the status of an Ingress; "" for one that writes none."""

        self.chance: Random | None = None
        """Draws what lags; None: nothing does."""

        self.attachments = (INGRESSES, HTTPROUTES) if httproutes else (INGRESSES,)
        self.kinds = (*KINDS, *self.attachments[1:])
        self.store: dict[Place, Object] = {}
        self.seen: dict[Place, Object] = {}
        """What Metacontroller has seen of it."""

        self.written: Written = lambda _: None
        self.time = 0.0
        """Seconds."""

        self._synced: dict[str, list[str]] = {}
        """What Metacontroller knew when it synced a Service last: the versions, by the Service's uid."""

        self.count = 1000
        """Numbers what is written."""

        self._events = 0
        self._reacting = False

    # The API server.

    def all(self, *kinds: Resource, namespace: str | None = None) -> list[Object]:
        """Return the objects of some kinds, in the order of their names."""
        plurals = [kind.plural for kind in kinds]
        found = sorted(key for key in self.store if key[0] in plurals and namespace in {None, key[1]})
        return [self.store[key] for key in sorted(found, key=lambda key: plurals.index(key[0]))]

    def _next(self) -> str:
        self.count += 1
        return str(self.count)

    def _time(self) -> str:
        # One second a write, or an Event: what came first is the oldest.
        minutes, seconds = divmod(self.count + self._events, 60)
        return f"2026-11-01T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}Z"

    def create(self, resource: Resource, obj: Object, by: str = "kubectl") -> Object:
        """Store a new object. Raises ApiError."""
        metadata = obj["metadata"]
        place = (resource.plural, metadata.get("namespace", ""), metadata["name"])
        self._name_taken(resource, obj)
        if place in self.store:
            raise ApiError(409, "AlreadyExists", f'{named(resource)} "{metadata["name"]}" already exists')
        _check_ports(resource, obj)
        made = copy.deepcopy(obj)
        made["metadata"] |= {"uid": f"uid-{self._next()}", "creationTimestamp": self._time()}
        made["metadata"]["resourceVersion"] = self._next()
        if resource == INGRESSES:
            made["status"] = {"loadBalancer": {}}
        return self._write(place, made, f"{by} creates")

    def update(self, resource: Resource, obj: Object, by: str = "kubectl") -> Object:
        """Replace an object that was not changed meanwhile. Raises ApiError."""
        metadata = obj["metadata"]
        place = (resource.plural, metadata.get("namespace", ""), metadata["name"])
        before = self.store.get(place)
        if before is None:
            raise not_found(resource, metadata["name"])
        for field in ("resourceVersion", "uid"):
            if metadata.get(field) not in {None, before["metadata"][field]}:
                raise ApiError(409, "Conflict", f'{named(resource)} "{metadata["name"]}" has another {field}')
        system = {key: before["metadata"][key] for key in ("uid", "creationTimestamp", "resourceVersion")}
        after = {**copy.deepcopy(obj), "metadata": {**copy.deepcopy(metadata), **system}}
        _tidy(after["metadata"])
        if after == before:
            return before
        _check_ports(resource, after)
        _owner_guard(resource, before, after)
        after["metadata"]["resourceVersion"] = self._next()
        return self._write(place, after, f"{by} changes")

    def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        version: str | None = None,
        by: str = "kubectl",
    ) -> bool:
        """Delete an object, if it is that one. Raises ApiError."""
        place = (resource.plural, namespace or "", name)
        before = self.store.get(place)
        if before is None:
            return False
        for field, wanted in (("uid", uid), ("resourceVersion", version)):
            if wanted not in {None, before["metadata"][field]}:
                raise ApiError(409, "Conflict", f'{named(resource)} "{name}" has another {field}')
        del self.store[place]
        if resource == NAMESPACES:
            for inside in [key for key in self.store if key[1] == name]:
                del self.store[inside]
        self._next()
        self._wrote(f"{by} deletes {resource.kind} {namespace}/{name}")
        return True

    def _write(self, place: Place, obj: Object, done: str) -> Object:
        self.store[place] = obj
        self._wrote(f"{done} {obj['kind']} {place[1]}/{place[2]}")
        return obj

    def _wrote(self, done: str) -> None:
        self.written(done)
        if not self._reacting:
            self.react()

    def _name_taken(self, resource: Resource, obj: Object) -> None:
        """Raise ApiError as the policy of metacontroller/controller/name-taken.yaml does."""
        metadata = obj["metadata"]
        if resource not in self.attachments or DECORATOR not in metadata.get("annotations", {}):
            return
        there = self.store.get((resource.plural, metadata["namespace"], metadata["name"]))
        if (
            there is None
            or there["metadata"].get("labels", {}).get("app.kubernetes.io/managed-by") == "ingress-manager"
        ):
            return
        owner = controller_of(there) or {}
        is_ours = there["metadata"].get("annotations", {}).get(DECORATOR) == "ingress-manager"
        if is_ours and owner.get("name") == metadata["name"].split(".")[0]:
            return
        policy = "ValidatingAdmissionPolicy 'ingress-manager-name-taken'"
        raise ApiError(
            403,
            "Forbidden",
            f'{named(resource)} "{metadata["name"]}" is forbidden: {policy} with binding '
            f"'ingress-manager-name-taken' denied request: {resource.kind} {metadata['namespace']}/{metadata['name']} "
            "is in the way: it was not made by ingress-manager and is left alone; once it is deleted, this Service "
            "gets its own",
        )

    # Metacontroller, the hook, and the garbage collector.

    @property
    def is_running(self) -> bool:
        """Return whether Metacontroller does anything: without an answer of the hook, it does not."""
        hook = (DEPLOYMENTS.plural, "ingress-manager", "ingress-manager")
        return hook in self.store and (DECORATORS.plural, "", "ingress-manager") in self.store

    def react(self, *, fully: bool = False) -> None:
        """Let Metacontroller see what has been written, or some of it, and do what follows."""
        self._reacting = True
        for _ in range(LONGEST):
            before = self.count
            for resource in (SERVICES, *self.attachments):
                if fully or self.chance is None or self.chance.random() < 0.5:
                    self._see(resource)
            self._collect_garbage()
            self._report()
            if self.is_running:
                for place in sorted(key for key in self.seen if key[0] == SERVICES.plural):
                    self._sync(self.seen[place])
            if self.count == before or (self.chance and not fully):
                break
        else:
            raise AssertionError("Metacontroller writes for ever")
        self._reacting = False

    def _see(self, resource: Resource) -> None:
        self.seen = {key: each for key, each in self.seen.items() if key[0] != resource.plural}
        self.seen |= {key: each for key, each in self.store.items() if key[0] == resource.plural}

    def _collect_garbage(self) -> None:
        uids = {each["metadata"]["uid"] for each in self.store.values()}
        for resource in self.attachments:
            for each in self.all(resource):
                owners = each["metadata"].get("ownerReferences", [])
                if owners and uids.isdisjoint(owner["uid"] for owner in owners):
                    metadata = each["metadata"]
                    self.delete(resource, metadata["name"], metadata["namespace"], by="the garbage collector")

    def _report(self) -> None:
        """Let the controller write the status of what it serves."""
        for each in self.all(INGRESSES) if self.address else ():
            if each["spec"].get("ingressClassName") == "nginx" and not each["status"]["loadBalancer"]:
                self.update(
                    INGRESSES, {**each, "status": {"loadBalancer": {"ingress": [{"ip": self.address}]}}}, "nginx"
                )

    def _sync(self, parent: Object) -> None:
        uid = parent["metadata"]["uid"]
        is_late = any(self.store.get(key) is not each for key, each in self.seen.items())
        observed = [
            each
            for key, each in self.seen.items()
            if key[0] != SERVICES.plural
            and (controller_of(each) or {}).get("uid") == uid
            and each["metadata"].get("annotations", {}).get(DECORATOR) == "ingress-manager"
        ]
        versions = [each["metadata"]["resourceVersion"] for each in (parent, *observed)]
        if is_late and self._synced.get(uid) == versions:
            return
        self._synced[uid] = versions
        asked = sync_request(parent, attached=observed, httproutes=self.httproutes)
        answered = answer(json.dumps(asked).encode(), self.policy)
        if answered.status != 200:
            if answered.status == 422:
                text = f"sync hook failed (version=v2): 422 Unprocessable Entity: {answered.body.decode()}"
                self._tell(parent, text)
            return
        desired: dict[str, dict[str, Object]] = {group_key(each): {} for each in self.attachments}
        for each in json.loads(answered.body)["attachments"]:
            signed = with_annotation(each, DECORATOR, "ingress-manager")
            desired[f"{each['kind']}.{each['apiVersion']}"] |= by_name([signed])
        try:
            children.manage(_AsMetacontroller(self), self.attachments, parent, asked["attachments"], desired)  # type: ignore[arg-type]
        except SyncError as error:
            self._tell(parent, str(error))

    def _tell(self, parent: Object, sentence: str) -> None:
        """Report an Event on a Service; the same one again gets another resourceVersion."""
        metadata = parent["metadata"]
        message = f"Sync error: {sentence}"
        place = (EVENTS.plural, metadata["namespace"], f"{metadata['name']}.{metadata['uid']}.{message}")
        involved = {"kind": "Service", "name": metadata["name"], "namespace": metadata["namespace"]}
        event = new(EVENTS, place[2], metadata["namespace"], reason="SyncError", type="Warning", message=message)
        event |= {"involvedObject": {**involved, "uid": metadata["uid"]}, "lastTimestamp": self._time()}
        self._events += 1
        event["metadata"] |= {"uid": place[2], "resourceVersion": f"{10**6 + self._events}"}
        self.store[place] = event

    def sleep(self, seconds: float) -> None:
        """Let time go by."""
        self.time += seconds
        self.react(fully=seconds > 5)

    # kubectl.

    def run(self, *arguments: str, stdin: str = "") -> str:
        """Return what kubectl prints. Raises KubectlFailed with what it says on standard error."""
        words = parse(called_by_name(arguments))
        try:
            return "".join(str(getattr(self, f"_{words.verb}")(each, stdin)) for each in read_by(words, stdin))
        except ApiError as error:
            raise KubectlFailed(f"Error from server ({error.reason}): {error}") from error

    def _resource(self, word: str) -> Resource:
        each: Resource
        for each in self.kinds:
            kind, group = each.kind.lower(), each.api_version.rpartition("/")[0]
            if word.lower() in {kind, each.plural, f"{each.plural}.{group}", f"{kind}.{group}"}:
                return each
        raise KubectlFailed(f'error: the server doesn\'t have a resource type "{word}"')

    def _named(self, words: Words) -> list[tuple[Resource, str]]:
        """Return the kinds and names of the objects that are meant; "" for all of a kind."""
        first, *others = words.names
        if "/" in first:
            pairs = [each.split("/", 1) for each in words.names]
            return [(self._resource(kind), name) for kind, name in pairs]
        kinds = [self._resource(kind) for kind in first.split(",")]
        return [(kind, name) for kind in kinds for name in others or [""]]

    def _one(self, words: Words, resource: Resource, name: str) -> Object:
        namespace = words.options.get("namespace", "default") if resource.namespaced else ""
        found = self.store.get((resource.plural, namespace, name))
        if found is None:
            raise not_found(resource, name)
        return found

    def _get(self, words: Words, _: str) -> str:
        if words.names and self._resource(words.names[0].split("/")[0].split(",")[0]) == EVENTS:
            self.react()  # time goes by between two looks
        where = None if "all-namespaces" in words.options else words.options.get("namespace", "default")
        found = []
        for resource, name in self._named(words):
            if name:
                try:
                    found.append(self._one(words, resource, name))
                except ApiError:
                    if "ignore-not-found" not in words.options:
                        raise
            else:
                found += self.all(resource, namespace=where if resource.namespaced else "")
        for term in filter(None, words.options.get("field-selector", "").split(",")):
            path, _, wanted = term.partition("=")
            found = [each for each in found if values(f".{path}", each) == [wanted.lstrip("=")]]
        is_one = len(words.names) == 2 or (len(words.names) == 1 and "/" in words.names[0])
        if is_one and not found:
            return ""
        printed = found[0] if is_one else {"kind": "List", "apiVersion": "v1", "items": found}
        output = words.options.get("output", "")
        if output.startswith("jsonpath="):
            return jsonpath(output.removeprefix("jsonpath="), printed)
        assert output == "json", words
        return json.dumps(printed)

    def _change(self, resource: Resource, before: Object, change: Object) -> str:
        self.update(resource, patched(before, change))
        return f"{resource.kind.lower()}/{before['metadata']['name']} changed\n"

    def _annotate(self, words: Words, _: str) -> str:
        is_change = [("=" in each or each.endswith("-")) and number > 0 for number, each in enumerate(words.names)]
        start = is_change.index(True)
        changes, words.names = words.names[start:], words.names[:start]
        new_values: dict[str, str | None] = {}
        for each in changes:
            key, is_set, text = each.partition("=")
            new_values[key if is_set else key.removesuffix("-")] = text if is_set else None
        printed = ""
        for resource, name in self._named(words):
            before = self._one(words, resource, name)
            present = before["metadata"].get("annotations") or {}
            for key, value in new_values.items():
                if "overwrite" not in words.options and value is not None and present.get(key, value) != value:
                    raise KubectlFailed(f"error: --overwrite is false, and {key} has the value {present[key]}")
            metadata: Object = {"annotations": new_values}
            if version := words.options.get("resource-version"):
                metadata["resourceVersion"] = version
            printed += self._change(resource, before, {"metadata": metadata})
        return printed

    def _patch(self, words: Words, _: str) -> str:
        change = json.loads(words.options["patch"])
        printed = ""
        for resource, name in self._named(words):
            before = self._one(words, resource, name)
            now = {"metadata": operated(before["metadata"], change)} if words.options["type"] == "json" else change
            printed += self._change(resource, before, now)
        return printed

    def _delete(self, words: Words, stdin: str) -> str:
        if raw := words.options.get("raw"):
            *_, namespace, plural, name = raw.split("/")
            wanted = json.loads(stdin or "{}").get("preconditions", {})
            resource = self._resource(plural)
            if not self.delete(resource, name, namespace, uid=wanted.get("uid"), version=wanted.get("resourceVersion")):
                raise not_found(resource, name)
            return "{}"
        for resource, name in self._known(words):
            namespace = words.options.get("namespace", "default") if resource.namespaced else ""
            if not self.delete(resource, name, namespace) and "ignore-not-found" not in words.options:
                raise not_found(resource, name)
        return ""

    def _known(self, words: Words) -> Iterable[tuple[Resource, str]]:
        """Return what is to be deleted, but for kinds that play no part here, such as rights."""
        kinds = [kind for kind in words.names[0].split(",") if kind.partition(".")[0] not in ASIDE]
        return self._named(Words(words.verb, [",".join(kinds), *words.names[1:]])) if kinds else []


class _AsMetacontroller:
    """The API server, for the stand-in's writes."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def create(self, resource: Resource, obj: Object) -> Object:
        return self._model.create(resource, obj, by="Metacontroller")

    def update(self, resource: Resource, obj: Object) -> Object:
        return self._model.update(resource, obj, by="Metacontroller")

    def delete(self, resource: Resource, name: str, namespace: str, *, uid: str) -> bool:
        return self._model.delete(resource, name, namespace, uid=uid, by="Metacontroller")


def named(resource: Resource) -> str:
    """Return what the API server calls a kind."""
    group = resource.api_version.rpartition("/")[0]
    return f"{resource.plural}.{group}" if group else resource.plural


def not_found(resource: Resource, name: str) -> ApiError:
    """Return the error for what isn't there."""
    return ApiError(404, "NotFound", f'{named(resource)} "{name}" not found')


def _tidy(metadata: Object) -> None:
    """Take away what the API server doesn't keep."""
    for field in ("annotations", "labels", "ownerReferences"):
        if field in metadata and not metadata[field]:
            del metadata[field]


def _check_ports(resource: Resource, obj: Object) -> None:
    """Raise ApiError for an Ingress that names a port in both ways, which a merge patch can make."""
    spec = obj.get("spec", {})
    paths = [path for rule in spec.get("rules") or [] for path in (rule.get("http") or {}).get("paths", [])]
    backends = [spec.get("defaultBackend"), *(path["backend"] for path in paths)] if resource == INGRESSES else []
    if any({"name", "number"} <= set(each.get("service", {}).get("port", {})) for each in backends if each):
        name = obj["metadata"]["name"]
        raise ApiError(422, "Invalid", f'Ingress "{name}" is invalid: cannot set both port name & port number')


def _owner_guard(resource: Resource, before: Object, after: Object) -> None:
    """Raise ApiError as the policy of metacontroller/controller/owner-guard.yaml does."""
    ours = [each["metadata"].get("annotations", {}).get(DECORATOR) == "ingress-manager" for each in (before, after)]
    owned = [bool(controller_of(each)) for each in (before, after)]
    if resource == INGRESSES and all(ours) and owned == [True, False]:
        raise ApiError(403, "Forbidden", "denied: what ingress-manager made can't lose its Service as an owner")
