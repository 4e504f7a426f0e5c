"""What happens to an installation while Services change and visitors come: HAPPENINGS.

test_churn.py plays all of it. `python -m tests.node.happenings` does so too, and writes the figures to happenings.yaml.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import yaml

from devcluster.api import Object, is_true, wait_for
from devcluster.build import REPOSITORY
from devcluster.console import Command, end_on_signals, progress
from devcluster.errors import CommandFailed
from devcluster.gateway import answers
from devcluster.node.node import Node
from devcluster.processes import Process
from devcluster.starting import Starting
from tests.e2e.objects import PODS
from tests.e2e.steady_load import Outcome, Report, SteadyLoad
from tests.node.churn import Churn
from tools.image import replacement
from tools.node import whole
from tools.node_images import HOOK as IMAGE

HOOK, METACONTROLLER, GATEWAY = "ingress-manager", "metacontroller", "ingress-manager-gateway"
"""The Deployments. Each is in the namespace of its name."""

CHURN, VISITED = "churn", "visited"
VISITED_HOST = "visited.example.com"
HTTP_PORT, HTTPS_PORT = 30080, 30443
"""Those of node-port/."""

VISITS = 60
"""Requests a second."""

SETTINGS = {"defaults": {"class": GATEWAY.removesuffix("-gateway")}}
OTHER_SETTINGS = SETTINGS | {"namespaces": {"elsewhere": {"paused": True}}}
WRONG_SETTINGS = SETTINGS | {"limits": {"hosts": 1}}

AT_ONCE, LEASE, BACK_OFF = 12.0, 45.0, 60.0
"""Seconds that a change may take: when nothing hinders it; until another Metacontroller leads, 20 s after the last one
has ended; and when attempts fail. A machine that does much else needs some seconds more than a quiet one."""

BEFORE, AFTER = 1.0, 3.0
"""Seconds of changes and visits before and after what happens."""

PATIENCE = 120.0
"""Seconds to wait for anything."""

BACKEND = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        body = self.headers["Host"].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

ThreadingHTTPServer.request_queue_size = 128
ThreadingHTTPServer(("", 8080), Answer).serve_forever()
"""

HOG = """
import os, pathlib, sys, time
group = pathlib.Path(sys.argv[1]) / "cgroup.procs"
group.write_text(str(os.getpid()))
held = []
while len(group.read_text().split()) > 1:
    held.append(b"x" * (4 << 20))
    time.sleep(0.01)
"""
"""It joins a container's control group and takes memory until nothing else runs in it. Linux ends the container's own
processes first: the kubelet has given these a high oom_score_adj."""


class Seen(NamedTuple):
    """The figures of something that happened."""

    changes: int
    arrived: int
    worst: int
    """Milliseconds."""

    events: int
    requests: int
    lost: int
    told: Sequence[str] = ()
    """What the Events say."""


def lost_in(report: Report) -> list[Outcome]:
    """Return the requests that failed. A single refused connection isn't one: the kernel refuses it, not the gateway.

    While kube-proxy changes its nftables, a packet can meet a part of the old rules and a part of the new ones, and is
    then sent to no Pod. Such rules alone, changed 1,448 times, refused 16 of 457,570 connections on Linux 6.18; without
    a change, none of 459,136. A gateway that closes too early refuses many in a row.
    """
    refused = [each for each in report.failed if each.reason.endswith("connection refused")]
    return [each for each in report.failed if [each] != refused]


