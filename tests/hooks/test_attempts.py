"""When a refusal is told. A simulated Metacontroller asks, by a simulated clock, with the queue of client-go."""

import heapq
import itertools
import random
import tracemalloc
from collections.abc import Callable
from functools import partial

import msgspec
import pytest

from devcluster.sync_requests import service
from hooks.attempts import LATER_SECONDS, MOST_VERSIONS, ROOM, TOLD_MUCH, TOLD_SECONDS, UNDER_WAY_SECONDS, Attempts
from ingress_manager.core.decide import RESYNC_SECONDS
from ingress_manager.core.kubernetes import Service

MINUTE = 60.0


def refused(name: str, version: int = 1, namespace: str = "team-a") -> Service:
    made = service({"ingress/http": "yes"})
    made["metadata"] |= {"name": name, "namespace": namespace}
    made["metadata"] |= {"uid": f"{namespace}/{name}", "resourceVersion": f"{version}"}
    return msgspec.convert(made, Service)


class Engine:
    """Metacontroller's queue: each Service's own back-off, and ten failed attempts a second after a hundred at once.

    Source: client-go, DefaultTypedControllerRateLimiter. `replicas` of the hook are asked at random.
    """

    def __init__(self, replicas: int = 1, seed: int = 1) -> None:
        self.replicas = [Attempts() for _ in range(replicas)]
        self.now = 0.0
        self.told: list[tuple[float, str, int]] = []
        self.slowest = 0.0
        """The longest that an attempt has waited for others, beyond its own back-off."""

        self._random = random.Random(seed)  # noqa: S311 - a simulation
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, Callable[[], Service], bool]] = []
        self._failures: dict[str, int] = {}
        self._free_at = -10.0
        """When the bucket was, or will be, empty of what is owed: it holds a hundred."""

    def at(self, when: float, asks: Callable[[], Service], *, is_new: bool = True) -> None:
        """Ask about a Service, as it is by then."""
        heapq.heappush(self._waiting, (when, next(self._order), asks, is_new))

    def run(self, until: float) -> None:
        """Do all that comes until then."""
        while self._waiting and self._waiting[0][0] <= until:
            self.now, _, asks, is_new = heapq.heappop(self._waiting)
            self._ask(asks, is_new=is_new)
        self.now = until

    def _ask(self, asks: Callable[[], Service], *, is_new: bool) -> None:
        found = asks()
        uid, version = found.metadata.uid, int(found.metadata.resource_version)
        seconds = self._random.choice(self.replicas).later(found, self.now, is_new=is_new)
        if seconds is not None:
            self.at(self.now + seconds, asks, is_new=is_new)
            return
        self.told.append((self.now, uid, version))
        self._free_at = max(self._free_at, self.now - 10) + 0.1
        shared = max(0.0, self._free_at - self.now)
        own = min(0.005 * 2 ** self._failures.get(uid, 0), 1000)
        self.slowest = max(self.slowest, shared - own)
        self._failures[uid] = self._failures.get(uid, 0) + 1
        self.at(self.now + max(own, shared), asks, is_new=is_new)


def test_a_refusal_is_told_once_for_each_version_and_again_before_its_event_is_forgotten() -> None:
    engine = Engine()
    shop = lambda: refused("shop", 1 if engine.now < 20 * MINUTE else 2)  # noqa: E731
    engine.at(0, shop)
    engine.at(20 * MINUTE, shop)
    engine.run(130 * MINUTE)
    told = [(round(when / MINUTE), version) for when, _, version in engine.told]
    assert [version for _, version in told] == [1, 2, 2, 2]
    between = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(told[1:])]
    assert between == pytest.approx([53, 53], abs=3)


def test_while_it_is_told_metacontroller_asks_again_as_often_as_about_any_other_service() -> None:
    """So changed settings reach a refused Service in the same time."""
    later = partial(Attempts().later, is_new=True)
    assert later(refused("shop"), 0) is None
    assert later(refused("shop"), 0.005) in RESYNC_SECONDS
    assert later(refused("shop"), TOLD_SECONDS - 1) in RESYNC_SECONDS
    assert later(refused("shop"), TOLD_SECONDS) is None


