"""Our commands adopt, release and re-adopt random clusters; after every write, everything is still served.

This covers answers, their protection, TLS, and renewed certificates. `pytest --thorough --clusters 1000 --seed 7
tests/moving` tries more clusters, or others. A failure names its seed.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import msgspec
import pytest
import yaml

from devcluster.api import INGRESSES, SERVICES, ApiError, Object
from devcluster.standin.children import controller_of
from ingress_manager.commands.plans import plan
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.core.settings_parser import parse
from tests.commands.commands import run
from tests.dumps import patched
from tests.e2e.objects import new
from tests.moving.model import Key, Model, key_of
from tests.moving.served import Facts, facts, requests_for

OF = yaml.safe_load(Path(__file__).with_name("drawn.yaml").read_bytes())


def drawn(chance: Random) -> Iterator[Object]:
    """Yield Services and Ingresses; some repeat the name of an earlier one."""
    claimed: set[tuple[str, str]] = set()
    for namespace in ("team-a", "team-b")[: chance.choice((1, 1, 2))]:
        hosts = chance.sample(OF["hosts"], 2)
        names = chance.sample(OF["services"], chance.randint(1, 4))
        services = [service(chance, namespace, name, hosts[0]) for name in names]
        ingresses = [ingress(chance, services, hosts, claimed) for _ in range(chance.randint(1, 3))]
        if chance.random() < 0.2:
            ingresses[-1]["spec"]["rules"] = ingresses[0]["spec"]["rules"]
        yield from chance.sample(services + ingresses, len(services) + len(ingresses))


def service(chance: Random, namespace: str, name: str, host: str) -> Object:
    """Return a Service with one or two ports, which sometimes asks for an Ingress already."""
    ports = [{"name": "http", "port": 80}, {"name": "admin", "port": 9090}][: chance.choice((1, 1, 2))]
    exposing = {"ingress/http": "true", "ingress/host": chance.choice((f"{name}.own.example.com", host))}
    exposing["ingress/path"] = chance.choice(OF["paths"])
    asked = chance.choice(({},) * 8 + (exposing, exposing, exposing | {"ingress/tls-secret": "own-cert"}))
    return new(SERVICES, name, namespace, {"annotations": asked}, spec={"ports": ports})


def ingress(chance: Random, services: Sequence[Object], hosts: Sequence[str], claimed: set[tuple[str, str]]) -> Object:
    """Return a hand-written Ingress, mostly for one Service and with its name. No other Ingress has its paths."""
    over = chance.sample(services, min(len(services), chance.choice((1, 1, 1, 1, 2, 2, 3))))
    namespace, name = (over[0]["metadata"][key] for key in ("namespace", "name"))
    used = ["", hosts[1]] if chance.random() < 0.06 else hosts
    rules: dict[str, list[Object]] = {}
    for target in over:
        port = chance.choice(target["spec"]["ports"])
        asked = chance.choice(({"number": port["port"]}, {"name": port["name"]}))
        backend = {"service": {"name": target["metadata"]["name"], "port": asked}}
        for host in used[: chance.choice((1, 1, 2))]:
            path = chance.choice(OF["paths"])
            while (host, path.rstrip("/")) in claimed:
                path = f"/{len(claimed)}{path}"
            claimed.add((host, path.rstrip("/")))
            kind = chance.choice(OF["pathTypes"])
            rules.setdefault(host, []).append({"path": path, "pathType": kind, "backend": backend})
    ruled = [({"host": host} if host else {}) | {"http": {"paths": paths}} for host, paths in rules.items()]
    spec: Object = {"rules": ruled, **chance.choice(OF["classes"])}
    if chance.random() < 0.5:
        named = [host for host in rules if host]
        wild = [{"hosts": [f"*.{host.partition('.')[2]}"], "secretName": "wild-cert"} for host in named[:1]]
        several = [{"hosts": [host], "secretName": f"cert-{number}"} for number, host in enumerate(named)]
        one: list[Object] = [{"hosts": named, "secretName": "cert"}]
        spec["tls"] = chance.choice((one, one, one, [{"secretName": "cert"}], wild, several))
    annotations = chance.choice([choice for alike in OF["annotations"] for choice in alike])
    label = chance.choice((name, name, f"{name}-a", f"{name}-b"))
    return new(INGRESSES, label, namespace, {"annotations": annotations}, spec=spec)


class Player(Model):
    """A cluster in memory, the commands, and the facts at the last write."""

    def __init__(self, seed: int, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.chance, self._settings_file, self._lines = Random(seed), folder / "settings.yaml", [f"seed {seed}"]
        self._settings_file.write_bytes(text := msgspec.yaml.encode(self.chance.choice(OF["settings"])))
        # For odd seeds, Metacontroller sees Services and Ingresses late, and not in the order of the writes.
        super().__init__(parse(text.decode()), Random(seed) if seed % 2 else None)
        # The number of writes so far, and the number of the write to disturb, with the kind of disturbance.
        self.writes, self.disturbed, self._is_watched = 0, (0, ""), True
        self._requests, self._served = list[tuple[str, str, str]](), Facts()
        for obj in drawn(self.chance):
            # Fails if Metacontroller has already created an Ingress with this name.
            with suppress(ApiError):
                self.create(INGRESSES, obj)
        self.react(fully=True)
        self.begin()
        patch.setattr(Kubectl, "run", lambda _, *words, stdin="": self.asked_for(words, stdin))
        # One plan after the other, so that the seed alone determines the result.
        patch.setattr(plan, "MOST_CONCURRENT", 1)
        patch.setattr(plan, "sleep", self.sleep)
        patch.setattr(plan, "monotonic", lambda: self.time)

    def __repr__(self) -> str:
        return "\n".join([self._lines[0], *self._lines[1:][-40:]])

    def begin(self) -> None:
        """Require everything that is served now to be served from now on."""
        self._requests, self._served = requests_for(self.all("Ingress")), Facts()
        self.written("begun")

    def written(self, done: str) -> None:
        if not self._is_watched:
            return
        now = facts(self.all("Service", "Ingress"), self._requests)
        lost = {key: was for key, was in self._served.items() if key not in now or not was <= now[key]}
        assert not lost, f"{done}: {[(*loss, now.get(loss[0])) for loss in lost.items()]}\n{self}"
        self._served = now

    def asked_for(self, words: tuple[str, ...], stdin: str) -> str:
        """Run kubectl.

        The disturbed write is refused, loses its answer, or comes after someone has added a password to all
        unmanaged Ingresses.
        """
        if words[0] == "get":
            return self.kubectl(*words)
        self.writes += 1
        self._lines.append(f"    kubectl {' '.join(words)}")
        how = self.disturbed[1] if self.writes == self.disturbed[0] else ""
        if how == "guarded":
            for key in sorted(self.ours(ours=False)):
                self._served = Facts()
                self.update(INGRESSES, patched(self.store[key], {"metadata": {"annotations": OF["guard"]}}))
            self.begin()
        printed = self.kubectl(*words, stdin=stdin) if how != "refused" else ""
        if how in {"refused", "answer lost"}:
            raise KubectlFailed("error: unexpected EOF")
        return printed

    def run(self, *words: str) -> int:
        """Run one of our commands some seconds after the last one; return its exit status."""
        self.react(fully=True)
        ended = run(*words, "--apply")
        self._lines += [f"$ ingress-manager {' '.join(words)}", *(f"    {line}" for line in ended.err.splitlines())]
        return ended.status

    def adopt(self) -> int:
        return self.run("adopt", "--all", "--all-namespaces", "--settings", str(self._settings_file))

    def recreate(self) -> None:
        """Delete all managed Ingresses; check that the recreated ones serve the same. Creation times are kept."""
        before = {key: self.store.pop(key) for key in self.ours()}
        self._is_watched = False
        self.react(fully=True)
        self._is_watched = True
        assert self.ours() == {*before}, self
        for key, obj in before.items():
            self.store[key]["metadata"]["creationTimestamp"] = obj["metadata"]["creationTimestamp"]
        self.written("recreated")

    def release(self) -> set[int]:
        return {self.run("release", "/".join(key_of(service)[1:])) for service in self.all("Service")}

    def ours(self, *, ours: bool = True) -> set[Key]:
        """Return the Ingresses that ingress-manager manages, or, with `ours=False`, the others."""
        return {key_of(ingress) for ingress in self.all("Ingress") if ours is bool(controller_of(ingress))}


def test_moving_loses_nothing(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, number, is_thorough = (request.config.getoption(option) for option in ("--seed", "--clusters", "--thorough"))
    for seed in range(first, first + (number if is_thorough else 20)):
        whole = Player(seed, tmp_path, monkeypatch)
        assert whole.adopt() in {0, 1}, whole
        remaining, writes = whole.ours(ours=False), whole.writes
        whole.recreate()
        assert whole.release() <= {0}, whole
        assert not whole.ours(), whole
        assert whole.adopt() in {0, 1}, whole
        player = Player(seed, tmp_path, monkeypatch)
        how = player.chance.choice(("refused", "answer lost", "guarded"))
        player.disturbed = (player.chance.randint(1, writes + 1), how)
        player.adopt()
        player.adopt()
        # The second run may adopt more, because the first has freed names.
        assert player.ours(ours=False) <= remaining or how == "guarded", player
        player.disturbed = (player.writes + player.chance.randint(1, 8), how)
        player.release()
        player.disturbed = (0, "")
        assert player.release() <= {0}, player
        assert not player.ours(), player
