"""Runs kubectl, which has the user's credentials: nothing here has any of its own."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

import click

from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.snapshot.items import HTTPROUTE, INGRESS, LISTENERSET, Item
from ingress_manager.commands.terminal import waiting
from ingress_manager.commands.text import with_options
from ingress_manager.core.text import one_line, quoted

RESOURCES = {
    INGRESS: "ingresses.networking.k8s.io",
    HTTPROUTE: "httproutes.gateway.networking.k8s.io",
    LISTENERSET: "listenersets.gateway.networking.k8s.io",
}
"""What is made for Services, in the order in which `Observed` has it, as kubectl is asked for it. It may know others of
the same names, too."""

OF_GATEWAY_API = (RESOURCES[HTTPROUTE], RESOURCES[LISTENERSET])
"""What may be made, and a cluster may not know."""

LISTS = {
    "services": "/api/v1/services",
    RESOURCES[INGRESS]: "/apis/networking.k8s.io/v1/ingresses",
    "endpointslices.discovery.k8s.io": "/apis/discovery.k8s.io/v1/endpointslices",
}
"""Of what there may be ten thousand: where the API server lists those of all namespaces."""

_LOG_LINE = re.compile(r"^[EWIF]\d{4} ")
"""How the lines begin that kubectl's libraries log beside its own message."""

_FORBIDDEN = re.compile(
    r'\(Forbidden\): .*? cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]+)")?'
)
"""What the API server says to whom a right lacks."""

IGNORE_NOT_FOUND = "--ignore-not-found"
"""With it kubectl prints nothing at all where nothing is there."""


class KubectlFailed(click.ClickException):
    """kubectl can't be run, or has failed; the message is its own, in one line."""

    exit_code = 2

    @property
    def is_unknown_kind(self) -> bool:
        """Return whether the cluster doesn't know the kind that was asked for."""
        return "the server doesn't have a resource type" in self.message


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl with the options that say which cluster, and as whom."""

    options: Sequence[str] = ()

    def run(self, *arguments: str, stdin: str = "") -> str:
        """Return what kubectl prints. Raises KubectlFailed with what it says on standard error; `stdin` is for it."""
        program = shutil.which("kubectl")
        if program is None:
            raise KubectlFailed("kubectl is not on PATH; most commands read files instead, with -f FILE")
        with waiting(f"waiting for kubectl {arguments[0]}"):
            ended = subprocess.run(  # noqa: S603 - the arguments are the user's own
                [program, *with_options(arguments, self.options)],
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                input=stdin,
                check=False,
            )
        if ended.returncode:
            raise KubectlFailed(message(ended.stderr) or f"kubectl failed with exit code {ended.returncode}")
        return ended.stdout

    def get(self, resources: str, *arguments: str) -> list[Item]:
        """Return the objects of kinds, "services,ingresses", or of names, "crd/a crd/b". Raises KubectlFailed."""
        # To print ten thousand anew takes kubectl six seconds: it passes them on as the API server lists them.
        raw = [each for each in resources.split(",") if each in LISTS] if arguments == ("--all-namespaces",) else []
        rest = ",".join(each for each in resources.split(",") if each not in raw)
        found = [item for each in raw for item in self._read(each, f"--raw={LISTS[each]}")]
        return found + (self._read(rest, "--output=json", *arguments, "--", *rest.split()) if rest else [])

    def _read(self, resources: str, *arguments: str) -> list[Item]:
        printed = self.run("get", *arguments)
        if not printed and IGNORE_NOT_FOUND in arguments:
            return []
        found = read(printed)
        if found.unreadable or not printed.lstrip().startswith("{"):
            wrong = next((f"what can't be read: {each}" for each in found.unreadable if each.about), None)
            raise KubectlFailed(f"kubectl get {resources} has printed {wrong or f'no JSON: {quoted(printed)}'}")
        return found.items

    def get_if_known(self, resource: str, *arguments: str) -> list[Item]:
        """Return the objects of a kind, none when the cluster doesn't know the kind. Raises KubectlFailed."""
        try:
            return self.get(resource, *arguments)
        except KubectlFailed as failed:
            if not failed.is_unknown_kind:
                raise
            return []


def message(said: str) -> str:
    """Return what kubectl says on standard error as one line, without what its libraries log.

    Where rights lack, these are named as the table of rights and docs/security.md name them.
    """
    if rights := dict.fromkeys(_right_in(found) for found in _FORBIDDEN.finditer(said)):
        return one_line(f"you lack the right to {' and to '.join(rights)}")
    lines = [line.strip() for line in said.splitlines() if line.strip() and not _LOG_LINE.match(line)]
    return one_line(" ".join(lines))


def _right_in(found: re.Match[str]) -> str:
    resource = ".".join(filter(None, (found["resource"], found["group"])))
    where = f"in the namespace {found['namespace']}" if found["namespace"] else "in the cluster"
    return f"{found['verb']} {resource} {where}"
