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

from bench import Section, at_most
from bench.cluster import service
from devcluster.build import Progress
from devcluster.sync_requests import as_created
from ingress_manager.commands.render import rendered
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.core.policy import Policy

COMMANDS = ("render", "audit")

SECONDS = 2.0
"""What a command may take beyond reading the same JSON with json.load."""


def commands_section(progress: Progress, services: int = 10_000) -> Section:
    """Return the figures of the commands, with so many Services."""
    with tempfile.TemporaryDirectory() as folder:
        file = dump(Path(folder), services)
        started = time.process_time()
        json.loads(file.read_text(encoding="utf-8"))
        plain = time.process_time() - started
        figures = [(f"json.load of {services:,} Services and their Ingresses", f"{plain:.2f} s", "")]
        for name in COMMANDS:
            progress(f"{name} of {services:,} Services and their Ingresses")
            # The fastest of three: the others waited for something else.
            taken = min(seconds(name, file) for _ in range(3))
            figures.append(at_most(f"{name} of them, beyond json.load", taken - plain, SECONDS, "{:.2f} s"))
    return "The commands", figures


def dump(folder: Path, count: int) -> Path:
    """Return a file such as `kubectl get services,ingresses --all-namespaces --output=json` prints."""
    services = [service(f"n{number % 100}", f"s{number}") for number in range(count)]
    for number, each in enumerate(services):
        each["metadata"]["uid"] = f"11111111-2222-3333-4444-{number:012}"
        del each["spec"]["clusterIP"]
    made = rendered([Item(each) for each in services], Policy()).objects
    ingresses = [as_created(each, parent) for each, parent in zip(made, services, strict=True)]
    path = folder / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*services, *ingresses]}, indent=4))
    return path


def seconds(name: str, file: Path) -> float:
    """Return what one run of a command took. Raises CalledProcessError when it fails."""
    settings = f"--{'current-' if name == 'audit' else ''}settings={os.devnull}"
    command = [str(Path(sys.executable).with_name("ingress-manager")), name, "-f", str(file), settings]
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
