"""What keeps a host from answering is named by `audit`, and is in the state of `status`: broken_exposures.yaml.

The class and the Gateways have a controller, which gives an address and says that it has taken what is made.
"""

import base64
import contextlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import pytest
import trustme

from devcluster import gateway_api
from devcluster.api import HTTPROUTES, INGRESSES, NAMESPACES, SERVICES, Api, Object, Resource, path_of
from devcluster.cluster import install_crds
from devcluster.control_plane import ControlPlane
from devcluster.processes import Processes
from devcluster.programs import find_programs
from devcluster.sync_requests import as_created
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from tests.core.test_properties import desired_for
from tests.e2e.conftest import require
from tests.e2e.objects import GATEWAYS, INGRESS_CLASSES, SECRETS, create, new
from tests.e2e.shell import run
from tools import golden
from tools.dumps import patched

TABLE = Path(__file__).with_name("broken_exposures.yaml").read_text(encoding="utf-8")
CASES = [case.name for case in golden.read(TABLE)]
GATEWAY_OF = {"httproute-not-admitted": "httproute-sound"}
"""The namespace of a case's Gateway, where it isn't its own."""

CLASS, ADDRESS = "exposed", "192.0.2.3"
CONDITIONS = ("Accepted", "ResolvedRefs")

SETTINGS = {
    "defaults": {"class": CLASS},
    "limits": {"copyAnnotations": {"cert-manager.io/issuer": "any"}},
    "profiles": {"classless": {"class": None}},
    "namespaces": {
        name: {
            "defaults": {"outputs": ["httproute"], "gateway": {"name": "web", "namespace": GATEWAY_OF.get(name, name)}}
        }
        for name in CASES
        if name.startswith("httproute-")
    },
}
RESOURCES = {
    each.kind: each
    for each in (
        SERVICES,
        INGRESSES,
        HTTPROUTES,
        GATEWAYS,
        SECRETS,
        Resource("discovery.k8s.io/v1", "endpointslices", "EndpointSlice"),
        Resource("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy"),
    )
}


def stated(case: str) -> Object:
    """Return what the table says of a case, with whole objects by their kinds."""
    words = certificates_for(case) | {"NAMESPACE": case}
    table = {each.name: each.stated for each in golden.read(Template(TABLE).substitute(words))}
    sound = table[f"{case.partition('-')[0]}-sound"]
    whole: Object = {**table[case], "objects": patched(sound["objects"], table[case].get("objects", {}))}
    return whole


def certificates_for(case: str) -> dict[str, str]:
    """Return what tls.crt may hold."""
    authority, host, past = trustme.CA(), f"shop.{case}.example.com", datetime(2025, 1, 1, tzinfo=UTC)
    made = {
        "SOUND": authority.issue_cert(host),
        "EXPIRED": authority.issue_cert(host, not_before=datetime(2024, 1, 1, tzinfo=UTC), not_after=past),
        "OTHERS": authority.issue_cert("www.example.org"),
    }
    return {name: base64.b64encode(each.cert_chain_pems[0].bytes()).decode() for name, each in made.items()}


def expose(api: Api, case: str, policy: Policy) -> None:
    """Make the namespace of a case with all that is in it."""
    create(api, NAMESPACES, case)
    objects = stated(case)["objects"]
    condition = objects.pop("HTTPRoute", {}).get("status")
    for kind, each in objects.items():
        metadata = {"name": "shop", "namespace": case} | each.get("metadata", {})
        created = api.create(RESOURCES[kind], new(RESOURCES[kind], "shop") | each | {"metadata": metadata})
        if kind == "Gateway":
            write_status(api, created, {"addresses": [{"value": ADDRESS}]})
        for made in desired_for(created, policy) if kind == "Service" else ():
            stands = as_created(made, created)
            del stands["metadata"]["uid"], stands["metadata"]["resourceVersion"], stands["status"]
            route = api.create(RESOURCES[made["kind"]], stands)
            if route["spec"].get("ingressClassName") == CLASS:
                write_status(api, route, {"loadBalancer": {"ingress": [{"ip": ADDRESS}]}})
            elif condition:
                observed = {"observedGeneration": route["metadata"]["generation"]}
                since = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
                good = {word: {"type": word, "status": "True", "reason": word, "message": ""} for word in CONDITIONS}
                parent = {
                    "parentRef": route["spec"]["parentRefs"][0],
                    "controllerName": "example.com/controller",
                    "conditions": [
                        {**each, **observed, **since} for each in (good | {condition["type"]: condition}).values()
                    ],
                }
                write_status(api, route, {"parents": [parent]})


def write_status(api: Api, each: Object, status: Object) -> None:
    """Write the status of an object, as its controller would."""
    path = path_of(RESOURCES[each["kind"]], each["metadata"]["namespace"], each["metadata"]["name"])
    api.request("PUT", f"{path}/status", body={**each, "status": status})


class Told(NamedTuple):
    """What is told of the namespace of a case."""

    findings: list[dict[str, Any]]
    states: list[str]


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """Yield an API server of its own: what is broken here would be found by others that look at a whole cluster."""
    require("standin")
    with Processes() as processes, contextlib.closing(ControlPlane(find_programs(print), processes)) as running:
        running.start()
        running.wait_ready()
        install_crds(running.api, gateway_api.crds(print))
        yield running


@pytest.fixture(scope="module")
def told(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """Return what an audit and a status of the whole cluster tell of each case."""
    create(plane.api, INGRESS_CLASSES, CLASS, spec={"controller": "example.com/controller"})
    file = tmp_path_factory.mktemp("exposures") / "settings.yaml"
    file.write_text(json.dumps(SETTINGS), encoding="utf-8")
    for case in CASES:
        expose(plane.api, case, parse(json.dumps(SETTINGS)))
    audit = run(plane, "audit", "-A", f"--current-settings={file}", "-o", "json")
    status = run(plane, "status", "-A", f"--settings={file}", "-o", "json")
    audited, seen = json.loads(audit.stdout), json.loads(status.stdout)
    assert (audit.stderr, audited["unseen"], status.stderr, seen["unseen"]) == ("", [], "", [])
    by_namespace = {case: Told([], []) for case in CASES}
    for each in audited["findings"]:
        if each["object"]["namespace"] in by_namespace:
            by_namespace[each["object"]["namespace"]].findings.append(each)
    for row in seen["exposed"]:
        by_namespace[row["namespace"]].states.append(row["state"])
    return by_namespace


@pytest.mark.parametrize("case", CASES)
def test_what_is_broken_is_named_and_nothing_else(case: str, told: dict[str, Told]) -> None:
    wanted = stated(case)
    found, states = told[case]
    assert [each["kind"] for each in found] == [*wanted.get("found", {})], found
    for each in found:
        assert wanted["found"][each["kind"]] in each["sentence"]
    assert states == [wanted["state"]]
