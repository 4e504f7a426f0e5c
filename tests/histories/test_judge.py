"""The judge of the histories: what it finds wrong with a write of the engine, without a cluster."""

import json
from typing import Any, cast

import pytest

from devcluster.api import Api
from tests.histories.model import STRANGERS, Service, Settings, made_for
from tests.histories.steps import Place
from tests.histories.writes import RECORD, misdeed

SERVICE = Service("1", {"ingress/http": "true"}, "one")
OTHER = Service("1", {"ingress/http": "true", "ingress/path": "/shop"}, "one")
OFF = Service("1", {"ingress/http": "false"}, "one")
WRONG = Service("1", {"ingress/http": "true", "ingress/path": "//shop"}, "one")
SHARED = Service("1", {"ingress/http": "true", "ingress/host": "shared.example.org"}, "one")


def place(*services: Service, settings: Settings | None = None) -> Place:
    """Return a place where Service `a` was each of these, one after the other, and where a stranger has the uid `s`."""
    made = Place(cast("Api", None), "history-0", strangers={"s"})
    for service in services:
        made.models["a"].service = service
        made.models["a"].changed()
    if settings:
        made.models["a"].settings = settings
        made.models["a"].changed()
    return made


def judged(at: Place, verb: str, body: dict[str, Any]) -> str | None:
    """Return what is wrong with a write to Ingress `a`."""
    return misdeed({"verb": verb, "requestObject": body}, at, at.models["a"])


def ingress(service: Service, labels: dict[str, str] | None = None) -> dict[str, Any]:
    """Return what the engine writes for a Service; somebody has added a label and an annotation."""
    ours, annotations, spec = json.loads(made_for("a", "history-0", service, Settings()))
    record = {"metadata": {"labels": ours, "annotations": annotations}, "spec": spec}
    metadata = {"labels": ours | (labels or {}), "annotations": {"x": "y", RECORD: json.dumps(record)}}
    return {"metadata": metadata, "spec": spec}


def deletion(uid: str) -> dict[str, Any]:
    """Return the options of a delete."""
    return {"preconditions": {"uid": uid}}


@pytest.mark.parametrize("verb", ["create", "update"])
def test_what_some_service_since_the_last_standstill_asks_for_may_be_written(verb: str) -> None:
    assert judged(place(SERVICE, OTHER), verb, ingress(SERVICE)) is None
    assert judged(place(SERVICE, OTHER), verb, ingress(OTHER)) is None


@pytest.mark.parametrize(
    "at",
    [
        place(OTHER),
        place(OFF),
        place(WRONG),
        Place(cast("Api", None), "history-0"),
    ],
)
def test_what_nothing_asks_for_may_not_be_written(at: Place) -> None:
    assert "nothing asks for" in str(judged(at, "create", ingress(SERVICE)))


def test_once_all_stands_still_only_the_last_service_counts() -> None:
    at = place(SERVICE, OTHER)
    at.models["a"].settle(at.models["a"].expected())
    assert "nothing asks for" in str(judged(at, "update", ingress(SERVICE)))


def test_what_the_settings_forbid_may_not_be_written() -> None:
    at = place(SHARED, settings=Settings(shared=False))
    assert judged(at, "create", ingress(SHARED)) is None  # until that stands still
    at.models["a"].settle(at.models["a"].expected())
    assert "nothing asks for" in str(judged(at, "create", ingress(SHARED)))


def test_an_ingress_is_deleted_with_a_reason_only() -> None:
    assert judged(place(SERVICE, OFF), "delete", deletion("1")) is None
    assert judged(place(SHARED, settings=Settings(shared=False, paused=True)), "delete", deletion("1")) is None
    assert judged(place(SERVICE, OTHER), "delete", deletion("1")) == "nothing asked for that"
    assert judged(place(SERVICE, WRONG), "delete", deletion("1")) == "nothing asked for that"
    assert judged(place(SERVICE, settings=Settings(paused=True)), "delete", deletion("1")) == "nothing asked for that"


def test_a_strangers_ingress_is_not_written_to() -> None:
    assert "may be a stranger's" in str(judged(place(SERVICE, OFF), "delete", deletion("s")))
    assert "may be a stranger's" in str(judged(place(SERVICE, OFF), "delete", {}))
    assert judged(place(SERVICE), "update", ingress(SERVICE, {STRANGERS: "yes"})) == "it is a stranger's"


def test_a_write_without_a_record_is_none_of_ours() -> None:
    assert judged(place(SERVICE), "patch", {}) == "it does not say what was asked for"
