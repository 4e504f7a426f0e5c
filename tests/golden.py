r"""Golden cases: tables of Services and their results, in YAML. All tests read these tables with this module.

A case is a name at the beginning of a line, and below it:

why            the reason that the case exists, in a sentence
from           the source from which an attack is known
metadata       additions to the Service's metadata, which has the name shop, the namespace team-a and annotations
annotations    additions to `ingress/http: "true"`; `ingress/http: null` removes that one
spec           the Service's spec, by default the one port 80
settings       the administrator's settings, by default none; as text where their lines matter
becomes        the result; the last, and written by `make cases`, which keeps the rest of the text

`!each [1, 3, "- path: /#\n"]` is that text three times, with the number in place of #. It can also replace all
annotations or ports. Two more items after the text are put before and after all repetitions.

The result is a list of objects without their usual fields (see USUAL, `ingress` and `httproute` below); `nothing`;
`refused 422`, with the sentences of the refusal; or `settings refused`, with the reason that the hook doesn't start
with them.
"""

import copy
import itertools
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from devcluster.sync_requests import Object, body, service, sync_request
from hooks.sync import answer
from ingress_manager.commands.printing import as_yaml
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings import Settings
from ingress_manager.core.settings_parser import parse

TESTS = REPOSITORY / "tests"
CASES = TESTS / "cases"
OWN_CERTIFICATE = "no Secret"
GATEWAY_API = "gateway.networking.k8s.io"
USUAL: dict[str, Object] = {
    "Ingress": {"class": "nginx", "rules": {"example.com": {"Prefix /": 80}}},
    "HTTPRoute": {
        "to": "infrastructure/web/http",
        "hosts": ["example.com"],
        "rules": [{"paths": ["PathPrefix /"], "port": 80}],
    },
    "ListenerSet": {},
}
"""The usual fields of an object, which a case omits. Most Services set no host, and get the example's."""
MANAGED = {"app.kubernetes.io/managed-by": "ingress-manager"}


class Loader(yaml.CSafeLoader):
    """Loads tables of cases, in which `!each` repeats text."""


def repeat(loader: Loader, node: yaml.SequenceNode) -> str:
    """Return the text of `!each [FIRST, LAST, TEXT]`, or of `!each [FIRST, LAST, TEXT, BEFORE, AFTER]`."""
    first, last, text, *around = loader.construct_sequence(node)
    before, behind = around or ("", "")
    return before + "".join([text.replace("#", str(number)) for number in range(first, last + 1)]) + behind


