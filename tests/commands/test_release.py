"""`ingress-manager release` and `uninstall`. tests/e2e runs their steps on a cluster.

The table in tests/commands/release has Services, and the steps to release each or the reasons against it; the table in
tests/commands/uninstall has objects, and the output for them.
"""

import shlex
from pathlib import Path

import pytest

from devcluster.sync_requests import Object
from ingress_manager.commands.plans.steps import MOST_NAMES, MOVING
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.uninstall import CLUSTER_WIDE, CONTROLLERS, SELECTOR
from tests import dumps, golden
from tests import make_cases as cases
from tests.commands.commands import HTTPROUTES, LISTENERSETS, UNKNOWN_KIND, Cluster, event, listing, run
from tests.commands.commands import settings_on_a_cluster as installed
from tests.golden import Case
from tests.manifests.objects import rendered

CASES = [(folder, case) for folder in (cases.RELEASES, cases.UNINSTALLS) for case in golden.cases_in(folder)]
SERVICE: Object = {"Service": {"host": "shop.example.com"}}
SHOP, MADE = dumps.objects([SERVICE | {"Ingress": {}}])
MISSING = "422 body: Ingress team-a/shop: by its words, no program goes [not-made]"


@pytest.fixture(autouse=True)
def shop(cluster: Cluster) -> None:
    """Set up a cluster with the Service shop, its Ingress, and no CRDs for HTTPRoutes or Metacontroller."""
    before, after = (event(SHOP, MISSING, metadata={"name": "a", "resourceVersion": version}) for version in "12")
    cluster.says({"events": [listing(before), listing(after)], "ingress": MADE}, UNKNOWN_KIND)
    has(cluster, SERVICE | {"Ingress": {}})


def has(cluster: Cluster, *items: Object) -> None:
    """Replace a cluster's Services and Ingresses with these items, in the form of tests/dumps.py."""
    objects = dumps.objects([*items])
    services, ingresses = ([obj for obj in objects if obj["kind"] == kind] for kind in ("Service", "Ingress"))
    answers = {"services": services, "ingresses": ingresses, "services,ingresses": objects}
    cluster.answers |= {kind: listing(*group) for kind, group in answers.items()}


def commands(printed: str) -> list[list[str]]:
    return [shlex.split(line) for line in printed.splitlines() if line.startswith("kubectl")]


@pytest.mark.parametrize(("folder", "case"), CASES, ids=lambda parameter: parameter.name)
def test_the_output_is_as_the_case_says(folder: Path, case: Case) -> None:
    assert cases.COMMANDS[folder](case) == case.fields["becomes"]
    assert [*case.fields] == [field for field in cases.FIELDS if field in case.fields]


def test_one_entrance_is_released_and_the_others_stay(cluster: Cluster) -> None:
    both = {"ingress/http": "true", "internal.ingress/http": "true", "internal.ingress/host": "a.example.com"}
    internal = {"Ingress": {"of": "shop", "name": "shop.internal"}}
    has(cluster, {"Service": {"annotations": both}, "Ingress": {}}, internal)
    ended = run("release", "shop.internal", "team-a/shop.internal")
    assert (ended.status, ended.out.splitlines()[0], ended.err) == (0, "# team-a/shop.internal", "")
    changed = [words[words.index("--") + 1 :] for words in commands(ended.out) if words[1] in {"patch", "annotate"}]
    assert [words[1] for words in changed] == ["shop.internal", "shop", "shop"]
    assert changed[-1][2:] == ["internal.ingress/http-", "internal.ingress/host-", "ingress-manager/moving-"]
    nothing = run("release", "team-a/shop.other")
    assert (nothing.out, nothing.err) == ("", "team-a/shop.other: ingress-manager manages no object of this Service\n")


def test_the_steps_of_a_release_run(cluster: Cluster) -> None:
    ended = run("release", "team-a/shop", "--apply")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[-1] == "team-a/shop is released. Unchanged: Ingress team-a/shop."
    assert cluster.asked == [
        *("get services,ingresses", f"get {HTTPROUTES}", f"get {LISTENERSETS}", "patch ingress"),
        *("get events", "annotate service", "get events", "annotate service", "get ingress"),
    ]
    assert cluster.naps[0] == 4, "the hook reports no sooner"
    has(cluster, SERVICE)
    assert run("release", "team-a/shop", "--apply").out.endswith("team-a/shop is released.\n")


def test_no_annotation_is_removed_before_metacontroller_has_let_go(cluster: Cluster) -> None:
    """An Event from before the release is no proof."""
    del cluster.answers["events"][1]
    ended = run("release", "team-a/shop", "--apply")
    assert (ended.status, cluster.asked[-1], "ingress/http-" in ended.out) == (2, "get events", False)
    assert (
        "still waiting until a new Event on Service team-a/shop reports [not-made] for Ingress team-a/shop" in ended.err
    )
    assert "`ingress-manager release --without-event`, which waits a fixed time instead" in ended.err
    _, _, back = ended.err.partition("To undo the steps, run:\n")
    assert "  ingress-manager adopt team-a/shop --apply\n" in back
    cluster.answers["ingress"] = MADE | {"spec": {}}
    ended = run("release", "team-a/shop", "--apply", "--without-event")
    assert (ended.status, "still waiting until Ingress team-a/shop has the planned spec" in ended.err) == (2, True)


