"""HTTPRoutes and ListenerSets on a real API server: created, kept, restored and removed like Ingresses."""

from collections.abc import Iterator

import pytest

from devcluster.api import HTTPROUTES, INGRESSES, LISTENERSETS, SERVICES, ApiError, Object, Resource
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.objects import ON
from tests.e2e.people import writes

KINDS = (INGRESSES, HTTPROUTES, LISTENERSETS)


def names(stage: Stage, resource: Resource) -> list[str]:
    return sorted(found["metadata"]["name"] for found in stage.api.list(resource, stage.namespace))


@pytest.fixture
def stage(serving: DevCluster, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Yield the namespace named after the kind of objects that its Services get."""
    stage = Stage(serving.api, request.param, serving.gateway)
    yield stage
    for service in stage.api.list(SERVICES, stage.namespace):
        stage.api.delete(SERVICES, service["metadata"]["name"], stage.namespace)
    stage.until("an empty namespace", lambda: not any(names(stage, kind) for kind in KINDS))


CERTIFIED = {**ON, "ingress/host": "shop.example.com", "ingress/tls-secret": "shop-tls"}


@pytest.mark.gate
@pytest.mark.parametrize(
    ("stage", "resource", "annotations", "edit"),
    [
        ("httproute", HTTPROUTES, ON, {"hostnames": ["elsewhere.example.com"]}),
        ("listenerset", LISTENERSETS, CERTIFIED, {"parentRef": {"name": "elsewhere"}}),
    ],
    ids=["httproute", "listenerset"],
    indirect=["stage"],
)
def test_objects_follow_a_service(stage: Stage, resource: Resource, annotations: dict[str, str], edit: Object) -> None:
    stage.create_service("shop", annotations)
    made = stage.until_object(resource, "shop", f"the {resource.kind}", lambda _: True)
    assert stage.ingress("shop") is None

    stage.api.delete(resource, "shop", stage.namespace)
    old = made["metadata"]["uid"]
    again = stage.until_object(resource, "shop", "a new one", lambda found: found["metadata"]["uid"] != old)
    assert again["spec"] == made["spec"]

    stage.api.patch(resource, "shop", {"spec": edit}, stage.namespace)
    stage.until_object(resource, "shop", "it as it was", lambda found: bool(found["spec"] == made["spec"]))
    with pytest.raises(ApiError, match="a managed object must keep its Service as an owner"):
        stage.api.patch(resource, "shop", {"metadata": {"ownerReferences": None}}, stage.namespace)

    stage.annotate("shop", None)
    stage.until("neither", lambda: not names(stage, resource) and not names(stage, HTTPROUTES))


@pytest.mark.gate
@pytest.mark.parametrize("stage", ["httproute"], indirect=True)
def test_a_service_is_served_once_it_is_annotated_and_no_longer_once_it_opts_out(stage: Stage) -> None:
    host = "visited.example.com"
    with Backend(stage.create_service("visited", {"ingress/host": host})):
        for asked in (None, "true", None):
            stage.annotate("visited", asked)
            stage.until_answer(host, f"{asked}", lambda got: got.status == 200 if asked else got.is_the_404_page)  # noqa: B023


TWO_PATHS = "[{path: /}, {host: api.example.com, path: /v1}]"
EVERYTHING = {"ingress/host": "*, a.example.com", "ingress/tls-secret": "one"}
QUIET: dict[str, tuple[dict[str, str], int, int, int]] = {
    "quiet": ({"ingress/routes": TWO_PATHS, "ingress/tls": "true", "ingress/tls-redirect": "true"}, 1, 4, 0),
    "quiet-rewritten": ({"ingress/profile": "rewritten"}, 0, 1, 0),
    "quiet-everything": ({**EVERYTHING, "b.ingress/http": "true", "b.ingress/host": "b.example.com"}, 2, 3, 0),
    "quiet-class": ({"ingress/profile": "by-annotation"}, 1, 1, 0),
    "quiet-certified": ({"ingress/profile": "certified", "ingress/tls-secret": "one"}, 0, 1, 1),
}
"""The annotations of Services, and the number of Ingresses, HTTPRoutes and ListenerSets for each."""


CHANGES: list[Object] = [
    {"metadata": {"labels": {"team": "a"}}},
    {"metadata": {"annotations": {"example.com/note": "new"}}},
    {"spec": {"selector": {"app": "other"}}},
]


@pytest.mark.gate
@pytest.mark.parametrize("stage", ["both"], indirect=True)
def test_nothing_is_written_again_while_nothing_changes(serving: DevCluster, stage: Stage) -> None:
    """The API server sets defaults inside lists. If the hook omitted one, the object would be rewritten forever."""
    for name, (more, *_) in QUIET.items():
        stage.create_service(name, {**ON, "ingress/host": f"{name}.example.com", **more})
    counts = [sum(some) for some in zip(*(made for _, *made in QUIET.values()), strict=True)]
    stage.until("all of them", lambda: [len(names(stage, kind)) for kind in KINDS] == counts)
    stage.api.patch(INGRESSES, "quiet", CHANGES[0], stage.namespace)
    for number, change in enumerate(CHANGES):
        # Each change makes Metacontroller compare observed and desired objects before it syncs the later Service.
        for name in QUIET:
            stage.api.patch(SERVICES, name, change, stage.namespace)
        stage.create_service(f"later-{number}", {**ON, "ingress/host": f"{number}.example.com"})
        stage.until_object(HTTPROUTES, f"later-{number}", "the HTTPRoute of a Service created later", lambda _: True)
    for kind, count in zip(KINDS, counts, strict=True):
        made = [verb for verb, name in writes(serving, stage.namespace, kind.plural) if name.startswith("quiet")]
        assert made == ["create"] * count + ["patch"] * (kind is INGRESSES)
    assert [event for name in QUIET for event in stage.events(name)] == [], "while all is well there is none"