Loader.add_constructor("!each", repeat)
# A time is a string, as in Kubernetes.
Loader.yaml_implicit_resolvers = {
    first: [resolver for resolver in resolvers if resolver[0] != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in Loader.yaml_implicit_resolvers.items()
}


def parsed(value: Any) -> Any:
    """Return a value, parsed if it is YAML text from `!each`."""
    return yaml.safe_load(value) if isinstance(value, str) and "\n" in value else value


@dataclass(frozen=True, eq=False)
class Case:
    name: str
    fields: Object = field(repr=False)

    @property
    def service(self) -> Object:
        annotations = parsed(self.fields.get("annotations", {}))
        if annotations is not None:
            annotations = {"ingress/http": "true"} | annotations
            annotations = {key: value for key, value in annotations.items() if value is not None}
        made = service(annotations, **{key: parsed(value) for key, value in self.fields.get("spec", {}).items()})
        made["metadata"] |= self.fields.get("metadata", {})
        return copy.deepcopy(made)

    @property
    def settings_text(self) -> str:
        """The text of the settings; empty for the defaults."""
        settings = self.fields.get("settings", "")
        return settings if isinstance(settings, str) else as_yaml(settings)

    @property
    def settings(self) -> Settings:
        """The settings. Raises SettingsError if the hook can't start with them."""
        return parse(self.settings_text) if self.settings_text else Settings()

    @property
    def objects(self) -> list[Object]:
        """The complete objects that the case expects; none for a refusal."""
        becomes, of = self.fields["becomes"], self.service["metadata"]
        pairs = [pair for made in becomes for pair in made.items()] if isinstance(becomes, list) else []
        return [whole(kind, short, of) for kind, short in pairs]

    @property
    def becomes(self) -> Any:
        """The actual result, in the form of a case. Raises ValueError if this form can't express it."""
        asking = self.service
        try:
            answered = answer(body(sync_request(asking)), self.settings)
        except SettingsError as error:
            return {"settings refused": [str(error)]}
        if answered.status != 200:
            return {f"refused {answered.status}": answered.body.decode().removesuffix("\n").split(" · ")}
        made = json.loads(answered.body)["attachments"]
        return [{item["kind"]: short(item, asking["metadata"])} for item in made] or "nothing"


@cache
def cases_in(folder: Path) -> list[Case]:
    return [case for file in sorted(folder.glob("*.yaml")) for case in read(file)]


def read(file: Path) -> list[Case]:
    """Return the cases of a table. Raises YAMLError for invalid YAML."""
    with file.open(encoding="utf-8") as text:
        return list(itertools.starmap(Case, yaml.load(text, Loader).items()))  # noqa: S506  (it is a safe one)


def whole(kind: str, short: Object, of: Object) -> Object:
    """Return the complete object for a short form; `of` is the Service's metadata, with the default name."""
    specs = {"Ingress": ingress, "HTTPRoute": httproute, "ListenerSet": listenerset}
    metadata = {"name": short.get("name", of["name"]), "namespace": of["namespace"]}
    metadata |= {"labels": MANAGED | short.get("labels", {})}
    metadata |= {"annotations": short["annotations"]} if "annotations" in short else {}
    spec = specs[kind](USUAL[kind] | short | {"service": of["name"]})
    group = "networking.k8s.io" if kind == "Ingress" else GATEWAY_API
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": metadata, "spec": spec}


def short(made: Object, of: Object) -> Object:
    """Return the short form of an object: the fields that aren't usual. Usual fields that it lacks are given as empty.

    Raises ValueError if the short form can't express the object.
    """
    kind, metadata = made["kind"], made["metadata"]
    shorts = {"Ingress": short_ingress, "HTTPRoute": short_httproute, "ListenerSet": short_listenerset}
    labels = {key: value for key, value in metadata["labels"].items() if key not in MANAGED}
    fields = {"name": metadata["name"], "labels": labels, "annotations": metadata.get("annotations")}
    fields |= shorts[kind](made["spec"])
    usual = USUAL[kind] | {"name": of["name"], "labels": {}, "annotations": None}
    fields = {key: value for key, value in fields.items() if key not in usual or usual[key] != value}
    if whole(kind, fields, of) != made:
        raise ValueError(f"tests/golden.py has no words for this: {made}")
    return fields


def ingress(short: Object) -> Object:
    """Return the spec of an Ingress from its short form: `tls` maps Secrets to hosts, `rules` maps paths to ports.

    `no Secret` is the controller's own certificate. A port is one of the Service's, by number or name, or
    `SERVICE:PORT`. The host "*" stands for a rule without a host.
    """

    def backend(port: int | str) -> Object:
        name, _, port_name = str(port).rpartition(":")
        number_or_name = {"number": int(port_name)} if port_name.isdecimal() else {"name": port_name}
        return {"service": {"name": name or short["service"], "port": number_or_name}}

    def path(typed_path: str, port: int | str) -> Object:
        path_type, path = typed_path.split(" ", 1)
        return {"path": path, "pathType": path_type, "backend": backend(port)}

    spec: Object = {"ingressClassName": short["class"]}
    spec["defaultBackend"] = backend(short["default"]) if "default" in short else None
    spec["tls"] = [
        ({"hosts": hosts} if hosts else {}) | ({"secretName": secret} if secret != OWN_CERTIFICATE else {})
        for entry in short.get("tls", [])
        for secret, hosts in entry.items()
    ]
    spec["rules"] = [
        ({} if host == "*" else {"host": host}) | {"http": {"paths": [*itertools.starmap(path, ports.items())]}}
        for host, ports in short["rules"].items()
    ]
    return {key: value for key, value in spec.items() if value}


def short_ingress(spec: Object) -> Object:
    """Return the short form of the spec of a Service's Ingress, with ports by number."""
    fields: Object = {"class": spec.get("ingressClassName")}
    if "tls" in spec:
        fields["tls"] = [{entry.get("secretName", OWN_CERTIFICATE): entry.get("hosts", [])} for entry in spec["tls"]]
    fields["rules"] = {
        rule.get("host", "*"): {
            f"{path['pathType']} {path['path']}": path["backend"]["service"]["port"]["number"]
            for path in rule["http"]["paths"]
        }
        for rule in spec["rules"]
    }
    return fields


def httproute(short: Object) -> Object:
    """Return the spec of an HTTPRoute: `to` is NAMESPACE/GATEWAY/LISTENER, or NAMESPACE/NAME of a ListenerSet.

    The other fields of a rule are those of the Gateway API.
    """

    def match(path: str) -> Object:
        path_type, value = path.split(" ", 1)
        return {"path": {"type": path_type, "value": value}}

    def rule(paths: list[str], port: int | None = None, **fields: Any) -> Object:
        target = {"group": "", "kind": "Service", "name": short["service"], "port": port, "weight": 1}
        return {"matches": [match(path) for path in paths]} | ({"backendRefs": [target]} if port else {}) | fields

    def parent(listener: str) -> Object:
        namespace, name, *section = listener.split("/")
        kind = {"kind": "Gateway", "sectionName": section[0]} if section else {"kind": "ListenerSet"}
        return {"group": GATEWAY_API, "namespace": namespace, "name": name, **kind}

    spec: Object = {"parentRefs": [parent(listener) for listener in short["to"].split(", ")]}
    spec |= {"hostnames": short["hosts"]} if short["hosts"] else {}
    return spec | {"rules": [rule(**fields) for fields in short["rules"]]}


def short_httproute(spec: Object) -> Object:
    parents = [
        "/".join([parent[key] for key in ("namespace", "name", "sectionName") if key in parent])
        for parent in spec["parentRefs"]
    ]
    rules = []
    for rule in spec["rules"]:
        fields: Object = {"paths": [f"{match['path']['type']} {match['path']['value']}" for match in rule["matches"]]}
        for target in rule.get("backendRefs", []):
            fields["port"] = target["port"]
        rules.append(fields | {key: rule[key] for key in rule if key not in {"matches", "backendRefs"}})
    return {"to": ", ".join(parents), "hosts": spec.get("hostnames", []), "rules": rules}


def listenerset(short: Object) -> Object:
    """Return the spec of a ListenerSet: `at` is NAMESPACE/NAME/PORT of its Gateway."""
    namespace, gateway, port = short["at"].split("/")
    certificate = {"group": "", "kind": "Secret", "name": short["secret"]}
    listener = {
        "name": "https",
        "port": int(port),
        "protocol": "HTTPS",
        "tls": {"mode": "Terminate", "certificateRefs": [certificate]},
        "allowedRoutes": {"namespaces": {"from": "Same"}},
    }
    listener |= {"hostname": short["host"]} if "host" in short else {}
    parent = {"group": GATEWAY_API, "kind": "Gateway", "namespace": namespace, "name": gateway}
    return {"parentRef": parent, "listeners": [listener]}


def short_listenerset(spec: Object) -> Object:
    parent, [listener] = spec["parentRef"], spec["listeners"]
    host = {"host": listener["hostname"]} if "hostname" in listener else {}
    [certificate] = listener["tls"]["certificateRefs"]
    return {"at": f"{parent['namespace']}/{parent['name']}/{listener['port']}", **host, "secret": certificate["name"]}
