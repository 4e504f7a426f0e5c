"""`ingress-manager release` and `uninstall`: the ways out. tests/e2e takes the steps on a cluster.

The table in tests/commands/release has Services, and how each is released, or why it isn't; that in
tests/commands/uninstall has objects, and what is printed of them.
"""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from devcluster.build import REPOSITORY
from devcluster.sync_requests import as_created, service
from ingress_manager.commands.plans.steps import as_printed
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.uninstall.plan import MOST_NAMES, POLICIES
from ingress_manager.core.copying import COPIED
from ingress_manager.core.text import one_line
from tests import golden
from tests import make_cases as cases
from tests.commands.commands import HTTPROUTES, LISTENERSETS, UNKNOWN_KIND, Cluster, listing, run
from tests.golden import Case
from tests.manifests.objects import built, rendered

CASES = [(folder, case) for folder in (cases.RELEASES, cases.UNINSTALLS) for case in golden.cases_in(folder)]
SHOP = service({"ingress/http": "true", "ingress/host": "shop.example.com"})


def managed(kind: str = "Ingress", name: str = "shop") -> dict[str, Any]:
    """Return an object as Metacontroller makes it for the Service shop."""
    version = "networking.k8s.io/v1" if kind == "Ingress" else "gateway.networking.k8s.io/v1"
    return as_created({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "team-a"}}, SHOP)


def dump(*objects: dict[str, Any]) -> str:
    return json.dumps(listing(*objects))


def commands(printed: str) -> list[list[str]]:
    """Return the words of each kubectl command of a script."""
    return [shlex.split(line) for line in printed.splitlines() if line.startswith("kubectl")]


@pytest.mark.parametrize(("folder", "case"), CASES, ids=lambda each: each.name)
def test_what_is_printed_is_as_the_case_says(folder: Path, case: Case) -> None:
    assert cases.COMMANDS[folder](case) == case.stated["becomes"]
    assert [*case.stated] == [field for field in cases.FIELDS if field in case.stated]


def test_a_service_whose_ingress_is_not_in_the_files_is_not_released() -> None:
    """Without its Ingress the plan would only take the annotations off, and Metacontroller would remove the Ingress."""
    ended = run("release", "team-a/shop", "-f", "-", stdin=dump(SHOP, managed(name="shop.internal")))
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("stdin:1: team-a/shop: the files have no Ingress or HTTPRoute team-a/shop: if")


def test_one_entrance_is_released_and_the_others_stay() -> None:
    own = {"ingress/http": "true", "internal.ingress/http": "true", "internal.ingress/host": "a.example.com"}
    objects = [service(own), managed(), managed(name="shop.internal"), managed("HTTPRoute", "shop.internal.redirect")]
    ended = run("release", "shop.internal", "-n", "team-a", "-f", "-", stdin=dump(*objects))
    assert (ended.status, ended.out.splitlines()[0], ended.err) == (0, "# team-a/shop.internal", "")
    changed = [words[words.index("--") + 1 :] for words in commands(ended.out) if words[1] in {"patch", "annotate"}]
    assert [words[1] for words in changed] == ["shop.internal", "shop.internal.redirect", "shop", "shop"]
    assert changed[-1][2:] == ["internal.ingress/http-", "internal.ingress/host-", "ingress-manager/moving-"]
    nothing = run("release", "team-a/shop.other", "-f", "-", stdin=dump(*objects))
    assert (nothing.out, nothing.err) == ("", "team-a/shop.other: nothing of it is ingress-manager's\n")


