"""Events: what Metacontroller and others report on a Service. Source: the Kubernetes API reference, Event v1 core."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ingress_manager.commands.snapshot.items import Item, at
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import API_VERSIONS, Key

EVENT = "Event"
SYNC_ERROR = "SyncError"  # the reason in Metacontroller's Events

OF_SERVICES = f"--field-selector=reason={SYNC_ERROR},involvedObject.kind=Service"
"""The kubectl option that selects the Events that `reports` needs."""

_ENDED = "context canceled"
"""The end of Metacontroller's message about a request that it abandoned on shutdown. Source: Go's `context`."""

_DENIED = "can't reconcile children"  # in each of Metacontroller's messages about a rejected write

_KEY = re.compile(rf"\b({'|'.join(API_VERSIONS)}) ([a-z0-9-]+/[a-z0-9.-]*[a-z0-9])")
"""Matches an object in the hook's messages, such as Ingress team-a/shop."""

_REFUSAL = "status code: 422 body: "
"""The text before the hook's message in Metacontroller's report of a refusal."""

_TAG = re.compile(r" \[([a-z-]+)\](?= · |$)")


class Report(NamedTuple):
    """A report about a Service, taken from an Event, with the time of its last occurrence."""

    time: str
    sentence: str
    uid: str  # of the Service
    versions: tuple[str, str]
    """The resourceVersions of the Service at the first report and of the Event at the last, or "" for a missing one."""

    def precedes(self, current: str) -> bool:
        """Return whether the report is known to be older than `current`, the Service's present resourceVersion."""
        # If the Event's version isn't between the others, Events may be in another etcd: versions can't be compared.
        first, last, now = ((len(version), version) for version in (*self.versions, current))
        return (0, "") < first < last < now

    @property
    def reasons(self) -> list[Reason]:
        """Return the reasons for a refusal; empty if the report is about something else, such as a missing object."""
        tags = dict.fromkeys(_TAG.findall(self.problem))
        return [Reason(tag) for tag in tags if tag in {*Reason} - {Reason.NOT_MADE, Reason.PAUSED}]

    @property
    def problem(self) -> str:
        """Return the error or the hook's message, without the prefix that Metacontroller adds."""
        sentence = self.sentence.removeprefix("Sync error: ")
        return sentence.partition(_REFUSAL)[2] or sentence


def reports(items: Iterable[Item]) -> dict[str, Report]:
    """Return Metacontroller's report on each Service, by uid: the newest, unless an earlier one explains more."""
    newest: dict[str, Report] = {}
    of_ours = (item for item in items if item.kind == EVENT and item.object.get("reason") == SYNC_ERROR)
    for report in sorted(map(report_of, of_ours)):
        # An abandoned request explains nothing, and a missing object explains less than an earlier rejected write.
        is_denied = report.uid in newest and _DENIED in newest[report.uid].sentence
        if report.uid and not report.sentence.endswith(_ENDED) and not (is_denied and missing_by(report.sentence)):
            newest[report.uid] = report
    return newest


def report_of(event: Item) -> Report:
    paths = ("lastTimestamp",), ("series", "lastObservedTime"), ("eventTime",), ("metadata", "creationTimestamp")
    time = next((time for path in paths if isinstance(time := at(event, *path), str)), "")
    subject = at(event, "involvedObject", "uid"), at(event, "involvedObject", "resourceVersion")
    uid, first, last = (str(text or "") for text in (*subject, event.metadata.get("resourceVersion")))
    return Report(time, str(event.object.get("message") or "").strip(), uid, (first, last))


def missing_by(report: str) -> set[Key]:
    """Return the objects that a report names as missing. The set is empty unless the reason is `not-made`."""
    return {*_KEY.findall(report)} if report.endswith(f"[{Reason.NOT_MADE}]") else set()
