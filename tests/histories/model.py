"""What the docs say becomes of a Service: a model, written from docs/ and not from hooks/.

An object of a Service's name is a `Observed`: ours, with Metacontroller's mark or without it, or a stranger's. None is
nothing. While something is under way, several are possible. Once everything has settled, `Model.expected` says which.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

MARK = "metacontroller.k8s.io/decorator-controller"
LABEL = "app.kubernetes.io/managed-by"
STRANGERS = "example.com/stranger"
"""A label of what a stranger has made."""

TIMEOUT = "nginx.ingress.kubernetes.io/proxy-read-timeout"
APP_ROOT = "nginx.ingress.kubernetes.io/app-root"
ADDED, FAST = "example.com/added", "example.com/fast"
TEAM, TIER = "team", "tier"
"""Labels, in the order of the alphabet."""

DEFAULT_HOST = "{service}.{namespace}.example.com"
SHARED = "shared.example.org"
ENTRANCE, INSIDE = "in.", ".in"
"""How the annotations of the other entrance of a Service begin, and how the name of what is made for it ends."""


CERTIFICATES: dict[str, list[tuple[list[str] | None, str | None]]] = {
    "- secret: one\n": [(None, "one")],
    "- hosts: [a.{namespace}.example.com]\n  secret: one\n- secret: two\n": [
        (["a.{namespace}.example.com"], "one"),
        (None, "two"),
    ],
    "- hosts: []\n": [([], None)],
}
"""What is written of certificates, and the hosts and the Secret of each: None for all hosts of the Service."""

VALUES: dict[str, list[str | None]] = {
    "ingress/http": ["true", "true", "true", "false", "yes", None],
    "ingress/host": [
        None,
        "shop.{namespace}.example.com",
        "a.{namespace}.example.com, b.{namespace}.example.com",
        SHARED,
        SHARED,
        "*",
        "a.{namespace}.example.com, *",
        "Shop_1",
    ],
    "ingress/path": [None, "/shop", "/shop/", "//shop", "/shop/*"],
    "ingress/path-type": [None, "Exact", "exact", "ImplementationSpecific", "ImplementationSpecific"],
    "ingress/port": [None, "metrics", "8081", "nope"],
    "ingress/class": [None, "other", "Not_A_Class"],
    "ingress/tls": [None, "true", "false", "maybe"],
    "ingress/tls-secret": [None, "certificate", "Not A Secret"],
    "ingress/certificates": [None, *CERTIFICATES, "- hosts: everyone\n"],
    "ingress/default-backend": [None, "true", "true", "false"],
    "ingress/routes": [None, "- {}\n- host: admin.{namespace}.example.com\n", "- path: [\n"],
    "ingress/profile": [None, "fast", "slow", "none-such", "Not A Profile"],
    "ingress/tls-redirect": [None, None, None, "true"],
    "ingress/hots": [None, None, None, "x"],
    TIMEOUT: [None, "30", "-1"],
    APP_ROOT: [None, "/shop"],
}
"""What owners write, right and wrong: docs/annotations.md and docs/settings.md tell which is which."""

LABELS: dict[str, list[str | None]] = {TEAM: [None, "web", "web", "others"], TIER: [None, "gold"]}
"""The labels that they write."""

WRONG = {
    *(("ingress/http", "yes"), ("ingress/host", "Shop_1"), ("ingress/path-type", "exact")),
    *(("ingress/class", "Not_A_Class"), ("ingress/tls", "maybe"), ("ingress/tls-secret", "Not A Secret")),
    *(("ingress/routes", "- path: [\n"), ("ingress/hots", "x"), ("ingress/profile", "Not A Profile")),
    ("ingress/certificates", "- hosts: everyone\n"),
}
"""The values that are mistakes, whatever the Service and the settings are."""

PORTS: dict[str, list[dict[str, Any]]] = {
    "one": [{"name": "http", "port": 80}],
    "two": [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}],
    "unclear": [{"name": "web", "port": 8080}, {"name": "api", "port": 8081}],
    "udp": [{"name": "dns", "port": 53, "protocol": "UDP"}],
    "https": [{"name": "https", "port": 443}],
}


FIELDS: dict[str, tuple[str, str, Callable[[bool], Any]]] = {
    "shared": ("limits", "hosts", lambda value: ["*.{namespace}.example.com", *([SHARED, "*"] if value else [])]),
    "other": ("limits", "classes", lambda value: ["nginx", *(["other"] if value else [])]),
    "patterns": ("limits", "paths", lambda value: "any" if value else "plain"),
    "timeouts": ("limits", "copyAnnotations", lambda value: {TIMEOUT: "any"} if value else {}),
    "labels": ("limits", "copyLabels", lambda value: {TEAM: ["api", "web"], TIER: "any"} if value else {}),
    "fast": ("limits", "profiles", lambda value: "any" if value else ["slow"]),
    "slow": ("defaults", "profile", lambda value: "slow" if value else None),
    "added": ("defaults", "annotations", lambda value: {ADDED: "yes"} if value else {}),
    "labelled": ("defaults", "labels", lambda value: {TIER: "general"} if value else {}),
}
"""For each field of Settings that can be stated in general and for a namespace: where, and what is written there."""


@dataclass(frozen=True)
class Settings:
    """What the administrator has set, as far as histories change it."""

    shared: bool = True
    """Whether SHARED may be claimed, and every host."""
    other: bool = True
    """Whether the class `other` may be asked for."""
    patterns: bool = True
    """Whether an ImplementationSpecific path may be a pattern."""
    timeouts: bool = True
    """Whether TIMEOUT is copied."""
    labels: bool = True
    """Whether TEAM, with some of its values, and TIER are copied."""
    fast: bool = True
    """Whether the profile `fast` may be asked for."""
    slow: bool = False
    """Whether a Service that names no profile has the profile `slow`."""
    added: bool = False
    """Whether the annotation ADDED is added to every Ingress."""
    labelled: bool = False
    """Whether the label TIER is added to every Ingress."""
    paused: bool = False
    rewritten: bool = False
    """Whether the profile `fast` stands for the class `other`."""
    own: tuple[tuple[str, bool], ...] = ()
    """The fields that are stated for namespaces with an entry of their own, each once, with what is stated."""

    def here(self, namespace: str) -> "Settings":
        """Return what holds in a namespace: each field of its own entry, else the general one."""
        return replace(self, own=(), **dict(self.own if has_entry(namespace) else ()))

    def without_pause(self) -> "Settings":
        """Return the settings with nothing paused."""
        return replace(self, paused=False, own=tuple(each for each in self.own if each[0] != "paused"))

    def as_file(self, namespaces: Iterable[str]) -> dict[str, Any]:
        """Return the settings as the administrator writes them for these namespaces."""
        general = as_written({name: getattr(self, name) for name in (*FIELDS, "paused")})
        general["defaults"] |= {"host": DEFAULT_HOST}
        general["limits"] |= {"pathTypes": ["Prefix", "Exact", "ImplementationSpecific"]}
        entries = {namespace: as_written(dict(self.own)) for namespace in namespaces if has_entry(namespace)}
        return general | {"profiles": self.profiles(), "namespaces": entries}

    def profiles(self) -> dict[str, Any]:
        """Return the profiles. What one states takes the place of what is stated in general or for a namespace."""
        return {
            "fast": {"class": "other" if self.rewritten else "nginx", "annotations": {FAST: "yes"}},
            "slow": {"tls": {"enabled": True}, "labels": {TIER: "slow"}},
        }


def as_written(stated: Mapping[str, bool]) -> dict[str, Any]:
    """Return what states these fields, in general or for a namespace."""
    sections: dict[str, Any] = {"defaults": {}, "limits": {}}
    for name, value in stated.items():
        if name == "paused":
            sections[name] = value
        else:
            section, key, write = FIELDS[name]
            sections[section][key] = write(value)
    return sections


def has_entry(namespace: str) -> bool:
    """Return whether the settings have an entry for a namespace: every other one has."""
    return int(namespace.rpartition("-")[2]) % 2 == 1


@dataclass(frozen=True)
class Service:
    """A Service, as its owner wrote it."""

    uid: str
    annotations: dict[str, str]
    ports: str
    """A key of PORTS."""
    external: bool = False
    labels: dict[str, str] = field(default_factory=dict)

    def profile(self, settings: Settings) -> str | None:
        """Return the profile that it has: the one that it names, if that may be and is one, else the settings'."""
        named = self.annotations.get("ingress/profile")
        if named is None or ("ingress/profile", named) in WRONG or self.is_off:
            return "slow" if settings.slow else None
        return named if named in (["fast", "slow"] if settings.fast else ["slow"]) else None

    @property
    def is_off(self) -> bool:
        """Whether it doesn't ask for an Ingress."""
        return self.annotations.get("ingress/http", "false") == "false"

    @property
    def is_annotated(self) -> bool:
        """Whether it says of an entrance whether it asks for it."""
        return not {"ingress/http", f"{ENTRANCE}ingress/http"}.isdisjoint(self.annotations)

    def inside(self) -> "Service":
        """Return its other entrance, as the Service that asks for the same by the words of the first."""
        others = {key: value for key, value in self.annotations.items() if not key.startswith("ingress/")}
        own = {key.removeprefix(ENTRANCE): others.pop(key) for key in [*others] if key.startswith(ENTRANCE)}
        return replace(self, annotations=others | own)