def test_few_are_under_way_until_they_come_back_or_a_second_is_over_and_the_last_place_is_for_new_mistakes() -> None:
    attempts = Attempts()
    new, old = partial(attempts.later, is_new=True), partial(attempts.later, is_new=False)
    first, *others = [refused("shop", 1, f"n{number}") for number in range(ROOM)]
    assert [old(each, 0) is None for each in (first, *others)] == [True] * (ROOM - 1) + [False]
    assert new(others[-1], 0) is None
    assert new(refused("new"), 0.1) in LATER_SECONDS
    assert new(refused("shop", 2, "n1"), 0.1) in LATER_SECONDS, "another version of it says nothing"
    assert new(first, 0.2) in RESYNC_SECONDS
    assert old(refused("old"), 0.3) in LATER_SECONDS
    assert new(refused("new"), 0.3) is None
    assert new(refused("newest"), 0.9) in LATER_SECONDS
    assert new(refused("newest"), UNDER_WAY_SECONDS) is None


@pytest.mark.parametrize("told", [TOLD_MUCH - 1, TOLD_MUCH])
def test_a_namespace_that_was_told_much_leaves_the_last_place_to_others(told: int) -> None:
    attempts = Attempts()
    new, old = partial(attempts.later, is_new=True), partial(attempts.later, is_new=False)
    for number in range(told):
        assert [new(refused(f"s{number}"), 0) is None for _ in range(2)] == [True, False], "told, and come back"
    assert [old(refused("shop", 1, f"n{number}"), 0) for number in range(ROOM - 1)] == [None] * (ROOM - 1)
    assert (new(refused("last"), 0) is None) == (told < TOLD_MUCH)
    assert (new(refused("of-another", 1, "n"), 0) is None) == (told == TOLD_MUCH)


@pytest.mark.parametrize("replicas", [pytest.param(1, marks=pytest.mark.thorough), 2])
def test_who_patches_refused_services_as_fast_as_the_api_server_lets_them_delays_nobody(replicas: int) -> None:
    engine = Engine(replicas)
    for number in range(183 * 120):
        engine.at(number / 183, partial(refused, f"s{number % 12}", number, "attacker"))
    engine.at(60, lambda: refused("shop"))
    engine.run(120)
    assert told_first(engine)["team-a/shop"] == 60
    assert engine.slowest < 1


@pytest.mark.parametrize(("replicas", "namespaces"), [pytest.param(1, 1, marks=pytest.mark.thorough), (2, 50)])
def test_5000_services_that_are_refused_at_once_are_told_within_15_minutes_and_nobody_else_waits(
    replicas: int, namespaces: int
) -> None:
    """Each replica is asked at random: often about what another one has told."""
    engine = Engine(replicas)
    for number in range(5000):
        engine.at(number / 1000, partial(refused, f"s{number}", 1, f"team-{number % namespaces}"), is_new=False)
    for when in (1, 10, 300):
        engine.at(when, partial(refused, f"at-{when}", 1, "another"))
    engine.run(15 * MINUTE)
    told = told_first(engine)
    assert len(told) == 5003
    assert [told[f"another/at-{when}"] - when < 1 for when in (1, 10, 300)] == [True] * 3
    assert engine.slowest < 1


def told_first(engine: Engine) -> dict[str, float]:
    """Return when each Service was told first, by its uid."""
    return {uid: when for when, uid, _ in reversed(engine.told)}


def test_few_versions_of_a_service_a_minute_are_answered_while_what_it_should_have_is_not_there() -> None:
    """Each would be one more write that a quota, a taken name or somebody's admission denies."""
    attempts = Attempts()
    answered = [version for version in range(3000) if attempts.not_made(refused("shop", version), version / 10) is None]
    assert answered[:MOST_VERSIONS] == [*range(MOST_VERSIONS)]
    assert len(answered) < 7 * MOST_VERSIONS, "in five minutes"
    assert attempts.not_made(refused("shop", answered[-1]), 300) is None, "Metacontroller tries it again"
    assert attempts.not_made(refused("shop", 3000), 300) in LATER_SECONDS
    assert attempts.not_made(refused("other"), 300) is None
    assert attempts.not_made(refused("shop", 3000), 360) is None


def test_what_is_remembered_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hooks.attempts.MOST_SERVICES", 2)
    monkeypatch.setattr("hooks.attempts.MOST_NAMESPACES", 1)
    later = partial(Attempts().later, is_new=True)
    services = [refused("shop", 1, f"n{number}") for number in range(3)]
    assert [later(each, 0) for each in services] == [None] * 3
    assert [later(each, 2) is None for each in reversed(services)] == [False, False, True]


def test_what_is_remembered_of_a_forged_service_takes_no_room_however_long_its_texts_are() -> None:
    """Whoever reaches the hook's port can send them."""
    attempts = Attempts()
    tracemalloc.start()
    try:
        for number in range(30):
            forged = refused("n" * 100_000, number, f"{number}{'s' * 100_000}")
            assert attempts.later(forged, number, is_new=True) is None
            del forged
        remembered, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert remembered < 100_000
