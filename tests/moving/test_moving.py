"""Random clusters are moved in, out and in again by our commands; at every write, all that was served still is.

What is served: answers, what guards them, TLS, and the certificates that are renewed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
import pytest

from devcluster.api import INGRESSES, SERVICES, ApiError
from ingress_manager.commands.plans import carrying_out
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.core.settings import parse
from tests.commands.commands import run
from tests.moving.estates import Estate
from tests.moving.model import Model, is_ours, key_of, merged
from tests.moving.served import Facts, facts, lost, requests_for

GROUPS, AT_LEAST = 10, 2
"""Tests, into which the clusters are parted; and how many each moves in `make test`."""

Disturb = Callable[["Player", Callable[[], str]], str]
"""Does a write of a plan; before it or after it, it may raise, or let somebody else write."""


@pytest.fixture(params=range(GROUPS))
def seeds(request: pytest.FixtureRequest) -> range:
    """Return the seeds of the clusters of one test."""
    option = request.config.getoption
    count = option("--clusters") // GROUPS if option("--thorough") else AT_LEAST
    first = option("--seed") + request.param * count
    return range(first, first + count)


class Told(NamedTuple):
    """What to read when something is wrong."""

    seed: int
    lines: list[str]

    def __repr__(self) -> str:
        return "\n".join([f"seed {self.seed}", *self.lines[-40:]])


class Player:
    """A cluster in memory, the commands, and what was served at the last write."""

    def __init__(self, seed: int, settings: Path) -> None:
        self.estate, self.chance, self.settings = Estate(seed), Random(seed), settings
        settings.write_bytes(text := msgspec.yaml.encode(self.estate.settings))
        # Every other time, Metacontroller sees Services and Ingresses late, and not in the order of the writes.
        lagging = Random(seed) if seed % 2 else None
        self.model = Model(parse(text.decode()), lagging)
        self.disturb: dict[int, Disturb] = {}
        """What disturbs a write of a plan, by the number of the write."""

        self.writes = 0
        self.told: list[str] = []
        for each in self.estate.objects:
            # Where Metacontroller was first, nobody else's Ingress can have the name.
            with suppress(ApiError):
                self.model.create({"Service": SERVICES, "Ingress": INGRESSES}[each["kind"]], each, "somebody")
        self.model.react(fully=True)
        self.begin()
        self.model.written = self._written

    def begin(self) -> None:
        """Take what is served now for what has to be served from now on."""
        self.requests = requests_for(self.model.all("Ingress"))
        self.served = self._facts()

    def _facts(self) -> Facts:
        return facts(self.model.all("Service", "Ingress"), self.requests, host_first=self.estate.host_first)

    def _written(self, done: str) -> None:
        now = self._facts()
        gone = lost(self.served, now)
        assert not gone, "\n".join([f"seed {self.estate.seed}: {done}:", *gone[:5], *self.told[-40:]])
        self.served = now

    def kubectl(self, *words: str, stdin: str = "") -> str:
        """Run kubectl."""
        if words[0] == "get":
            return self.model.run(*words, stdin=stdin)
        self.writes += 1
        self.told.append(f"    kubectl {' '.join(words)}")
        if disturb := self.disturb.pop(self.writes, None):
            return disturb(self, lambda: self.model.run(*words, stdin=stdin))
        return self.model.run(*words, stdin=stdin)

    def run(self, *words: str) -> int:
        """Run a command of ours; return its exit status. Some seconds have gone by since the last one."""
        self.model.react(fully=True)
        self.told.append(f"$ ingress-manager {' '.join(words)}")
        ended = run(*words, "--apply")
        self.told += [f"    {line}" for line in ended.err.splitlines()]
        return ended.status

    def adopt(self) -> int:
        """Adopt all that is not ingress-manager's."""
        return self.run("adopt", "--all", "--all-namespaces", "--settings", str(self.settings))

    def release(self) -> set[int]:
        """Release all Services."""
        names = ["/".join(key_of(each)[1:]) for each in self.model.all("Service")]
        return {self.run("release", name) for name in names}

    def managed(self) -> list[str]:
        """Return the names of what is ingress-manager's."""
        return [each["metadata"]["name"] for each in self.model.all("Ingress") if is_ours(each)]


@contextmanager
def playing(seed: int, folder: Path) -> Iterator[Player]:
    """Yield a player whose commands work on the cluster of a seed."""
    player = Player(seed, folder / "settings.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kubectl, "run", lambda _, *words, stdin="": player.kubectl(*words, stdin=stdin))
        patch.setattr(carrying_out, "sleep", player.model.sleep)
        patch.setattr(carrying_out, "monotonic", lambda: player.model.time)
        yield player


def test_all_that_answers_answers_at_every_moment_of_moving_in_and_out(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        with playing(seed, tmp_path) as player:
            told = Told(seed, player.told)
            assert player.adopt() in {0, 1}, told
            assert player.release() <= {0}, told
            assert not player.managed(), told
            assert player.adopt() in {0, 1}, told


# What is cut off in the middle, and what somebody else does meanwhile.


def refused(_: Player, _write: Callable[[], str]) -> str:
    raise KubectlFailed("The connection to the server 127.0.0.1:6443 was refused")


def answer_lost(_: Player, write: Callable[[], str]) -> str:
    write()
    raise KubectlFailed("error: unexpected EOF")


def stopped(_: Player, write: Callable[[], str]) -> str:
    write()
    raise KeyboardInterrupt


def test_what_is_cut_off_loses_nothing_and_is_brought_to_its_end_by_another_run(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        with playing(seed, tmp_path) as player:
            player.adopt()
            whole, writes = player.managed(), player.writes
        with playing(seed, tmp_path) as player:
            told = Told(seed, player.told)
            cut = player.chance.choice((refused, answer_lost, stopped))
            player.disturb = {player.chance.randint(1, writes + 1): cut}
            player.adopt()
            player.adopt()
            assert player.managed() == whole, told
            player.disturb = {player.writes + player.chance.randint(1, 8): cut}
            player.release()
            player.disturb.clear()
            assert player.release() <= {0}, told
            assert not player.managed(), told


def guards(player: Player, write: Callable[[], str]) -> str:
    """Let somebody guard all Ingresses that are nobody's by a password; then go on."""
    watching, player.model.written = player.model.written, lambda _: None
    for each in player.model.all("Ingress"):
        if not is_ours(each):
            change = {"metadata": {"annotations": {"nginx.ingress.kubernetes.io/auth-url": "https://login/new"}}}
            player.model.update(INGRESSES, merged(each, change), "somebody")
    player.model.written = watching
    player.begin()
    return write()


def test_what_somebody_else_changes_meanwhile_stops_a_plan_and_loses_nothing(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        with playing(seed, tmp_path) as player:
            player.disturb = {player.chance.randint(1, 5): guards}
            player.adopt()
            player.adopt()
            player.disturb = {player.writes + player.chance.randint(1, 5): guards}
            player.release()
            player.disturb.clear()
            assert player.release() <= {0}, Told(seed, player.told)
            assert not player.managed(), Told(seed, player.told)
