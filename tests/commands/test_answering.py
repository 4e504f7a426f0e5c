"""Why nothing answers: what is told of what was made for a Service when something around it isn't as it should be.

The cases why-nothing-answers and why-nothing-answers-at-a-gateway of tests/commands/audit show each kind of cause. Here
is what is close to one and isn't, and how a cluster is asked.
"""

import importlib
import json
import re
import sys
from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from devcluster.sync_requests import Object, as_created, service
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.view import certificates
from ingress_manager.commands.view.answering import causes
from ingress_manager.commands.view.certificates import wrong_with
from ingress_manager.commands.view.look import look
from ingress_manager.commands.view.surroundings import surroundings_in
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from tests.commands.commands import Cluster, listing, run
from tests.core.test_properties import desired_for

SERVICE = service({"ingress/http": "true", "ingress/host": "shop.example.com"})


def changed(object_: Object, **fields: Any) -> Object:
    """Return an object with other fields; a__b is b of a."""
    made = {**object_}
    for path, value in fields.items():
        first, _, rest = path.partition("__")
        made[first] = changed(made.get(first) or {}, **{rest: value}) if rest else value
    return made


def made_for(parent: Object) -> Object:
    """Return the Ingress that is made for a Service by the defaults."""
    return as_created(desired_for(parent, Policy())[0], parent)


INGRESS = made_for(SERVICE)


def ingress_class(name: str, **annotations: str) -> Object:
    """Return an IngressClass."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IngressClass",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"controller": "example.com/controller"},
    }


def told(*objects: Object) -> list[str]:
    """Return what is told of the Ingress among some objects."""
    found = read("---\n".join(map(as_yaml, objects)), "f")
    view = look(found.items, Policy())
    around = surroundings_in(found)
    return [f"{cause.kind}: {cause.sentence}" for each in view.objects.values() for cause in causes(each, view, around)]


def test_of_what_was_not_read_nothing_is_told() -> None:
    assert told(SERVICE, INGRESS) == []
    assert told(INGRESS, ingress_class("traefik")) == []
    old = {**ingress_class("nginx"), "apiVersion": "networking.k8s.io/v1beta1"}
    assert told(SERVICE, INGRESS, ingress_class("traefik"), old) == []
    deleted = changed(INGRESS, metadata__deletionTimestamp="2026-01-01T00:00:00Z")
    assert told(SERVICE, deleted, ingress_class("traefik")) == []


def test_without_a_class_there_has_to_be_a_default_one() -> None:
    ingress = changed(INGRESS, spec__ingressClassName=None)
    default = {"ingressclass.kubernetes.io/is-default-class": "true"}
    said = "no-class: it names no class (spec.ingressClassName), and no IngressClass is the cluster's default"
    assert told(SERVICE, ingress, ingress_class("traefik")) == [said]
    assert told(SERVICE, ingress, ingress_class("traefik", **default)) == []
    old = {**INGRESS["metadata"]["annotations"], "kubernetes.io/ingress.class": "nginx"}
    assert told(SERVICE, changed(ingress, metadata__annotations=old), ingress_class("traefik")) == []


def of_team(kind: str, name: str, labels: dict[str, str] | None = None, **fields: Any) -> Object:
    """Return an object of the Service's namespace."""
    return {"apiVersion": kind.rpartition("/")[0], "kind": kind.rpartition("/")[2]} | {
        "metadata": {"name": name, "namespace": "team-a", "labels": labels or {}},
        **fields,
    }


def endpoint_slice(*ready: bool, ports: tuple[str | None, ...] = (None,)) -> Object:
    """Return an EndpointSlice of the Service."""
    endpoints = [{"addresses": ["192.0.2.1"], "conditions": {"ready": each}} for each in ready]
    labels = {"kubernetes.io/service-name": "shop"}
    kind = "discovery.k8s.io/v1/EndpointSlice"
    return of_team(kind, "shop-1", labels, endpoints=endpoints, ports=[{"name": each} for each in ports])


SELECTING = changed(SERVICE, spec__selector={"app": "shop"})


def test_a_port_that_is_on_no_slice_is_told_with_the_name_that_no_pod_has_for_it() -> None:
    named = changed(SELECTING, spec__ports=[{"name": "web", "port": 80, "targetPort": "http"}])
    said = "port-unserved: port 80 of Service team-a/shop is on none of its EndpointSlices"
    admin = endpoint_slice(True, ports=("admin",))
    assert told(named, INGRESS, admin) == [f'{said}: no Pod that is ready has a port called "http" (targetPort)']
    assert told(changed(named, spec__selector=None), INGRESS, admin) == [said]
    assert told(named, INGRESS, endpoint_slice(True, ports=("web",))) == []
    assert told(changed(named, spec__ports=[{"name": "web", "port": 81}]), INGRESS, admin) == [], "it has drifted"