class Site(Starting):
    """A node with an installation, Services that change, and one that is visited. Use it as a context manager."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def _start(self, exits: contextlib.ExitStack) -> None:
        self._folder = Path(exits.enter_context(tempfile.TemporaryDirectory(prefix="ingress-manager-"))).resolve()
        self._install()
        self._serve()
        self._churn = exits.enter_context(Churn(self.node.api, CHURN))

    def play(self, act: Callable[["Site"], None]) -> Seen:
        """Let something happen, and return what became of the changes and of the requests."""
        text, to = {VISITED_HOST: VISITED_HOST}, [self.node.address]
        with SteadyLoad(text, to, http_port=HTTP_PORT, https_port=HTTPS_PORT, rate=VISITS, timeout="30s") as load:
            arrivals = self._churn.during(lambda: act(self), before=BEFORE, after=AFTER, patience=PATIENCE)
            report = load.report()
        # Over HTTP/2 the server says which requests it has not begun, so that any of them can be sent again.
        lost = len(lost_in(report)) + len([again for again in report.sent_again if again.kind != "http2"])
        worst = round(max(arrivals.delays) * 1000)
        events = arrivals.events
        return Seen(arrivals.made, len(arrivals.delays), worst, len(events), report.total, lost, sorted({*events}))

    def roll(self, deployment: str) -> None:
        """Replace all Pods of a Deployment, one after the other."""
        self.kubectl("rollout", "restart", f"deployment/{deployment}", of=deployment)
        self.until_rolled(deployment)

    def configure(self, settings: Object) -> None:
        """Apply the hook's manifests with these settings."""
        folder = self._folder / "hook"
        folder.mkdir(exist_ok=True)
        (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
        generated = {"name": "ingress-manager-settings", "namespace": HOOK, "behavior": "replace"}
        self._apply("hook", "manifests", configMapGenerator=[generated | {"files": ["settings.yaml"]}])

    def change_settings(self) -> None:
        """Give the hook settings that it can use, and that mean the same for the Services here."""
        self.configure(OTHER_SETTINGS)
        self.until_rolled(HOOK)

    def until_rolled(self, deployment: str) -> None:
        """Return once a rollout is complete, and the old Pods are gone."""
        self.kubectl("rollout", "status", f"deployment/{deployment}", f"--timeout={PATIENCE:g}s", of=deployment)
        self.until_settled()

    def until_settled(self) -> None:
        """Return once each Deployment has as many Pods as it wants, all ready, and no others."""
        wait_for(self._is_settled, PATIENCE, what="Pods that are all ready, and no others", interval=0.1)

    def stay_wrong(self) -> None:
        """Give the hook settings that it can't use; return when it has tried them, and the old Pods are there."""
        before = self.names(HOOK)
        self.configure(WRONG_SETTINGS)
        refusal = self.refusal("rollout", "status", f"deployment/{HOOK}", "--timeout=10s", of=HOOK)
        assert "timed out waiting" in refusal
        assert before <= self.names(HOOK)

    def drain(self) -> None:
        """Drain the node of what is installed, as far as the PodDisruptionBudgets allow; then let Pods come again."""
        names = f"app.kubernetes.io/name in ({HOOK},{METACONTROLLER},{GATEWAY})"
        refusal = self.refusal("drain", "node", f"--pod-selector={names}", "--timeout=20s")
        self.kubectl("uncordon", "node")
        # There is no other node where a second replica could start.
        assert "would violate the pod's disruption budget" in refusal
        self.until_settled()

    def delete(self, deployment: str, *options: str) -> None:
        """Delete all Pods of a Deployment at once; return when others are ready."""
        self.kubectl("delete", "pods", f"--selector=app.kubernetes.io/name={deployment}", *options, of=deployment)
        self.until_settled()

    def out_of_memory(self, deployment: str) -> None:
        """Let the containers of a Deployment run out of memory; return when they are ready again."""
        pods = self.pods(deployment)
        hogs = [subprocess.Popen([sys.executable, "-c", HOG, str(memory_group(pod))]) for pod in pods]
        for hog in hogs:
            hog.wait(60)
        wait_for(
            lambda: all(map(is_restarted, self.pods(deployment))), PATIENCE, what="containers that ran out of memory"
        )
        self.until_settled()

    def restart(self, process: Process) -> None:
        """Kill a program of the node, and start it again some seconds later."""
        process.kill()
        time.sleep(3)
        process.start()
        time.sleep(5)
        self.until_settled()

    def pods(self, deployment: str) -> list[Object]:
        """Return a Deployment's Pods, those that end among them."""
        pods = self.node.api.list(PODS, deployment)
        return [pod for pod in pods if pod["metadata"]["labels"]["app.kubernetes.io/name"] == deployment]

    def names(self, deployment: str) -> set[str]:
        """Return the names of a Deployment's Pods that are ready."""
        return {pod["metadata"]["name"] for pod in self.pods(deployment) if is_ready(pod)}

    def kubectl(self, *arguments: str, of: str | None = None) -> str:
        """Run kubectl, in a Deployment's namespace; return what it prints. Raises CommandFailed."""
        return self.node.kubectl(*arguments, *([f"--namespace={of}"] if of else []))

    def refusal(self, *arguments: str, of: str | None = None) -> str:
        """Return the error message of a kubectl that fails; empty where it does not."""
        try:
            self.kubectl(*arguments, of=of)
        except CommandFailed as error:
            return str(error)
        return ""

    def _is_served(self) -> bool:
        return answers(HTTP_PORT, "/", address=self.node.address, host=VISITED_HOST)

    def _is_settled(self) -> bool:
        return all(
            len(pods := self.pods(deployment)) == 2
            and all(is_ready(pod) and "deletionTimestamp" not in pod["metadata"] for pod in pods)
            for deployment in (HOOK, METACONTROLLER, GATEWAY)
        )

    def _apply(self, name: str, resource: str, *components: str, **more: object) -> None:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        relative = [os.path.relpath(REPOSITORY / each, folder) for each in (resource, *components)]
        kustomization = {"resources": relative[:1], "components": relative[1:], "images": [replacement(IMAGE)], **more}
        (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
        self.kubectl("apply", f"--kustomize={folder}")

    def _install(self) -> None:
        self.configure(SETTINGS)
        self.kubectl("apply", f"--filename={REPOSITORY / 'devcluster/crds.yaml'}")
        self.kubectl("wait", "--for=condition=established", "--timeout=60s", "crds", "--all")
        self.kubectl("apply", f"--kustomize={REPOSITORY / 'metacontroller/install'}")
        self._apply("gateway", "gateway", "tests/node/node-port")
        self.until_settled()
        self.kubectl("apply", f"--kustomize={REPOSITORY / 'metacontroller/controller'}")

    def _serve(self) -> None:
        """Start what answers visitors."""
        self.kubectl("create", "namespace", VISITED)
        path = self._folder / "visited.yaml"
        path.write_text(yaml.safe_dump_all(visited()))
        self.kubectl("apply", f"--filename={path}", of=VISITED)
        self.kubectl("rollout", "status", f"deployment/{VISITED}", "--timeout=60s", of=VISITED)
        wait_for(self._is_served, PATIENCE, what=f"an answer for {VISITED_HOST}")


def visited() -> list[Object]:
    """Return the Service that is visited, and its Deployment."""
    container = {
        "name": VISITED,
        "image": IMAGE,
        "command": ["python", "-c", BACKEND],
        "readinessProbe": {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1},
        # Else the visits would wait whenever the machine is busy.
        "resources": {"requests": {"cpu": "200m", "memory": "64Mi"}},
    }
    labels, annotations = {"app": VISITED}, {"ingress/http": "true", "ingress/host": VISITED_HOST}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": VISITED},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": VISITED, "annotations": annotations},
            "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]},
        },
    ]


