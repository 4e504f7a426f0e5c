"""What the engine writes, from the audit log: each write of a round is judged, not only the end."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from devcluster.cluster import DevCluster
from tests.e2e.audit import READS
from tests.histories.model import STRANGERS, Model, body_of
from tests.histories.steps import Place

RECORD = "metacontroller.k8s.io/last-applied-configuration"
"""An annotation in which Metacontroller notes what ingress-manager asked for, without what others have added."""


class Writes:
    """Reads on in the audit log, and judges what is new."""

    def __init__(self, cluster: DevCluster) -> None:
        self._cluster = cluster
        self._read = 0

    def begin(self) -> None:
        """Leave out what was done until now."""
        self.check([])

    def check(self, places: Sequence[Place]) -> dict[int, str]:
        """Return what is wrong with the writes since the last time, by the number of the place; -1 is for none.

        Ingresses are judged where they are in one of the places.
        """
        with self._cluster.control_plane.audit_log.open("rb") as log:
            log.seek(self._read)
            lines = [line for line in log if line.endswith(b"\n")]  # one without an end is still being written
        self._read += sum(map(len, lines))
        user, wrong = self._cluster.engine_user, {}
        numbers = {place.namespace: number for number, place in enumerate(places)}
        for line in lines:
            if user.encode() not in line:
                continue
            event = json.loads(line)
            if event["user"]["username"] != user or event["verb"] in READS:
                continue
            about = event.get("objectRef", {})
            resource = about.get("resource", "")
            if resource not in {"ingresses", "events", "leases"}:
                wrong[-1] = f"the engine has tried to write to {resource}: {line.decode()}"
            if event["responseStatus"]["code"] >= 400:
                continue
            if resource == "ingresses":
                namespace, name = about["namespace"], about["name"]
                number = numbers.get(namespace)
                if number is not None and (why := misdeed(event, places[number], places[number].models[name])):
                    wrong[number] = f"the engine has done a {event['verb']} to Ingress {namespace}/{name}: {why}"
        return wrong


def misdeed(event: Mapping[str, Any], place: Place, model: Model) -> str | None:
    """Return why the engine should not have written what an audit event tells of; None when it is right."""
    body = event.get("requestObject", {})
    if event["verb"] == "delete":
        uid = body.get("preconditions", {}).get("uid")
        if uid is None or uid in place.strangers:
            return f"it may be a stranger's, as its uid is {uid}"
        return None if model.may_be_deleted() else "nothing asked for that"
    metadata = body.get("metadata", {})
    if STRANGERS in metadata.get("labels", {}):
        return "it is a stranger's"
    record = metadata.get("annotations", {}).get(RECORD)
    if record is None:
        return "it does not say what was asked for"
    asked_for = body_of(json.loads(record))
    return None if model.may_be_written(asked_for) else f"nothing asks for {asked_for}"