@dataclass(frozen=True)
class Observed:
    """An object of the Service's name."""

    owner: str
    """The uid of the Service that it belongs to; "" for a stranger's."""
    body: str
    """What is in it: labels, annotations and spec, as JSON. For a stranger's, its uid and version."""
    record: str = ""
    """What ingress-manager wrote last. Somebody may have changed it since."""
    marked: bool = True
    """Whether it has Metacontroller's mark."""


REFUSED = "refused"
OFF = "off"


def body_of(ingress: dict[str, Any]) -> str:
    """Return what is compared of an Ingress: its labels, the annotations that aren't Metacontroller's, and its spec."""
    metadata = ingress["metadata"]
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if not key.startswith("metacontroller.k8s.io/")
    }
    return json.dumps([metadata.get("labels") or {}, annotations, ingress["spec"]], sort_keys=True)


def desired(name: str, namespace: str, service: Service, settings: Settings) -> tuple[str, str]:
    """Return what a Service is to have at a name: OFF, REFUSED and a word of the reason, or "ingress" and its body.

    The Service is refused for what is wrong with any of its entrances.
    """
    own = entrance_of(name, service)
    if own.is_off:
        return OFF, ""
    for begin, each in (("", service), (ENTRANCE, service.inside())):
        if not each.is_off and (blamed := blame(each, settings)):
            return REFUSED, f"{begin}{blamed}" if blamed.startswith("ingress/") else blamed
    return "ingress", made_for(name.removesuffix(INSIDE), namespace, own, settings)


