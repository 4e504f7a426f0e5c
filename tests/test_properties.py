"""Properties that hold for any Service, made up at random."""

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hooks.core import customize, sync
from hooks.policy import Policy
from tests.metacontroller import as_created, body, customize_request, service, sync_request

NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)
PORTS = st.fixed_dictionaries(
    {"port": st.integers(1, 65535)},
    optional={
        "name": st.one_of(st.just("http"), NAMES),
        "protocol": st.sampled_from(["TCP", "UDP", "SCTP"]),
        "appProtocol": st.sampled_from(["http", "https", "kubernetes.io/h2c"]),
        "targetPort": st.one_of(st.integers(1, 65535), NAMES),
    },
)
ANNOTATIONS = st.dictionaries(
    st.one_of(st.just("ingress/http"), st.text(max_size=20)),
    st.one_of(st.sampled_from(["true", "false"]), st.text(max_size=40)),
    max_size=4,
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
POLICIES = st.builds(
    Policy,
    host=st.just("apps.example.org"),
    ingress_class=st.one_of(st.none(), NAMES),
    paused=st.booleans(),
)


@st.composite
def services(draw: st.DrawFn) -> dict[str, Any]:
    made = service(
        draw(st.none() | ANNOTATIONS),
        type=draw(st.sampled_from(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"])),
        ports=draw(st.lists(PORTS, max_size=4)),
    )
    made["metadata"]["name"] = draw(NAMES)
    return made


@given(services(), POLICIES)
def test_the_same_input_gives_the_same_answer_and_it_is_one_of_the_contracts(parent: Any, policy: Policy) -> None:
    request = body(sync_request(parent))
    answer = sync(request, policy)
    assert answer == sync(request, policy)
    assert answer.status == 429 if policy.paused else answer.status in {200, 422}


@given(services())
def test_without_the_annotation_there_is_no_ingress(parent: Any) -> None:
    (parent["metadata"].get("annotations") or {}).pop("ingress/http", None)
    assert json.loads(sync(body(sync_request(parent)), Policy()).body) == {"attachments": []}


@given(services())
def test_what_the_hook_wants_fed_back_as_observed_changes_nothing(parent: Any) -> None:
    first = sync(body(sync_request(parent)), Policy())
    if first.status == 200:
        made = [as_created(desired, parent) for desired in json.loads(first.body)["attachments"]]
        assert sync(body(sync_request(parent, attached=made, related=made)), Policy()) == first


@given(services(), POLICIES)
def test_an_ingress_leads_to_its_own_service_and_nowhere_else(parent: Any, policy: Policy) -> None:
    answer = sync(body(sync_request(parent)), policy)
    for ingress in json.loads(answer.body)["attachments"] if answer.status == 200 else []:
        assert ingress["metadata"]["name"] == parent["metadata"]["name"]
        assert ingress["metadata"]["namespace"] == parent["metadata"]["namespace"]
        assert "defaultBackend" not in ingress["spec"]
        tcp = [port["port"] for port in parent["spec"]["ports"] if port.get("protocol", "TCP") == "TCP"]
        for rule in ingress["spec"]["rules"]:
            assert rule["host"] == policy.host
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                assert backend["name"] == parent["metadata"]["name"]
                assert backend["port"]["number"] in tcp


@given(ANY_JSON, st.sampled_from(["controller", "object", "attachments", "related", "finalizing", "anything"]))
def test_any_json_in_any_field_is_answered_in_one_line_or_with_the_desired_state(value: Any, field: str) -> None:
    request = sync_request(service({"ingress/http": "true"}))
    request[field] = value
    answer = sync(body(request), Policy())
    assert answer.status in {200, 400, 409, 422}
    assert answer.status == 200 or (answer.body.count(b"\n") == 1 and len(answer.body.decode()) <= 501)


@given(st.binary(max_size=200))
def test_any_bytes_are_answered_400(text: bytes) -> None:
    assert sync(text, Policy()).status == customize(text).status == 400


@given(services(), services())
def test_customize_depends_on_namespace_and_name_alone(one: Any, other: Any) -> None:
    other = copy.deepcopy(other)
    other["metadata"]["name"] = one["metadata"]["name"]
    assert customize(body(customize_request(one))) == customize(body(customize_request(other)))
