"""What is wrong with what stands when all has settled, and with what the engine has written.

When all has settled, the hook is asked again about each Service, in this process, as Metacontroller would ask it. What
Metacontroller would do then, by the stand-in for it, must be nothing.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from devcluster import engines
from devcluster.api import INGRESSES, Object, Resource
from devcluster.cluster import DevCluster
from devcluster.standin import children
from devcluster.standin.objects import controller_of, group_key, with_annotation
from devcluster.sync_requests import as_created, by_name, sync_request
from hooks.sync import Answer, answer
from ingress_manager.core.observed import DECORATOR
from ingress_manager.core.policy import Policy
from tests.e2e.audit import READS
from tests.histories.steps import Place, is_strangers


def made_for(service: Object, standing: Iterable[Object]) -> list[Object]:
    """Return what Metacontroller takes to be made for a Service."""
    return [
        each
        for each in standing
        if (controller_of(each) or {}).get("uid") == service["metadata"]["uid"]
        and (each["metadata"].get("annotations") or {}).get(DECORATOR) == "ingress-manager"
    ]


def asked(service: Object, standing: Iterable[Object], policy: Policy) -> tuple[Answer, list[Object]]:
    """Return what the hook answers about a Service, and what is to be there: if it refuses, what is there now."""
    there = made_for(service, standing)
    answered = answer(json.dumps(sync_request(service, attached=there, httproutes=False)).encode(), policy)
    return answered, json.loads(answered.body)["attachments"] if answered.status == 200 else there


class Wishes:
    """The API server, for the stand-in: it notes what would be written."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, str]] = []

    def create(self, _: Resource, obj: Object) -> Object:
        self.noted.append(("create", obj["metadata"]["name"]))
        return obj

    def update(self, _: Resource, obj: Object) -> Object:
        self.noted.append(("update", obj["metadata"]["name"]))
        return obj

    def delete(self, _: Resource, name: str, *_args: str, **_only: str) -> bool:
        self.noted.append(("delete", name))
        return True


def still_to_do(services: Iterable[Object], ingresses: Sequence[Object], policy: Policy) -> list[str]:
    """Return what is still to be done in a namespace, an action and a name each."""
    uids, taken = {each["metadata"]["uid"] for each in services}, by_its_name(ingresses)
    lines = [
        f"collect {each['metadata']['name']}"
        for each in ingresses
        if not is_strangers(each) and (controller_of(each) or {}).get("uid") not in uids
    ]
    for service in services:
        answered, desired = asked(service, ingresses, policy)
        if answered.status == 200:
            wishes, key = Wishes(), group_key(INGRESSES)
            before = {key: by_name(made_for(service, ingresses))}
            after = {key: by_name([with_annotation(each, DECORATOR, "ingress-manager") for each in desired])}
            children.manage(wishes, {INGRESSES: "InPlace"}, service, before, after)  # type: ignore[arg-type]
            # A name that another object has stays taken.
            lines += [f"{verb} {name}" for verb, name in wishes.noted if verb != "create" or name not in taken]
        if "deletionTimestamp" in service["metadata"]:
            lines.append(f"end {service['metadata']['name']}")
    return lines


class Writes:
    """Reads on in the audit log, and judges what is new of the engine's writes."""

    def __init__(self, cluster: DevCluster, places: Sequence[Place], policy: Policy) -> None:
        self._cluster, self._policy = cluster, policy
        self._places = {place.namespace: place for place in places}
        self._read = cluster.control_plane.audit_log.stat().st_size

    def check(self) -> str:
        """Return what is wrong with the writes since the last time; "" for nothing."""
        with self._cluster.control_plane.audit_log.open("rb") as log:
            log.seek(self._read)
            lines = [line for line in log if line.endswith(b"\n")]  # one without an end is still being written
        self._read += sum(map(len, lines))
        for line in lines:
            event = json.loads(line)
            if event["user"]["username"] != engines.USER or event["verb"] in READS:
                continue
            about = event.get("objectRef", {})
            if about.get("resource", "") not in {"ingresses", "events", "leases"}:
                return f"the engine has tried to write: {line.decode()}"
            carried_out = about["resource"] == "ingresses" and event["responseStatus"]["code"] < 400
            if carried_out and (why := self._misdeed(event, self._places[about["namespace"]])):
                return f"the engine has done a {event['verb']} to Ingress {about}: {why}"
        return ""

    def _misdeed(self, event: Mapping[str, Any], place: Place) -> str | None:
        """Return why the engine should not have written to an Ingress; None when it is right."""
        body, name = {"metadata": {}, **event.get("requestObject", {})}, event["objectRef"].get("name", "")
        if event["verb"] != "delete":
            return "it is a stranger's" if is_strangers(body) else None
        uid = body.get("preconditions", {}).get("uid")
        if uid is None or uid in place.strangers:
            return f"it may be a stranger's, as its uid is {uid}"
        return None if self._may_be_deleted(place, name) else "nothing asked for that"

    def _may_be_deleted(self, place: Place, name: str) -> bool:
        """Return whether something may have asked for the end of an Ingress since all had settled.

        Nothing has if nobody has edited it, and its Service has asked for it all the time. A mistake asks for nothing.
        """
        states = place.recent[name.partition(".")[0]]
        if name in place.edited or None in states:
            return True
        services = [each for each in states if each]
        made = [as_created(each, service) for service in services for each in asked(service, (), self._policy)[1]]
        return any(name not in by_its_name(asked(service, made, self._policy)[1]) for service in services)


def by_its_name(objects: Iterable[Object]) -> set[str]:
    """Return the names of objects."""
    return {each["metadata"]["name"] for each in objects}
