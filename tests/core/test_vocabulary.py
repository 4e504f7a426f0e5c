"""The vocabulary: annotations known by name, as listed in vocabulary.yaml."""

from pathlib import Path

import pytest
import yaml

from devcluster.sync_requests import body, service, sync_request
from hooks.sync import answer
from ingress_manager.core.settings import OUTPUT_NAMES, Defaults, Gateway, Limits, Settings
from ingress_manager.core.vocabulary import holds_code, is_lost_in_httproutes, is_read_from_services, protects

KEYS = {
    what: [f"{prefix}{name}" for prefix, names in controllers.items() for name in names.split()]
    for what, controllers in yaml.safe_load(Path(__file__).with_name("vocabulary.yaml").read_bytes()).items()
}
BOTH = Defaults(outputs=OUTPUT_NAMES, gateway=Gateway(name="web", namespace="infrastructure"))


@pytest.mark.parametrize("what", ["protects", "changes", "tunes"])
def test_an_annotations_effect_is_known_by_its_name(what: str) -> None:
    does = {
        key: "protects" if protects(key) else "changes" if is_lost_in_httproutes(key) else "tunes" for key in KEYS[what]
    }
    assert {key: effect for key, effect in does.items() if effect != what} == {}


def test_code_is_known_by_its_name_and_what_protects_under_any_prefix() -> None:
    assert [key for keys in KEYS.values() for key in keys if holds_code(key) != (key in KEYS["code"])] == []
    assert [key for key in KEYS["protects"] if not protects(f"of-our-own.example.com/{key.partition('/')[2]}")] == []
    assert protects("waf.example.com/enabled"), "so does a domain"


@pytest.mark.parametrize("key", KEYS["protects"])
def test_a_service_whose_protection_would_be_lost_is_refused(key: str) -> None:
    answered = answer(body(sync_request(service({"ingress/http": "true", key: "x"}))), Settings())
    assert (answered.status == 200) == is_read_from_services(key)


@pytest.mark.parametrize("key", KEYS["changes"])
def test_a_copied_annotation_whose_effect_httproutes_would_lack_is_refused(key: str) -> None:
    settings = Settings(BOTH, Limits(copy_annotations={key: "any"}))
    asking = service({"ingress/http": "true", "ingress/path": "/api", key: "x"})
    assert answer(body(sync_request(asking)), settings).status == 422


@pytest.mark.parametrize("defaults", [Defaults(), BOTH, Defaults(ingress_class="ingress-manager")])
def test_annotations_for_other_purposes_cause_no_refusal(defaults: Defaults) -> None:
    asking = service({"ingress/http": "true"} | dict.fromkeys(KEYS["of_services"], "x"))
    assert answer(body(sync_request(asking)), Settings(defaults)).body.decode().startswith("{")
