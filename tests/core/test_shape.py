"""The shape: it finds a mismatch wherever msgspec refuses a value, and what it leaves, msgspec takes."""

# ruff: noqa: SIM905 - forty names, one a line, are not easier to read

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingress_manager.core.kubernetes import Backend, HTTPRoute, Ingress, Service
from ingress_manager.core.policy import Policy
from ingress_manager.core.shape import LEFT_OUT, Mismatch, fit, type_of

FIELDS = (
    "metadata spec name namespace uid annotations creationTimestamp apiVersion kind type ports port protocol "
    "rules http paths path pathType backend service tls hosts secretName parentRefs hostnames matches value "
    "host class enabled secret copyAnnotations pathTypes namespaces outputs gateway paused a.b/c "
    "defaults limits profiles labels filters timeouts hosts"
).split()
SCALARS = st.sampled_from(
    [None, True, 0, 80, 1.5, "", "v1", "Service", "any", "Prefix", "2026-01-31T12:00:00Z", "now", 301, "60s", "CORS"]
)
RIGHT = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "b", "uid": ""}, "spec": {}}
OBJECTS = st.recursive(
    SCALARS,
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(st.sampled_from([*FIELDS, 7]), inside, max_size=4),
    max_leaves=12,
)
NEARLY_RIGHT = st.dictionaries(st.sampled_from(FIELDS), OBJECTS, max_size=4).map(lambda some: {**RIGHT, **some})


@pytest.mark.parametrize("type_", [Service, Ingress, HTTPRoute, Policy])
@given(value=OBJECTS | NEARLY_RIGHT)
def test_a_mismatch_is_found_where_msgspec_refuses_and_what_is_left_it_takes(type_: Any, value: Any) -> None:
    found: list[Mismatch] = []
    left = fit(value, type_of(type_), found)
    try:
        converted = msgspec.convert(value, type_)
    except msgspec.ValidationError:
        assert found
        assert left is LEFT_OUT or msgspec.convert(left, type_)
    else:
        assert found == []
        assert msgspec.convert(left, type_) == converted


def test_a_key_that_is_no_text_is_a_mismatch_of_an_object_which_may_have_other_fields() -> None:
    found: list[Mismatch] = []
    assert fit({**RIGHT, 7: 1, "status": {}}, type_of(Service), found) == RIGHT
    assert found == [Mismatch((7,), "key")]


def test_a_list_with_a_mismatch_anywhere_in_it_is_left_out() -> None:
    found: list[Mismatch] = []
    ports = [{"port": 80, "name": 80}, {"port": 81}]
    assert fit({**RIGHT, "spec": {"type": "ClusterIP", "ports": ports}}, type_of(Service), found) == {
        **RIGHT,
        "spec": {"type": "ClusterIP"},
    }
    assert [each.path for each in found] == [("spec", "ports", 0, "name")]


def test_what_may_be_anything_fits_beside_a_mismatch() -> None:
    found: list[Mismatch] = []
    left = fit({"resource": {"name": None, "spec": {7: [1]}}, "service": 8}, type_of(Backend), found)
    assert left == {"resource": {"name": None, "spec": {7: [1]}}}
    assert [each.path for each in found] == [("service",)]
