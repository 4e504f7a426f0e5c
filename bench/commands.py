"""The commands: what reading and deciding over a whole cluster costs a person who waits for it.

Seconds are those of CPU: a command waits for nothing but its file.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from bench.figures import Figure, Section, at_most
from devcluster.build import Progress
from devcluster.sync_requests import as_created
from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.commands.render.rendering import render
from ingress_manager.core.policy import Policy

COMMANDS = ("render", "audit", "status")

SECONDS = 2.0
"""What a command may take beyond reading the same JSON with json.load."""

MEGABYTES = 400
LINEAR = 11
"""How much more ten times as many Services may take, the start of the program apart."""


class Run(NamedTuple):
    """What one run of a command took."""

    seconds: float
    megabytes: float


def commands_section(progress: Progress, services: int = 10_000) -> Section:
    """Return the figures of the commands, with so many Services and with a tenth of them."""
    with tempfile.TemporaryDirectory() as folder:
        one, few, many = (dump(Path(folder), count) for count in (1, services // 10, services))
        plain = loading(many)
        figures = [Figure(f"json.load of {services:,} Services and their Ingresses", f"{plain:.2f} s")]
        for name in COMMANDS:
            progress(f"{name} of {services:,} Services and their Ingresses")
            start, small, large = best(name, one), best(name, few), best(name, many)
            growth = (large.seconds - start.seconds) / max(small.seconds - start.seconds, 0.001)
            figures += [
                Figure(f"{name} of one Service", f"{start.seconds:.2f} s"),
                at_most(f"{name} of them, beyond json.load", large.seconds - plain, SECONDS, "{:.2f} s"),
                at_most(f"{name}: its memory", large.megabytes, MEGABYTES, "{:.0f} MB"),
                at_most(
                    f"{name}: {services:,} / {services // 10:,} Services, of time without the start",
                    growth,
                    LINEAR,
                    "{:.1f}",
                ),
            ]
    return Section("The commands", figures)


def dump(folder: Path, count: int) -> Path:
    """Return a file such as `kubectl get services,ingresses --all-namespaces --output=json` prints."""
    services = [service(number) for number in range(count)]
    rendered = render([Item(made, Origin("", "default")) for made in services], Policy()).objects
    ingresses = [as_created(made, parent) for made, parent in zip(rendered, services, strict=True)]
    path = folder / f"{count}.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*services, *ingresses]}, indent=4))
    return path


def service(number: int) -> dict[str, Any]:
    """Return one Service of a hundred namespaces, with the fields that the API server adds."""
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": f"shop-{number}",
            "namespace": f"team-{number % 100}",
            "uid": f"11111111-2222-3333-4444-{number:012}",
            "resourceVersion": str(number),
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"app.kubernetes.io/name": "shop"},
            "annotations": {"ingress/http": "true", "ingress/host": f"shop-{number}.example.com"},
        },
        "spec": {
            "clusterIP": address,
            "clusterIPs": [address],
            "internalTrafficPolicy": "Cluster",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": "http"}],
            "selector": {"app.kubernetes.io/name": "shop"},
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
        "status": {"loadBalancer": {}},
    }


def best(name: str, file: Path) -> Run:
    """Return the fastest of three runs: the others waited for something else."""
    return min(run(name, file) for _ in range(3))


def run(name: str, file: Path) -> Run:
    """Return what one run of a command took. Raises CalledProcessError when it fails."""
    settings = f"--{'current-' if name == 'audit' else ''}settings={os.devnull}"
    command = [str(Path(sys.executable).with_name("ingress-manager")), name, "-f", str(file), settings]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    # Kilobytes on Linux, where alone the benchmark runs.
    return Run(used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def loading(file: Path) -> float:
    """Return the seconds of CPU of json.load: the fastest of three."""
    taken = []
    for _ in range(3):
        started = time.process_time()
        with file.open(encoding="utf-8") as text:
            json.load(text)
        taken.append(time.process_time() - started)
    return min(taken)
