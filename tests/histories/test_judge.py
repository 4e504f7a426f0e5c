"""The judge of the histories: what it finds wrong with what stands, and with a write of the engine."""

from typing import Any, cast

import pytest

from devcluster.api import Api, Object
from devcluster.standin.updating import with_annotation, with_last_applied
from devcluster.sync_requests import as_created, service
from ingress_manager.core.observed import DECORATOR
from ingress_manager.core.policy import Policy
from tests.histories.judge import asked, misdeed, still_to_do
from tests.histories.steps import NAME, STRANGERS, Place

POLICY = Policy()
ON, OFF, WRONG, OTHER = (
    service({"ingress/http": value, **more})
    for value, more in (("true", {}), ("false", {}), ("yes", {}), ("true", {"ingress/path": "/other"}))
)
[WANTED] = asked(ON, (), POLICY)[1]
SIGNED = with_annotation(WANTED, DECORATOR, NAME)
MADE = with_last_applied(SIGNED, SIGNED)
MADE["metadata"] |= {"uid": "1", "ownerReferences": as_created(WANTED, ON)["metadata"]["ownerReferences"]}
STRANGERS_OWN: Object = {**WANTED, "metadata": {**WANTED["metadata"], "labels": {STRANGERS: "yes"}}}


@pytest.mark.parametrize(
    ("wanted", "standing", "expected"),
    [
        (ON, [MADE], []),
        (ON, [], ["create shop"]),
        (ON, [STRANGERS_OWN], []),
        (OTHER, [MADE], ["update shop"]),
        (WRONG, [MADE], []),
        (OFF, [MADE], ["delete shop"]),
        (None, [MADE], ["collect shop"]),
    ],
)
def test_what_is_still_to_be_done_is_told(wanted: Object | None, standing: list[Object], expected: list[str]) -> None:
    assert still_to_do([wanted] if wanted else [], standing, POLICY) == expected


def judged(verb: str, body: dict[str, Any], *services: Object | None, policy: Policy | None = POLICY) -> str | None:
    """Return what is wrong with a write to an Ingress whose Service was each of these, one after the other."""
    place = Place(cast("Api", None), "team-a", recent={"shop": [*services]}, policy=policy, strangers={"s"})
    return misdeed({"verb": verb, "requestObject": body, "objectRef": {"name": "shop"}}, place)


def test_an_ingress_is_deleted_with_a_reason_only() -> None:
    deletion = {"preconditions": {"uid": "1"}}
    for later in (ON, OTHER, WRONG):
        assert judged("delete", deletion, ON, later) == "nothing asked for that"
    for end in (OFF, None):
        assert judged("delete", deletion, ON, end) is None
    assert judged("delete", deletion, ON, policy=None) is None


def test_a_strangers_ingress_is_not_written_to() -> None:
    assert "may be a stranger's" in str(judged("delete", {"preconditions": {"uid": "s"}}, OFF))
    assert "may be a stranger's" in str(judged("delete", {}, OFF))
    assert judged("update", STRANGERS_OWN, ON) == "it is a stranger's"
    assert judged("update", MADE, ON) is None
