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
from ingress_manager.commands.text import plural, with_options
from ingress_manager.core.kubernetes import API_VERSIONS
from ingress_manager.core.text import one_line, quoted

MANAGED_RESOURCES = {
    kind: f"{plural(kind).lower()}.{version.rpartition('/')[0]}" for kind, version in API_VERSIONS.items()
}
"""The managed kinds in the order of the fields of `Observed`, with the names by which kubectl finds no others."""

OF_GATEWAY_API = (MANAGED_RESOURCES[HTTPROUTE], MANAGED_RESOURCES[LISTENERSET])
"""The managed kinds that a cluster may not know."""

LISTS = {
    "services": "/api/v1/services",
    MANAGED_RESOURCES[INGRESS]: "/apis/networking.k8s.io/v1/ingresses",
    "endpointslices.discovery.k8s.io": "/apis/discovery.k8s.io/v1/endpointslices",
}
"""Kinds with perhaps ten thousand objects: where the API server lists them in all namespaces."""

_LOG_LINE = re.compile(r"^[EWIF]\d{4} ")
"""How lines begin that kubectl's libraries log beside its own message."""

_FORBIDDEN = re.compile(
    r'\(Forbidden\): .*? cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]+)")?'
)
"""The API server's answer if a right is missing."""

_LACKING = "you lack the right to "
"""How the message begins if the user lacks a right."""

IGNORE_NOT_FOUND = "--ignore-not-found"
"""With it kubectl prints nothing at all if there is no object."""


class KubectlFailed(click.ClickException):
    """kubectl can't be run, or has failed; the message is kubectl's, in one line."""

    exit_code = 2

    @property
    def is_unknown_kind(self) -> bool:
        return "the server doesn't have a resource type" in self.message

    @property
    def is_forbidden(self) -> bool:
        return self.message.startswith(_LACKING)


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl with the options that name the cluster and the user."""

    options: Sequence[str] = ()

    def run(self, *arguments: str, stdin: str = "") -> str:
        """Return what kubectl prints, given `stdin`. Raises KubectlFailed with what it prints on standard error."""
        program = shutil.which("kubectl")
        if program is None:
            raise KubectlFailed("kubectl is not on PATH; most commands read files instead, with -f FILE")
        with waiting(f"waiting for kubectl {arguments[0]}"):
            command = [program, *with_options(arguments, self.options)]
            ended = subprocess.run(  # noqa: S603 - the arguments are the user's own
                command, capture_output=True, encoding="utf-8", errors="replace", input=stdin, check=False
            )
        if ended.returncode:
            raise KubectlFailed(error_message(ended.stderr) or f"kubectl failed with exit code {ended.returncode}")
        return ended.stdout

    def get(self, resources: str, *arguments: str) -> list[Item]:
        """Return the objects of kinds, "services,ingresses", or of names, "crd/a crd/b". Raises KubectlFailed."""
        kinds = resources.split(",")
        # kubectl takes six seconds to format ten thousand objects; with --raw, it passes the API server's answer on.
        raw = [kind for kind in kinds if kind in LISTS] if arguments == ("--all-namespaces",) else []
        items = [item for kind in raw for item in self._read(kind, f"--raw={LISTS[kind]}")]
        rest = ",".join(kind for kind in kinds if kind not in raw)
        return items + (self._read(rest, "--output=json", *arguments, "--", *rest.split()) if rest else [])

    def _read(self, resources: str, *arguments: str) -> list[Item]:
        printed = self.run("get", *arguments)
        if not printed and IGNORE_NOT_FOUND in arguments:
            return []
        items, unreadable = read(printed)
        if unreadable or not printed.lstrip().startswith("{"):
            wrong = next((f"what can't be read: {message}" for message in unreadable if message.item.object), None)
            raise KubectlFailed(f"kubectl get {resources} has printed {wrong or f'no JSON: {quoted(printed)}'}")
        return items

    def get_if_known(self, resource: str, *arguments: str) -> list[Item]:
        """Return the objects of a kind, none if the cluster doesn't know it. Raises KubectlFailed."""
        try:
            return self.get(resource, *arguments)
        except KubectlFailed as failed:
            if not failed.is_unknown_kind:
                raise
            return []


def error_message(stderr: str) -> str:
    """Return kubectl's error as one line, without what its libraries log. It names rights as docs/security.md does."""
    if rights := dict.fromkeys(map(_right_in, _FORBIDDEN.finditer(stderr))):
        return one_line(f"{_LACKING}{' and to '.join(rights)}")
    lines = [line.strip() for line in stderr.splitlines() if line.strip() and not _LOG_LINE.match(line)]
    return one_line(" ".join(lines))


def _right_in(match: re.Match[str]) -> str:
    resource = ".".join(filter(None, (match["resource"], match["group"])))
    scope = f"in the namespace {match['namespace']}" if match["namespace"] else "in the cluster"
    return f"{match['verb']} {resource} {scope}"
