"""Plays moves in a cluster in memory by our commands, as a person runs them, and watches what is served meanwhile."""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec
import pytest

from devcluster.api import HTTPROUTES, INGRESSES, SERVICES, ApiError
from devcluster.manifests import rendered
from devcluster.standin.objects import controller_of
from devcluster.sync_requests import Object
from ingress_manager.commands.plans import carrying_out
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.core.observed import DECORATOR
from ingress_manager.core.settings import parse
from tests.commands.commands import Ended, run
from tests.moving.clusters import Cluster
from tests.moving.matcher import Facts, Probe, facts, lost, probes_of
from tests.moving.model import Model, Place

Disturb = Callable[[Callable[[], str]], str]
"""Does a write of a plan; before it or after it, it may raise, or let somebody else write."""


class LostError(AssertionError):
    """Something was served, and is no more."""


class Player:
    """A cluster in memory, the commands, and what was served at the last write."""

    def __init__(self, cluster: Cluster, *, lagging: bool = False) -> None:
        text = msgspec.yaml.encode(cluster.settings).decode()
        self.model = Model(parse(text), httproutes=cluster.makes_httproutes, address=cluster.address)
        self.cluster = cluster
        self.disturb: Disturb = lambda write: write()
        self.commands: list[str] = []
        """What has run, for whoever reads of a failure."""

        self.writes = 0
        """Of plans."""

        self._install(text)
        # What follows has the same uids however much is installed.
        self.model.count = 5000
        for each in cluster.objects:
            # Where Metacontroller was first, nobody else's Ingress can have the name.
            with suppress(ApiError):
                self.model.create({"Service": SERVICES, "Ingress": INGRESSES}[each["kind"]], each, by="somebody")
        self.model.chance = Random(cluster.seed) if lagging else None
        self.probes: list[Probe] = []
        self.served: Facts = {}
        self.began: Facts = {}
        """What was served when the command began."""

        self.earlier: Facts = {}
        """What was served before somebody else has changed something."""

        self.exempt: set[object] = set()
        self.begin_anew()
        self.model.written = self._written

    def _install(self, settings: str) -> None:
        """Create what is installed of ingress-manager, as far as the model knows its kinds."""
        kinds = {kind.kind: kind for kind in self.model.kinds}
        for each in (*rendered("manifests"), *rendered("metacontroller")):
            if each["kind"] in kinds and each["kind"] not in {"Service", "Ingress"}:
                made = {**each, "data": {"settings.yaml": settings}} if each["kind"] == "ConfigMap" else each
                self.model.create(kinds[each["kind"]], made, by="make install")

    def begin_anew(self, *, kept: bool = False) -> None:
        """Take what is served now for what has to be served from now on.

        With `kept`, but for what wasn't served before: Metacontroller has made it of what somebody's deed has freed.
        """
        self.earlier = self.served
        self.probes = probes_of(self.objects)
        self.served = self.began = self._facts()
        self.exempt = {key for key, now in self.served.items() if kept and now != self.earlier.get(key)}

    @property
    def objects(self) -> list[Object]:
        """Return what a controller reads."""
        return self.model.all(SERVICES, INGRESSES, HTTPROUTES)

    def _facts(self) -> Facts:
        return facts(self.objects, self.probes, host_first=self.cluster.host_first)

    def _written(self, done: str) -> None:
        now = self._facts()
        # A plan that had begun before somebody's deed may bring back what there was.
        is_back = {key for key, was in self.earlier.items() if was and was <= now.get(key, frozenset())}
        # One HTTPRoute of a plan can answer for some seconds what the next one of it is to answer.
        served = self.served | {key: was for key, was in self.began.items() if "/" in key[0]}
        if gone := lost({key: was for key, was in served.items() if key not in is_back | self.exempt}, now):
            told = [f"seed {self.cluster.seed}, {self.cluster.kind}: {done}:", *gone[:5], "", *self.commands[-30:]]
            raise LostError("\n".join(told))
        self.served = now

    def kubectl(self, *words: str, stdin: str = "") -> str:
        """Run kubectl."""
        if words[0] != "get":
            self.writes += 1
            self.commands.append(f"    kubectl {' '.join(words)}")
            return self.disturb(lambda: self.model.run(*words, stdin=stdin))
        return self.model.run(*words, stdin=stdin)

    def run(self, *arguments: str) -> Ended:
        """Run a command of ours. Some seconds have gone by since the last one."""
        self.model.react(fully=True)
        self.began = self.served
        self.commands.append(f"$ ingress-manager {' '.join(arguments)}")
        ended = run(*arguments)
        self.commands += [f"    {line}" for line in ended.err.splitlines()]
        return ended

    # What people do.

    def managed(self) -> set[Place]:
        """Return what is ingress-manager's."""
        return {
            place
            for place, each in self.model.store.items()
            if DECORATOR in each["metadata"].get("annotations", {}) and controller_of(each)
        }

    def adopt(self) -> set[int]:
        """Adopt all that is not ingress-manager's; return the exit statuses."""
        return {self.run("adopt", "--all", "--all-namespaces", "--apply").status}

    def release(self) -> set[int]:
        """Release all that is ingress-manager's."""
        owners = {f"{place[1]}/{(controller_of(self.model.store[place]) or {})['name']}" for place in self.managed()}
        asking = {
            f"{each['metadata']['namespace']}/{each['metadata']['name']}"
            for each in self.model.all(SERVICES)
            if "ingress/http" in "".join(each["metadata"].get("annotations", {}))
        }
        return {self.run("release", service, "--apply").status for service in sorted(owners | asking)}

    def uninstall(self, folder: Path) -> set[int]:
        """Remove ingress-manager, and keep what it has made."""
        printed = self.run("uninstall-plan", "--keep")
        assert printed.status == 0, printed
        return {self.script(printed.out, folder)}

    def script(self, text: str, folder: Path) -> int:
        """Run a script by a POSIX shell, whose kubectl and ingress-manager are those of this cluster."""
        with TemporaryDirectory(dir=folder) as inside:
            return Shell(self, Path(inside)).run(text)


