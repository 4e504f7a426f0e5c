"""The table of the commands' rights holds: each is run by somebody who has just those, and uses all of them."""

import itertools
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from devcluster.api import EVENTS, INGRESSES, NAMESPACES, SERVICE_ACCOUNTS, Object
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE, install_crds
from devcluster.control_plane import ControlPlane
from devcluster.overlay import kustomize
from devcluster.programs import gateway_api_crds
from devcluster.story import Stage
from ingress_manager.commands.reading.rights import RIGHTS, rights_of
from ingress_manager.commands.snapshot.managed import CONTROLLER
from ingress_manager.core.kubernetes import DECORATOR
from tests.e2e.conftest import bare_plane
from tests.e2e.objects import CONFIG_MAPS, by_hand, create
from tests.e2e.people import commands_of, grant, kubeconfig_of, run, sh
from tests.manifests.objects import find

TEAM, HOOK = "team-a", "ingress-manager"
READERS = "readers"
"""The namespace of those who run the commands: the audit log has all that they ask for."""
USERS = f"system:serviceaccount:{READERS}:"
"""What the API server calls each of them, before its name."""

IN = {"each namespace": TEAM, "the Gateways' namespaces": "web", "the hook's namespace": HOOK, "the cluster": None}
ARGUMENTS = {
    "adopt": [f"{TEAM}/theirs"],
    "audit": ["-n", TEAM],
    "check": [],
    # The API server is asked in the place of both controllers.
    "compare": ["-n", TEAM, "--old", "{server}", "--new", "{server}"],
    "release": [f"{TEAM}/shop"],
    "render": ["-n", TEAM],
    "status": ["shop", "-n", TEAM],
    "uninstall": ["--keep"],
}
_numbers = itertools.count(1)

SETTINGS = """\
defaults: {outputs: [ingress, httproute], gateway: {name: web, namespace: web}}
profiles: {plain: {outputs: [ingress]}}
"""


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """Yield an API server with ingress-manager installed, and nothing that runs: what a Service asks for is missing."""
    with bare_plane() as running:
        install_crds(running.api, [*yaml.safe_load_all(CRD_FILE.read_text()), *gateway_api_crds()])
        for folder in ("manifests", "metacontroller/install", "metacontroller/listenerset"):
            text = kustomize(REPOSITORY / folder)
            running.kubectl("apply", "--server-side", "--filename=-", input=text)
        # A webhook that nobody answers. What is written without it takes no longer: nothing listens.
        for file in ("deployment", "webhook"):
            running.kubectl("apply", "--server-side", f"--filename={REPOSITORY}/manifests/admission/{file}.yaml")
        configmap = find("manifests", "ConfigMap")["metadata"]["name"]
        running.api.patch(CONFIG_MAPS, configmap, {"data": {"settings.yaml": SETTINGS}}, HOOK)
        for namespace in (TEAM, "web", READERS):
            create(running.api, NAMESPACES, namespace)
        team = Stage(running.api, TEAM)
        team.create_service("shop", {"ingress/http": "true", "ingress/host": "shop.example.com"})
        team.create_service("plain", {"ingress/profile": "plain"})
        running.api.create(INGRESSES, by_hand(TEAM, "theirs", "theirs.example.com", "plain", ingressClassName="nginx"))
        serve(running, team)
        # The hook has not answered, so `check` asks what was made since.
        about = {"apiVersion": "v1", "kind": "Service", "namespace": TEAM, "name": "other"}
        failed: Object = {"reason": "SyncError", "message": "sync hook failed: no answer"}
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        create(running.api, EVENTS, "other", TEAM, involvedObject=about, lastTimestamp=now, **failed)
        yield running


