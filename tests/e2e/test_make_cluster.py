"""`make demo` and `make cluster`, as a person uses them: what it prints is typed as it stands."""

import re
import subprocess
from collections.abc import Iterator

import pytest

from devcluster import gateway, story
from devcluster.api import wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from tests.e2e import pages

PATIENCE = 30


@pytest.fixture(scope="module")
def shell(engine: str) -> Iterator[pages.Shell]:
    """Yield a second terminal, beside a cluster that `make cluster` has started."""
    if reason := gateway.lacking():
        pytest.skip(reason)
    with pages.cluster_shell(engine) as started:
        yield started


def run(shell: pages.Shell, command: str) -> str:
    """Return what a command prints that succeeds."""
    printed = shell.run(f"{command} </dev/null; echo exit status $?")
    output, _, ended = printed.rpartition("exit status ")
    assert int(ended) == 0, f"{command}\n{output}"
    return output


def told(shell: pages.Shell, start: str) -> list[str]:
    """Return the commands that `make cluster` tells and that begin so."""
    return re.findall(rf"^  ({start}.*?)(?:  +#.*)?$", shell.welcome, re.MULTILINE)


def class_of_a_new_ingress(shell: pages.Shell, service: str) -> str:
    """Return the class that a new Service's Ingress has."""
    run(shell, f"kubectl create service clusterip {service} --tcp=80")
    run(shell, f"kubectl annotate service {service} ingress/http=true ingress/host={service}.example.com")
    run(shell, f"kubectl wait --for=create --timeout=30s ingress/{service}")
    found = run(shell, f"kubectl get ingress {service} --output=jsonpath={{.spec.ingressClassName}}")
    run(shell, f"kubectl delete service {service}")
    return found


def edit_settings(shell: pages.Shell, ingress_class: str) -> None:
    """Type what `make cluster` tells of other settings, up to the restart, and write another class in the editor."""
    edit, restart = told(shell, "kubectl edit") + told(shell, "kubectl rollout restart")
    run(shell, rf"KUBE_EDITOR=\"sed -i -E 's/^( +class:) [^ ]+$/\1 {ingress_class}/'\" {edit}".replace('\\"', '"'))
    run(shell, restart)


def test_make_demo_tells_the_story(engine: str) -> None:
    ended = subprocess.run(
        ["make", "demo", f"ENGINE={engine}"],  # noqa: S607
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=story.PATIENCE * 10,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    told = " ".join(ended.stdout.split())
    for step in story.STORY:
        assert f"{step.done} → {step.happens}" in told
    assert len(re.findall(r"✔ +\d+\.", ended.stdout)) == len(story.STORY)
    assert ("the stand-in" if engine == "standin" else "driven by Metacontroller") in ended.stdout
    assert "\x1b" not in ended.stdout, "colour only on a terminal"


def test_the_example_is_answered_by_http_and_by_https_with_a_certificate_that_its_authority_vouches_for(
    shell: pages.Shell,
) -> None:
    create, annotate, mistake = told(shell, "kubectl create service") + told(shell, "kubectl annotate service")
    by_http, by_https, nobody = told(shell, "curl ")
    run(shell, create)
    run(shell, annotate)
    [serve] = told(shell, "python3 ")
    shell.run(serve.replace(" &", " >/dev/null 2>&1 &"))
    try:
        wait_for(lambda: "Directory listing" in shell.run(by_http), PATIENCE, what="an answer of the server")
        assert "Directory listing" in run(shell, by_https)
        assert "404: There is no page here" in run(shell, nobody)
        [authority] = re.findall(r"--cacert (\S+)", by_https)
        assert shell.welcome.count(authority) == 2, "the browser is to be told of it, too"
        assert 'Warning: ingress/tls: "5" must be' in run(shell, mistake)
    finally:
        shell.run("kill %1; kubectl delete service web")


def test_settings_that_are_edited_hold_after_a_restart(shell: pages.Shell) -> None:
    before = class_of_a_new_ingress(shell, "before")
    edit_settings(shell, "another")
    [status] = told(shell, "kubectl rollout status")
    assert "successfully rolled out" in run(shell, status)
    assert class_of_a_new_ingress(shell, "after") == "another" != before


def test_make_uninstall_leaves_the_cluster_and_make_install_brings_all_of_it_back(shell: pages.Shell) -> None:
    run(shell, f"cd {REPOSITORY}")
    context = run(shell, "kubectl config current-context").strip()
    assert "It is removed." in run(shell, f"make uninstall CONTEXT={context} YES=1")
    run(shell, "kubectl get services")
    image = "registry.example.com/ingress-manager:0.1.0"
    crds = f"METACONTROLLER_CRDS={CRD_FILE}"
    assert "It is installed." in run(shell, f"make install CONTEXT={context} IMAGE={image} {crds} YES=1")
    assert class_of_a_new_ingress(shell, "back") == "nginx", "the settings are those of manifests/"
