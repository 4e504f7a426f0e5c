"""No move takes away what answers: random clusters, moved in, out, in again and uninstalled by the commands.

At every write, of a plan or of Metacontroller, the reference matcher says what is served, and all that was served
before it still is: answers, what guards them, TLS, and the certificates that are renewed.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from devcluster.api import INGRESSES, SERVICES
from devcluster.sync_requests import Object
from ingress_manager.commands.reading.kubectl import KubectlFailed
from tests.e2e.objects import backend, new
from tests.moving import plans
from tests.moving.clusters import draw
from tests.moving.moves import Disturb, Player, playing
from tools.golden import Case

GROUPS = 20
"""Tests, into which the clusters are parted."""


@pytest.fixture(params=range(GROUPS))
def seeds(request: pytest.FixtureRequest) -> range:
    """Return the seeds of the clusters of one test."""
    return range(request.param, request.config.getoption("--clusters"), GROUPS)


def ours(player: Player) -> set[str]:
    """Return the Ingresses that are ingress-manager's."""
    return {"/".join(place[1:]) for place in player.managed() if place[0] == INGRESSES.plural}


def told(player: Player) -> str:
    """Return what to read when something is wrong."""
    return "\n".join([f"seed {player.cluster.seed}, {player.cluster.kind}", *player.commands])


