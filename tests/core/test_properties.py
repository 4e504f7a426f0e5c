"""Properties that hold for any Service and any settings, made up at random."""

import json
from collections.abc import Callable, Iterator
from itertools import product

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from devcluster.sync_requests import Object, as_created, body, service, sync_request
from hooks.sync import answer
from ingress_manager.core.errors import Problem
from ingress_manager.core.policy import Policy
from ingress_manager.core.syntax import check_host, check_path
from tests.core import made_up
from tests.core.forbidden import forbidden, stated
from tests.core.kubernetes import HTTPRoute, Ingress, is_host, route_rules_broken, rules_broken

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def wanted(parent: Object, policy: Policy) -> list[Object]:
    """Return the objects that the hook wants; none when it refuses."""
    answered = answer(body(sync_request(parent)), policy)
    made: list[Object] = json.loads(answered.body)["attachments"] if answered.status == 200 else []
    return made


def is_accepted(check: Callable[[str], str], text: str) -> bool:
    """Return whether a check of ingress_manager.core.syntax returns the text, and doesn't raise."""
    try:
        return check(text) == text
    except Problem:
        return False


@given(made_up.services(), made_up.policy())
def test_an_answer_is_200_or_422_and_always_the_same(parent: Object, policy: Policy) -> None:
    request = body(sync_request(parent))
    answered = answer(request, policy)
    assert answered.status in {200, 422}
    again = answer(request, policy)
    assert (answered.status, answered.body) == (again.status, again.body)
    if answered.status == 422:
        line = answered.body.decode()
        assert line.endswith("\n")
        assert line[:-1].isprintable()
        assert len(line) <= 501


@given(made_up.services(), made_up.policy())
def test_without_the_annotation_or_with_false_there_is_no_ingress(parent: Object, policy: Policy) -> None:
    parent["metadata"]["annotations"]["ingress/http"] = "false"
    assert json.loads(answer(body(sync_request(parent)), policy).body) == {"attachments": []}
    del parent["metadata"]["annotations"]["ingress/http"]
    assert json.loads(answer(body(sync_request(parent)), policy).body) == {"attachments": []}


@given(made_up.services() | made_up.valid_services(), made_up.policy())
def test_what_is_made_is_accepted_by_the_rules_of_the_api_server(parent: Object, policy: Policy) -> None:
    for made in wanted(parent, policy):
        if made["kind"] == "Ingress":
            assert list(rules_broken(msgspec.convert(made, Ingress))) == []
        else:
            assert list(route_rules_broken(msgspec.convert(made, HTTPRoute))) == []


@given(made_up.services() | made_up.valid_services(), made_up.policy())
def test_what_is_made_leads_to_its_own_service_and_nowhere_else(parent: Object, policy: Policy) -> None:
    tcp = [port["port"] for port in parent["spec"]["ports"] if port.get("protocol", "TCP") == "TCP"]
    made = wanted(parent, policy)
    names = [(each["kind"], each["metadata"]["name"]) for each in made]
    assert len(set(names)) == len(names)
    for each in made:
        assert each["metadata"]["namespace"] == "team-a"
        places = list(places_of(each))  # raises an error if an Ingress has a defaultBackend
        assert len({place[:3] for place in places}) == len(places)
        for _, _, _, service_name, port in places:
            assert service_name == parent["metadata"]["name"]
            assert port in tcp


@given(made_up.services() | made_up.valid_services(), made_up.policy())
def test_an_ingress_and_the_httproutes_beside_it_lead_the_same_hosts_and_paths_to_the_same_ports(
    parent: Object, policy: Policy
) -> None:
    both = msgspec.structs.replace(policy, outputs=("ingress", "httproute"), namespaces={})
    made = wanted(parent, both)
    of_ingress, of_routes = (
        sorted(place for each in made if each["kind"] == kind for place in places_of(each))
        for kind in ("Ingress", "HTTPRoute")
    )
    assert of_ingress == of_routes
    alone = wanted(parent, msgspec.structs.replace(both, outputs=("httproute",)))
    if alone:
        assert [each["spec"] for each in alone] == [each["spec"] for each in made if each["kind"] == "HTTPRoute"]


@given(made_up.valid_services(), made_up.policy(), st.lists(made_up.HOSTS, min_size=2, max_size=5, unique=True))
def test_an_httproute_keeps_its_name_and_its_spec_when_another_host_is_added(
    parent: Object, policy: Policy, hosts: list[str]
) -> None:
    only = msgspec.structs.replace(policy, outputs=("httproute",), namespaces={})
    for count in range(1, len(hosts)):
        fewer, more = (
            {
                route["metadata"]["name"]: route["spec"]
                for route in wanted(
                    with_routes(parent, [{"host": host, "path": f"/{host[-9]}"} for host in some]), only
                )
            }
            for some in (hosts[:count], hosts[: count + 1])
        )
        for name, spec in fewer.items():
            assert (more[name]["rules"], more[name]["hostnames"][: len(spec["hostnames"])]) == (
                spec["rules"],
                spec["hostnames"],
            )


