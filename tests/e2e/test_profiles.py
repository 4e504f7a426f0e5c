"""Profiles: one word on a Service, and what the administrator means by it."""

import json
from pathlib import Path

import yaml

from devcluster import overlay
from devcluster.api import INGRESSES, Object, path_of, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from tests.e2e.conftest import fresh_stage
from tests.e2e.objects import INGRESS_CLASSES, by_hand, create
from tests.e2e.shell import run
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


def test_a_rewritten_profile_reaches_all_its_services_in_place_as_audit_said(
    serving: DevCluster, tmp_path: Path
) -> None:
    settings = yaml.safe_load(serving.settings_file.read_text())
    before, after = ({"profiles": {"public": {"class": name}}} for name in ("old", "new"))
    new = tmp_path / "new.yaml"
    new.write_text(yaml.safe_dump(after))
    named = ("a", "b", "c")

    with fresh_stage(serving, "profiles") as stage:

        def announced() -> list[tuple[str, str]]:
            ended = run(serving.control_plane, "audit", "-n", stage.namespace, "--settings", new, "-o", "json")
            found = json.loads(ended.stdout)["changes"]
            # Another class is another controller's: what answers is taken away there.
            assert (ended.returncode, ended.stderr) == (1 if found else 0, "")
            return sorted((each["change"], each["object"]["name"]) for each in found)

        try:
            serving.restart_hook(before)
            for name in named:
                stage.create_service(name, {**ON, "ingress/profile": "public"})
            stage.create_service("without", ON)
            made = {name: stage.until_ingress(name, "the Ingress", lambda _: True) for name in (*named, "without")}
            assert {made[name]["spec"]["ingressClassName"] for name in named} == {"old"}
            assert announced() == [("changed", name) for name in named]
            serving.restart_hook(after)
            for name in named:
                now = stage.until_ingress(name, "the class", lambda each: each["spec"]["ingressClassName"] == "new")
                assert now["metadata"]["uid"] == made[name]["metadata"]["uid"]
            assert announced() == []
            assert stage.ingress("without") == made["without"]
        finally:
            serving.restart_hook(settings)
