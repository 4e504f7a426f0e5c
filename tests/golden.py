r"""Golden cases: tables of Services and what becomes of them, in YAML. All that read them read them by this.

A case is a name at the beginning of a line, and below it:

why            the reason that the case exists, in a sentence
from           what an attack is known from
metadata       what the Service's metadata has beside the name shop, the namespace team-a and annotations
annotations    those that it has beside `ingress/http: "true"`; `ingress/http: null` takes that one away
spec           the Service's spec, if it isn't the one port 80
settings       the administrator's settings, if they aren't the defaults; as text where their lines matter
becomes        what the Service becomes; the last, and written by `make cases`, which leaves the rest as it is

`!each [1, 3, "- path: /#\n"]` is that text three times, with the number in the place of #. It may stand for all
annotations or ports, too. Behind the text, there may be what is before and behind all of them.

A Service becomes objects, in which what goes without saying is left out (USUAL, `ingress` and `httproute` below say
it); `nothing`; `refused 422`, with the sentences of the refusal; or `settings refused`, with why the hook doesn't start
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
"""What an object is, unless a case states it: for the placeholder's host, as most Services of cases state none."""
MANAGED = {"app.kubernetes.io/managed-by": "ingress-manager"}


class Loader(yaml.CSafeLoader):
    """Reads cases."""


def repeat(loader: Loader, node: yaml.SequenceNode) -> str:
    """Return what `!each [FIRST, LAST, TEXT]` says, perhaps with what is before and behind all of it."""
    first, last, text, *around = loader.construct_sequence(node)
    before, behind = around or ("", "")
    return before + "".join([text.replace("#", str(number)) for number in range(first, last + 1)]) + behind


Loader.add_constructor("!each", repeat)
# A time is text, as it is to Kubernetes.
Loader.yaml_implicit_resolvers = {
    first: [resolver for resolver in resolvers if resolver[0] != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in Loader.yaml_implicit_resolvers.items()
}


def parsed(value: Any) -> Any:
    """Return a value, read if it was made by `!each`."""
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
        """The text of the settings; without any, the defaults hold."""
        settings = self.fields.get("settings", "")
        return settings if isinstance(settings, str) else as_yaml(settings)

    @property
    def settings(self) -> Settings:
        """What the settings say. Raises SettingsError when the hook doesn't start with them."""
        return parse(self.settings_text) if self.settings_text else Settings()

    @property
    def objects(self) -> list[Object]:
        """What the Service becomes, as the case says it, whole; nothing where it is refused, or the settings are."""
        becomes, of = self.fields["becomes"], self.service["metadata"]
        pairs = [pair for made in becomes for pair in made.items()] if isinstance(becomes, list) else []
        return [whole(kind, short, of) for kind, short in pairs]

    @property
    def becomes(self) -> Any:
        """What the Service becomes, as a case says it. Raises ValueError for what no case can say."""
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
    """Return the cases of a table. Raises YAMLError for what is not YAML."""
    with file.open(encoding="utf-8") as text:
        return list(itertools.starmap(Case, yaml.load(text, Loader).items()))  # noqa: S506  (it is a safe one)


def whole(kind: str, short: Object, of: Object) -> Object:
    """Return the object of which a case says this; `of` is the Service's metadata. Its name is that, unless stated."""
    specs = {"Ingress": ingress, "HTTPRoute": httproute, "ListenerSet": listenerset}
    metadata = {"name": short.get("name", of["name"]), "namespace": of["namespace"]}
    metadata |= {"labels": MANAGED | short.get("labels", {})}
    metadata |= {"annotations": short["annotations"]} if "annotations" in short else {}
    spec = specs[kind](USUAL[kind] | short | {"service": of["name"]})
    group = "networking.k8s.io" if kind == "Ingress" else GATEWAY_API
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": metadata, "spec": spec}


def short(made: Object, of: Object) -> Object:
    """Return what a case says of an object: what is not as usual. What it lacks is stated as empty.

    Raises ValueError for what no case can say.
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
    """Return the spec of an Ingress: `tls` has each Secret's hosts, `rules` each path's port.

    `no Secret` is the controller's own certificate. The port is one of the Service's, by its number or name, or
    `SERVICE:PORT`. The host "*" is none: every host.
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
    """Return what a case says of an Ingress that is made for a Service: the ports are its own, by number."""
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
    """Return the spec of an HTTPRoute: `to` is a Gateway's namespace, name and listener, or a ListenerSet's first two.

    The rest of a rule is the API's own.
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
    """Return the spec of a ListenerSet: `at` is the namespace, name and port of its Gateway."""
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