def entrance_of(name: str, service: Service) -> Service:
    """Return the entrance of a Service for which an object of that name is made."""
    return service.inside() if name.endswith(INSIDE) else service


def blame(service: Service, settings: Settings) -> str | None:
    """Return a word of the reason for which an annotated Service is refused; None when it isn't."""
    stated, profile = service.annotations, service.profile(settings)
    certificates = stated.get("ingress/certificates")
    any_path = settings.patterns and stated.get("ingress/path-type") == "ImplementationSpecific"
    reasons = [
        ("ExternalName", service.external),
        ("ingress/routes", ("ingress/routes", stated.get("ingress/routes")) in WRONG),
        *((key, (key, value) in WRONG) for key, value in stated.items()),
        (
            "ingress/tls-secret",
            "ingress/tls-secret" in stated and (stated.get("ingress/tls") == "false" or certificates),
        ),
        ("ingress/certificates", certificates and stated.get("ingress/tls") == "false"),
        # What follows is not looked at without the profile.
        ("ingress/profile", stated.get("ingress/profile", profile) != profile),
        ("ingress/class", stated.get("ingress/class") == "other" and not settings.other),
        (
            "the class of the profile",
            profile == "fast" and settings.rewritten and "ingress/class" not in stated and not settings.other,
        ),
        (TIMEOUT, settings.timeouts and stated.get(TIMEOUT) == "-1"),
        ("label team", settings.labels and service.labels.get(TEAM) == "others"),
        ("ingress/tls-redirect", "ingress/tls-redirect" in stated),  # only Ingresses are made, and none can say it
        ("ingress/host", not settings.shared and any(word in stated.get("ingress/host", "") for word in (SHARED, "*"))),
        ("ingress/path", stated.get("ingress/path") in {"//shop", "/shop/*"} and not any_path),
        ("TCP port" if service.ports == "udp" else "ingress/port", port_of(service) is None),
        ("ingress/default-backend", stated.get("ingress/default-backend") == "true" and not settings.shared),
        ("ingress/certificates", certificates == "- hosts: []\n" and not settings.shared),
    ]
    return next((reason for reason, holds in reasons if holds), None)