def serve(plane: ControlPlane, team: Stage) -> None:
    """Make for another Service what Metacontroller would."""
    asked = {"ingress/http": "true", "ingress/host": "blog.example.com", "ingress/tls-secret": "blog"}
    service = team.create_service("blog", asked)
    owner = {"apiVersion": "v1", "kind": "Service", "name": "blog", "uid": service["metadata"]["uid"]}
    rendered = run(plane, "render", "-n", TEAM)
    for made in yaml.safe_load_all(rendered.stdout):
        if made["metadata"]["name"] == "blog":
            made["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
            made["metadata"].setdefault("annotations", {})[DECORATOR] = CONTROLLER
            plane.kubectl("apply", "--filename=-", input=json.dumps(made))


class One(NamedTuple):
    """One right: to do one thing with one kind, in a namespace or, with None, in all."""

    verb: str
    resource: str
    namespace: str | None


def ones(command: str) -> list[One]:
    """Return the rights of a command without options, one by one."""
    rights = [(each.right.split(), where) for where in RIGHTS for each in rights_of(command, where) if not each.option]
    return [One(verb, resource, IN[where]) for (*verbs, resource), where in rights for verb in verbs]


def give(plane: ControlPlane, account: str, rights: Sequence[One]) -> None:
    """Give a ServiceAccount these rights and no others."""
    for namespace in {each.namespace for each in rights}:
        rules = [
            {"apiGroups": [group], "resources": [plural], "verbs": [each.verb]}
            for each in rights
            for plural, _, group in [each.resource.partition(".")]
            if each.namespace == namespace
        ]
        grant(plane.api, (READERS, account), account, rules, namespace)


def used(plane: ControlPlane, user: str) -> set[One]:
    """Return what somebody has asked the API server for and was given; not what everybody may read, as its version."""
    found = set()
    for event in plane.audit_events():
        about = event.get("objectRef", {})
        allowed = event["annotations"].get("authorization.k8s.io/decision") == "allow"
        if event["user"]["username"] == user and "resource" in about and allowed:
            plural = "/".join(filter(None, (about["resource"], about.get("subresource"))))
            resource = ".".join(filter(None, (plural, about.get("apiGroup"))))
            found.add(One(event["verb"], resource, about.get("namespace")))
    return found


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_command_runs_whole_with_the_rights_of_the_table_uses_all_of_them_and_without_them_says_so(
    command: str, plane: ControlPlane, tmp_path: Path
) -> None:
    name = f"{command}-{next(_numbers)}"
    create(plane.api, SERVICE_ACCOUNTS, name, READERS)
    kubeconfig = kubeconfig_of(plane, READERS, name, tmp_path)
    _, _, port = plane.url.rpartition(":")
    arguments = [each.format(server=f"127.0.0.1:{port},{port}") for each in ARGUMENTS[command]]

    def run_it() -> tuple[int, bool, str]:
        """Return the exit status, whether something could not be looked at, and all that is printed."""
        ended = run(plane, command, *arguments, kubeconfig=kubeconfig)
        printed = ended.stdout + ended.stderr
        return ended.returncode, "could not be looked at" in printed or "you lack the right" in printed, printed

    status, unseen, printed = run_it()
    assert (status, unseen) == (2, True), printed
    rights = ones(command)
    give(plane, name, rights)
    for _ in range(5):  # the API server takes a moment to know of rights
        status, unseen, printed = run_it()
        if not unseen:
            break
    assert (status in {0, 1}, unseen) == (True, False), printed
    # What is asked for in a namespace may be granted in all of them.
    asked = used(plane, f"{USERS}{name}")
    assert {each if each in rights else each._replace(namespace=None) for each in asked} == {*rights}


def test_the_commands_of_the_page_bind_people_to_roles_that_are_there(plane: ControlPlane) -> None:
    sh(plane, "\n".join(commands_of("docs/security.md")))
    for kind in ("clusterrolebindings", "rolebindings"):
        bindings = json.loads(plane.kubectl("get", kind, "--all-namespaces", "--output=json"))["items"]
        roles = {each["roleRef"]["name"] for each in bindings if "ingress-manager" in each["metadata"]["name"]}
        assert "ingress-manager-viewer" in roles


def test_no_command_that_reads_a_cluster_is_left_out() -> None:
    assert {*ARGUMENTS} == {command for rights in RIGHTS.values() for each in rights for command in each.commands}
