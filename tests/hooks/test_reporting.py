"""When refusals are reported, and how many attempts may fail. tests/e2e/test_promises.py shows the purpose."""

import heapq
import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from devcluster.sync_requests import Object, as_created, body, service, sync_request
from hooks import reporting
from hooks.reporting import LATER_SECONDS, REPEAT_SECONDS, Bucket, Buckets
from hooks.sync import Answer, answer
from ingress_manager.core.decide import RESYNC_SECONDS
from ingress_manager.core.settings import Limits, Settings

NOW, OLD = 1_800_000_000.0, 86_400.0
MISTAKE, RIGHT, OFF = {"ingress/http": "yes"}, {"ingress/http": "true"}, {"ingress/http": "false"}


def named(annotations: dict[str, str], uid: str = "u", version: str = "1", age: float = 0, now: float = NOW) -> Object:
    """Return a Service that was changed `age` seconds before `now`."""
    parent = service(annotations)
    changed = datetime.fromtimestamp(now - age, UTC).isoformat()
    parent["metadata"] |= {"uid": uid, "resourceVersion": version, "creationTimestamp": changed}
    return parent


def ingress_for(parent: Object) -> Object:
    return as_created(json.loads(answer(body(sync_request(parent)), Settings()).body)["attachments"][0], parent)


def ask(buckets: Buckets, parent: Object, now: float = NOW, *made: Object, settings: Settings | None = None) -> Answer:
    return buckets.throttle(answer(body(sync_request(parent, attached=[*made])), settings or Settings(), now), now)


def test_a_bucket_refills_and_the_least_recently_used_one_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "MOST_BUCKETS", 2)
    made, [a, b, c] = Buckets(), [Bucket(name, 2, 2) for name in "abc"]
    assert [made.take(at, a) for at in (0, 0, 0, 1, 2, 2, 100, 100, 100)] == [1, 1, 0, 0, 1, 0, 1, 1, 0]
    assert not made.take(50, a), "a clock that goes back fills nothing"
    assert not made.take(100, a, b), "all give one, or none does"
    assert [made.take(100, b) for _ in range(3)] == [1, 1, 0]
    assert made.take(100, c)
    assert made.take(100, a), "it was forgotten"


# A refusal is reported once, and again after an hour.


@pytest.mark.parametrize("age", [0, OLD])
def test_a_refusal_is_reported_again_after_an_hour(age: float) -> None:
    buckets, now, reported = Buckets(), NOW, []
    while now < NOW + 4 * 3600:
        answered = ask(buckets, named(MISTAKE, age=age), now)
        if answered.status == 422:
            reported.append(now)
        later = 0.005 if answered.retry_after is None else answered.retry_after
        assert later <= RESYNC_SECONDS.stop
        now += later
    gaps = [after - before for before, after in itertools.pairwise(reported)]
    assert (reported[0], len(gaps)) == (NOW, 4)
    assert all(REPEAT_SECONDS <= gap <= 3600 for gap in gaps)


def test_another_version_or_reason_is_reported_too() -> None:
    buckets = Buckets()
    versions = [ask(buckets, named(MISTAKE, version=version)).status for version in ("1", "1", "2")]
    limits = Settings(limits=Limits(hosts=("shop.example.org",)))
    assert versions == [422, 429, 422]
    assert ask(buckets, named(RIGHT, version="2"), settings=limits).status == 422


def test_after_a_start_old_refusals_are_reported_slowly_without_delaying_new_ones_or_removals() -> None:
    """Reporting ten thousand at once would use a quarter of an hour's attempts."""
    buckets, limits = Buckets(), Settings(limits=Limits(hosts=("shop.example.org",)))
    refused = [answer(body(sync_request(named(MISTAKE, f"{number}", age=OLD))), Settings()) for number in range(1000)]
    due, reported, end = [(NOW, number) for number in range(1000)], 0, NOW + 60
    heapq.heapify(due)
    while due[0][0] < end:
        now, number = heapq.heappop(due)
        answered = buckets.throttle(refused[number], now)
        if answered.retry_after is not None:
            heapq.heappush(due, (now + answered.retry_after, number))
        reported += answered.status == 422
    assert 50 < reported <= 10 + 5 * 60
    assert ask(buckets, named(MISTAKE, "new", now=end), end).status == 422
    mine = named(RIGHT, "mine", age=OLD)
    assert ask(buckets, mine, end, ingress_for(mine), settings=limits).status == 200
    assert ask(buckets, mine, end, settings=limits).status == 422


def test_a_namespace_that_is_full_of_refusals_delays_no_report_in_another() -> None:
    buckets, limits = Buckets(), Settings(limits=Limits(hosts=("shop.example.org",)))
    for number in range(300):
        for age in (0, OLD):
            ask(buckets, named(MISTAKE, f"{number}", age=age, now=NOW + number / 15), NOW + number / 15)
    other = named(RIGHT, "other", age=OLD)
    other["metadata"]["namespace"] = "team-b"
    assert ask(buckets, other, NOW + 20, ingress_for(other), settings=limits).status == 200
    assert ask(buckets, other, NOW + 20.1, settings=limits).status == 422