def test_more_objects_than_an_event_names_are_given_time(cluster: Cluster) -> None:
    has(cluster, SERVICE, *({"Ingress": {"of": "shop", "name": f"shop-{number}"}} for number in range(20)))
    printed = run("release", "team-a/shop").out
    assert ("#   wait 10 seconds\n" in printed, "a new Event" in printed) == (True, False)


def test_unreadable_objects_do_not_count_as_absent(cluster: Cluster) -> None:
    cluster.error = "Error from server (Forbidden): httproutes is forbidden"
    for command in (("release", "team-a/shop"), ("uninstall", "--keep")):
        ended = run(*command)
        assert (ended.status, ended.out, "httproutes is forbidden" in ended.err) == (2, "", True)


# uninstall


@pytest.mark.parametrize("more", [0, 1])
def test_a_command_line_names_only_as_many_objects_as_kubectl_handles_fast(more: int, cluster: Cluster) -> None:
    """200 names would take kubectl forty seconds."""
    has(cluster, SERVICE, *({"Ingress": {"of": "shop", "name": f"{number}"}} for number in range(MOST_NAMES + more)))
    assert ("--filename=-" in run("uninstall", "--remove").out) == bool(more)


def test_all_installed_objects_are_removed() -> None:
    """Objects in a deleted namespace go with it, and cluster-wide ones are deleted by label."""
    [printed] = (case.fields["becomes"]["remove"] for _, case in CASES if case.name == "everything")
    words = {word for words in commands(printed) for word in words}
    folders = ("manifests", "metacontroller", "metacontroller/listenerset")
    for item in (item for folder in folders for item in rendered(folder)):
        name, namespace, labels = map(item["metadata"].get, ("name", "namespace", "labels"))
        by_label = labels["app.kubernetes.io/name"] in SELECTOR and item["kind"].lower() in CLUSTER_WIDE
        assert by_label or not words.isdisjoint({name, namespace}), item


def test_copied_annotations_are_removed_from_the_service_if_the_ingress_stays(cluster: Cluster) -> None:
    key = "nginx.ingress.kubernetes.io/proxy-body-size"
    service = {"annotations": {"ingress/http": "true", key: "8m"}}
    has(cluster, {"Service": service, "Ingress": {"annotations": {key: "8m"}}}, {"Service": {"name": "blog"} | service})
    printed = run("uninstall", "--keep").out
    assert f"\nkubectl annotate --namespace=team-a -- service shop ingress/http- {key}- {MOVING}-\n" in printed
    assert f"\nkubectl annotate --namespace=team-a -- service blog ingress/http- {MOVING}-\n" in printed


def test_the_whole_cluster_is_read_and_the_hook_is_stopped_in_its_namespace(cluster: Cluster) -> None:
    ended = run("uninstall", "--keep", "--context", "there")
    assert [call.split()[-1] for call in cluster.calls] == [
        *("services", "ingresses", HTTPROUTES, LISTENERSETS, *CONTROLLERS)
    ]
    assert all(words[words.index("--") - 1] == "--context=there" for words in commands(ended.out))
    assert not any("decoratorcontroller" in words for words in commands(ended.out)), "the cluster has no such kind"
    cluster.answers[CONTROLLERS[0]] = installed("", "tools", "hook")[CONTROLLERS[0]]
    ended = run("uninstall", "--keep", "--keep-metacontroller")
    assert (ended.status, ended.err) == (0, "")
    assert "kubectl delete --namespace=tools --cascade=foreground --ignore-not-found -- deployment hook\n" in ended.out
    assert "# The namespace tools stays. Remove the Helm release" in ended.out
    assert ended.out.endswith("\n# Metacontroller stays: --keep-metacontroller is set.\n")


def test_the_steps_of_an_uninstallation_run_until_one_fails(cluster: Cluster) -> None:
    ended = run("uninstall", "--keep", "--apply")
    assert (ended.status, ended.out.splitlines()[-1]) == (0, "ingress-manager is removed.")
    cluster.fails = {"delete deployment": KubectlFailed("Error from server: no")}
    ended = run("uninstall", "--keep", "--apply")
    assert (ended.status, ended.err.splitlines()[-1]) == (2, "To continue, run the same command again.")
    for options in ([], ["--keep", "--remove"]):
        ended = run("uninstall", *options)
        assert (ended.status, "to the Ingresses: --keep or --remove" in ended.err) == (2, True)
