"""Measures how long commands take to read a whole cluster from a file and decide on its Services.

Measuring CPU time is enough, because commands that read a file spend hardly any time waiting.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench import Section, at_most
from bench.cluster import service
from devcluster.build import Progress
from devcluster.sync_requests import as_created
from ingress_manager.commands.render import rendered
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.core.settings import Settings

COMMANDS = {"render": "--settings", "audit": "--current-settings"}
"""The measured commands, each with its settings option."""

MOST = 9.0
"""How many times the CPU time of json.load on the same file a command may take, each in a new Python process. The ratio
is 7 to 8, because a command parses the objects, decides on each Service, and prints or compares each Ingress. Another
pass over all objects would exceed the bound."""

TURNS = 5


def commands_section(progress: Progress, services: int = 10_000) -> Section:
    """Return the figures for commands that read `services` Services and their Ingresses."""
    of_them = f"{services:,} Services and their Ingresses"
    plain = [sys.executable, "-c", "import json, sys; json.load(open(sys.argv[1]))"]
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        file = str(dump(Path(folder), services))
        for name, option in COMMANDS.items():
            progress(f"{name} of {of_them}")
            command = [str(Path(sys.executable).with_name("ingress-manager")), name, "-f", file, option, os.devnull]
            taken = [(seconds(command), seconds([*plain, file])) for _ in range(TURNS)]
            figures.append((f"{name} of {of_them}: CPU", f"{median(took for took, _ in taken):.2f} s", ""))
            ratio = median(took / json for took, json in taken)
            figures.append(at_most("its CPU / that of json.load of the same file", ratio, MOST))
    return "The commands", figures


def dump(folder: Path, count: int) -> Path:
    """Write what `kubectl get services,ingresses -A -o json` would print for `count` Services; return the file."""
    services = [service(f"n{number % 100}", f"s{number}") for number in range(count)]
    for number, obj in enumerate(services):
        obj["metadata"]["uid"] = f"11111111-2222-3333-4444-{number:012}"
        del obj["spec"]["clusterIP"]
    made, _ = rendered([Item(obj) for obj in services], Settings())
    ingresses = [as_created(ingress, parent) for ingress, parent in zip(made, services, strict=True)]
    path = folder / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*services, *ingresses]}, indent=4))
    return path


def seconds(command: list[str]) -> float:
    """Run a command and return the CPU time it used. Raises CalledProcessError if it fails."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
