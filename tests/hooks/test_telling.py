"""When a refusal is told. test_app.py has it as Metacontroller sees it; tests/e2e/test_promises.py, what it is for."""

from zlib import crc32

import pytest

from devcluster.sync_requests import body, service, sync_request
from hooks import telling
from hooks.sync import HOUR, decode
from hooks.telling import LATER_SECONDS, MISSING, Bucket, Memory
from ingress_manager.core.decide import RECHECK_SECONDS, RESYNC_SECONDS
from ingress_manager.core.kubernetes import Service

HALF = crc32(b"uid-0") + HOUR * 1000 + HOUR / 2
"""A time half an hour before and after the first Service is told what is wrong, as every hour."""

OLD = 3601.0
ASKED, TOLD = (200, None), (422, None)


def stored(number: int = 0) -> Service:
    """Return a Service of an API server."""
    parent = service({"ingress/http": "yes"})
    parent["metadata"] |= {"resourceVersion": "1", "uid": f"uid-{number}"}
    return decode(body(sync_request(parent))).object


def test_a_bucket_fills_again_and_the_one_of_longest_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "MOST_KEYS", 2)
    made, two = Memory(), Bucket("two", 2, 0.5)
    assert [made.take(two, "a", at) for at in (0, 0, 0, 1, 2, 2, 100, 100, 100)] == [1, 1, 0, 0, 1, 0, 1, 1, 0]
    assert not made.take(two, "a", 50), "a clock that goes back fills nothing"
    assert made.take(two, "b", 100)
    assert made.take(two, "c", 100)
    assert made.take(two, "a", 100), "it was forgotten"


def test_each_refusal_is_told_once_in_an_hour_and_they_are_spread_over_it() -> None:
    """Three thousand at once would be a quarter of an hour's attempts; here each asks again when it is told to."""
    told, memory = [], Memory()
    for number in range(300):
        asking, now, start = stored(number), 1_000_000.0, 1_000_000.0
        while (later := memory.of_refused(asking, OLD, now)[1]) is not None:
            assert later <= RESYNC_SECONDS.stop, "changed settings reach it"
            now += later
        told.append(now - start)
        assert memory.of_refused(asking, OLD, now + 0.1)[0] == 429, "once, however soon it is asked for again"
    assert max(told) < HOUR + 3
    minutes = [sum(60 * minute <= each < 60 * (minute + 1) for each in told) for minute in range(60)]
    assert max(minutes) < 20


def test_a_fresh_mistake_is_told_at_once_unless_much_was_told_in_its_namespace_and_to_a_person_always(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, asking = Memory(), stored()
    monkeypatch.setattr(telling, "NAMESPACE", Bucket("one", 1, 1))
    assert memory.of_refused(asking, 0, HALF) == TOLD
    assert memory.of_refused(stored(1), 0, HALF)[1] in RECHECK_SECONDS, "it was not told yet"
    assert memory.of_refused(asking, 0, HALF + 1)[1] in RESYNC_SECONDS, "it was told"
    assert memory.of_refused(stored(2), OLD, HALF + 9)[1] in RESYNC_SECONDS
    person = decode(body(sync_request(service({"ingress/http": "yes"})))).object
    assert memory.of_refused(person, 0, HALF) == TOLD


def test_what_is_not_there_is_told_once_it_was_asked_for_and_is_asked_for_in_between() -> None:
    memory, asking = Memory(), stored()
    found = [memory.of_missing(asking, age, HALF + age) for age in (0, 2, 6, 6, 12, 18, 40, 59, 61)]
    assert found == [ASKED, ASKED, TOLD, ASKED, ASKED, ASKED, TOLD, ASKED, ASKED]
    hour = HALF + HOUR / 2
    assert [memory.of_missing(asking, OLD, hour + each) for each in (-5, 0, 0.1, 3)] == [ASKED, TOLD, ASKED, ASKED]
    person = decode(body(sync_request(service({"ingress/http": "true"})))).object
    assert [memory.of_missing(person, 6, HALF) for _ in range(2)] == [ASKED, ASKED]


def test_what_is_asked_for_the_first_time_is_free_and_never_told_however_many_there_are() -> None:
    memory = Memory()
    answers = [memory.of_missing(stored(number), 30, HALF + number / 100) for number in range(3000)]
    assert {*answers} == {ASKED}


def test_what_is_asked_for_too_often_is_asked_for_later_and_once_in_five_minutes_always() -> None:
    memory, many = Memory(), [stored(number) for number in range(30)]
    first, second, third = ([memory.of_missing(each, age, HALF + age) for each in many] for age in (0, 1, 301))
    assert ([*first, *third], second[:20]) == ([ASKED] * 60, [ASKED] * 20)
    assert {(status, later in LATER_SECONDS) for status, later in second[20:]} == {(429, True)}
    memory.forget(MISSING, many[29].metadata.uid)
    assert memory.of_missing(many[29], 1, HALF + 302) == ASKED, "it was there in between"
