"""What other settings would take away, and what keeps it: `audit --settings`. tests/commands/audit has more cases."""

from typing import Any

import pytest
from hypothesis import given

from devcluster.sync_requests import Object, as_created, service
from ingress_manager.commands.audit.preview import Preview, preview
from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from tests.core import made_up
from tests.core.test_properties import desired_for

BOTH = "allow the old beside the new, until nobody asks for it"


def shop(name: str = "shop", /, **annotations: str) -> Object:
    """Return a Service that asks for an Ingress; `host` is the annotation ingress/host, and so on."""
    found = service({"ingress/http": "true", **{f"ingress/{key}": value for key, value in annotations.items()}})
    return {**found, "metadata": {**found["metadata"], "name": name, "uid": f"{name}-uid"}}


def made(policy: Policy, *services: Object) -> list[Object]:
    return [*services, *(as_created(each, parent) for parent in services for each in desired_for(parent, policy))]


def seen(settings: str, *objects: Object) -> Preview:
    return preview([Item(each, Origin("", "default")) for each in objects], parse(settings))


def lines(found: Preview) -> list[str]:
    return [f"{each.service} {each.url}: {each.sentence}" for each in found.taken]


def stranger(name: str, path: str, **more: Any) -> Object:
    """Return a hand-written Ingress of the host a.example.com."""
    backend = {"service": {"name": name, "port": {"number": 80}}}
    rules = [{"host": "a.example.com", "http": {"paths": [{"path": path, "pathType": "Prefix", "backend": backend}]}}]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": name, "namespace": "team-b"},
        "spec": {"ingressClassName": "nginx", "rules": rules, **more},
    }


A = shop(host="a.example.com", path="/shop")
ASKS = A["metadata"]["annotations"]
ELSEWHERE = "limits: {hosts: ['*.example.org']}"


@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        pytest.param([], "nothing would answer", id="nothing else has the host"),
        pytest.param([stranger("b", "/")], "team-b/b would answer", id="a prefix around it"),
        pytest.param([stranger("b", "/shop")], "team-b/b would answer", id="the same, by another"),
        pytest.param([stranger("b", "/shops")], "nothing would answer", id="a prefix of its characters alone"),
        pytest.param(
            [stranger("b", "/shops", defaultBackend={"resource": {"kind": "Bucket", "name": "c"}})],
            "Ingress team-b/b would answer",
            id="a default backend that is no Service",
        ),
    ],
)
def test_a_host_that_is_no_longer_allowed_is_taken(others: list[Object], sentence: str) -> None:
    found = seen(ELSEWHERE, *made(Policy(), A), *others)
    assert lines(found) == [f"team-a/shop a.example.com/shop (Prefix): {sentence}"]
    assert [each.sentence.partition(": ")[0] for each in found.kept] == [BOTH]


def test_a_path_that_another_service_is_given_below_ones_own_is_taken() -> None:
    before = parse("defaults: {host: '{service}.example.com'}")
    objects = made(before, shop(host="b.example.com"), shop("blog", path="/blog"))
    found = seen("defaults: {host: b.example.com}", *objects)
    assert lines(found) == [
        "team-a/blog blog.example.com/blog (Prefix): nothing would answer",
        "team-a/shop b.example.com/blog (Prefix): team-a/blog would answer",
    ]


def test_a_gap_is_told_where_an_ingress_is_made_anew() -> None:
    objects = made(Policy(), {**A, "metadata": {**A["metadata"], "annotations": {**ASKS, "ingress/class": "old"}}})
    shop_now = {**A, "metadata": {**A["metadata"], "annotations": ASKS}}
    found = seen("{defaults: {class: nginx}, limits: {classes: [nginx]}}", shop_now, objects[1])
    assert lines(found) == [
        "team-a/shop a.example.com/shop (Prefix): class nginx would answer, and class old no more",
    ]
    copied = {"nginx.ingress.kubernetes.io/proxy-body-size": "1m"}
    settings = "limits: {copyAnnotations: {nginx.ingress.kubernetes.io/proxy-body-size: any}}"
    with_copy = {**A, "metadata": {**A["metadata"], "annotations": {**ASKS, **copied}}}
    found = seen("", *made(parse(settings), with_copy))
    assert lines(found) == [
        "team-a/shop a.example.com/shop (Prefix): nothing would answer until Ingress team-a/shop is made anew"
    ]
    [kept] = found.kept
    assert kept.sentence == f"{BOTH}: nginx.ingress.kubernetes.io/proxy-body-size: may not be copied from a Service"
    assert kept.command == ()


@pytest.mark.thorough
@given(made_up.valid_services(), made_up.policy(), made_up.policy())
def test_a_command_keeps_what_it_is_for_before_and_after(parent: Object, before: Policy, after: Policy) -> None:
    objects = made(before, parent)
    found = preview([Item(each, Origin("", "default")) for each in objects], after)
    commands = [each.command for each in found.kept if each.command]
    if not commands or len(commands) < len(found.kept):
        return
    annotations = dict(parent["metadata"]["annotations"])
    for change in (word for command in commands for word in command[command.index("--") + 3 :]):
        key, stated, value = change.partition("=")
        annotations = {**annotations, key: value} if stated else {k: v for k, v in annotations.items() if k != key[:-1]}
    annotated = {**parent, "metadata": {**parent["metadata"], "annotations": annotations}}
    for policy in (before, after):
        again = preview([Item(each, Origin("", "default")) for each in (annotated, *objects[1:])], policy)
        assert again.taken == []
