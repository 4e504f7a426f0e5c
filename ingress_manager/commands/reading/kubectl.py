"""Runs kubectl, which has the user's credentials. The commands themselves have none."""

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
"""kubectl's unambiguous resource name for each managed kind, in the order of the fields of `Observed`."""

OF_GATEWAY_API = (MANAGED_RESOURCES[HTTPROUTE], MANAGED_RESOURCES[LISTENERSET])
LISTS = {
    "services": "/api/v1/services",
    MANAGED_RESOURCES[INGRESS]: "/apis/networking.k8s.io/v1/ingresses",
    "endpointslices.discovery.k8s.io": "/apis/discovery.k8s.io/v1/endpointslices",
}
"""The API paths that list all objects of a kind, by resource name, for kinds that may have ten thousand objects."""

_LOG_LINE = re.compile(r"^[EWIF]\d{4} ")
_FORBIDDEN = re.compile(
    r'\(Forbidden\): .*? cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]+)")?'
)
_LACKING = "you don't have permission to "
IGNORE_NOT_FOUND = "--ignore-not-found"


class KubectlFailed(click.ClickException):
    """The error raised if kubectl can't be run, fails, or prints invalid output, or if a command can't continue."""

    exit_code = 2

    @property
    def is_unknown_kind(self) -> bool:
        return "the server doesn't have a resource type" in self.message

    @property
    def is_forbidden(self) -> bool:
        return self.message.startswith(_LACKING)


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl, with the options that select the cluster and the user."""

    options: Sequence[str] = ()

    def run(self, *arguments: str, stdin: str = "") -> str:
        """Return kubectl's standard output. Raises KubectlFailed, with kubectl's error message if there is one."""
        program = shutil.which("kubectl")
        if program is None:
            raise KubectlFailed("kubectl is not on PATH; most commands can read files instead, with -f FILE")
        with waiting(f"waiting for kubectl {arguments[0]}"):
            command = [program, *with_options(arguments, self.options)]
            ended = subprocess.run(  # noqa: S603 - the arguments are the user's own
                command, capture_output=True, encoding="utf-8", errors="replace", input=stdin, check=False
            )
        if ended.returncode:
            raise KubectlFailed(error_message(ended.stderr) or f"kubectl failed with exit code {ended.returncode}")
        return ended.stdout

    def get(self, resources: str, *arguments: str) -> list[Item]:
        """Return the objects of given kinds ("services,ingresses") or names ("crd/a crd/b"). Raises KubectlFailed."""
        kinds = resources.split(",")
        # kubectl takes six seconds to format ten thousand objects; with --raw, it prints the API server's response.
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
            wrong = next((f"an invalid object: {message}" for message in unreadable if message.item.object), None)
            raise KubectlFailed(f"kubectl get {resources} printed {wrong or f'invalid JSON: {quoted(printed)}'}")
        return items

    def get_if_known(self, resource: str, *arguments: str) -> list[Item]:
        """Return a kind's objects, or [] if the cluster doesn't have the kind. Raises KubectlFailed."""
        try:
            return self.get(resource, *arguments)
        except KubectlFailed as failed:
            if not failed.is_unknown_kind:
                raise
            return []


def error_message(stderr: str) -> str:
    """Return kubectl's error on one line, without log lines. For Forbidden errors, name only missing permissions."""
    if permissions := dict.fromkeys(map(_permission_in, _FORBIDDEN.finditer(stderr))):
        return one_line(f"{_LACKING}{' and to '.join(permissions)}")
    lines = [line.strip() for line in stderr.splitlines() if line.strip() and not _LOG_LINE.match(line)]
    return one_line(" ".join(lines))


def _permission_in(match: re.Match[str]) -> str:
    resource = ".".join(filter(None, (match["resource"], match["group"])))
    scope = f"in the namespace {match['namespace']}" if match["namespace"] else "in the cluster"
    return f"{match['verb']} {resource} {scope}"
