"""When a refusal is told. test_app.py has it as Metacontroller sees it; tests/e2e/test_promises.py, what it is for."""

from datetime import UTC, datetime
from zlib import crc32

import pytest

from devcluster.sync_requests import body, service, sync_request
from hooks import reporting
from hooks.reporting import LATER_SECONDS, Buckets
from hooks.sync import HOUR, answer
from ingress_manager.core.decide import RESYNC_SECONDS
from ingress_manager.core.settings import Settings

HALF = crc32(b"uid-0") + HOUR * 1000 + HOUR / 2
"""A time half an hour before and after the first Service is told what is wrong, as every hour."""

OLD = 3601.0
ASKED, TOLD = (200, None), (422, None)
Asked = tuple[int, int | None]


def ask(buckets: Buckets, http: str, age: float, now: float, number: int = 0) -> Asked:
    """Return the status for a Service that was changed `age` seconds ago and has nothing, and when to ask again."""
    parent = service({"ingress/http": http})
    changed = datetime.fromtimestamp(now - age, UTC).isoformat()
    parent["metadata"] |= {"resourceVersion": "1", "uid": f"uid-{number}", "creationTimestamp": changed}
    told = buckets.report(answer(body(sync_request(parent)), Settings(), now), now)
    return told.status, told.later


def test_a_bucket_fills_again_and_the_one_of_longest_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "MOST_BUCKETS", 2)
    made = Buckets()
    assert [made.take("a", at, 2, 2) for at in (0, 0, 0, 1, 2, 2, 100, 100, 100)] == [1, 1, 0, 0, 1, 0, 1, 1, 0]
    assert not made.take("a", 50, 2, 2), "a clock that goes back fills nothing"
    assert made.take("b", 100, 2, 2)
    assert made.take("c", 100, 2, 2)
    assert made.take("a", 100, 2, 2), "it was forgotten"


def test_each_refusal_is_told_once_in_an_hour_and_they_are_spread_over_it() -> None:
    """Three thousand at once would be a quarter of an hour's attempts; here each asks again when it is told to."""
    told, buckets = [], Buckets()
    for number in range(300):
        now = start = 1_000_000.0
        while (later := ask(buckets, "yes", OLD, now, number)[1]) is not None:
            assert later <= RESYNC_SECONDS.stop, "changed settings reach it"
            now += later
        told.append(now - start)
        assert ask(buckets, "yes", OLD, now + 0.1, number)[0] == 429, "once, however soon it is asked for again"
    assert max(told) < HOUR + 3
    minutes = [sum(60 * minute <= each < 60 * (minute + 1) for each in told) for minute in range(60)]
    assert max(minutes) < 20


def test_a_fresh_mistake_is_told_at_once_unless_much_was_told_in_its_namespace() -> None:
    buckets = Buckets()
    again = HALF + 0.005  # Metacontroller's, after each failure
    found = [[ask(buckets, "yes", 0, now, number) for now in (HALF, again)] for number in range(20)]
    assert [first for first, _ in found] == [TOLD] * 20
    assert {status for _, (status, _) in found} == {429}
    assert ask(buckets, "yes", 0, HALF, 20)[1] in LATER_SECONDS, "it was not told yet"
    assert ask(buckets, "yes", 0, HALF + 1)[1] in RESYNC_SECONDS, "it was told"
    assert ask(buckets, "yes", 10, HALF + 10, 20) == TOLD
    assert ask(buckets, "yes", OLD, HALF + 10, 21)[1] in RESYNC_SECONDS


@pytest.mark.parametrize(("http", "status"), [("yes", 422), ("true", 200)])
def test_to_a_person_the_answer_is_always_the_same(http: str, status: int) -> None:
    answered = answer(body(sync_request(service({"ingress/http": http}))), Settings(), HALF)
    buckets = Buckets()
    assert [buckets.report(answered, HALF + each).status for each in (0, 0, 6)] == [status] * 3


def test_what_is_not_there_is_told_once_it_was_asked_for_and_is_asked_for_in_between() -> None:
    buckets = Buckets()
    found = [ask(buckets, "true", age, HALF + age) for age in (0, 2, 6, 6, 9, 12, 59, 65)]
    assert found == [ASKED, ASKED, TOLD, ASKED, ASKED, TOLD, TOLD, ASKED]
    hour = HALF + HOUR / 2
    assert [ask(buckets, "true", OLD, hour + each) for each in (-300, 0, 0.1, 3)] == [ASKED, TOLD, ASKED, ASKED]


def test_what_is_asked_for_the_first_time_is_free_and_never_told_however_many_there_are() -> None:
    buckets = Buckets()
    assert {ask(buckets, "true", 30, HALF + number / 100, number) for number in range(3000)} == {ASKED}


def test_what_is_asked_for_too_often_is_asked_for_later_and_once_in_some_minutes_always() -> None:
    buckets = Buckets()
    first, second, third = (
        [ask(buckets, "true", age, HALF + age, number) for number in range(30)] for age in (0, 1, RESYNC_SECONDS.stop)
    )
    assert ([*first, *third], second[:20]) == ([ASKED] * 60, [ASKED] * 20)
    assert {(status, later in LATER_SECONDS) for status, later in second[20:]} == {(429, True)}