def policy(spec: Object, name: str = "one") -> Object:
    """Return a NetworkPolicy."""
    return of_team("networking.k8s.io/v1/NetworkPolicy", name, spec=spec)


OWN_NAMESPACE: list[Object] = [{"from": [{"podSelector": {}}]}]


@pytest.mark.parametrize(
    ("selector", "selects"),
    [
        ({}, True),
        ({"matchLabels": {"app": "shop"}}, True),
        ({"matchLabels": {"app": "shop", "tier": "front"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["shop", "cart"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["cart"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["shop"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_a_policy_selects_pods_where_the_labels_of_the_services_selector_say_so(
    selector: Object, selects: bool
) -> None:
    found = told(SELECTING, INGRESS, policy({"podSelector": selector, "ingress": OWN_NAMESPACE}))
    assert [each.partition(":")[0] for each in found] == ["network-policy"] * selects
    assert told(SERVICE, INGRESS, policy({"podSelector": selector})) == [], "it selects no Pods"


@pytest.mark.parametrize(
    "more",
    [
        {"podSelector": {}, "ingress": [{}]},
        {"podSelector": {}, "ingress": [{"from": [{"namespaceSelector": {"matchLabels": {"a": "b"}}}]}]},
        {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "192.0.2.0/24"}}]}]},
        {"podSelector": {"matchLabels": {"tier": "front"}}, "ingress": [{"from": []}]},
    ],
)
def test_a_policy_beside_it_may_let_the_controller_in(more: Object) -> None:
    denies = policy({"podSelector": {}}, "none")
    assert len(told(SELECTING, INGRESS, denies, policy({"podSelector": {}, "policyTypes": ["Egress"]}))) == 1
    assert told(SELECTING, INGRESS, denies, policy(more)) == []


# Certificates.

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def certificate(*names: x509.GeneralName, extension: x509.ExtensionType | None = None) -> str:
    """Return a certificate as a Secret has it."""
    key = ec.generate_private_key(ec.SECP256R1())
    nobody = x509.Name([])
    builder = x509.CertificateBuilder().subject_name(nobody).issuer_name(nobody).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(datetime(2020, 1, 1)).not_valid_after(datetime(2036, 1, 1))
    if extension := x509.SubjectAlternativeName(names) if names else extension:
        builder = builder.add_extension(extension, critical=False)
    return b64encode(builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)).decode()


def test_a_wildcard_is_for_one_label_and_capitals_do_not_count() -> None:
    wildcard = certificate(x509.DNSName("*.Example.com"), x509.DNSName("www.example.org"))
    assert wrong_with(wildcard, ["Shop.example.com", "*.example.com", "WWW.example.org"], NOW) == ""
    said = "its certificate is for *.example.com, www.example.org, and not for example.com, a.b.example.com"
    assert wrong_with(wildcard, ["example.com", "a.b.example.com"], NOW) == said
    assert wrong_with(wildcard, [], NOW) == ""


def test_a_certificate_without_hosts_and_what_is_none_are_told() -> None:
    assert wrong_with(certificate(), ["a.example.com"], NOW) == "its certificate names no host (subjectAltName)"
    by_address = certificate(x509.RFC822Name("a@example.com"))
    said = "its certificate is for no host, and not for a.example.com"
    assert wrong_with(by_address, ["a.example.com"], NOW) == said
    for crt in ("", "no base64", b64encode(b"no PEM").decode()):
        assert wrong_with(crt, ["a.example.com"], NOW) == "its tls.crt holds no certificate"


def test_a_certificate_with_a_wrong_extension_is_not_judged() -> None:
    crt = certificate(extension=x509.UnrecognizedExtension(x509.SubjectAlternativeName.oid, b"no ASN.1"))
    assert wrong_with(crt, ["a.example.com"], NOW) == ""


# Gateways.

AT_A_GATEWAY = parse("defaults: {outputs: [httproute], gateway: {name: web, namespace: infrastructure}}\n")
[ROUTE] = desired_for(SERVICE, AT_A_GATEWAY)
BORN = "2026-01-01T00:00:00Z"
ROUTE = changed(as_created(ROUTE, SERVICE), status=None, metadata__creationTimestamp=BORN, metadata__generation=2)


def gateway(*listeners: Object, name: str = "web") -> Object:
    """Return a Gateway."""
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": name, "namespace": "infrastructure"},
        "spec": {"listeners": list(listeners)},
    }


HTTP: Object = {
    "name": "http",
    "port": 80,
    "protocol": "HTTP",
    "allowedRoutes": {"namespaces": {"from": "All"}},
}


@pytest.mark.parametrize(
    ("listener", "route", "fits"),
    [
        (HTTP, ROUTE, True),
        ({**HTTP, "hostname": "*.example.com"}, ROUTE, True),
        ({**HTTP, "hostname": "shop.example.com"}, changed(ROUTE, spec__hostnames=["*.example.com"]), True),
        ({**HTTP, "hostname": "*.example.org"}, ROUTE, False),
        ({**HTTP, "protocol": "example.com/own"}, ROUTE, True),
        ({**HTTP, "protocol": "TLS"}, ROUTE, False),
        ({**HTTP, "allowedRoutes": {"namespaces": {"from": "Selector"}}}, ROUTE, True),
        ({**HTTP, "allowedRoutes": {}}, ROUTE, False),
        ({**HTTP, "allowedRoutes": {**HTTP["allowedRoutes"], "kinds": [{"kind": "GRPCRoute"}]}}, ROUTE, False),
        ({**HTTP, "allowedRoutes": {**HTTP["allowedRoutes"], "kinds": [{"kind": "HTTPRoute"}]}}, ROUTE, True),
        (HTTP, changed(ROUTE, spec__parentRefs=[{"name": "web", "namespace": "infrastructure", "port": 81}]), False),
    ],
)
def test_a_listener_takes_what_fits_it(listener: Object, route: Object, fits: bool) -> None:
    found = told(SERVICE, route, gateway(listener))
    assert [each.partition(":")[0] for each in found] == ["no-listener"] * (not fits), found


def status(generation: int = 2, **ref: str) -> Object:
    """Return the status of an HTTPRoute that isn't accepted."""
    condition = {
        "type": "Accepted",
        "status": "False",
        "reason": "No",
        "message": "It is full",
        "observedGeneration": generation,
    }
    named = {"name": "web", "namespace": "infrastructure", "sectionName": "http", **ref}
    return {"parents": [{"parentRef": named, "controllerName": "example.com/c", "conditions": [condition]}]}


def test_what_a_controller_says_counts_for_that_listener_and_for_the_route_as_it_is() -> None:
    said = "not-accepted: example.com/c doesn't accept it (Gateway infrastructure/web): It is full [No]"
    assert told(SERVICE, changed(ROUTE, status=status())) == [said]
    of_any_time = status()
    del of_any_time["parents"][0]["conditions"][0]["observedGeneration"]
    assert told(SERVICE, changed(ROUTE, status=of_any_time)) == [said]
    for other in (
        status(generation=1),
        status(sectionName="other"),
        {"parents": [{"parentRef": "web"}]},
        {"parents": 1},
    ):
        assert told(SERVICE, changed(ROUTE, status=other)) == []


def test_a_route_of_which_no_controller_has_said_anything_is_told_after_five_minutes() -> None:
    clock = of_team("v1/ConfigMap", "young")
    for minutes, count in ((4, 0), (6, 1)):
        young = changed(clock, metadata__creationTimestamp=f"2026-01-01T00:0{minutes}:00Z")
        assert len(told(SERVICE, ROUTE, gateway(HTTP), young)) == count
    assert told(SERVICE, ROUTE, gateway(HTTP, name="other"), young)[0].startswith("no-gateway: ")


# A cluster.

KINDS = "ingressclasses.networking.k8s.io,endpointslices.discovery.k8s.io,networkpolicies.networking.k8s.io"


def asked(cluster: Cluster, answers: dict[str, Any], *options: str) -> dict[str, Any]:
    """Return what `audit -o json` says of a cluster that answers so."""
    cluster.says(answers, "Error from server (Forbidden): no")
    found: dict[str, Any] = run("audit", "-o", "json", "--current-settings", "/dev/null", *options).json
    return found


def made_there(*made: Object, parent: Object = SERVICE) -> dict[str, Any]:
    """Return what kubectl answers of what was made for a Service."""
    return {
        "services": listing(parent),
        "ingresses.networking.k8s.io": listing(*(each for each in made if each["kind"] == "Ingress")),
        "httproutes.gateway.networking.k8s.io": listing(*(each for each in made if each["kind"] == "HTTPRoute")),
    }


def test_what_is_around_is_asked_for_at_once_and_else_each_by_itself(cluster: Cluster) -> None:
    around = listing(ingress_class("traefik"), endpoint_slice(False))
    found = asked(cluster, {**made_there(INGRESS), KINDS: around}, "-n", "team-a")
    assert found["kinds"] == {"no-class": 1, "no-endpoints": 1}
    assert (found["unseen"], len(cluster.calls)) == ([], 4)
    alone = {"ingressclasses.networking.k8s.io": listing(ingress_class("traefik"))}
    found = asked(cluster, {**made_there(INGRESS), **alone}, "-n", "team-a")
    assert found["kinds"] == {"no-class": 1}
    [unseen] = found["unseen"]
    assert unseen == {
        "what": "EndpointSlice, NetworkPolicy",
        "sentence": "EndpointSlices, NetworkPolicies could not be looked at: Error from server (Forbidden): no",
        "findings": ["no-endpoints", "port-unserved", "network-policy"],
    }


def test_no_private_key_is_read_and_a_certificate_is_judged(monkeypatch: pytest.MonkeyPatch, cluster: Cluster) -> None:
    parent = service(
        {
            "ingress/http": "true",
            "ingress/host": "shop.example.com",
            "ingress/tls": "true",
            "ingress/tls-secret": "shop",
        }
    )
    around = listing(ingress_class("nginx"), endpoint_slice(True))
    answers = {**made_there(made_for(parent), parent=parent), KINDS: around}
    crt = b64encode(trustme.CA().issue_cert("www.example.org").cert_chain_pems[0].bytes()).decode()
    said = "Secret team-a/shop: its certificate is for www.example.org, and not for shop.example.com"
    for line, sentences in (
        (f"team-a shop {crt} tls.crt,tls.key, kubernetes.io/tls\n", [said]),
        ("team-a other   Opaque\n", ["spec.tls names Secret team-a/shop, which isn't there"]),
    ):
        cluster.says(answers | {"secrets": line})
        ended = run("audit", "-o", "json", "--current-settings", "/dev/null")
        assert [each["sentence"] for each in json.loads(ended.out)["findings"]] == sentences
    [call, *_] = [each for each in cluster.calls if each.endswith(" secrets")]
    assert "go-template=" in call
    assert not re.search(r"index \. [^)]*tls\.key|json", call)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "cryptography", None)
        importlib.reload(certificates)
        found = json.loads(run("audit", "-o", "json", "--current-settings", "/dev/null").out)
    importlib.reload(certificates)
    assert [(each["what"], each["findings"]) for each in found["unseen"]] == [("certificates", ["wrong-certificate"])]
    assert "pip install 'ingress-manager[certificates]'" in found["unseen"][0]["sentence"]
    found = asked(cluster, answers)
    assert [each["what"] for each in found["unseen"]] == ["Secret"]


