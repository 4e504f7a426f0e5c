"""`ingress-manager release` and `uninstall-plan`: the ways out. tests/e2e takes the steps on a cluster."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from devcluster.build import REPOSITORY
from devcluster.manifests import built, rendered
from devcluster.sync_requests import as_created, service
from ingress_manager.commands.plans import taking as shell_steps
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.commands.uninstall_plan.plan import MOST_NAMES, POLICIES
from ingress_manager.core.text import one_line
from tests.commands.commands import Ended, asked, run

SHOP = service({"ingress/http": "true", "ingress/host": "shop.example.com", "example.com/owner": "a"})
OURS = {
    "apiVersion": "metacontroller.k8s.io/v1alpha1",
    "kind": "DecoratorController",
    "metadata": {"name": "ingress-manager"},
}
LABEL = {"app.kubernetes.io/managed-by": "ingress-manager"}


def made(kind: str = "Ingress", name: str = "shop", **metadata: Any) -> dict[str, Any]:
    """Return an object as Metacontroller makes it for the Service shop."""
    version = "networking.k8s.io/v1" if kind == "Ingress" else "gateway.networking.k8s.io/v1"
    names = {"name": name, "namespace": "team-a", "labels": LABEL}
    return as_created({"apiVersion": version, "kind": kind, "metadata": {**names, **metadata}, "spec": {}}, SHOP)


def nobodys(found: dict[str, Any]) -> dict[str, Any]:
    """Return an object without all that makes it ingress-manager's."""
    metadata = {key: found["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
    return {**found, "metadata": metadata}


def dump(*objects: dict[str, Any]) -> str:
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": [*objects]})


def commands(printed: str) -> list[list[str]]:
    """Return the words of each kubectl command of a script."""
    return [shlex.split(line) for line in printed.splitlines() if line.startswith("kubectl")]


def patches(printed: str) -> list[Any]:
    """Return what each `kubectl patch` of a script changes."""
    return [
        json.loads(word.removeprefix("--patch="))
        for words in commands(printed)
        for word in words
        if word.startswith("--patch=")
    ]


RELEASED = {
    "metadata": {
        "resourceVersion": "42",
        "labels": {"app.kubernetes.io/managed-by": None},
        "annotations": {
            "metacontroller.k8s.io/decorator-controller": None,
            "metacontroller.k8s.io/last-applied-configuration": None,
        },
        "ownerReferences": None,
    }
}


def test_the_ingress_is_released_before_the_annotations_are_taken_off() -> None:
    ended = run("release", "team-a/shop", "-f", "-", stdin=dump(SHOP, made()))
    assert (ended.status, ended.err) == (0, "")
    patch, touch, off = commands(ended.out)
    assert (patch[:3], patch[-3:]) == (["kubectl", "patch", "--namespace=team-a"], ["--", "ingress", "shop"])
    assert patches(ended.out) == [RELEASED]
    assert touch[-5:] == ["--overwrite", "--", "service", "shop", "ingress-manager/moving=42"]
    assert off == [
        *("kubectl", "annotate", "--namespace=team-a", "--", "service", "shop"),
        *("ingress/http-", "ingress/host-", "ingress-manager/moving-"),
    ]
    waits = [number for number, line in enumerate(ended.out.splitlines()) if line.startswith("until ")]
    assert waits == [6], "after the Service was touched, before its annotations are taken off"
    assert "grep -F 'Ingress team-a/shop is in the way'" in ended.out


@pytest.mark.parametrize("failing", ["patch", "annotate"])
@pytest.mark.parametrize("options", [(), ("--without-event",)])
def test_no_step_is_taken_after_one_that_failed(failing: str, options: tuple[str, ...], tmp_path: Path) -> None:
    """Not even by a shell that goes on after an error, as one does into which lines are pasted."""
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f"#!/bin/sh\necho $1 >> {tmp_path}/calls\n[ $1 != {failing} ]\n")
    kubectl.chmod(0o755)
    printed = run("release", "team-a/shop", "-f", "-", *options, stdin=dump(SHOP, made())).out
    path = os.pathsep.join((str(tmp_path), os.environ["PATH"]))
    ended = subprocess.run(["/bin/sh"], input=printed, env={"PATH": path}, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    calls = (tmp_path / "calls").read_text().split()
    assert calls == ["patch", *(() if failing == "patch" else (*(["get"] if not options else []), "annotate"))]


def test_httproutes_are_released_as_well_and_each_is_waited_for() -> None:
    routes = [made("HTTPRoute"), made("HTTPRoute", "shop-0123456789")]
    ended = run("release", "shop", "-n", "team-a", "-f", "-", stdin=dump(SHOP, made(), *routes))
    assert patches(ended.out) == [RELEASED] * 3
    assert re.findall(r"grep -F '([^']*)'", ended.out) == [
        "Ingress team-a/shop is in the way",
        "HTTPRoute team-a/shop is in the way",
        "HTTPRoute team-a/shop-0123456789 is in the way",
    ]


def test_what_is_not_ours_stays_in_the_metadata() -> None:
    other = made(annotations={"ingress/not-copied": "x", "ingress/added-by-settings": "y", "a/b": "c"})
    owner = {"apiVersion": "example.com/v1", "kind": "Shop", "name": "shop", "uid": "1"}
    other["metadata"]["ownerReferences"].append(owner)
    other["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "Helm"}
    [patch] = patches(run("release", "team-a/shop", "-f", "-", stdin=dump(SHOP, other)).out)
    assert patch["metadata"] == {
        "resourceVersion": "42",
        "annotations": {
            **RELEASED["metadata"]["annotations"],  # type: ignore[dict-item]
            "ingress/not-copied": None,
            "ingress/added-by-settings": None,
        },
        "ownerReferences": [owner],
    }


def test_a_release_that_was_broken_off_goes_on() -> None:
    halfway = run("release", "team-a/shop", "-f", "-", stdin=dump(SHOP, nobodys(made())))
    assert [words[1] for words in commands(halfway.out)] == ["annotate", "annotate"]
    assert "until " in halfway.out
    off = service({"ingress/host": "shop.example.com"})
    only = run("release", "team-a/shop", "-f", "-", stdin=dump(off, nobodys(made())))
    assert commands(only.out) == [
        [
            "kubectl",
            "annotate",
            "--namespace=team-a",
            "--",
            "service",
            "shop",
            "ingress/host-",
            "ingress-manager/moving-",
        ]
    ]


def test_a_release_that_is_broken_off_again_and_again_changes_the_service_each_time() -> None:
    """Else Metacontroller would not look at it, and there would be no Event."""
    touched = []
    for version in ("50", "51"):
        shop = {**SHOP, "metadata": {**SHOP["metadata"], "resourceVersion": version}}
        halfway = run("release", "team-a/shop", "-f", "-", stdin=dump(shop, nobodys(made())))
        touched.append(commands(halfway.out)[0][-1])
    assert touched == ["ingress-manager/moving=50.42", "ingress-manager/moving=51.42"]


def test_nothing_to_release_is_told() -> None:
    another = made()
    another["metadata"]["ownerReferences"][0]["uid"] = "that-of-an-older-Service"
    ended = run("release", "team-a/shop", "-f", "-", stdin=dump(service(), another))
    assert ended == (0, "", "team-a/shop: nothing of it is ingress-manager's\n")


def test_whoever_keeps_the_service_in_git_is_told() -> None:
    kept = {**SHOP, "metadata": {**SHOP["metadata"], "labels": {"kustomize.toolkit.fluxcd.io/name": "apps"}}}
    ended = run("release", "team-a/shop", "-f", "-", stdin=dump(kept, made()))
    assert ended.err == "team-a/shop: Flux keeps Service shop: change its annotations in Git as well\n"


def test_what_no_script_can_hold_is_told_and_nothing_of_its_service_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that takes a release back would hold it."""
    for value, seen in (("a\x1b[31m.example.com", "a\\x1b[31m.example.com"), ("\0", "\\x00")):
        odd = service({"ingress/http": "true", "ingress/host": value})
        told = (
            f'team-a/shop: ingress/host: "{seen}" holds characters that a person would not see in a command, so none '
            "is made: take them out, with `kubectl edit`\n"
        )
        assert run("release", "team-a/shop", "-f", "-", stdin=json.dumps(odd)) == (1, "", f"stdin:1: {told}")
        answers = {"services,ingresses": dump(odd, made()), **UNKNOWN}
        ended, calls = applied(monkeypatch, answers, "release", "team-a/shop", "--apply")
        assert (ended, {call.split()[0] for call in calls}) == ((1, "", told), {"get"})


def test_what_has_no_name_of_an_api_server_is_told_and_becomes_no_command() -> None:
    """As options of kubectl, some would delete all, or send the user's credentials to somebody else."""
    names = ["--all", "--server=http://a.example.com", "a; reboot", "a\nreboot", "Shop", "", 7, None]
    for keep in ("--keep", "--remove"):
        for kind in ("Ingress", "HTTPRoute"):
            ended = run("uninstall-plan", keep, "-f", "-", stdin=dump(*(made(kind, name=name) for name in names)))  # type: ignore[arg-type]
            assert ended.status == 1
            assert len(commands(ended.out)) == len(uninstalled(keep=True)), "only what was installed is removed"
            assert [line.partition(": metadata")[0] for line in ended.err.splitlines()] == [
                f"stdin:1: team-a/{one_line(str(name or ''))}: is no valid {kind}" for name in names
            ]
    for field, value in (
        ("namespace", "--all"),
        ("uid", "1,b=c"),
        ("resourceVersion", "1 2"),
        ("annotations", {"a=b": ""}),
    ):
        odd = made()
        odd["metadata"][field] = value
        ended = run("release", "team-a/shop", "-f", "-", stdin=dump(SHOP, odd))
        assert (ended.status, patches(ended.out)) == (1, [])
        assert f"is no valid Ingress: metadata.{field}: " in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["release", "shop", "-f", "-", "--apply"], "--apply works on the cluster, not on files"),
        (["release", "nobody", "-f", "-"], "there is no Service nobody"),
        (["uninstall-plan", "-f", "-"], "say what becomes of the Ingresses: --keep or --remove"),
    ],
)
def test_wrong_use_is_told_with_exit_status_2(arguments: list[str], message: str) -> None:
    ended = run(*arguments, stdin=dump(SHOP))
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err