def made_for(name: str, namespace: str, service: Service, settings: Settings) -> str:
    """Return the body of the Ingress of a Service that is accepted."""
    stated = {key: value.replace("{namespace}", namespace) for key, value in service.annotations.items()}
    by_default = stated.get("ingress/default-backend") == "true"
    hosts = stated.get("ingress/host", DEFAULT_HOST.format(service=name, namespace=namespace)).split(", ")
    if "ingress/routes" in stated:
        hosts = [*hosts, f"admin.{namespace}.example.com"]
    if by_default and not {f"ingress/{word}" for word in ("host", "path", "path-type", "routes")} & set(stated):
        hosts = []
    path, path_type = stated.get("ingress/path", "/"), stated.get("ingress/path-type", "Prefix")
    if path_type == "Prefix":
        path = path.rstrip("/") or "/"
    backend = {"service": {"name": name, "port": {"number": port_of(service)}}}
    http = {"http": {"paths": [{"path": path, "pathType": path_type, "backend": backend}]}}
    profile = service.profile(settings)
    default_class = "other" if profile == "fast" and settings.rewritten else "nginx"
    spec: dict[str, Any] = {"ingressClassName": stated.get("ingress/class", default_class)}
    if hosts:
        spec["rules"] = [({} if host == "*" else {"host": host}) | http for host in hosts]
    if by_default:
        spec["defaultBackend"] = backend
    named = {"ingress/tls-secret", "ingress/certificates"} & set(stated)
    if named or stated.get("ingress/tls", "true" if profile == "slow" else "false") == "true":
        written = service.annotations.get("ingress/certificates", "")
        certificates = CERTIFICATES.get(written, [(None, stated.get("ingress/tls-secret"))])
        spec["tls"] = [
            entry
            for of, secret in certificates
            for entry in tls_entries(hosts if of is None else of, namespace, secret)
        ]
    annotations = {TIMEOUT: stated[TIMEOUT]} if settings.timeouts and TIMEOUT in stated else {}
    left = sorted({APP_ROOT, *([] if settings.timeouts else [TIMEOUT])} & set(stated))
    annotations |= {"ingress/not-copied": ", ".join(left)} if left else {}
    annotations |= {"ingress/profile": profile} if profile else {}
    added = FAST if profile == "fast" else ADDED if settings.added else None
    annotations |= {added: "yes", "ingress/added-by-settings": added} if added else {}
    labels = {LABEL: "ingress-manager"} | added_labels(profile, settings)
    if copied := {
        key: service.labels[key] for key in LABELS if settings.labels and key in service.labels.keys() - labels
    }:
        labels |= copied
        annotations["ingress/copied-labels"] = ", ".join(copied)
    return body_of({"metadata": {"labels": labels, "annotations": annotations}, "spec": spec})


def tls_entries(hosts: list[str], namespace: str, secret: str | None) -> list[dict[str, Any]]:
    """Return what says that a certificate is for these hosts; none: for every other."""
    of = {} if secret is None else {"secretName": secret}
    named = [host.replace("{namespace}", namespace) for host in hosts if host != "*"]
    return [*([{"hosts": named} | of] if named else []), *([of] if "*" in hosts or not hosts else [])]


def added_labels(profile: str | None, settings: Settings) -> dict[str, str]:
    """Return the labels that the administrator gives to an Ingress that has the profile."""
    if profile == "slow":
        return {TIER: "slow"}
    return {TIER: "general"} if settings.labelled else {}


def port_of(service: Service) -> int | None:
    """Return the number of the port that serves HTTP, or None when the Service is refused for it."""
    tcp = [port for port in PORTS[service.ports] if port.get("protocol", "TCP") == "TCP"]
    stated = service.annotations.get("ingress/port")
    if stated is not None:
        return next((int(port["port"]) for port in tcp if stated in {port["name"], str(port["port"])}), None)
    if len(tcp) == 1:
        return None if tcp[0]["name"] == "https" else int(tcp[0]["port"])
    return next((int(port["port"]) for port in tcp if port["name"] == "http"), None)


