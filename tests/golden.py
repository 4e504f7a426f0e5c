r"""Golden cases: tables of Services and what becomes of them, in YAML. All that read them read them by this.

A case is a name at the beginning of a line, and below it:

why            the reason that the case exists, in a sentence
metadata       what the Service's metadata has beside the name shop, the namespace team-a and annotations
annotations    those that it has beside `ingress/http: "true"`; `ingress/http: null` takes that one away
spec           the Service's spec, if it isn't the one port 80
settings       the administrator's settings, if they aren't the defaults; as text where their lines matter
becomes        what the Service becomes; the last, and written by `make cases`, which leaves the rest as it is

`!each [1, 3, "- path: /#\n"]` is that text three times, with the number in the place of #. It may stand for all
annotations or ports, too. Behind the text, there may be what is before and behind all of them.

A Service becomes objects, in which what goes without saying is left out (USUAL, `ingress` and `httproute` below say
it); `nothing`; `refused 422`, with the sentences of the refusal; or `settings refused`, with those that say why the
hook doesn't start with them.
"""

import copy
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from devcluster.sync_requests import Object, body, service, sync_request
from hooks.sync import answer
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse

Outcome = list[Object] | str
"""The objects that a Service becomes; or a status and a refusal; or why the settings are refused."""

TESTS = REPOSITORY / "tests"
CASES, ATTACKS = TESTS / "cases", TESTS / "attacks"
CASE = re.compile(r"^(\S+):\n((?: .*\n|\n(?=\n* ))+)", re.MULTILINE)
SETTINGS_REFUSED, NO_SECRET = "settings refused", "no Secret"
GATEWAY_API = "gateway.networking.k8s.io"
USUAL: dict[str, Object] = {
    "Ingress": {"rules": {"example.com": {"Prefix /": 80}}},
    "HTTPRoute": {"hosts": ["example.com"]},
    "ListenerSet": {},
}
"""What an object is, unless a case states it: for the placeholder's host, as most Services of cases state none."""

LISTENER, EVERY_PATH = "infrastructure/web/http", [{"paths": ["PathPrefix /"], "port": 80}]
"""Where HTTPRoutes attach, and the rules that they have, unless stated."""
MANAGED = {"app.kubernetes.io/managed-by": "ingress-manager"}


class Loader(yaml.CSafeLoader):
    """Reads cases."""


def each(loader: Loader, node: yaml.SequenceNode) -> str:
    """Return what `!each [FIRST, LAST, TEXT]` says, perhaps with what is before and behind all of it."""
    first, last, text, *around = loader.construct_sequence(node)
    before, behind = around or ("", "")
    return before + "".join([text.replace("#", str(number)) for number in range(first, last + 1)]) + behind


Loader.add_constructor("!each", each)
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
    """A case, as its table states it."""

    name: str
    stated: Object = field(repr=False)

    @property
    def service(self) -> Object:
        """The whole Service."""
        annotations = parsed(self.stated.get("annotations", {}))
        if annotations is not None:
            annotations = {"ingress/http": "true"} | annotations
            annotations = {key: value for key, value in annotations.items() if value is not None}
        made = service(annotations, **{key: parsed(value) for key, value in self.stated.get("spec", {}).items()})
        made["metadata"] |= self.stated.get("metadata", {})
        return copy.deepcopy(made)

    @property
    def settings(self) -> str:
        """The text of the settings; without any, the defaults hold."""
        settings = self.stated.get("settings", "")
        return settings if isinstance(settings, str) else as_yaml(settings)

    @property
    def policy(self) -> Policy:
        """What the settings say. Raises SettingsError when the hook doesn't start with them."""
        return parse(self.settings) if self.settings else Policy()

    @property
    def becomes(self) -> Outcome:
        """What the table says that the Service becomes. Raises KeyError when it doesn't."""
        return whole(self.stated["becomes"], self.service["metadata"])

    @property
    def ingresses(self) -> list[Object]:
        """The Ingresses that the table says that the Service becomes."""
        return [made for made in self.becomes if isinstance(made, dict) and made["kind"] == "Ingress"]

    def outcome(self) -> Outcome:
        """Return what the Service becomes by the hook's answer."""
        try:
            policy = self.policy
        except SettingsError as error:
            return f"{SETTINGS_REFUSED} {error}"
        answered = answer(body(sync_request(self.service)), policy)
        if answered.status != 200:
            return f"refused {answered.status} {answered.body.decode()}"
        attachments: list[Object] = json.loads(answered.body)["attachments"]
        return attachments


@cache
def cases_in(folder: Path) -> list[Case]:
    """Return the cases of all tables in a folder. Raises ValueError when two have the same name."""
    files = sorted(folder.glob("*.yaml"))
    cases = [case for file in files for case in read(file)]
    if twice := [name for name, count in Counter(case.name for case in cases).items() if count > 1]:
        raise ValueError(f"several cases in {folder} have the name {twice[0]}")
    return cases