# What the cases don't cover, the tests of the commands do, and measuring takes as long again.
@pytest.mark.thorough
@pytest.mark.no_cover
def test_all_that_answers_answers_at_every_moment_of_moving_in_and_out(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        # Every other time, Metacontroller sees Services and Ingresses late, and not in the order of the writes.
        with playing(draw(seed), lagging=seed % 2 == 1) as player:
            move_in_and_out(player, tmp_path)


def move_in_and_out(player: Player, folder: Path) -> None:
    """Adopt all, release it, adopt it again, and uninstall."""
    assert player.adopt() <= {0, 1}, told(player)
    assert player.release() <= {0}, told(player)
    assert not player.managed(), told(player)
    assert player.adopt() <= {0, 1}, told(player)
    assert player.uninstall(folder) == {0}, told(player)
    assert not player.managed(), told(player)


@pytest.mark.parametrize("case", plans.cases(), ids=lambda case: case.name)
def test_the_plan_for_a_cluster_is_as_the_case_says_and_loses_nothing(case: Case, tmp_path: Path) -> None:
    assert case.stated["why"]
    assert plans.plan_of(case) == case.stated["becomes"]
    # Some controllers look for a path only under the host that fits best, and some go on.
    for host_first in (False, True):
        with playing(plans.cluster_of(case, host_first=host_first)) as player:
            move_in_and_out(player, tmp_path)


@pytest.mark.parametrize("case", plans.cases(), ids=lambda case: case.name)
def test_a_plan_does_as_a_script_what_apply_does(case: Case, tmp_path: Path) -> None:
    with playing(plans.cluster_of(case)) as player:
        player.adopt()
        applied = player.managed()
    with playing(plans.cluster_of(case)) as player:
        printed = player.run("adopt", "--all", "--all-namespaces").out
        assert player.script(printed, tmp_path) == 0, told(player)
        assert player.managed() == applied


# What is cut off in the middle.


def refused(_: Callable[[], str]) -> str:
    raise KubectlFailed("The connection to the server 127.0.0.1:6443 was refused")


def answer_lost(write: Callable[[], str]) -> str:
    write()
    raise KubectlFailed("error: unexpected EOF")


def stopped(_: Callable[[], str]) -> str:
    raise KeyboardInterrupt


def stopped_late(write: Callable[[], str]) -> str:
    write()
    raise KeyboardInterrupt


FEWEST_OF_UNINSTALLING = 7
"""Writes, where nothing has been made: a cut that comes later would meet the next run."""

CUTS = (refused, answer_lost, stopped, stopped_late)


def at(player: Player, number: int, disturb: Disturb) -> Disturb:
    """Return what disturbs the write of that number from now on, counted from 1, and does the others."""
    player.writes = 0
    return lambda write: disturb(write) if player.writes == number else write()


@pytest.mark.thorough
@pytest.mark.no_cover
def test_what_is_cut_off_loses_nothing_and_is_brought_to_its_end_by_another_run(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        chance = Random(seed)
        with playing(draw(seed)) as player:
            player.adopt()
            writes, whole = player.writes, ours(player)
        with playing(draw(seed), lagging=seed % 2 == 1) as player:
            cut = chance.choice(CUTS)
            number = chance.randint(1, writes + 1)
            player.disturb = at(player, number, cut)
            assert 2 in player.adopt() or number > writes, told(player)
            player.adopt()
            assert ours(player) == whole, told(player)
            player.disturb = at(player, chance.randint(1, 8), cut)
            player.release()
            assert player.release() <= {0}, told(player)
            assert not player.managed(), told(player)
            player.adopt()
            player.disturb = at(player, chance.randint(1, FEWEST_OF_UNINSTALLING), cut)
            player.uninstall(tmp_path)
            assert player.uninstall(tmp_path) == {0}, told(player)
            assert not player.managed(), told(player)


# What somebody else does meanwhile.


class Stranger:
    """Somebody who writes between two steps of a plan."""

    def __init__(self, player: Player, chance: Random) -> None:
        self.player, self.model, self.chance = player, player.model, chance
        self.deeds: tuple[Callable[[], str], ...] = (self.edits, self.guards, self.ends, self.moves)

    def disturb(self, write: Callable[[], str]) -> str:
        """Change something, then let the plan go on. What is served after the change has to be served from then on."""
        watching, self.model.written = self.model.written, lambda _: None
        deed = self.chance.choice(self.deeds)
        done = deed()
        self.model.written = watching
        self.player.commands.append(f"  somebody {done}")
        self.player.begin_anew(kept=deed in {self.deletes, self.replaces})
        return write()

    def _ingress(self) -> Object:
        """Return an Ingress that is nobody's, or one that it makes now."""
        managed = self.player.managed()
        free = [
            each
            for each in self.model.all(INGRESSES)
            if (INGRESSES.plural, each["metadata"]["namespace"], each["metadata"]["name"]) not in managed
        ]
        return self.chance.choice(free) if free else self._made("team-a", "another")

    def _made(self, namespace: str, name: str) -> Object:
        path = {"path": "/another", "pathType": "Prefix", "backend": backend("shop", 80)}
        spec = {"ingressClassName": "nginx", "rules": [{"host": "www.example.com", "http": {"paths": [path]}}]}
        self.model.create(INGRESSES, new(INGRESSES, name, namespace, {}, spec=spec), by="somebody")
        return self.model.store[INGRESSES.plural, namespace, name]

    def edits(self) -> str:
        """Add a host to an Ingress."""
        found = self._ingress()
        rules = found["spec"].get("rules") or [{"http": {"paths": []}}]
        added = {"host": "new.example.net", "http": rules[0]["http"]}
        self.model.update(INGRESSES, {**found, "spec": {**found["spec"], "rules": [*rules, added]}}, by="somebody")
        return f"adds a host to {found['metadata']['name']}"

    def guards(self) -> str:
        """Let an Ingress ask for a password."""
        found = self._ingress()
        asking = {"nginx.ingress.kubernetes.io/auth-url": "https://login.example.com/new"}
        annotations = {**found["metadata"].get("annotations", {}), **asking}
        self.model.update(INGRESSES, {**found, "metadata": {**found["metadata"], "annotations": annotations}})
        return f"guards {found['metadata']['name']}"

    def deletes(self) -> str:
        """Delete an Ingress."""
        metadata = self._ingress()["metadata"]
        self.model.delete(INGRESSES, metadata["name"], metadata["namespace"], by="somebody")
        return f"deletes {metadata['name']}"

    def replaces(self) -> str:
        """Delete an Ingress, and make another one of its name."""
        metadata = self._ingress()["metadata"]
        self.model.delete(INGRESSES, metadata["name"], metadata["namespace"], by="somebody")
        place = (INGRESSES.plural, metadata["namespace"], metadata["name"])
        if place not in self.model.store:
            self._made(metadata["namespace"], metadata["name"])
        return f"makes {metadata['name']} anew"

    def ends(self) -> str:
        """Delete a Service."""
        if not (services := self.model.all(SERVICES)):
            return "has no Service to delete"
        metadata = self.chance.choice(services)["metadata"]
        self.model.delete(SERVICES, metadata["name"], metadata["namespace"], by="somebody")
        self.model.react(fully=True)
        return f"deletes Service {metadata['name']}"

    def moves(self) -> str:
        """Give a Service another port in the place of those that it has."""
        if not (services := self.model.all(SERVICES)):
            return "has no Service to change"
        found = self.chance.choice(services)
        spec = {**found["spec"], "ports": [{"name": "web", "port": 8081}]}
        self.model.update(SERVICES, {**found, "spec": spec}, by="somebody")
        self.model.react(fully=True)
        return f"gives Service {found['metadata']['name']} another port"


@pytest.mark.thorough
@pytest.mark.no_cover
def test_what_somebody_else_changes_meanwhile_stops_a_plan_with_a_sentence(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        chance = Random(seed)
        with playing(draw(seed), lagging=seed % 2 == 1) as player:
            stranger = Stranger(player, chance)
            with_names_free = stranger.deeds, (*stranger.deeds, stranger.deletes, stranger.replaces)
            stranger.deeds = with_names_free[1]
            player.disturb = at(player, chance.randint(1, 5), stranger.disturb)
            player.adopt()
            player.adopt()
            # A Service whose name is free again is given its Ingress, which goes when the Service is released.
            stranger.deeds = with_names_free[0]
            player.disturb = at(player, chance.randint(1, 5), stranger.disturb)
            player.release()
            assert player.release() <= {0}, told(player)
            player.disturb = at(player, chance.randint(1, 5), stranger.disturb)
            player.uninstall(tmp_path)
            assert player.uninstall(tmp_path) == {0}, told(player)
            assert not player.managed(), told(player)
