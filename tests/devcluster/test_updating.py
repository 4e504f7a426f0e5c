"""What the stand-in writes of an object: it comes out as what Metacontroller writes."""

import json
from typing import Any

from devcluster.standin.updating import updated, with_last_applied
from ingress_manager.commands.view.merge import last_applied, same
from ingress_manager.core.observed import LAST_APPLIED

DESIRED: dict[str, Any] = {"metadata": {"name": "shop", "labels": {"a": "1"}}, "spec": {"class": "nginx"}}
STORED = with_last_applied(DESIRED, DESIRED)
STORED = STORED | {"metadata": STORED["metadata"] | {"uid": "u", "resourceVersion": "7"}, "status": {"ip": "1.2.3.4"}}


def test_an_object_that_is_as_desired_is_not_changed() -> None:
    assert same(updated(STORED, DESIRED), STORED)


def test_system_fields_and_status_stay_as_observed_whatever_is_desired() -> None:
    greedy = DESIRED | {
        "metadata": DESIRED["metadata"] | {"uid": "x", "resourceVersion": "0", "generation": 9},
        "status": {"ip": "6.6.6.6"},
    }
    found = updated(STORED, greedy)
    assert (found["metadata"]["uid"], found["metadata"]["resourceVersion"]) == ("u", "7")
    assert "generation" not in found["metadata"]
    assert found["status"] == {"ip": "1.2.3.4"}
    assert "status" not in updated({"metadata": {}}, greedy)


def test_the_annotation_records_what_was_applied_without_itself_in_the_bytes_that_go_writes() -> None:
    desired = {"metadata": {"name": "b", "annotations": {LAST_APPLIED: "old", "x": "<é&>\u2028"}}, "a": 1}
    found = updated({"metadata": {"name": "b"}}, desired)
    assert found["metadata"]["annotations"][LAST_APPLIED] == (
        r'{"a":1,"metadata":{"annotations":{"x":"\u003cé\u0026\u003e\u2028"},"name":"b"}}'
    )
    assert json.loads(json.dumps(last_applied(found)))["metadata"]["annotations"] == {"x": "<é&>\u2028"}


def test_what_is_no_longer_desired_goes_by_the_annotation() -> None:
    found = updated(STORED, {"metadata": {"name": "shop"}})
    assert ("spec" in found, "labels" in found["metadata"]) == (False, False)