def read(file: Path) -> Iterator[Case]:
    """Yield the cases of a table. Raises ValueError for what is no case."""
    text = file.read_text(encoding="utf-8")
    if stray := re.search(r"^[^#\n].*", CASE.sub("", text), re.MULTILINE):
        raise ValueError(f"{file.name}: this line belongs to no case: {stray[0]}")
    for found in CASE.finditer(text):
        try:
            yield Case(found[1], yaml.load(found[2], Loader))  # noqa: S506  (it is a safe one)
        except yaml.MarkedYAMLError as error:
            line = text.count("\n", 0, found.start(2)) + 1 + (error.problem_mark.line if error.problem_mark else 0)
            raise ValueError(f"{file.name}:{line}: the case {found[1]} is not YAML: {error.problem}") from error


def listenerset(short: Object, of: Object) -> Object:
    """Return a ListenerSet: `at` is the namespace, name and port of its Gateway."""
    namespace, gateway, port = short["at"].split("/")
    parent = {"group": GATEWAY_API, "kind": "Gateway", "namespace": namespace, "name": gateway}
    certificate = {"group": "", "kind": "Secret", "name": short["secret"]}
    listener = {
        "name": "https",
        "port": int(port),
        "protocol": "HTTPS",
        "tls": {"mode": "Terminate", "certificateRefs": [certificate]},
        "allowedRoutes": {"namespaces": {"from": "Same"}},
    }
    listener |= {"hostname": short["host"]} if "host" in short else {}
    spec = {"parentRef": parent, "listeners": [listener]}
    return {"apiVersion": f"{GATEWAY_API}/v1", "kind": "ListenerSet", "metadata": metadata(short, of), "spec": spec}


def short_listenerset(made: Object, of: Object) -> Object:
    """Return what a case says of a ListenerSet."""
    parent, [listener] = made["spec"]["parentRef"], made["spec"]["listeners"]
    found = short_metadata(made, of) | {"at": f"{parent['namespace']}/{parent['name']}/{listener['port']}"}
    found |= {"host": listener["hostname"]} if "hostname" in listener else {}
    return found | {"secret": listener["tls"]["certificateRefs"][0]["name"]}


# ------------------------------------------------------------------------------------------ what goes without saying


def whole(becomes: Any, of: Object) -> Outcome:
    """Return what a case says that a Service becomes, whole; `of` is the Service's metadata."""
    if becomes == "nothing":
        return []
    if isinstance(becomes, list):
        wholes = {"Ingress": ingress, "HTTPRoute": httproute, "ListenerSet": listenerset}
        return [wholes[kind](USUAL[kind] | short, of) for made in becomes for kind, short in made.items()]
    [(what, sentences)] = becomes.items()
    return f"{what} {'; '.join(sentences)}" if what == SETTINGS_REFUSED else f"{what} {' · '.join(sentences)}\n"


def short(outcome: Outcome, of: Object) -> Any:
    """Return the same as a case says it. Raises ValueError for what no case can say."""
    becomes: Any
    if isinstance(outcome, str):
        what, separator = (SETTINGS_REFUSED, "; ") if outcome.startswith(SETTINGS_REFUSED) else (outcome[:11], " · ")
        becomes = {what: outcome.removeprefix(what)[1:].removesuffix("\n").split(separator)}
    else:
        shorts = {"Ingress": short_ingress, "HTTPRoute": short_httproute, "ListenerSet": short_listenerset}
        kinds = [(made["kind"], made) for made in outcome]
        becomes = [{kind: unusual(kind, shorts[kind](made, of))} for kind, made in kinds] or "nothing"
    if whole(becomes, of) != outcome:
        raise ValueError(f"tests/golden.py has no words for this: {outcome}")
    return becomes


def unusual(kind: str, short: Object) -> Object:
    """Return what a case says of an object: what is not as usual. What it lacks is stated as empty."""
    lacks = {key: type(value)() for key, value in USUAL[kind].items() if key not in short}
    return lacks | {key: value for key, value in short.items() if key not in USUAL[kind] or USUAL[kind][key] != value}


def metadata(short: Object, of: Object) -> Object:
    """Return the metadata of an object that is made for the Service `of`: its name is the Service's, unless stated."""
    labels = MANAGED | short.get("labels", {})
    made = {"name": short.get("name", of["name"]), "namespace": of["namespace"], "labels": labels}
    return made | {key: short[key] for key in ("annotations",) if key in short}


def short_metadata(made: Object, of: Object) -> Object:
    """Return what a case says of it."""
    stated = made["metadata"]
    labels = {key: value for key, value in stated["labels"].items() if key not in MANAGED}
    found = {"name": stated["name"], "labels": labels, "annotations": stated.get("annotations")}
    return {key: value for key, value in found.items() if value and value != of["name"]}