def test_what_has_no_name_of_an_api_server_is_told_and_becomes_no_command() -> None:
    """As options of kubectl, some would delete all, or send the user's credentials to somebody else."""
    names: list[Any] = ["--all", "--server=http://a.example.com", "a; reboot", "a\nreboot", "Shop", "", 7, None]
    ended = run("uninstall", "--remove", "-f", "-", stdin=dump(*(managed(name=name) for name in names)))
    assert ended.status == 1
    assert "ingress" not in {words[words.index("--") + 1] for words in commands(ended.out)}
    assert [line.partition(": metadata")[0] for line in ended.err.splitlines()] == [
        f"stdin:1: team-a/{one_line(str(name or ''))}: is no valid Ingress" for name in names
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["release", "shop", "-f", "-", "--apply"], "--apply works on the cluster, not on files"),
        (["release", "nobody", "-f", "-"], "there is no Service nobody"),
        (["uninstall", "--keep", "-f", "-", "--apply"], "--apply works on the cluster, not on files"),
        (["uninstall", "-f", "-"], "say what becomes of the Ingresses: --keep or --remove"),
    ],
)
def test_wrong_use_is_told_with_exit_status_2(arguments: list[str], message: str) -> None:
    ended = run(*arguments, stdin=dump(SHOP))
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err


# On a kubectl that only answers.

STANDS = f"{as_printed(managed()['metadata']['uid'])} {as_printed(managed().get('spec'))}"
MADE = {"services,ingresses": listing(SHOP, managed()), "events": listing(), "ingress": STANDS}
RELEASE = ("release", "team-a/shop", "--apply")


def test_the_steps_of_a_release_are_taken(cluster: Cluster) -> None:
    cluster.answers, cluster.error = {**MADE}, UNKNOWN_KIND
    ended = run(*RELEASE, "--without-event")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[-1] == "team-a/shop is released; Ingress team-a/shop stays as it is."
    assert cluster.asked == [
        *("get services,ingresses", f"get {HTTPROUTES}", f"get {LISTENERSETS}", "get events"),
        *("patch ingress", "annotate service", "annotate service", "get ingress"),
    ]
    cluster.answers["ingress"] = ""
    ended = run(*RELEASE, "--without-event")
    assert (ended.status, "Ingress team-a/shop does not stand any more as it was released" in ended.err) == (2, True)
    cluster.answers["services,ingresses"] = listing(SHOP)
    assert run(*RELEASE).out.endswith("team-a/shop is released.\n")
    cluster.answers["services,ingresses"] = listing(service({"ingress/host": "\0"}), managed())
    cluster.calls.clear()
    ended = run(*RELEASE)
    assert (ended.status, ended.out, len(cluster.calls)) == (1, "", 4)


@pytest.mark.parametrize("command", [("release", "team-a/shop"), ("uninstall", "--keep")])
def test_what_cannot_be_seen_is_not_taken_for_nothing(command: tuple[str, ...], cluster: Cluster) -> None:
    cluster.answers = {"services,ingresses": listing(SHOP, managed())}
    cluster.error = "Error from server (Forbidden): httproutes is forbidden"
    ended = run(*command)
    assert (ended.status, ended.out) == (2, "")
    assert "httproutes is forbidden" in ended.err


# uninstall


@pytest.mark.parametrize("more", [0, 1])
def test_a_command_line_names_no_more_than_kubectl_does_at_once(more: int) -> None:
    """Two hundred would take forty seconds."""
    many = [managed(name=f"shop-{number}") for number in range(MOST_NAMES + more)]
    printed = run("uninstall", "--remove", "-f", "-", stdin=dump(*many)).out
    [line] = (line for line in printed.splitlines() if f"shop-{MOST_NAMES - 1}" in line and not line.startswith("#"))
    assert ("--filename=-" in line) == bool(more)