def test_a_class_of_which_nothing_has_an_address_is_a_hint_that_is_told_once_and_does_not_count(
    cluster: Cluster,
) -> None:
    old = changed(INGRESS, metadata__creationTimestamp="2026-01-01T00:00:00Z")
    other = changed(SERVICE, metadata__name="other", metadata__uid="2")
    younger = changed(made_for(other), metadata__creationTimestamp="2026-01-02T00:00:00Z")
    answers = {**made_there(old, younger), KINDS: listing(ingress_class("nginx")), "services": listing(SERVICE, other)}
    found = asked(cluster, answers, "-A", "--ignore", "claimed-twice")
    [only] = [each for each in found["findings"] if each["kind"] != "no-endpoints"]
    assert (only["kind"], only["severity"]) == ("class-unserved", "hint")
    assert only["sentence"] == (
        "no Ingress of the class nginx has an address, not even Ingress team-a/shop, which was made at "
        "2026-01-01T00:00:00Z: perhaps no ingress controller serves the class; some write no address"
    )
    hints = ("--only", "class-unserved", "--current-settings", "/dev/null")
    assert run("audit", "-A", *hints).status == 0
    assert run("audit", "-A", *hints, "--fail-on", "class-unserved").status == 1
    served = changed(younger, status={"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}})
    young = changed(old, metadata__creationTimestamp=None)
    for made, option in ((served, "-A"), (young, "-A"), (old, "-n=team-a")):
        answers = {
            **made_there(old if made is served else made, *([served] if made is served else [])),
            KINDS: answers[KINDS],
        }
        found = asked(cluster, answers, option)
        assert "class-unserved" not in found["kinds"]