def places_of(made: Object) -> Iterator[tuple[str, str, str, str, int]]:
    """Yield where each path of an Ingress or an HTTPRoute leads: host, path, path type, Service, port."""
    if made["kind"] == "Ingress":
        for rule in msgspec.convert(made, Ingress).spec.rules:
            for path in rule.http.paths:
                service = path.backend.service
                yield rule.host, path.path, path.path_type, service.name, service.port.number
    else:
        spec = msgspec.convert(made, HTTPRoute).spec
        for host, route_rule in product(spec.hostnames, spec.rules):
            for match, backend in product(route_rule.matches, route_rule.backend_refs):
                path_type = match.path.type.removeprefix("Path")
                yield host, match.path.value, path_type, backend.name, backend.port


def with_routes(parent: Object, routes: list[dict[str, str]]) -> Object:
    """Return the Service with these routes in the place of all that it asks for."""
    annotations = {"ingress/http": "true", "ingress/routes": json.dumps(routes)}
    return {**parent, "metadata": {**parent["metadata"], "annotations": annotations}}


@given(made_up.services() | made_up.valid_services(), made_up.policy())
def test_what_is_made_holds_nothing_that_the_policy_forbids(parent: Object, policy: Policy) -> None:
    for made in wanted(parent, policy):
        assert list(forbidden(made, stated(policy), parent)) == []


@given(made_up.services() | made_up.valid_services(), made_up.policy(), made_up.policy(), st.booleans())
def test_what_the_policy_forbids_is_never_kept(parent: Object, earlier: Policy, policy: Policy, paused: bool) -> None:
    """Whatever else is in the request: a mistake, the end of the wish, a pause, another type of Service."""
    now = msgspec.structs.replace(policy, paused=paused)
    made_then = wanted(parent, earlier) or wanted(made_up.right(parent), earlier)
    for made in made_then:
        observed = as_created(made, parent)
        answered = answer(body(sync_request(parent, attached=[observed])), now)
        if list(forbidden(made, stated(policy), parent)):
            assert answered.status == 200
            # Not even changed in place: the update could be denied.
            assert key_of(made) not in map(key_of, json.loads(answered.body)["attachments"])
        elif answered.status == 200 and not json.loads(answered.body)["attachments"]:
            assert parent["metadata"]["annotations"]["ingress/http"] == "false", "it is removed for no reason"


def key_of(made: Object) -> tuple[str, str]:
    """Return the kind and the name of an object."""
    return made["kind"], made["metadata"]["name"]


@given(made_up.services() | made_up.valid_services(), made_up.policy())
def test_no_annotation_is_lost_without_a_word(parent: Object, policy: Policy) -> None:
    for made in wanted(parent, policy):
        annotations = made["metadata"].get("annotations", {})
        left = annotations.get("ingress/not-copied", "").split(", ")
        if left[-1].endswith(" more"):
            continue
        for key, value in parent["metadata"]["annotations"].items():
            if key.startswith(("nginx.ingress.kubernetes.io/", "cert-manager.io/")):
                assert (annotations.get(key) == value) != (key in left)


@given(made_up.services() | made_up.valid_services(), made_up.policy())
def test_once_its_ingress_is_observed_a_service_still_gets_the_same_ingress(parent: Object, policy: Policy) -> None:
    first = answer(body(sync_request(parent)), policy)
    desired = wanted(parent, policy)
    again = answer(body(sync_request(parent, attached=[as_created(made, parent) for made in desired])), policy)
    assert again.status == first.status
    assert (json.loads(again.body)["attachments"] if again.status == 200 else []) == desired


@given(made_up.valid_services())
def test_a_valid_service_gets_an_ingress(parent: Object) -> None:
    assert len(wanted(parent, Policy())) == 1


@given(made_up.NASTY | st.text(max_size=30) | made_up.HOSTS)
def test_a_host_that_we_accept_is_one_that_the_api_server_accepts(host: str) -> None:
    assert not is_accepted(check_host, host) or is_host(host)


@given(made_up.NASTY.map("/".__add__) | made_up.PATHS)
def test_a_path_that_we_accept_is_harmless(path: str) -> None:
    if is_accepted(check_path, path):
        assert path.startswith("/")
        assert path.isascii()
        assert not set(path) & set("\n\r\0 \t\"'`{};$\\<>|^?#[]*")
        assert "//" not in path


@given(ANY_JSON, st.sampled_from(["object", "attachments", "finalizing", "anything"]))
def test_any_json_in_any_field_is_answered_in_one_line_or_with_the_desired_state(value: object, field: str) -> None:
    request = sync_request(service({"ingress/http": "true"}))
    request[field] = value
    answered = answer(body(request), Policy())
    assert answered.status in {200, 400, 422}
    assert answered.status == 200 or (answered.body.count(b"\n") == 1 and len(answered.body.decode()) <= 501)


@given(st.binary(max_size=200))
def test_any_bytes_are_answered_400(text: bytes) -> None:
    assert answer(text, Policy()).status == 400