def test_one_command_releases_all_that_differ_in_name_and_namespace_alone() -> None:
    """A call of kubectl for each would take a minute for 200."""
    many = [managed(name=f"shop-{number}") for number in range(4)]
    for number in (0, 1, 3):
        many[number]["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "ingress-manager"}
    many[1]["metadata"]["namespace"] = "team-b"
    many[3]["metadata"]["ownerReferences"].insert(0, {"kind": "Service", "name": "another", "uid": "1"})
    printed = run("uninstall", "--keep", "-f", "-", stdin=dump(*many)).out
    lines = [line for line in printed.splitlines() if "kubectl patch" in line]
    named = [sorted(set(re.findall(r"shop-\d", line))) for line in lines]
    assert named == [["shop-0", "shop-1"], ["shop-2"], ["shop-3"]]
    assert ['"remove", "path": "/metadata/labels' in line for line in lines] == [True, False, True]
    assert ['"remove", "path": "/metadata/ownerReferences/1"' in line for line in lines] == [False, False, True]


def test_all_that_was_installed_is_removed() -> None:
    """What is in a namespace that is deleted goes with it."""
    [printed] = (case.stated["becomes"]["remove"] for _, case in CASES if case.name == "everything")
    words = {word for words in commands(printed) for word in words}
    installed = [*rendered("manifests"), *rendered("metacontroller"), *built(REPOSITORY / "metacontroller/listenerset")]
    assert {name for name in POLICIES if "name-taken" not in name} == {
        item["metadata"]["name"] for item in installed if item["kind"] == "ValidatingAdmissionPolicy"
    }
    left = {
        (item["kind"], item["metadata"]["name"])
        for item in installed
        if item["metadata"]["name"] not in words and item["metadata"].get("namespace") not in words
    }
    assert left == set()


def test_metacontroller_stays_where_that_is_asked_for() -> None:
    printed = run("uninstall", "--keep", "--keep-metacontroller", "-f", "-", stdin="").out
    assert printed.endswith("\n# Metacontroller stays, as --keep-metacontroller asks for.\n")
    assert {"crd", "metacontroller"}.isdisjoint(word for words in commands(printed) for word in words)


def test_what_was_copied_goes_from_its_service_where_the_ingress_stays() -> None:
    """As with release; nothing else of the Service does, and Metacontroller isn't known to work for it alone."""
    key = "nginx.ingress.kubernetes.io/proxy-body-size"
    own = {"ingress/http": "true", key: "8m", "nginx.ingress.kubernetes.io/proxy-read-timeout": "60"}
    copied = managed()
    copied["metadata"]["annotations"] |= {key: "8m", COPIED: key}
    blog = service(own)
    blog["metadata"] |= {"name": "blog", "uid": "2"}
    objects = [service(own), blog, copied]
    printed = run("uninstall", "--keep", "-f", "-", stdin=dump(*objects)).out
    assert f"\nkubectl annotate --namespace=team-a -- service shop ingress/http- {key}-\n" in printed
    assert "\nkubectl annotate --namespace=team-a -- service blog ingress/http-\n" in printed
    assert '"path": "/metadata/annotations/ingress~1copied"' in printed
    assert "\n# Metacontroller stays: none of its controllers was read, so" in printed
    removed = run("uninstall", "--remove", "-f", "-", stdin=dump(*objects)).out
    assert "\nkubectl annotate --namespace=team-a -- service shop blog ingress/http-\n" in removed
    assert "crd" not in {word for words in commands(removed) for word in words}


def test_the_whole_cluster_is_asked(cluster: Cluster) -> None:
    cluster.answers, cluster.error = MADE, UNKNOWN_KIND
    ended = run("uninstall", "--keep", "--context", "there")
    assert ended.status == 0
    decorators, composites = (f"{kind}controllers.metacontroller.k8s.io" for kind in ("decorator", "composite"))
    assert [call.rpartition(" ")[2] for call in cluster.calls] == [
        *("services", "ingresses", HTTPROUTES, LISTENERSETS, decorators, composites)
    ]
    assert all(words[words.index("--") - 1] == "--context=there" for words in commands(ended.out))
    assert any("crd" in words for words in commands(ended.out)), "there is no other controller"
    assert not any("decoratorcontroller" in words for words in commands(ended.out)), "the cluster has no such kind"


def test_the_steps_of_an_uninstallation_are_taken_and_one_that_fails_ends_it(cluster: Cluster) -> None:
    cluster.answers, cluster.error = {**MADE}, UNKNOWN_KIND
    ended = run("uninstall", "--keep", "--apply")
    assert (ended.status, ended.out.splitlines()[-1]) == (0, "ingress-manager is removed.")
    cluster.fails = {"delete deployment": KubectlFailed("Error from server: no")}
    ended = run("uninstall", "--keep", "--apply")
    assert (ended.status, ended.err.splitlines()[-1]) == (2, "Run it again: it goes on there.")