def is_forbidden(observed: Observed, namespace: str, service: Service, settings: Settings) -> bool:
    """Return whether the settings forbid what ingress-manager wrote: docs/settings.md, "Forbidden are"."""
    labels, annotations, spec = json.loads(observed.record)
    present_labels, present, _ = json.loads(observed.body)
    hosts = [rule.get("host", "*") for rule in spec.get("rules", [])] + ["*"] * ("defaultBackend" in spec)
    hosts += [host for entry in spec.get("tls", []) for host in entry.get("hosts", ["*"])]
    paths = [path for rule in spec.get("rules", []) for path in rule["http"]["paths"]]
    copied = annotations.get("ingress/copied-labels", "").split(", ")
    # Judged is by the profile that it has, not by the one that its Service asks for.
    overruled = added_labels(annotations.get("ingress/profile", "slow" if settings.slow else None), settings)
    return (
        service.external
        or any(not host.endswith(f".{namespace}.example.com") and not settings.shared for host in hosts)
        or (not settings.patterns and any(path["path"] in {"//shop", "/shop/*"} for path in paths))
        or (spec["ingressClassName"] == "other" and not settings.other)
        or (TIMEOUT in annotations and TIMEOUT in present and not settings.timeouts)
        or (annotations.get("ingress/profile") == "fast" and not settings.fast)
        or any(
            overruled[key] != labels[key] if key in overruled else not settings.labels
            for key in copied
            if key in present_labels
        )
    )


def lacks_profile(observed: Observed, settings: Settings) -> bool:
    """Return whether an object has no profile, where every Service has one that the settings list."""
    _, annotations, _ = json.loads(observed.record)
    return settings.slow and not settings.fast and "ingress/profile" not in annotations


def kept(observed: Observed) -> str:
    """Return what is asked for of an object that stays as it is: what stands of the fields that were written last."""
    parts = zip(json.loads(observed.record), json.loads(observed.body), strict=True)
    stands = [{key: there[key] for key in there.keys() & written} for written, there in parts]
    return json.dumps(stands, sort_keys=True)


def merged(observed: Observed | None, desired: str) -> str:
    """Return the body that an Ingress gets: what is desired, and what others have added to it."""
    if observed is None:
        return desired
    parts = zip(*map(json.loads, (desired, observed.record, observed.body)), strict=True)
    return json.dumps(
        [{key: there[key] for key in there.keys() - written} | wanted for wanted, written, there in parts],
        sort_keys=True,
    )


