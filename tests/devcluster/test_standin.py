"""The parts of the stand-in for Metacontroller that need no cluster: the merge, the queue, the contract, the writes.

The end-to-end tests show that all of it together acts as Metacontroller does: they run on both.
"""

import copy
import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcluster.api import INGRESSES, SERVICES, Api, ApiError, Object, Resource, wait_for
from devcluster.standin import children, informer
from devcluster.standin.contract import Spec, SyncAnswer, SyncError, Webhook, retry_after
from devcluster.standin.controller import Controller
from devcluster.standin.events import Recorder
from devcluster.standin.informer import Informer, Informers
from devcluster.standin.workqueue import TokenBucket, WorkQueue
from ingress_manager.commands.view import merge
from ingress_manager.core.observed import LAST_APPLIED

# The merge.


@dataclass
class Case:
    """One merge, and why it comes out as it does."""

    reason: str
    observed: Any
    last: Any
    desired: Any
    want: Any


CASES = [
    Case("Empty objects make an empty object.", {}, {}, {}, {}),
    Case("A desired field is added.", {"a": 1}, {}, {"b": 2}, {"a": 1, "b": 2}),
    Case("A desired field is set, whoever changed it.", {"a": 9}, {"a": 1}, {"a": 1}, {"a": 1}),
    Case("A field that is no longer desired is removed, whoever changed it.", {"a": 9}, {"a": 1}, {}, {}),
    Case("A field that was never applied is someone else's, and stays.", {"a": 9}, {}, {}, {"a": 9}),
    Case("A field removed by someone else is not missed.", {}, {"a": 1}, {}, {}),
    Case(
        "All that holds at any depth.",
        {"metadata": {"labels": {"ours": "x", "old": "x", "theirs": "x"}}},
        {"metadata": {"labels": {"ours": "1", "old": "1"}}},
        {"metadata": {"labels": {"ours": "2", "new": "2"}}},
        {"metadata": {"labels": {"ours": "2", "new": "2", "theirs": "x"}}},
    ),
    Case("An object no longer desired goes, with what others put in it.", {"a": {"b": 1}}, {"a": {}}, {}, {}),
    Case("A desired null in the place of a scalar is a value like any other.", {"a": 1}, {}, {"a": None}, {"a": None}),
    Case(
        "A desired null in the place of an object is an empty object.",
        {"a": {"b": 1, "c": 2}},
        {"a": {"b": 1}},
        {"a": None},
        {"a": {"c": 2}},
    ),
    Case("A scalar in the place of an object is dropped, as by Metacontroller.", {"a": {}}, {}, {"a": 5}, {"a": {}}),
    Case("An object can take the place of a scalar.", {"a": 1}, {}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    Case("A list of scalars is replaced.", {"l": [1, 2]}, {"l": [2]}, {"l": [3]}, {"l": [3]}),
    Case(
        "A list of mixed items is replaced.", {"l": [{"name": "a"}, 1]}, {}, {"l": [{"name": 1}]}, {"l": [{"name": 1}]}
    ),
    Case(
        "A list of objects that have no key in common is replaced.",
        {"l": [{"name": "a"}, {"other": "b"}]},
        {},
        {"l": [{"name": "c"}]},
        {"l": [{"name": "c"}]},
    ),
    Case(
        "The rules of an Ingress have no known key, so that a foreign rule goes.",
        {"rules": [{"host": "a.example.com"}, {"host": "foreign.example.com"}]},
        {"rules": [{"host": "a.example.com"}]},
        {"rules": [{"host": "b.example.com"}]},
        {"rules": [{"host": "b.example.com"}]},
    ),
    Case(
        "Its paths have one, but they lie within the rules, which are replaced as a whole.",
        {"rules": [{"host": "a", "http": {"paths": [{"path": "/a"}, {"path": "/foreign"}]}}]},
        {},
        {"rules": [{"host": "a", "http": {"paths": [{"path": "/b"}]}}]},
        {"rules": [{"host": "a", "http": {"paths": [{"path": "/b"}]}}]},
    ),
    Case(
        "A list with `path` in all items is merged by it: foreign items and fields stay, in their order.",
        {"paths": [{"path": "/theirs"}, {"path": "/old"}, {"path": "/ours", "kept": 1, "pathType": "Exact"}]},
        {"paths": [{"path": "/old"}, {"path": "/ours", "pathType": "Prefix"}]},
        {"paths": [{"path": "/new"}, {"path": "/ours", "pathType": "Prefix"}]},
        {"paths": [{"path": "/theirs"}, {"path": "/ours", "kept": 1, "pathType": "Prefix"}, {"path": "/new"}]},
    ),
    Case(
        "`port` comes before `name`: a port that is renamed is still the same item.",
        {"ports": [{"port": 80, "name": "web", "nodePort": 30080}]},
        {"ports": [{"port": 80, "name": "web"}]},
        {"ports": [{"port": 80, "name": "http"}]},
        {"ports": [{"port": 80, "name": "http", "nodePort": 30080}]},
    ),
    Case(
        "The key must be in the items that were last applied, too.",
        {"l": [{"name": "a"}, {"name": "theirs"}]},
        {"l": [{"unnamed": 1}]},
        {"l": [{"name": "a"}]},
        {"l": [{"name": "a"}]},
    ),
    Case(
        "Of a list merged by key, only what was applied goes.",
        {"l": [{"name": "a"}, {"name": "b"}]},
        {"l": [{"name": "a"}]},
        {"l": []},
        {"l": [{"name": "b"}]},
    ),
    Case(
        "An item that is there twice is changed twice.",
        {"l": [{"name": "a"}, {"name": "a"}]},
        {},
        {"l": [{"name": "a", "x": 1}]},
        {"l": [{"name": "a", "x": 1}, {"name": "a", "x": 1}]},
    ),
    Case("An empty list is filled.", {"l": []}, {}, {"l": [{"name": "a"}]}, {"l": [{"name": "a"}]}),
    Case("A plain list that is desired empty becomes empty.", {"l": [1]}, {"l": [1]}, {"l": []}, {"l": []}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.reason)
def test_a_merge(case: Case) -> None:
    given = copy.deepcopy(case)
    assert merge.merge(case.observed, case.last, case.desired) == case.want
    assert case == given, "what was given is not changed"


def objects(depth: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    """Objects whose fields have a type each, as Kubernetes objects have, and whose keyed lists name no item twice."""
    fields: dict[str, st.SearchStrategy[Any]] = {
        "a": st.integers(0, 2),
        "b": st.booleans(),
        "plain": st.lists(st.integers(0, 2)),
    }
    if depth:
        inner = objects(depth - 1)
        fields["object"] = inner
        fields["named"] = items("name", st.sampled_from("xyz"), inner)
        fields["ports"] = items("port", st.integers(80, 82), inner)
        fields["rules"] = st.lists(inner, max_size=2)
    return st.fixed_dictionaries({}, optional=fields)


def items(key: str, keys: st.SearchStrategy[Any], inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Lists of objects with that key."""
    item = st.builds(lambda name, rest: {key: name} | rest, keys, inner)
    return st.lists(item, max_size=3, unique_by=lambda item: item[key])


OBJECTS = objects()


@given(OBJECTS, OBJECTS, OBJECTS)
def test_merging_the_same_once_more_changes_nothing(observed: Any, last: Any, desired: Any) -> None:
    once = merge.merge(observed, last, desired)
    assert merge.same(merge.merge(once, desired, desired), once)


@given(OBJECTS, OBJECTS)
def test_what_was_never_applied_and_is_not_desired_stays(observed: Any, desired: Any) -> None:
    merged = merge.merge(observed, {}, desired)
    assert all(merge.same(merged[key], observed[key]) for key in observed.keys() - desired.keys())


# A whole object.

DESIRED: dict[str, Any] = {"metadata": {"name": "shop", "labels": {"a": "1"}}, "spec": {"class": "nginx"}}
STORED = merge.with_last_applied(DESIRED, DESIRED)
STORED = STORED | {"metadata": STORED["metadata"] | {"uid": "u", "resourceVersion": "7"}, "status": {"ip": "1.2.3.4"}}


def test_an_object_that_is_as_desired_is_not_changed() -> None:
    assert merge.same(merge.updated(STORED, DESIRED), STORED)


def test_system_fields_and_status_stay_as_observed_whatever_is_desired() -> None:
    greedy = DESIRED | {
        "metadata": DESIRED["metadata"] | {"uid": "x", "resourceVersion": "0", "generation": 9},
        "status": {"ip": "6.6.6.6"},
    }
    updated = merge.updated(STORED, greedy)
    assert (updated["metadata"]["uid"], updated["metadata"]["resourceVersion"]) == ("u", "7")
    assert "generation" not in updated["metadata"]
    assert updated["status"] == {"ip": "1.2.3.4"}
    assert "status" not in merge.updated({"metadata": {}}, greedy)


def test_the_annotation_records_what_was_applied_without_itself_in_the_bytes_that_go_writes() -> None:
    desired = {"metadata": {"name": "b", "annotations": {LAST_APPLIED: "old", "x": "<é&>\u2028"}}, "a": 1}
    updated = merge.updated({"metadata": {"name": "b"}}, desired)
    assert updated["metadata"]["annotations"][LAST_APPLIED] == (
        r'{"a":1,"metadata":{"annotations":{"x":"\u003cé\u0026\u003e\u2028"},"name":"b"}}'
    )
    assert json.loads(json.dumps(merge.last_applied(updated)))["metadata"]["annotations"] == {"x": "<é&>\u2028"}


def test_what_is_no_longer_desired_goes_by_the_annotation() -> None:
    updated = merge.updated(STORED, {"metadata": {"name": "shop"}})
    assert ("spec" in updated, "labels" in updated["metadata"]) == (False, False)


def test_an_annotation_that_is_not_json_is_an_error() -> None:
    with pytest.raises(ValueError, match="can't unmarshal"):
        merge.updated({"metadata": {"annotations": {LAST_APPLIED: "{nonsense"}}}, DESIRED)


def test_1_and_1_point_0_and_true_are_not_the_same() -> None:
    assert merge.same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not merge.same({"a": 1}, {"a": 1.0})
    assert not merge.same({"a": 1}, {"a": True})


# The queue.


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(clock: Clock) -> WorkQueue[str]:
    return WorkQueue(clock)


def taken(queue: WorkQueue[str]) -> list[str]:
    """Return all keys that are ready, and be done with them."""
    keys = list(iter(lambda: queue.get(wait=False), None))
    for key in keys:
        queue.done(key)
    return keys


def delay(queue: WorkQueue[str], clock: Clock) -> float:
    """Return after how many seconds the queue has a key, which is taken."""
    start = clock.time
    while not taken(queue):
        clock.time += 0.001
    return clock.time - start


def test_keys_come_in_the_order_added_each_once(queue: WorkQueue[str]) -> None:
    for key in "abab":
        queue.add(key)
    assert taken(queue) == ["a", "b"]


def test_a_key_added_while_being_worked_on_comes_once_more_when_that_is_done(queue: WorkQueue[str]) -> None:
    queue.add("a")
    assert queue.get() == "a"
    queue.add("a")
    queue.add("a")
    assert queue.get(wait=False) is None, "no second worker gets it"
    queue.done("a")
    assert taken(queue) == ["a"]
    assert taken(queue) == []


def test_a_key_added_for_later_comes_when_its_time_has_come(queue: WorkQueue[str], clock: Clock) -> None:
    queue.add_after("a", 2)
    clock.time += 1.9
    assert taken(queue) == []
    clock.time += 0.1
    assert taken(queue) == ["a"]


def test_of_several_times_for_a_key_the_earliest_counts(queue: WorkQueue[str], clock: Clock) -> None:
    for seconds in (3, 1, 2):
        queue.add_after("a", seconds)
    clock.time += 1
    assert taken(queue) == ["a"]
    clock.time += 10
    assert taken(queue) == []


def test_a_key_that_is_added_at_once_still_comes_later_too(queue: WorkQueue[str], clock: Clock) -> None:
    queue.add_after("a", 1)
    queue.add("a")
    assert taken(queue) == ["a"]
    clock.time += 1
    assert taken(queue) == ["a"]


def test_a_time_that_has_passed_is_now(queue: WorkQueue[str]) -> None:
    queue.add_after("a", -5)
    assert taken(queue) == ["a"]


def test_failures_of_a_key_double_its_delay_up_to_1000_seconds_until_forgotten(
    queue: WorkQueue[str], clock: Clock
) -> None:
    for failures in range(8):
        queue.add_rate_limited("a")
        assert delay(queue, clock) == pytest.approx(0.005 * 2**failures, abs=0.002)
    queue.add_rate_limited("b")
    assert delay(queue, clock) == pytest.approx(0.005, abs=0.002), "another key has its own"
    queue.forget("a")
    queue.add_rate_limited("a")
    assert delay(queue, clock) == pytest.approx(0.005, abs=0.002)
    for _ in range(80):
        queue.add_rate_limited("c")
        clock.time += 1000
        assert taken(queue) == ["c"]


def test_beyond_a_hundred_retries_at_once_all_keys_share_ten_a_second(queue: WorkQueue[str], clock: Clock) -> None:
    for number in range(120):
        queue.add_rate_limited(str(number))
    clock.time += 0.01
    assert len(taken(queue)) == 100
    clock.time += 1
    assert len(taken(queue)) == 10
    clock.time += 1
    assert len(taken(queue)) == 10


def test_a_stopped_queue_gives_out_nothing(queue: WorkQueue[str]) -> None:
    queue.add("a")
    queue.stop()
    assert queue.get() is None


@given(st.lists(st.sampled_from(["add a", "add b", "get", "done"])))
def test_no_key_is_worked_on_twice_at_once_and_none_is_lost(steps: list[str]) -> None:
    queue: WorkQueue[str] = WorkQueue(Clock())
    working: list[str] = []
    waiting: set[str] = set()
    for step in steps:
        if step.startswith("add"):
            queue.add(step[-1])
            waiting.add(step[-1])
        elif step == "done" and working:
            queue.done(working.pop(0))
        elif step == "get" and (key := queue.get(wait=False)):
            assert key in waiting
            assert key not in working
            waiting.remove(key)
            working.append(key)
    for key in working:
        queue.done(key)
    assert set(taken(queue)) == waiting


def test_a_bucket_gives_a_burst_and_then_its_rate(clock: Clock) -> None:
    bucket = TokenBucket(rate=0.5, burst=3, now=clock)
    assert [bucket.take() for _ in range(5)] == [True, True, True, False, False]
    clock.time += 2
    assert [bucket.take() for _ in range(2)] == [True, False]
    clock.time += 100
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


# The contract.


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("5", 5), ("Sat, 21 Nov 2026 10:00:30 GMT", 30), ("", 0), ("soon", 0), ("-1", -1)],
)
def test_retry_after_is_a_number_or_a_date(value: str, seconds: int) -> None:
    assert retry_after(value, lambda: datetime(2026, 11, 21, 10, 0, 0, 500, tzinfo=UTC)) == seconds


@pytest.mark.parametrize(
    ("timeout", "seconds"), [("5s", 5), ("1m30s", 90), ("250ms", 0.25), ("1.5s", 1.5), (None, 10), ("0s", 10)]
)
def test_a_timeout_is_written_as_in_go(timeout: str | None, seconds: float) -> None:
    assert Webhook(timeout=timeout).seconds() == seconds


def test_a_webhook_is_a_url_or_a_service_with_a_path() -> None:
    service = {"name": "hook", "namespace": "apps", "port": 8080}
    assert msgspec.convert({"url": "http://x/y", "service": service}, Webhook).address() == "http://x/y"
    webhook = msgspec.convert({"service": service, "path": "/sync"}, Webhook)
    assert webhook.address() == "http://hook.apps:8080/sync"
    with pytest.raises(ValueError, match="must specify either"):
        msgspec.convert({"service": service}, Webhook).address()


HOOK = {"version": "v2", "webhook": {"url": "http://127.0.0.1/sync"}}
RULE = {"apiVersion": "v1", "resource": "services"}


@pytest.mark.parametrize(
    ("kind", "document", "named"),
    [
        (Spec, {"resources": [RULE | {"annotationSelector": {}}], "hooks": {"sync": HOOK}}, "annotationSelector"),
        (Spec, {"resources": [RULE | {"ignoreStatusChanges": True}], "hooks": {"sync": HOOK}}, "ignoreStatusCh"),
        (Spec, {"resources": [RULE], "hooks": {"sync": HOOK, "finalize": HOOK}}, "finalize"),
        (Spec, {"resources": [RULE], "hooks": {"sync": HOOK, "customize": HOOK}}, "customize"),
        (Spec, {"resources": [RULE], "hooks": {"sync": HOOK | {"version": "v1"}}}, "v1"),
        (Spec, {"resources": [RULE], "hooks": {"sync": {"webhook": HOOK["webhook"]}}}, "version"),
        (SyncAnswer, {"attachments": [], "children": []}, "children"),
        (SyncAnswer, {"attachments": [1]}, "attachments"),
    ],
)
def test_what_the_stand_in_lacks_is_refused_by_name(kind: Any, document: Any, named: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=named):
        msgspec.json.decode(json.dumps(document), type=kind)


# What is written, and what becomes of an error. The API server is a fake here.

SERVICE: Object = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "shop", "namespace": "team-a", "uid": "11111111", "resourceVersion": "1"},
}
INGRESS: Object = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "Ingress",
    "metadata": {"name": "shop", "namespace": "team-a"},
}
OBSERVED = INGRESS | {"metadata": INGRESS["metadata"] | {"uid": "22222222", "resourceVersion": "2"}}
KEY = "Ingress.networking.k8s.io/v1"
DENIED = ApiError(
    403, "Forbidden", 'ingresses.networking.k8s.io "shop" is forbidden: Ingress team-a/shop is in the way'
)


class FakeApi:
    """An API server that holds one Service and answers every write with one error, or else takes it."""

    def __init__(self, error: ApiError | None = None) -> None:
        self.error = error
        self.tried: list[str] = []
        self.events: list[Object] = []

    def create(self, resource: Resource, obj: Object) -> Object:
        if resource.plural == "events":
            self.events.append(obj)
            return obj
        return self._write("create", obj)

    def update(self, _resource: Resource, obj: Object) -> Object:
        return self._write("update", obj)

    def delete(self, _resource: Resource, _name: str, _namespace: str | None, *, uid: str) -> bool:
        self._write(f"delete {uid}", {})
        return True

    def patch(self, _resource: Resource, _name: str, patch: Object, _namespace: str) -> Object:
        self.events.append(patch)
        return patch

    def discover(self, _api_version: str, plural: str) -> Resource:
        return SERVICES if plural == "services" else INGRESSES

    def request(self, _method: str, path: str) -> Object:
        return {"items": [SERVICE] if path.endswith("services") else [], "metadata": {"resourceVersion": "1"}}

    def watch(self, _resource: Resource, _version: str) -> Iterator[tuple[str, Object]]:
        threading.Event().wait()
        yield from ()

    def _write(self, verb: str, obj: Object) -> Object:
        self.tried.append(verb)
        if self.error:
            raise self.error
        return obj


def manage(error: ApiError, observed: list[Object], desired: list[Object]) -> None:
    """Make `desired` of `observed` while the API server answers with `error`."""

    def by_name(objects: list[Object]) -> dict[str, Object]:
        return {f"team-a/{obj['metadata']['name']}": obj for obj in objects}

    children.manage(
        cast("Api", FakeApi(error)), {INGRESSES: "InPlace"}, SERVICE, {KEY: by_name(observed)}, {KEY: by_name(desired)}
    )


CHANGED = INGRESS | {"spec": {"ingressClassName": "nginx"}}


@pytest.mark.parametrize(
    ("reason", "observed", "desired"),
    [
        ("AlreadyExists", [], [INGRESS]),
        ("NotFound", [OBSERVED], [CHANGED]),
        ("Conflict", [OBSERVED], [CHANGED]),
    ],
)
def test_an_error_that_metacontroller_only_logs_is_only_logged(
    caplog: pytest.LogCaptureFixture, reason: str, observed: list[Object], desired: list[Object]
) -> None:
    caplog.set_level(logging.INFO)
    manage(ApiError(409, reason, "the reason"), observed, desired)
    assert "not done: the reason" in caplog.text


@pytest.mark.parametrize(
    ("error", "observed", "desired", "text"),
    [
        (DENIED, [], [INGRESS], str(DENIED)),
        (ApiError(422, "Invalid", "Ingress is invalid"), [], [INGRESS], "Ingress is invalid"),
        (DENIED, [OBSERVED], [CHANGED], str(DENIED)),
        (ApiError(404, "NotFound", "namespace gone"), [], [INGRESS], "namespace gone"),
        (DENIED, [OBSERVED], [], f"can't delete Ingress team-a/shop: {DENIED}"),
        (ApiError(409, "Conflict", "another uid"), [OBSERVED], [], "can't delete Ingress team-a/shop: another uid"),
    ],
)
def test_any_other_error_of_the_api_server_is_raised_in_its_own_words(
    error: ApiError, observed: list[Object], desired: list[Object], text: str
) -> None:
    with pytest.raises(SyncError) as raised:
        manage(error, observed, desired)
    assert str(raised.value) == f"can't reconcile children for Service team-a/shop: {text}"


class Answering:
    """A hook that always gives the same answer."""

    def __init__(self, answer: SyncAnswer) -> None:
        self._answer = answer
        self.requests: list[Object] = []

    def ask(self, request: Object) -> SyncAnswer:
        self.requests.append(request)
        return self._answer


def at_work(api: FakeApi, hook: Answering, monkeypatch: pytest.MonkeyPatch) -> Controller:
    """Return a started controller that asks `hook`."""
    monkeypatch.setattr("devcluster.standin.controller.Hook", lambda _rule: hook)
    spec = {"resources": [RULE], "hooks": {"sync": HOOK}}
    spec["attachments"] = [
        {
            "apiVersion": "networking.k8s.io/v1",
            "resource": "ingresses",
            "updateStrategy": {"method": "InPlace"},
        }
    ]
    document = {"metadata": {"name": "ingress-manager"}, "spec": spec}
    typed = cast("Api", api)
    controller = Controller(document, typed, Informers(typed), Recorder(typed), workers=1)
    controller.start()
    return controller


def test_a_create_that_is_denied_is_an_event_and_is_tried_again_with_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    api, hook = FakeApi(DENIED), Answering(SyncAnswer(attachments=[INGRESS]))
    controller = at_work(api, hook, monkeypatch)
    wait_for(lambda: len(api.tried) >= 4)
    api.error = None
    wait_for(lambda: len(api.events) >= 4)
    controller.stop(5)
    first, *counted = api.events
    assert first["type"] == "Warning"
    assert first["reason"] == "SyncError"
    assert first["message"] == f"Sync error: can't reconcile children for Service team-a/shop: {DENIED}"
    assert [event["count"] for event in counted][:3] == [2, 3, 4]


def test_a_parent_is_synced_again_after_the_seconds_that_the_hook_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    hook = Answering(SyncAnswer(attachments=[], resync_after_seconds=0.05))
    controller = at_work(FakeApi(), hook, monkeypatch)
    wait_for(lambda: len(hook.requests) >= 3)
    controller.stop(5)
    assert hook.requests[0]["related"] == {}


def test_a_failed_sync_is_tried_again_no_later_than_the_hook_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metacontroller keeps one entry a parent in its queue, and of several times the earliest counts."""
    api, hook = FakeApi(DENIED), Answering(SyncAnswer(attachments=[INGRESS], resync_after_seconds=0.01))
    controller = at_work(api, hook, monkeypatch)
    # With back-off alone, the twelfth try would come after ten seconds.
    wait_for(lambda: len(api.tried) >= 12, timeout=5)
    controller.stop(5)


class BrokenOnce(FakeApi):
    """An API server whose first watch fails in a way that no client foresees."""

    def __init__(self) -> None:
        super().__init__()
        self.watches = 0

    def watch(self, resource: Resource, version: str) -> Iterator[tuple[str, Object]]:
        self.watches += 1
        if self.watches == 1:
            raise ValueError("unforeseen")
        return super().watch(resource, version)


def test_a_watch_goes_on_after_an_unforeseen_error_which_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(informer, "PAUSE", 0.01)
    api = BrokenOnce()
    Informer(cast("Api", api), SERVICES)
    wait_for(lambda: api.watches == 2)
    assert "unforeseen" in caplog.text