def test_a_file_that_is_half_right_is_read_as_far_as_it_is_right(tmp_path: Path) -> None:
    (tmp_path / "half.yaml").write_text("a: [\n---\n" + dump(SHOP, made()))
    for command in (["release", "team-a/shop"], ["uninstall-plan", "--keep"]):
        ended = run(*command, "-f", tmp_path / "half.yaml")
        assert ended.status == 1
        assert patches(ended.out) == [RELEASED]
        assert ended.err.startswith(f"{tmp_path}/half.yaml:1: is not YAML")


# On a kubectl that only answers.


def applied(monkeypatch: pytest.MonkeyPatch, answers: dict[str, str], *arguments: str) -> tuple[Ended, list[str]]:
    """Return what a command does, and the calls of kubectl; a call without an answer fails with answers["error"]."""
    calls = []

    def answer(_: Kubectl, *words: str) -> str:
        verb, name = asked(words)
        calls.append(f"{verb} {name}")
        if verb != "get":
            return ""
        if name in answers:
            return answers[name]
        raise KubectlFailed(answers["error"])

    monkeypatch.setattr(Kubectl, "run", answer)
    monkeypatch.setattr(shell_steps, "PAUSE", 0)
    return run(*arguments), calls


UNKNOWN = {"error": 'error: the server doesn\'t have a resource type "httproutes"'}
FORBIDDEN = {"error": "Error from server (Forbidden): httproutes is forbidden"}


