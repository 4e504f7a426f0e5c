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
from typing import Any

from bench.figures import Figure, Section, at_most
from devcluster import sync_requests
from devcluster.build import Progress
from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.commands.render.rendering import render
from ingress_manager.core.policy import Policy

COMMANDS = ("render", "audit", "status")

SECONDS = 2.0
"""What a command may take beyond reading the same JSON with json.load."""

LINEAR = 11
"""How much more ten times as many Services may take, the start of the program apart."""


def commands_section(progress: Progress, services: int = 10_000) -> Section:
    """Return the figures of the commands, with so many Services and with a tenth of them."""
    with tempfile.TemporaryDirectory() as folder:
        one, few, many = (dump(Path(folder), count) for count in (1, services // 10, services))
        plain = loading(many)
        figures = [Figure(f"json.load of {services:,} Services and their Ingresses", f"{plain:.2f} s")]
        for name in COMMANDS:
            progress(f"{name} of {services:,} Services and their Ingresses")
            # The fastest of three: the others waited for something else.
            start, small, large = (min(seconds(name, file) for _ in range(3)) for file in (one, few, many))
            growth = (large - start) / max(small - start, 0.001)
            figures += [
                Figure(f"{name} of one Service", f"{start:.2f} s"),
                at_most(f"{name} of them, beyond json.load", large - plain, SECONDS, "{:.2f} s"),
                at_most(f"{name}: ten times as many Services, of time without the start", growth, LINEAR, "{:.1f}"),
            ]
    return Section("The commands", figures)


def dump(folder: Path, count: int) -> Path:
    """Return a file such as `kubectl get services,ingresses --all-namespaces --output=json` prints."""
    services = [service(number) for number in range(count)]
    rendered = render([Item(made, Origin("", "default")) for made in services], Policy()).objects
    ingresses = [sync_requests.as_created(made, parent) for made, parent in zip(rendered, services, strict=True)]
    path = folder / f"{count}.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*services, *ingresses]}, indent=4))
    return path


def service(number: int) -> dict[str, Any]:
    """Return one Service of a hundred namespaces."""
    name, namespace = f"shop-{number}", f"team-{number % 100}"
    made = sync_requests.service({"ingress/http": "true", "ingress/host": f"{name}.example.com"})
    made["metadata"] |= {"name": name, "namespace": namespace, "uid": f"11111111-2222-3333-4444-{number:012}"}
    return made


def seconds(name: str, file: Path) -> float:
    """Return what one run of a command took. Raises CalledProcessError when it fails."""
    settings = f"--{'current-' if name == 'audit' else ''}settings={os.devnull}"
    command = [str(Path(sys.executable).with_name("ingress-manager")), name, "-f", str(file), settings]
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def loading(file: Path) -> float:
    """Return the seconds of CPU of json.load: the fastest of three."""
    taken = []
    for _ in range(3):
        started = time.process_time()
        with file.open(encoding="utf-8") as text:
            json.load(text)
        taken.append(time.process_time() - started)
    return min(taken)
