"""Each Service of tests/cases gets HTTPRoutes that lead where ingress2gateway's do, which are made of its Ingress.

ingress2gateway 1.1 (kubernetes-sigs) turns Ingresses for ingress-nginx into HTTPRoutes, and knows nothing of this
project. Compared is all that a visitor meets: the listener, the host, the path and its type, and where they lead.

These differences are right, and nothing else is left out:

- It writes a rule for each path and a route for each host, under names of its own, and attaches them to a Gateway that
  it makes, with its own listeners. So the rules of all its routes for a Service are taken together.
- It makes a GRPCRoute for ingress-nginx's `backend-protocol: GRPC`. An HTTPRoute carries gRPC, too.
- It makes a timeout of ingress-nginx's timeouts. An HTTPRoute of ours has no annotation of an ingress controller.
- It has no TLS for an entry without hosts. Those Ingresses are left out.
- It writes a default backend again where a rule without a host leads the same way, so what is the same counts once.
- nginx leads from `/login` to `/login/` where there is the latter alone, and so do its routes: `by_nginx_itself`.

Its Ingresses have the class nginx, whichever the case has: it passes over those of others. Those of several entrances
are tried apart. They have one host each: 1.1
gives the routes of `shop.example.com` and `*.shop.example.com` in one Ingress the same name, and loses one of the two.
"""

import json
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from devcluster.sync_requests import Object, body, sync_request
from hooks.sync import answer
from ingress_manager.core.errors import Reason
from ingress_manager.core.settings import parse
from tools import golden

EVERYTHING = {"path": {"type": "PathPrefix", "value": "/"}}
"""What a rule without matches has."""

GATEWAY = {"name": "web", "namespace": "infrastructure"}


class Leads(NamedTuple):
    """What a visitor meets."""

    listener: str
    host: str
    path_type: str
    path: str
    to: str


@pytest.fixture(scope="module")
def ingress2gateway() -> str:
    """Return the path of the program, or skip the test, saying how to get it."""
    if found := shutil.which("ingress2gateway"):
        return found
    pytest.skip(
        "NOT CHECKED WITH INGRESS2GATEWAY: there is none on PATH. Put version 1.1 there to have the HTTPRoutes of the "
        "cases compared with those that it makes: https://github.com/kubernetes-sigs/ingress2gateway"
    )


# What is covered must not depend on what this machine has.
@pytest.mark.no_cover
def test_the_routes_of_each_case_lead_where_those_of_ingress2gateway_do(ingress2gateway: str, tmp_path: Path) -> None:
    made = {
        f"{case.name}.{ingress['metadata']['name']}": (ingress, routes)
        for case in golden.cases_in(golden.CASES)
        for ingress, routes in both_outputs(case)
        if all("hosts" in tls for tls in ingress["spec"].get("tls", []))
    }
    assert len(made) > 80
    ours = {name: leads(routes) for name, (_, routes) in made.items()}
    # In two parts: a host that one Ingress of the file has TLS for has TLS to it in all of them.
    parts: dict[bool, list[Object]] = {True: [], False: []}
    for name, (ingress, _) in made.items():
        parts["tls" in ingress["spec"]].extend(for_nginx(ingress, name))
    theirs = run(ingress2gateway, parts[True], tmp_path) | run(ingress2gateway, parts[False], tmp_path)
    assert {name: set(routes) for name, routes in theirs.items()} == {
        name: set(routes) for name, routes in ours.items()
    }


def both_outputs(case: golden.Case) -> list[tuple[Object, list[Object]]]:
    """Return the Ingress of each entrance of a case, and its HTTPRoutes; [] where one can't be made.

    What the settings and the Service say of HTTPRoutes alone, the Ingress can't say: it is left out.
    """
    if isinstance(case.becomes, str) or not case.becomes:
        return []
    settings: Object = yaml.safe_load(case.settings) or {}
    defaults = settings.setdefault("defaults", {})
    own = [entry["defaults"] for entry in settings.get("namespaces", {}).values() if "defaults" in entry]
    for layer in (defaults, *own, *settings.get("profiles", {}).values()):
        for field in ("outputs", "gateway", "filters", "timeouts"):
            layer.pop(field, None)
        layer.get("tls", {}).pop("redirect", None)
    defaults |= {"outputs": ["ingress", "httproute"], "gateway": GATEWAY}
    # As ingress-nginx, which redirects all that has TLS without being asked.
    defaults["tls"] = defaults.get("tls", {}) | {"redirect": True, "redirectStatusCode": 308}
    service = case.service
    service["metadata"]["annotations"].pop("ingress/tls-redirect", None)
    answered = answer(body(sync_request(service)), parse(json.dumps(settings)))
    if answered.refused:
        assert {problem.reason for problem in answered.refused.problems} == {Reason.NOT_IN_HTTPROUTE}, case.name
        return []
    attachments: list[Object] = json.loads(answered.body)["attachments"]
    by_entrance: dict[str, tuple[Object, list[Object]]] = {}
    for each in attachments:
        if each["kind"] == "Ingress":
            by_entrance[each["metadata"]["name"]] = each, []
    for each in attachments:
        if each["kind"] == "HTTPRoute":
            name = each["metadata"]["name"]
            _, routes = by_entrance[max((own for own in by_entrance if f"{name}.".startswith(f"{own}.")), key=len)]
            routes.append(each)
    return list(by_entrance.values())


