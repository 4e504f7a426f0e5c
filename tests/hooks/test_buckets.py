"""When a refusal is told. tests/e2e/test_promises.py shows what that is for."""

from zlib import crc32

import pytest

from devcluster.sync_requests import body, service, sync_request
from hooks import buckets
from hooks.buckets import FRESH_SECONDS, HOUR, Buckets, retry_after
from hooks.gunicorn_conf import post_request
from hooks.sync import decode
from ingress_manager.core.decide import RECHECK_SECONDS, RESYNC_SECONDS
from ingress_manager.core.kubernetes import Service

FULL = Buckets(size=1000, rate=1)


def stored(number: int = 0) -> Service:
    """Return a Service of an API server."""
    parent = service({"ingress/http": "yes"})
    parent["metadata"] |= {"resourceVersion": "1", "uid": f"uid-{number}"}
    return decode(body(sync_request(parent))).object


def test_a_bucket_fills_again_and_the_one_of_longest_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "MOST_KEYS", 2)
    made = Buckets(size=2, rate=0.5)
    assert [made.take("a", at) for at in (0, 0, 0, 1, 2, 2, 100, 100, 100)] == [1, 1, 0, 0, 1, 0, 1, 1, 0]
    assert not made.take("a", 50), "a clock that goes back fills nothing"
    assert made.take("b", 100)
    assert made.take("c", 100)
    assert made.take("a", 100), "it was forgotten"


def test_each_refusal_is_told_once_in_an_hour_and_they_are_spread_over_it() -> None:
    """Three thousand at once would be a quarter of an hour's attempts; here each asks again when it is told to."""
    told = []
    for number in range(300):
        asking, now, start = stored(number), 1_000_000.0, 1_000_000.0
        while (later := retry_after(asking, 0, now, FULL, FULL)) is not None:
            assert later <= RESYNC_SECONDS.stop, "changed settings reach it"
            now += later
        told.append(now - start)
    assert max(told) < HOUR + 3
    minutes = [sum(60 * minute <= each < 60 * (minute + 1) for each in told) for minute in range(60)]
    assert max(minutes) < 20


def test_a_fresh_mistake_is_told_at_once_unless_much_was_told_in_its_namespace_and_to_a_person_always() -> None:
    of_versions, of_namespaces, asking = Buckets(size=1, rate=0), Buckets(size=0, rate=0), stored()
    now = crc32(b"uid-0") + HOUR * 1000 + HOUR / 2
    assert retry_after(asking, now, now, of_versions, of_namespaces) in RECHECK_SECONDS
    assert retry_after(asking, now, now, of_versions, FULL) is None, "it was not told yet"
    assert retry_after(asking, now, now, of_versions, FULL) in RESYNC_SECONDS, "it was"
    assert retry_after(asking, now - FRESH_SECONDS, now, FULL, of_namespaces) in RESYNC_SECONDS
    person = decode(body(sync_request(service({"ingress/http": "yes"})))).object
    assert retry_after(person, 0, now, of_versions, of_namespaces) is None


def test_after_each_request_others_have_their_turn() -> None:
    post_request(None, None, None, None)
