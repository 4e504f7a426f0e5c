"""The table of the commands' permissions is exact: each command runs with only these, and uses all of them."""

import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from devcluster.api import EVENTS, INGRESSES, NAMESPACES, SERVICE_ACCOUNTS, Object
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE, DevCluster, install_crds
from devcluster.control_plane import ControlPlane
from devcluster.overlay import kustomize
from devcluster.programs import gateway_api_crds
from devcluster.story import Stage
from ingress_manager.commands.reading.permissions import PERMISSIONS, permissions_of
from tests.e2e.conftest import bare_plane
from tests.e2e.objects import CONFIG_MAPS, ON, by_hand, create, give_address, made_for, ready_endpoint
from tests.e2e.people import can, commands_of, editor_of, grant, kubeconfig_of, run, sh
from tests.manifests.objects import find

TEAM, HOOK = "team-a", "ingress-manager"
READERS = "readers"
"""The namespace of the users who run the commands, so that the audit log shows their requests."""

IN = {"each namespace": TEAM, "the Gateways' namespaces": "web", "the hook's namespace": HOOK, "the cluster": None}
ARGUMENTS = {
    "adopt": [f"{TEAM}/theirs"],
    "audit": ["-n", TEAM],
    "check": [],
    # The API server answers in place of both controllers.
    "compare": ["-n", TEAM, "--old", "{server}", "--new", "{server}"],
    "release": [f"{TEAM}/shop"],
    "render": ["-n", TEAM],
    "status": ["shop", "-n", TEAM],
    "uninstall": ["--keep"],
}
SETTINGS = """\
defaults: {outputs: [ingress, httproute], gateway: {name: web, namespace: web}}
profiles:
  plain: {outputs: [ingress]}
  slow: {outputs: [httproute], timeouts: {request: 60s}}
  mirrored: {outputs: [httproute], filters: [{type: RequestMirror, requestMirror: {backendRef: {name: a}}}]}
  typo: {outputs: [httproute], filters: [{type: RequestHeaderModifier, requestHeaderModifier: {sets: []}}]}
"""


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """Yield an API server with ingress-manager's manifests, but no running hook or Metacontroller."""
    with bare_plane() as running:
        install_crds(running.api, [*yaml.safe_load_all(CRD_FILE.read_text()), *gateway_api_crds()])
        for folder in ("manifests", "metacontroller/install", "metacontroller/listenerset"):
            text = kustomize(REPOSITORY / folder)
            running.kubectl("apply", "--server-side", "--filename=-", input=text)
        # A webhook without a server. Writes don't wait for it, because the connection is refused.
        for file in ("deployment", "webhook"):
            running.kubectl("apply", "--server-side", f"--filename={REPOSITORY}/manifests/admission/{file}.yaml")
        configmap = find("manifests", "ConfigMap")["metadata"]["name"]
        running.api.patch(CONFIG_MAPS, configmap, {"data": {"settings.yaml": SETTINGS}}, HOOK)
        for namespace in (TEAM, "web", READERS):
            create(running.api, NAMESPACES, namespace)
        team = Stage(running.api, TEAM)
        team.create_service("shop", ON | {"ingress/host": "shop.example.com"})
        team.create_service("plain", {"ingress/profile": "plain"})
        running.api.create(INGRESSES, by_hand(TEAM, "theirs", "theirs.example.com", "plain", ingressClassName="nginx"))
        blog = team.create_service("blog", ON | {"ingress/host": "blog.example.com", "ingress/tls-secret": "blog"})
        for desired in yaml.safe_load_all(run(running, "render", "-n", TEAM).stdout):
            if desired["metadata"]["name"] == "blog":
                made_for(running.api, blog, desired)
        # An Event says that the hook didn't answer, so `check` asks what was created since.
        about = {"apiVersion": "v1", "kind": "Service", "namespace": TEAM, "name": "other"}
        failed: Object = {"reason": "SyncError", "message": "sync hook failed: no answer"}
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        create(running.api, EVENTS, "other", TEAM, involvedObject=about, lastTimestamp=now, **failed)
        yield running


One = tuple[str, str, str | None]
"""A permission: verb, resource and namespace, or None for all namespaces."""


def used(plane: ControlPlane, user: str) -> set[One]:
    """Return the permissions that a user's allowed requests used, except what everybody has, such as the version."""
    found = set()
    for event in plane.audit_events():
        about = event.get("objectRef", {})
        allowed = event["annotations"].get("authorization.k8s.io/decision") == "allow"
        if event["user"]["username"] == user and "resource" in about and allowed:
            plural = "/".join(filter(None, (about["resource"], about.get("subresource"))))
            resource = ".".join(filter(None, (plural, about.get("apiGroup"))))
            found.add((event["verb"], resource, about.get("namespace")))
    return found


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_command_uses_all_the_permissions_of_the_table(command: str, plane: ControlPlane, tmp_path: Path) -> None:
    name = f"{command}-{time.monotonic_ns()}"  # of its own, if the test is tried once more
    create(plane.api, SERVICE_ACCOUNTS, name, READERS)
    kubeconfig = kubeconfig_of(plane, READERS, name, tmp_path)
    _, _, port = plane.url.rpartition(":")
    arguments = [each.format(server=f"127.0.0.1:{port},{port}") for each in ARGUMENTS[command]]

    def run_it() -> tuple[int, bool, str]:
        """Run the command; return its exit status, whether something was unreadable, and its output."""
        ended = run(plane, command, *arguments, kubeconfig=kubeconfig)
        printed = ended.stdout + ended.stderr
        return ended.returncode, "could not be read" in printed or "you don't have permission" in printed, printed

    status, unseen, printed = run_it()
    assert (status, unseen) == (2, True), printed
    needed = [(each, where) for where in PERMISSIONS for each in permissions_of(command, where) if not each.option]
    lines = [(each.permission.split(), where) for each, where in needed]
    permissions = {(verb, resource, IN[where]) for (*verbs, resource), where in lines for verb in verbs}
    for namespace in {where for *_, where in permissions}:
        here = [(verb, *resource.partition(".")[::2]) for verb, resource, where in permissions if where == namespace]
        rules = [{"apiGroups": [group], "resources": [plural], "verbs": [verb]} for verb, plural, group in here]
        grant(plane.api, (READERS, name), name, rules, namespace)
    for _ in range(5):  # new permissions take a moment to become effective
        status, unseen, printed = run_it()
        if not unseen:
            break
    assert (status in {0, 1}, unseen) == (True, False), printed
    # A permission used in one namespace may be granted in all of them.
    asked = used(plane, f"system:serviceaccount:{READERS}:{name}")
    assert {each if each in permissions else (*each[:2], None) for each in asked} == permissions