def is_ready(pod: Object) -> bool:
    """Return whether a Pod is ready."""
    return is_true(pod, "Ready")


def is_restarted(pod: Object) -> bool:
    """Return whether a container of a Pod has been started again."""
    return any(status["restartCount"] for status in pod["status"].get("containerStatuses", ()))


def memory_group(pod: Object) -> Path:
    """Return the control group that counts the memory of a Pod's container."""
    [status] = pod["status"]["containerStatuses"]
    name = status["containerID"].removeprefix("containerd://")
    root = Path("/sys/fs/cgroup")
    # Version 1 has a folder for each kind of resource.
    [found] = (root if (root / "cgroup.controllers").exists() else root / "memory").glob(
        f"ingress-manager-node*/**/{name}"
    )
    return found


class Happening(NamedTuple):
    """Something that happens, in the words of the page."""

    what: str
    play: Callable[[Site], None]
    planned: bool = False
    """Whether there is to be no Event, and no request is to be lost."""

    slowest: float = LEASE
    """Seconds that a change may take."""


FIGURES = Path(__file__).with_name("happenings.yaml")

FORCE = ("--force", "--grace-period=0")

HAPPENINGS = (
    Happening("a rollout of the hook", lambda site: site.roll(HOOK), planned=True, slowest=AT_ONCE),
    Happening("a rollout of the gateway", lambda site: site.roll(GATEWAY), planned=True, slowest=AT_ONCE),
    Happening("a rollout of Metacontroller", lambda site: site.roll(METACONTROLLER), planned=True),
    Happening("settings that the hook can't use", Site.stay_wrong, planned=True, slowest=AT_ONCE),
    Happening("then settings that it can use", Site.change_settings, planned=True, slowest=AT_ONCE),
    Happening("`kubectl drain` of the only node", Site.drain, planned=True),
    Happening("both Pods of the hook deleted", lambda site: site.delete(HOOK), slowest=BACK_OFF),
    Happening("both Pods of the gateway deleted", lambda site: site.delete(GATEWAY), slowest=AT_ONCE),
    Happening("both Pods of Metacontroller deleted", lambda site: site.delete(METACONTROLLER)),
    Happening("both Pods of the hook deleted by force", lambda site: site.delete(HOOK, *FORCE), slowest=BACK_OFF),
    Happening("both Pods of Metacontroller deleted by force", lambda site: site.delete(METACONTROLLER, *FORCE)),
    Happening("both Pods of the hook out of memory", lambda site: site.out_of_memory(HOOK), slowest=BACK_OFF),
    Happening("both Pods of Metacontroller out of memory", lambda site: site.out_of_memory(METACONTROLLER)),
    Happening("the kubelet killed, and started", lambda site: site.restart(site.node.kubelet), slowest=AT_ONCE),
    Happening("containerd killed, and started", lambda site: site.restart(site.node.containerd), slowest=AT_ONCE),
)


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Play all that happens once, on a node of its own, and write the figures for the docs."""
    end_on_signals()
    with progress() as tell, whole(tell) as node, Site(node) as site:
        seen = {}
        for happening in HAPPENINGS:
            tell(happening.what)
            figures = site.play(happening.play)._asdict()
            seen[happening.what] = {key: figures[key] for key in figures if key != "told"}
    FIGURES.write_text(yaml.safe_dump(seen, sort_keys=False, width=1000))
    click.echo(f"{FIGURES} is written. `make docs` brings it to the page.")


if __name__ == "__main__":
    main()