def for_nginx(ingress: Object, namespace: str) -> Iterator[Object]:
    """Yield an Ingress in parts, as ingress-nginx's in a namespace: one for each host."""
    rules = ingress["spec"].get("rules", [])
    if not rules:
        yield ingress | {"metadata": ingress["metadata"] | {"namespace": namespace}}
    for number, rule in enumerate(rules):
        yield ingress | {
            "metadata": ingress["metadata"] | {"namespace": namespace, "name": f"{number}"},
            "spec": ingress["spec"] | {"ingressClassName": "nginx", "rules": [rule]},
        }


def run(program: str, ingresses: Iterable[Object], folder: Path) -> dict[str, list[Leads]]:
    """Return where the routes lead that ingress2gateway makes, by their namespaces."""
    file = folder / "ingresses.yaml"
    file.write_text(yaml.dump_all(ingresses, Dumper=yaml.CSafeDumper), encoding="utf-8")
    command = [program, "print", "--providers", "ingress-nginx", "--input-file", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert not done.returncode, done.stderr
    routes = defaultdict(list)
    for made in yaml.load_all(done.stdout, yaml.CSafeLoader):
        if made["kind"] != "Gateway":
            routes[made["metadata"]["namespace"]].append(made)
    return {namespace: leads(of_one) for namespace, of_one in routes.items()}


def leads(routes: Iterable[Object]) -> list[Leads]:
    """Return where routes lead."""
    return [each for route in routes for each in leads_of(route)]


def leads_of(route: Object) -> Iterator[Leads]:
    """Yield where a route leads. Raises AssertionError or KeyError where it says what this doesn't know."""
    assert route["kind"] in {"HTTPRoute", "GRPCRoute"}
    assert route["spec"].keys() | {"hostnames"} == {"parentRefs", "hostnames", "rules"}
    [parent] = route["spec"]["parentRefs"]
    # Theirs attaches to a port, or to the only listener, of a Gateway of its own.
    listener = parent.get("sectionName") if parent.get("namespace") else {443: "https"}.get(parent.get("port"), "http")
    for rule in route["spec"]["rules"]:
        assert rule.keys() <= {"matches", "backendRefs", "filters", "timeouts"}
        matches = rule.get("matches", [EVERYTHING])
        assert all(match.keys() == {"path"} for match in matches)
        for match in [] if by_nginx_itself(rule) else matches:
            for host in route["spec"].get("hostnames", ["*"]):
                yield Leads(listener, host, match["path"]["type"], match["path"]["value"], target(rule))


def target(rule: Object) -> str:
    """Return where a rule leads: to a Service's port, or elsewhere by a redirect."""
    if not rule.get("filters"):
        [backend] = rule["backendRefs"]
        assert backend.get("kind", "Service") == "Service"
        return f"{backend['name']}:{backend['port']}"
    assert not rule.get("backendRefs")
    [redirect] = [each["requestRedirect"] for each in rule["filters"]]
    assert redirect.keys() == {"scheme", "statusCode"}
    return f"{redirect['statusCode']} {redirect['scheme']}"


def by_nginx_itself(rule: Object) -> bool:
    """Return whether a rule does what nginx does by itself: it leads to the same path with a slash at its end."""
    changed = [each["requestRedirect"].get("path") for each in rule.get("filters", [])]
    with_slash = [match["path"]["value"] + "/" for match in rule.get("matches", [])]
    return bool(changed) and changed == [{"type": "ReplaceFullPath", "replaceFullPath": path} for path in with_slash]
