"""The contract: any body gets a valid answer, and errors name the field."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from devcluster.sync_requests import Object, body, service, sync_request
from hooks.sync import answer
from ingress_manager.core.settings import Settings

OPTED_IN = service({"ingress/http": "true"})
REQUEST = body(sync_request(OPTED_IN))

WRONG: list[tuple[Object, bytes]] = [
    ({"attachments": {}}, b"missing required field `object`"),
    ({"object": OPTED_IN}, b"missing required field `attachments`"),
    (sync_request(OPTED_IN | {"spec": {"ports": [{"port": "80"}]}}), b"Expected `int`, got `str` - at `$.object.spec."),
    (sync_request(OPTED_IN | {"metadata": {"name": 1}}), b"Expected `str`, got `int` - at `$.object.metadata.name"),
]


@pytest.mark.parametrize(("request_", "says"), WRONG)
def test_a_field_that_is_wrong_or_missing_is_answered_400_and_named(request_: Object, says: bytes) -> None:
    answered = answer(body(request_), Settings())
    assert (answered.status, says in answered.body, answered.body.count(b"\n")) == (400, True, 1), answered.body


def test_a_field_that_is_not_in_the_contract_changes_nothing() -> None:
    grown = json.loads(REQUEST)
    grown["new"] = grown["object"]["new"] = grown["object"]["spec"]["new"] = {"of": ["a", "later", "Kubernetes"]}
    assert answer(body(grown), Settings()) == answer(REQUEST, Settings())


@pytest.mark.parametrize("absent", [{}, {"annotations": None}, {"annotations": {}}])
def test_no_annotations_may_be_written_in_any_way(absent: dict[str, Any]) -> None:
    parent = service()
    parent["metadata"] |= absent
    assert json.loads(answer(body(sync_request(parent)), Settings()).body) == {"attachments": []}


NOT_REQUESTS = {
    "nothing": b"",
    "half": REQUEST[:-1],
    "two": REQUEST * 2,
    "not UTF-8": REQUEST.replace(b"shop", b"sh\xffp"),
    "a lone surrogate": REQUEST.replace(b"shop", b"\\ud800"),
    "a byte order mark": b"\xef\xbb\xbf" + REQUEST,
    "nested deeply": b'{"x":' * 1_000_000 + b"1" + b"}" * 1_000_000,
    "a number beyond all floats": REQUEST.replace(b"80", b"1e400"),
}


@pytest.mark.parametrize("text", NOT_REQUESTS.values(), ids=NOT_REQUESTS.keys())
def test_a_body_that_is_no_request_is_answered_400_in_one_line(text: bytes) -> None:
    answered = answer(text, Settings())
    assert answered.status == 400
    assert answered.body.startswith(b"not a request of Metacontroller's contract v2: ")
    assert answered.body.count(b"\n") == 1
    assert len(answered.body) <= 500


def test_the_last_of_two_equal_keys_counts() -> None:
    """As in Go, so that the hook reads the same Service as the API server."""
    off, on = b'"ingress/http": "false"', b'"ingress/http": "true"'
    assert json.loads(answer(REQUEST.replace(on, off + b", " + on), Settings()).body)["attachments"]
    assert not json.loads(answer(REQUEST.replace(on, on + b", " + off), Settings()).body)["attachments"]
    assert not json.loads(answer(REQUEST[:-1] + b', "object": ' + body(service()) + b"}", Settings()).body)[
        "attachments"
    ]


NAMED = {"namespace": "team-a", "name": "shop", "uid": "u"}


@pytest.mark.parametrize(("metadata", "name"), [(NAMED, "shop"), (NAMED | {"name": 1}, None), (None, None)])
def test_an_invalid_request_may_name_its_service(metadata: Object, name: str | None) -> None:
    answered = answer(body({"object": {"metadata": metadata}}), Settings())
    assert (answered.status, answered.service and answered.service.metadata.name) == (400, name)


CREATED, LATER = (datetime(2026, 11, 21, hour, tzinfo=UTC).timestamp() for hour in (10, 11))


@pytest.mark.parametrize(
    ("now", "managed", "least", "most"),
    [
        (LATER, None, 240, 360),
        (0, [], 4, 8),
        (CREATED, [], 4, 8),
        (LATER, [{}], 240, 360),
        (LATER, [{"time": "2026-11-21T10:59:00Z"}, {}, {"time": "2026-11-21T10:10:00Z"}], 15, 15),
        (LATER, [{"time": "2026-11-21T12:58:20+02:00"}], 25, 25),
        (LATER, [{"time": "2026-11-21T10:53:20Z"}], 100, 100),
        (LATER, [{"time": "0000-01-01T00:00:00Z"}, {"time": "2026-11-21T10:53:20Z"}, {"time": "x"}], 100, 100),
        (LATER, [{"time": "2999-01-01T00:00:00Z"}], 240, 360),
        (LATER, [{"time": "10000-01-01T11:59:59Z"}, {"time": None}, {"time": "2016-12-31T23:59:60Z"}], 240, 360),
    ],
)
def test_older_services_are_synced_later(now: float, managed: list[Object] | None, least: int, most: int) -> None:
    """The longer ago a Service was changed, the longer the interval: many failing creates must not hold up others.

    A Service without a known time counts as old.
    """
    parent = service({"ingress/http": "true"})
    if managed is not None:
        parent["metadata"] |= {"creationTimestamp": "2026-11-21T10:00:00Z", "managedFields": managed}
    answered = answer(body(sync_request(parent)), Settings(), now)
    assert least <= json.loads(answered.body)["resyncAfterSeconds"] <= most
