"""Profiles: one word on a Service, and what the administrator means by it."""

from devcluster import overlay
from devcluster.api import INGRESSES, Object, path_of, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from tests.e2e.objects import INGRESS_CLASSES, by_hand, create
from tests.e2e.test_traffic import only
from tests.e2e.traffic import ON, Place


def test_a_class_that_a_profile_says_by_the_annotation_is_served_and_no_default_takes_its_place(
    serving: DevCluster,
) -> None:
    place = Place(serving, "ingress")
    default = {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}
    create(place.api, INGRESS_CLASSES, "usual", metadata=default, spec={"controller": "example.com/usual"})
    try:
        wait_for(lambda: usual_class(place, by_hand("ingress", "any", "any.example.com", "any")), what="the default")
        with place.service("by-annotation", {**ON, "ingress/profile": "by-annotation"}) as service, Backend(service):
            place.until_served(place.host("by-annotation"))
            made = only(place, "by-annotation")
            assert "ingressClassName" not in made["spec"]
            assert made["metadata"]["annotations"]["kubernetes.io/ingress.class"] == overlay.CLASS
    finally:
        place.api.delete(INGRESS_CLASSES, "usual")


def usual_class(place: Place, ingress: Object) -> bool:
    """Return whether the API server would give the default class to an Ingress."""
    stored = place.api.request("POST", path_of(INGRESSES, "ingress"), params={"dryRun": "All"}, body=ingress)
    return bool(stored["spec"].get("ingressClassName") == "usual")
