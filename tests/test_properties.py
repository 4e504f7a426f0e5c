"""Properties that hold for any Service and any settings, made up at random."""

import json
from collections.abc import Callable

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from hooks.errors import Problem
from hooks.metacontroller import answer
from hooks.policy import Policy
from hooks.syntax import check_host, check_path
from tests import made_up
from tests.forbidden import forbidden, stated
from tests.kubernetes import Ingress, is_host, rules_broken
from tests.metacontroller import Object, as_created, body, service, sync_request

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def wanted(parent: Object, policy: Policy) -> list[Object]:
    """Return the Ingresses that the hook wants: one, or none when it refuses."""
    answered = answer(body(sync_request(parent)), policy)
    made: list[Object] = json.loads(answered.body)["attachments"] if answered.status == 200 else []
    return made


def is_accepted(check: Callable[[str], str], text: str) -> bool:
    """Return whether a check of hooks.syntax returns the text, and doesn't raise."""
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
def test_an_ingress_is_accepted_by_the_rules_of_the_api_server(parent: Object, policy: Policy) -> None:
    for made in wanted(parent, policy):
        assert list(rules_broken(msgspec.convert(made, Ingress))) == []


@given(made_up.services() | made_up.valid_services(), made_up.policy())
def test_an_ingress_leads_to_its_own_service_and_nowhere_else(parent: Object, policy: Policy) -> None:
    tcp = [port["port"] for port in parent["spec"]["ports"] if port.get("protocol", "TCP") == "TCP"]
    for made in wanted(parent, policy):
        ingress = msgspec.convert(made, Ingress)  # raises an error if it has a defaultBackend
        assert (ingress.metadata.name, ingress.metadata.namespace) == (parent["metadata"]["name"], "team-a")
        assert len({rule.host for rule in ingress.spec.rules}) == len(ingress.spec.rules)
        for rule in ingress.spec.rules:
            for path in rule.http.paths:
                assert path.backend.service.name == parent["metadata"]["name"]
                assert path.backend.service.port.number in tcp


@given(made_up.services() | made_up.valid_services(), made_up.policy())
def test_an_ingress_holds_nothing_that_the_policy_forbids(parent: Object, policy: Policy) -> None:
    for made in wanted(parent, policy):
        assert list(forbidden(made, stated(policy), parent)) == []


@given(made_up.services() | made_up.valid_services(), made_up.policy(), made_up.policy(), st.booleans())
def test_an_ingress_that_the_policy_forbids_is_never_kept(
    parent: Object, earlier: Policy, policy: Policy, paused: bool
) -> None:
    """Whatever else is in the request: a mistake, the end of the wish, a pause, another type of Service."""
    now = msgspec.structs.replace(policy, paused=paused)
    made_then = wanted(parent, earlier) or wanted(made_up.right(parent), earlier)
    for made in made_then:
        observed = as_created(made, parent)
        answered = answer(body(sync_request(parent, attached=[observed])), now)
        if list(forbidden(made, stated(policy), parent)):
            assert answered.status == 200
            assert json.loads(answered.body)["attachments"] != [made]
        elif answered.status == 200 and not json.loads(answered.body)["attachments"]:
            assert parent["metadata"]["annotations"]["ingress/http"] == "false", "it is removed for no reason"


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
