"""Events about objects, as client-go's recorder writes them: a repeated one is counted."""

import logging
import threading
import time
from datetime import UTC, datetime
from typing import Literal

from devcluster.api import EVENTS, Api, ApiError, Object
from devcluster.standin.objects import SELF

log = logging.getLogger(__name__)


class Recorder:
    """Writes Events, and remembers those that it wrote."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._lock = threading.Lock()
        self._events: dict[tuple[str, ...], Object] = {}

    def record(self, about: Object, kind: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Write an Event about an object, or count it in the one that says the same. A failure is only logged."""
        log.info("event %s %s: %s", about["metadata"]["name"], reason, message)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        with self._lock:
            key = (about["metadata"]["uid"], kind, reason, message)
            event = self._events.setdefault(key, {"count": 0, **_event(about, now)})
            event |= {"type": kind, "reason": reason, "message": message}
            event |= {"count": event["count"] + 1, "lastTimestamp": now}
            event = dict(event)
        try:
            self._write(event)
        except ApiError as error:
            log.warning("event not written: %s", error)

    def _write(self, event: Object) -> None:
        metadata = event["metadata"]
        if event["count"] > 1:
            counted = {field: event[field] for field in ("count", "lastTimestamp")}
            try:
                self._api.patch(EVENTS, metadata["name"], counted, metadata["namespace"])
                return
            except ApiError as error:
                if error.status != 404:  # 404: it has expired, so it is written again
                    raise
        self._api.create(EVENTS, event)


def _event(about: Object, now: str) -> Object:
    names = {k: v for k, v in about["metadata"].items() if k in {"namespace", "name", "uid", "resourceVersion"}}
    return {
        "metadata": {"name": f"{names['name']}.{time.time_ns():x}", "namespace": names.get("namespace", "default")},
        "involvedObject": {"apiVersion": about["apiVersion"], "kind": about["kind"], **names},
        "source": {"component": SELF},
        "reportingComponent": SELF,
        "firstTimestamp": now,
    }