def test_check_asks_the_api_server_whether_httproutes_may_have_what_profiles_add(plane: ControlPlane) -> None:
    printed = run(plane, "check").stdout
    denied = dict(re.findall('✗ Gateway API: the API server rejects HTTPRoutes of profile "(.*?)": (.*)', printed))
    assert "Must have port for Service reference" in denied.pop("mirrored")
    assert 'unknown field "spec.rules[0].filters[0].requestHeaderModifier.sets"' in denied.pop("typo")
    assert not denied, "the first is accepted"


def test_the_commands_of_the_page_bind_people_to_roles_that_are_there(plane: ControlPlane) -> None:
    sh(plane, "\n".join(commands_of("docs/security.md")))
    for kind in ("clusterrolebindings", "rolebindings"):
        bindings = json.loads(plane.kubectl("get", kind, "--all-namespaces", "--output=json"))["items"]
        roles = {each["roleRef"]["name"] for each in bindings if "ingress-manager" in each["metadata"]["name"]}
        assert "ingress-manager-viewer" in roles


@pytest.fixture
def developer(cluster: DevCluster, tmp_path: Path) -> Iterator[Path]:
    create(cluster.api, NAMESPACES, TEAM)
    try:
        yield editor_of(cluster.control_plane, TEAM, tmp_path)
    finally:
        cluster.control_plane.kubectl("delete", "namespace", TEAM)
        role_binding = ("rolebinding", f"{HOOK}-{TEAM}", f"--namespace={HOOK}")
        cluster.control_plane.kubectl("delete", *role_binding, "--ignore-not-found")


def test_a_team_with_edit_and_nothing_else_follows_its_page(cluster: DevCluster, developer: Path) -> None:
    plane = cluster.control_plane
    publish, everything, one, wait, bind = commands_of("docs/teams.md")
    once = wait.replace("--timeout=120", "--timeout=1")

    def by_team(command: str) -> tuple[int, str]:
        ended = sh(plane, command, kubeconfig=developer, folder=developer.parent, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    def until(command: str, status: int, *texts: str) -> None:
        end = time.monotonic() + 20
        while (ended := by_team(command))[0] != status or not all(text in ended[1] for text in texts):
            assert time.monotonic() < end, (command, status, texts, ended)

    assert not can(plane, developer, "list decoratorcontrollers.metacontroller.k8s.io --all-namespaces")
    assert not can(plane, developer, f"get deployments.apps --namespace={HOOK}")
    for name in ("shop", "other"):
        assert by_team(f"kubectl create service clusterip {name} --tcp=80:8080")[0] == 0
        plane.kubectl("create", "--filename=-", input=json.dumps(ready_endpoint(TEAM, name, "80-8080")))
    assert by_team(publish)[0] == 0
    give_address(Stage(cluster.api, TEAM), "shop")
    until(wait, 0, "serving", "The settings could not be read: you don't have permission to get deployments.apps")
    until(everything, 0, "serving  team-a", "http://shop.example.com/")
    # A mistake: the Ingress stays, and the Event gives the reason. Once corrected, the Service is served again.
    by_team("kubectl annotate service shop ingress/path=/ 'ingress/routes=[{path: /}]'")
    until(everything, 0, "refused  team-a", "ingress/path", "has no effect", "[contradiction]")
    until(one, 0, "[contradiction]", "the one that has no effect")
    until(wait, 1, "Not serving: team-a/shop")
    by_team("kubectl annotate service shop ingress/routes-")
    until(wait, 0, "serving")
    # A Secret that doesn't exist yet, and the younger of two Services with the same host.
    by_team("kubectl annotate service shop ingress/tls=true ingress/tls-secret=shop-tls")
    until(once, 1, "accepted", "Secret team-a/shop-tls doesn't exist yet")
    by_team(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out crt.pem -days 2 "
        "-subj /CN=shop -addext subjectAltName=DNS:shop.example.com"
    )
    assert by_team("kubectl create secret tls shop-tls --cert=crt.pem --key=key.pem")[0] == 0
    until(wait, 0, "https://shop.example.com/")
    by_team(publish.replace(" shop ", " other "))
    give_address(Stage(cluster.api, TEAM), "other")
    until(once.replace(" shop ", " other "), 1, "Ingress team-a/shop, which is older, also claims shop.example.com/")
    # The Role in the hook's namespace.
    sh(plane, bind)
    until(everything, 0, f"Using the settings in ConfigMap {HOOK}/")
    assert "The settings could not" not in by_team(everything)[1]


def test_no_command_that_reads_a_cluster_is_left_out() -> None:
    assert {*ARGUMENTS} == {command for needs in PERMISSIONS.values() for each in needs for command in each.commands}