def ingress(short: Object, of: Object) -> Object:
    """Return an Ingress: of class nginx, unless stated; `tls` has each Secret's hosts, `rules` each path's port.

    `no Secret` is the controller's own certificate. The port is one of the Service's, by its number or name, or
    `SERVICE:PORT`. The host "*" is none: every host.
    """

    def backend(port: int | str) -> Object:
        name, _, stated = str(port).rpartition(":")
        number_or_name = {"number": int(stated)} if stated.isdecimal() else {"name": stated}
        return {"service": {"name": name or of["name"], "port": number_or_name}}

    def paths(ports: Object) -> list[Object]:
        split = ([*path.split(" ", 1), port] for path, port in ports.items())
        return [{"path": path, "pathType": path_type, "backend": backend(port)} for path_type, path, port in split]

    spec: Object = {"ingressClassName": short.get("class", "nginx")}
    spec["defaultBackend"] = backend(short["default"]) if "default" in short else None
    spec["tls"] = [
        ({"hosts": hosts} if hosts else {}) | ({"secretName": secret} if secret != NO_SECRET else {})
        for entry in short.get("tls", [])
        for secret, hosts in entry.items()
    ]
    spec["rules"] = [
        ({} if host == "*" else {"host": host}) | {"http": {"paths": paths(ports)}}
        for host, ports in short.get("rules", {}).items()
    ]
    stated = {key: value for key, value in spec.items() if value}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata(short, of), "spec": stated}


def short_ingress(made: Object, of: Object) -> Object:
    """Return what a case says of an Ingress."""
    spec = made["spec"]
    found = short_metadata(made, of)

    def port(backend: Object) -> int | str:
        name, number_or_name = backend["service"]["name"], backend["service"]["port"]
        [stated] = number_or_name.values()
        return stated if name == of["name"] else f"{name}:{stated}"

    if spec.get("ingressClassName") != "nginx":
        found["class"] = spec.get("ingressClassName")
    if "defaultBackend" in spec:
        found["default"] = port(spec["defaultBackend"])
    if "tls" in spec:
        found["tls"] = [{entry.get("secretName", NO_SECRET): entry.get("hosts", [])} for entry in spec["tls"]]
    if "rules" in spec:
        found["rules"] = {
            rule.get("host", "*"): {
                f"{path['pathType']} {path['path']}": port(path["backend"]) for path in rule["http"]["paths"]
            }
            for rule in spec["rules"]
        }
    return found


def httproute(short: Object, of: Object) -> Object:
    """Return an HTTPRoute: `to` is a Gateway's namespace, name and listener, or the first two of a ListenerSet.

    The rest of a rule is the API's own. LISTENER and EVERY_PATH hold unless stated.
    """

    def match(path: str) -> Object:
        path_type, value = path.split(" ", 1)
        return {"path": {"type": path_type, "value": value}}

    def rule(stated: Object) -> Object:
        stated = dict(stated)
        made: Object = {"matches": [match(path) for path in stated.pop("paths")]}
        if port := stated.pop("port", None):
            target = {"group": "", "kind": "Service", "name": of["name"], "port": port, "weight": 1}
            made["backendRefs"] = [target]
        return made | stated

    def parent(listener: str) -> Object:
        namespace, name, *section = listener.split("/")
        kind = {"kind": "Gateway", "sectionName": section[0]} if section else {"kind": "ListenerSet"}
        return {"group": GATEWAY_API, "namespace": namespace, "name": name, **kind}

    spec: Object = {"parentRefs": list(map(parent, short.get("to", LISTENER).split(", ")))}
    spec |= {"hostnames": short["hosts"]} if short.get("hosts") else {}
    spec["rules"] = [rule(stated) for stated in short.get("rules", EVERY_PATH)]
    return {"apiVersion": f"{GATEWAY_API}/v1", "kind": "HTTPRoute", "metadata": metadata(short, of), "spec": spec}


def short_httproute(made: Object, of: Object) -> Object:
    """Return what a case says of an HTTPRoute."""
    spec = made["spec"]
    parents = [
        "/".join(each[key] for key in ("namespace", "name", "sectionName") if key in each)
        for each in spec["parentRefs"]
    ]
    rules = []
    for rule in spec["rules"]:
        stated: Object = {"paths": [f"{match['path']['type']} {match['path']['value']}" for match in rule["matches"]]}
        for target in rule.get("backendRefs", []):
            stated["port"] = target["port"]
        rules.append(stated | {key: rule[key] for key in rule if key not in {"matches", "backendRefs"}})
    found = short_metadata(made, of)
    found |= {"to": ", ".join(parents)} if parents != [LISTENER] else {}
    found |= {"hosts": spec["hostnames"]} if "hostnames" in spec else {}
    return found | ({"rules": rules} if rules != EVERY_PATH else {})