@pytest.mark.parametrize(("annotations", "status"), [(MISTAKE, 422), (RIGHT, 200)])
def test_a_person_always_gets_the_same_answer(annotations: dict[str, str], status: int) -> None:
    buckets, parent = Buckets(), named(annotations, version="")
    assert {ask(buckets, parent, NOW + number / 10).status for number in range(300)} == {status}


# Missing objects.


def test_missing_objects_are_requested_and_after_some_seconds_reported() -> None:
    buckets = Buckets()
    found = [ask(buckets, named(RIGHT), NOW + age).status for age in (0, 2, 6, 6, 9, 12, 300)]
    assert found == [200, 200, 422, 200, 200, 200, 200]
    assert ask(buckets, named(RIGHT), NOW + 302, ingress_for(named(RIGHT))).status == 200
    assert ask(buckets, named(RIGHT), NOW + 306).status == 200, "it was there, and is made again"
    late = [ask(buckets, named(RIGHT, "late"), NOW + age).status for age in (0, 2 * RESYNC_SECONDS.stop - 1)]
    assert late == [200, 422], "Metacontroller can be late for a resync"


def test_many_new_services_of_a_namespace_do_not_wait_if_they_get_what_they_ask_for() -> None:
    buckets = Buckets()
    parents = [named(RIGHT, f"{number}") for number in range(1000)]
    made = ingress_for(named(RIGHT))
    for start in range(0, len(parents), 100):
        some = parents[start : start + 100]
        assert {ask(buckets, parent).status for parent in some} == {200}
        assert {ask(buckets, parent, NOW, made).status for parent in some} == {200}


def test_attempts_that_go_on_failing_leave_tokens_to_reports_and_to_new_services() -> None:
    buckets = Buckets()
    for number in range(300):
        ask(buckets, named(RIGHT, f"{number % 30}"))
    for number in range(300):
        ask(buckets, named(MISTAKE, f"{number % 30}", f"{number}"))
    held = ask(buckets, named(RIGHT, "0"))
    assert (held.status, held.retry_after in LATER_SECONDS) == (429, True)
    assert ask(buckets, named(RIGHT, "new")).status == 200


# Each way of making Metacontroller fail.

Way = Callable[[int], tuple[Object, list[Object]]]


def in_turn(number: int, *turns: dict[str, str]) -> Object:
    """Return one of 20 Services, just changed, with these sets of annotations in turn."""
    uid, turn = divmod(number, len(turns))
    return named(turns[turn], f"{uid % 20}", f"{number}")


def moved(number: int) -> dict[str, str]:
    return RIGHT | {"ingress/host": f"h{number}.example.com"}


STANDING = [ingress_for(named(RIGHT))]
WAYS: dict[str, Way] = {
    "mistake": lambda number: (named(MISTAKE, f"{number % 20}", f"{number}", now=NOW + number / 20), []),
    "mistake, an hour later": lambda number: (named(MISTAKE, f"{number % 20}", f"{number}", OLD), []),
    "mistake, of new Services": lambda number: (named(MISTAKE, f"{number}", now=NOW + number / 20), []),
    "name taken": lambda number: (named(RIGHT, f"{number % 20}", f"{number // 500}"), []),
    "denied create, as by a quota": lambda number: (in_turn(number, RIGHT), []),
    "denied create, of new Services": lambda number: (named(RIGHT, f"{number}"), []),
    "denied create, in turn with none": lambda number: (in_turn(number, OFF, RIGHT), []),
    "denied update": lambda number: (in_turn(number, moved(number)), STANDING),
    "denied update, in turn with a right one": lambda number: (in_turn(number, RIGHT, moved(number)), STANDING),
    "denied delete": lambda number: (in_turn(number, OFF), STANDING),
    "denied delete, in turn with none": lambda number: (in_turn(number, OFF, RIGHT), STANDING),
    "unreadable": lambda number: (in_turn(number, RIGHT) | {"spec": {"ports": 1}}, []),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_tenant_whose_syncs_always_fail_delays_others_retries_by_less_than_ten_seconds(way: str) -> None:
    """Metacontroller's queue retries ten failed attempts per second, after a burst of a hundred."""
    buckets, tokens, longest, failed = Buckets(), 100.0, 0.0, 0
    for number in range(20 * 60):
        now = NOW + number / 20
        parent, attached = WAYS[way](number)
        answered = ask(buckets, parent, now, *attached)
        is_denied = bool(answered.attempt) and way != "name taken"
        fails = is_denied if answered.status == 200 else answered.status != 429
        failed += fails
        tokens = min(100.0, tokens + 10 / 20) - fails
        longest = max(longest, -tokens / 10)
    assert failed > 3, "the way fails"
    assert longest < 10, failed