CLIENT = r"""#!/bin/sh
case "$*" in *"--filename=-"*) input=$(cat) ;; *) input= ;; esac
printf '%s\0' "${0##*/}" "$@" "$input" end > "$FOLDER/asked"
cat "$FOLDER/answered"
read -r status < "$FOLDER/status"
cat "$FOLDER/said" >&2
exit "$status"
"""
"""What is called kubectl, ingress-manager and sleep: it asks by a named pipe, and is answered by another."""


class Shell:
    """A shell whose programs work on the cluster in memory."""

    def __init__(self, player: Player, folder: Path) -> None:
        self._player, self._folder = player, folder
        self._failed: BaseException | None = None
        (folder / "bin").mkdir()
        for name in ("kubectl", "ingress-manager", "sleep"):
            (folder / "bin" / name).write_text(CLIENT)
            (folder / "bin" / name).chmod(0o755)
        for name in ("cat", "grep", "tail"):
            (folder / "bin" / name).symlink_to(str(shutil.which(name)))
        for name in ("asked", "answered"):
            os.mkfifo(folder / name)

    def run(self, text: str) -> int:
        """Return the exit status of a script. Raises what happened while a command of it ran."""
        (self._folder / "script").write_text(text)
        thread = threading.Thread(target=self._serve)
        thread.start()
        environment = {"PATH": str(self._folder / "bin"), "FOLDER": str(self._folder)}
        shell = str(shutil.which("dash") or shutil.which("sh"))
        try:
            ended = subprocess.run(
                [shell, "-e", str(self._folder / "script")],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            (self._folder / "asked").write_bytes(b"end\0end\0")
            thread.join()
        self._player.commands += [f"    {line}" for line in ended.stderr.splitlines()]
        if self._failed:
            raise self._failed
        return ended.returncode

    def _serve(self) -> None:
        while True:
            # The last word, and what follows the last separator, are none of the command.
            *words, stdin, _, _ = (self._folder / "asked").read_bytes().decode().split("\0")
            if not words:
                return
            status, out, err = self._answer(words, stdin)
            (self._folder / "status").write_text(f"{status}\n")
            (self._folder / "said").write_text(err)
            (self._folder / "answered").write_text(out)

    def _answer(self, words: list[str], stdin: str) -> Ended:
        try:
            if words[0] == "kubectl":
                return Ended(0, self._player.kubectl(*words[1:], stdin=stdin), "")
            if words[0] == "ingress-manager":
                return self._player.run(*words[1:])
            self._player.model.sleep(float(words[1]))
            return Ended(0, "", "")
        except KubectlFailed as failed:
            return Ended(1, "", f"{failed.message}\n")
        except KeyboardInterrupt:
            return Ended(130, "", "")
        except Exception as error:  # noqa: BLE001 - it is raised where the script was started
            self._failed = error
            return Ended(1, "", "")


@contextmanager
def playing(cluster: Cluster, *, lagging: bool = False) -> Iterator[Player]:
    """Yield a player whose commands work on this cluster."""
    player = Player(cluster, lagging=lagging)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kubectl, "run", lambda _, *words, stdin="": player.kubectl(*words, stdin=stdin))
        patch.setattr(carrying_out, "sleep", player.model.sleep)
        patch.setattr(carrying_out, "monotonic", lambda: player.model.time, raising=False)
        yield player