def test_the_steps_of_a_release_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"services,ingresses": dump(SHOP, made()), **UNKNOWN}
    ended, calls = applied(monkeypatch, answers, "release", "team-a/shop", "--apply", "--without-event")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[-1] == "team-a/shop is released; Ingress team-a/shop stays as it is."
    assert calls == [
        *("get services,ingresses", "get httproutes.gateway.networking.k8s.io"),
        *("patch ingress", "annotate service", "annotate service"),
    ]
    ended, _ = applied(monkeypatch, {"services,ingresses": dump(SHOP), **UNKNOWN}, "release", "team-a/shop", "--apply")
    assert ended.out.endswith("team-a/shop is released.\n")


@pytest.mark.parametrize("command", [("release", "team-a/shop"), ("uninstall-plan", "--keep")])
def test_what_cannot_be_seen_is_not_taken_for_nothing(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, _ = applied(monkeypatch, {"services,ingresses": dump(SHOP, made()), **FORBIDDEN}, *command)
    assert (ended.status, ended.out) == (2, "")
    assert "httproutes is forbidden" in ended.err


# uninstall-plan


def uninstalled(*objects: dict[str, Any], keep: bool) -> list[list[str]]:
    """Return the words of each command of the plan, without kubectl and its options."""
    ended = run("uninstall-plan", "--keep" if keep else "--remove", "-f", "-", stdin=dump(*objects))
    assert (ended.status, ended.err) == (0, "")
    return [[words[1], *words[words.index("--") + 1 :]] for words in commands(ended.out)]


@pytest.mark.parametrize("keep", [True, False])
def test_what_manages_goes_before_anything_that_it_manages(keep: bool) -> None:
    plan = uninstalled(SHOP, made(), made("HTTPRoute"), nobodys(made(name="other")), keep=keep)
    assert plan[0][:3] == ["delete", "decoratorcontroller", "ingress-manager"]
    assert plan[1][:3] == ["delete", "deployment", "ingress-manager"]
    what = [words[:3] for words in plan[2:4]]
    verb = "patch" if keep else "delete"
    assert what == [[verb, "ingress", "shop"], [verb, "httproute", "shop"]]
    assert plan[4] == ["annotate", "service", "shop", "ingress/host-", "ingress/http-"]
    assert [
        words[:2] for words in plan if words[0] in {"patch", "delete"} and words[1] in {"ingress", "httproute"}
    ] == [words[:2] for words in plan[2:4]], "nothing that is not ingress-manager's"


def test_very_many_are_removed_by_several_commands() -> None:
    many = [made(name=f"shop-{number}") for number in range(MOST_NAMES + 1)]
    plan = uninstalled(*many, keep=False)
    assert [len([word for word in words if word.startswith("shop-")]) for words in plan[2:4]] == [MOST_NAMES, 1]


def test_all_that_was_installed_is_removed() -> None:
    """What is in a namespace that is deleted goes with it."""
    words = {word for words in uninstalled(OURS, keep=False) for word in words}
    installed = [*rendered("manifests"), *rendered("metacontroller"), *built(REPOSITORY / "metacontroller/httproute")]
    assert set(POLICIES) == {
        item["metadata"]["name"] for item in installed if item["kind"] == "ValidatingAdmissionPolicy"
    }
    left = {
        (item["kind"], item["metadata"]["name"])
        for item in installed
        if item["metadata"]["name"] not in words and item["metadata"].get("namespace") not in words
    }
    assert left == set()


def test_metacontroller_stays_where_it_works_for_somebody_else() -> None:
    other = {**OURS, "kind": "CompositeController", "metadata": {"name": "blue"}}
    plan = uninstalled(OURS, other, keep=False)
    assert ["delete", "namespace", "metacontroller"] not in plan
    assert not any("crd" in words for words in plan)
    printed = run("uninstall-plan", "--keep", "-f", "-", stdin=dump(OURS, other)).out
    assert "# Metacontroller stays: it also works for CompositeController blue.\n" in printed
    assert any("crd" in words for words in uninstalled(OURS, keep=True))


def test_metacontroller_stays_where_a_dump_does_not_say_for_whom_it_works() -> None:
    """`kubectl get services,ingresses` prints no controllers of Metacontroller's, whoever has some."""
    ended = run("uninstall-plan", "--keep", "-f", "-", stdin=dump(SHOP, made()))
    assert not any({"crd", "metacontroller"} & {*words} for words in commands(ended.out))
    assert ended.out.endswith(
        "\n# Metacontroller stays: none of its controllers was read, so that it can't be known whether it has others.\n"
    )


def test_metacontroller_stays_where_that_is_asked_for() -> None:
    printed = run("uninstall-plan", "--keep", "--keep-metacontroller", "-f", "-", stdin="").out
    assert printed.endswith("\n# Metacontroller stays, as --keep-metacontroller asks for.\n")
    assert "crd" not in printed
    assert "namespace metacontroller" not in printed


def test_the_whole_cluster_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"services,ingresses": dump(SHOP, made()), **UNKNOWN}
    ended, calls = applied(monkeypatch, answers, "uninstall-plan", "--keep", "--context", "there")
    assert ended.status == 0
    assert calls == [
        "get services,ingresses",
        "get httproutes.gateway.networking.k8s.io",
        "get decoratorcontrollers.metacontroller.k8s.io",
        "get compositecontrollers.metacontroller.k8s.io",
    ]
    assert all(words[words.index("--") - 1] == "--context=there" for words in commands(ended.out))
    assert any("crd" in words for words in commands(ended.out)), "there is no other controller"
    assert "decoratorcontroller" not in {asked(words[1:])[1] for words in commands(ended.out)}, (
        "the cluster has no such kind"
    )
