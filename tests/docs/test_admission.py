"""docs/admission.md: its table says of each kind of change what becomes of it, and that is so."""

import json
from typing import Any

import msgspec

from devcluster.sync_requests import Object, service
from hooks.admission import answer
from ingress_manager.core.policy import Admission, NamespaceSettings, Policy
from tests.docs.test_docs import rows
from tests.hooks.test_admission import review

DENYING = Policy(admission=Admission(deny=True))
PAUSING = msgspec.structs.replace(DENYING, namespaces={"team-a": NamespaceSettings(paused=True)})

RIGHT = {"ingress/http": "true"}
WRONG = RIGHT | {"ingress/path": "nowhere"}


def changed(annotations: dict[str, str], **metadata: Any) -> Object:
    """Return the Service with these annotations, and something else in its metadata."""
    found = service(annotations)
    found["metadata"] |= metadata
    return found


CASES: dict[str, list[tuple[Object | None, Object, Policy]]] = {
    "a new Service has a mistake, or a right one gets a mistake": [
        (None, service(WRONG), DENYING),
        (service(RIGHT), service(WRONG), DENYING),
    ],
    "a wrong Service gets another mistake": [
        (service(WRONG), service(WRONG | {"ingress/class": "Not_A_Class"}), DENYING),
        (service(WRONG), service(WRONG, type="ExternalName", externalName="example.com"), DENYING),
    ],
    "an entrance with a mistake is turned on": [
        (
            service(WRONG | {"a.ingress/path": "x"}),
            service(WRONG | {"a.ingress/path": "x", "a.ingress/http": "true"}),
            DENYING,
        )
    ],
    "a wrong Service is corrected in part, or changed elsewhere": [
        (service(WRONG), changed(WRONG, labels={"team": "a"}), DENYING),
        (service(WRONG), service(WRONG | {"ingress/host": "shop.example.com"}), DENYING),
        (service(WRONG | {"ingress/class": "Not_A_Class"}), service(WRONG), DENYING),
    ],
    "a wrong annotation gets another wrong value": [
        (service(WRONG), service(WRONG | {"ingress/path": "elsewhere"}), DENYING)
    ],
    '`ingress/http` is taken off, or `"false"`': [
        (service(WRONG), service({"ingress/path": "nowhere"}), DENYING),
        (service(WRONG), service(WRONG | {"ingress/http": "false"}), DENYING),
    ],
    "a Service is deleted, or in deletion": [
        (service(RIGHT), changed(WRONG, deletionTimestamp="2026-01-01T00:00:00Z"), DENYING)
    ],
    "any change in a paused namespace": [(service(RIGHT), service(WRONG), PAUSING)],
}


def test_the_table_says_what_becomes_of_a_change() -> None:
    shown = [[cell.strip() for cell in row.strip("|\n").split(" | ")] for row in rows("admission.md", "| the change ")]
    assert [change for change, _ in shown] == list(CASES)
    for change, becomes in shown:
        for old, new, policy in CASES[change]:
            response = json.loads(answer(review(new, old), policy).body)["response"]
            assert response["allowed"] is becomes.startswith("is allowed"), change
            assert "with a warning" not in becomes or response["warnings"], change