@dataclass
class Model:
    """All that is possible at one name of one namespace."""

    name: str
    namespace: str
    service: Service | None = None
    settings: Settings = field(default_factory=Settings)
    possible: set[Observed | None] = field(default_factory=lambda: {None})
    recent: list[tuple[Service | None, Settings]] = field(default_factory=list)
    """What ingress-manager may not have seen the end of yet: since everything had settled last, oldest first."""
    waits: bool = False
    """Whether the name was taken. Then it can take a quarter of the Service's age until it is tried again."""
    beside: "Model | None" = None
    """That of the Service's other entrance."""

    def settled(self, observed: Observed | None, service: Service | None, settings: Settings) -> Observed | None:
        """Return what becomes of an object when nothing else happens."""
        if observed is not None and not observed.owner:
            return observed
        if observed is not None and (service is None or observed.owner != service.uid):
            observed = None  # the garbage collector removes what belongs to a Service that is gone
        if service is None:
            return None
        if observed is not None and not observed.marked:
            return observed
        kind, body = desired(self.name, self.namespace, service, settings)
        if observed is not None and is_forbidden(observed, self.namespace, service, settings):
            observed = None  # it goes first, whatever comes then
        if settings.paused or kind == REFUSED:
            return None if observed is not None and lacks_profile(observed, settings) else observed
        return None if kind == OFF else Observed(service.uid, merged(observed, body), body)

    def reached(
        self, observed: Observed | None, service: Service | None, settings: Settings
    ) -> Iterable[Observed | None]:
        """Yield what becomes of an object.

        While the Service is refused or paused, it stays as it is. But when another entrance's has to go, this one is
        asked for as it stands, and so what others have changed counts as written by ingress-manager.
        """
        settled = self.settled(observed, service, settings)
        yield settled
        if settled and self.may_be_written_again(settled, service, settings):
            yield replace(settled, record=kept(settled))

    def may_be_written_again(self, observed: Observed, service: Service | None, settings: Settings) -> bool:
        """Return whether an object may be asked for as it stands, because another entrance's object goes."""
        if not (service and observed.record and observed.marked and observed.owner == service.uid):
            return False
        if not settings.paused and desired(self.name, self.namespace, service, settings)[0] != REFUSED:
            return False
        return self.beside is not None and any(found and found.owner for found in self.beside.possible)

    def expected(self) -> set[Observed | None]:
        """Return what may stand once everything has settled."""
        return {self.settled(observed, self.service, self.settings) for observed in self.possible}

    def changed(self) -> None:
        """Note that the Service, the settings or the object has changed: ingress-manager may be anywhere in between."""
        self.recent.append((self.service, self.settings))
        reached = set(self.possible)
        while True:
            more = {found for observed in reached for state in self.recent for found in self.reached(observed, *state)}
            more -= reached
            if not more:
                break
            reached |= more
        self.possible = reached

    def settle(self, seen: set[Observed | None]) -> None:
        """Note that everything has settled, and what is there: one of `seen`, which differ only in what was written."""
        self.possible, self.recent, self.waits = seen, [(self.service, self.settings)], False

    def may_be_written(self, body: str) -> bool:
        """Return whether ingress-manager may have written this: it is desired, or was since everything had settled."""
        return any(
            service is not None
            and not settings.paused
            and desired(self.name, self.namespace, service, settings) == ("ingress", body)
            for service, settings in self.recent
        ) or any(
            found and found.record and kept(found) == body and self.may_be_written_again(found, *state)
            for found in self.possible
            for state in self.recent
        )

    def may_be_deleted(self) -> bool:
        """Return whether there was a reason to delete the Ingress since everything had settled."""
        made = {self.settled(None, *state) for state in self.recent}
        there = [each for each in self.possible | made if each]
        return any(self.goes(observed, *state) for observed in there for state in self.recent)

    def goes(self, observed: Observed, service: Service | None, settings: Settings) -> bool:
        """Return whether an object is deleted, even if another one is then made in its place."""
        if self.settled(observed, service, settings) is None:
            return True
        if service is None or observed.owner != service.uid or not observed.marked:
            return False
        return is_forbidden(observed, self.namespace, service, settings)

    def edited(self, edit: Mapping[str, Any]) -> None:
        """Note that somebody has changed the object, if it is ours."""
        self.possible = {with_edit(found, edit) for found in self.possible if found and found.marked and found.owner}
        self.changed()

    def unmarked(self) -> None:
        """Note that somebody has taken Metacontroller's mark off the object."""
        ours = (found for found in self.possible if found and found.owner)
        self.possible = {replace(found, marked=False) for found in ours}
        self.changed()

    def found(self, observed: Observed | None) -> None:
        """Note that there was nothing at the name, or a stranger's object, at one moment."""
        self.waits = self.waits or observed is not None
        self.possible = {observed}
        self.changed()


def apply_edit(ingress: dict[str, Any], edit: Mapping[str, Any]) -> None:
    """Change an Ingress. `edit` may have fields of `labels`, of `annotations`, of `spec`, of its first `rule` and of
    the first `path` there. None takes away what it stands for.
    """
    metadata = ingress["metadata"]
    for parts, field_name in ((metadata, "labels"), (metadata, "annotations"), (ingress, "spec")):
        changed = parts.get(field_name, {}) | edit.get(field_name, {})
        parts[field_name] = {key: value for key, value in changed.items() if value is not None}
    for rule in ingress["spec"].get("rules", [])[:1]:
        rule.update(edit.get("rule", {}))
        for path in rule.get("http", {}).get("paths", [])[:1]:
            path.update(edit.get("path", {}))


def with_edit(observed: Observed, edit: Mapping[str, Any]) -> Observed:
    """Return an object after somebody has changed it."""
    labels, annotations, spec = json.loads(observed.body)
    ingress = {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec}
    apply_edit(ingress, edit)
    return replace(observed, body=body_of(ingress))


def matches(seen: Observed | None, expected: Iterable[Observed | None]) -> bool:
    """Return whether what is seen is possible. What was written last isn't seen."""
    blank = {observed and replace(observed, record="") for observed in expected}
    return (seen and replace(seen, record="")) in blank
