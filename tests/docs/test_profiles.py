"""The page on profiles: its settings are read, and do to its Services what it says."""

import json
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from devcluster.sync_requests import body, sync_request
from hooks.sync import Answer, answer
from ingress_manager.core.errors import Reason
from ingress_manager.core.settings import parse
from tools import markdown

PAGE = (REPOSITORY / "docs/profiles.md").read_text(encoding="utf-8")
EXAMPLES = [fence.text for fence in markdown.fences(PAGE) if fence.info == "yaml"]
NGINX, BOTH, GATEWAY_API, SSO, ENTRANCES = (block for block in EXAMPLES if "profiles:" in block)
REPORTS, LEDGER, CART, CATALOG = (block for block in EXAMPLES if "kind: Service\n" in block)


def ask(settings: str, service: str, **annotations: str | None) -> Answer:
    """Return the answer to the page's Service with other annotations, by the last word of each; None takes one off."""
    asking = yaml.safe_load(service)
    of_service = asking["metadata"]["annotations"] | {f"ingress/{key}": value for key, value in annotations.items()}
    asking["metadata"] |= {"uid": "1", "annotations": {key: value for key, value in of_service.items() if value}}
    return answer(body(sync_request(asking)), parse(settings))


def made(settings: str, service: str, **annotations: str | None) -> list[Any]:
    """Return what is made for it."""
    answered = ask(settings, service, **annotations)
    assert answered.status == 200, answered.body
    attachments: list[Any] = json.loads(answered.body)["attachments"]
    return attachments


def test_a_rewritten_profile_takes_a_service_from_one_controller_to_another() -> None:
    [ingress] = made(NGINX, REPORTS)
    annotations = {
        "nginx.ingress.kubernetes.io/proxy-read-timeout": "600",
        "nginx.ingress.kubernetes.io/proxy-body-size": "500m",
    }
    assert annotations.items() <= ingress["metadata"]["annotations"].items()
    before, route = made(BOTH, REPORTS)
    assert before == ingress
    assert route["spec"]["rules"][0]["timeouts"] == {"request": "1h"}
    [alone] = made(GATEWAY_API, REPORTS)
    assert alone["spec"] == route["spec"]


def test_the_profile_for_single_sign_on_holds_for_each_service_of_its_namespace_and_redirects_to_the_login() -> None:
    route, redirect = made(SSO, LEDGER)
    [middleware] = [yaml.safe_load(block) for block in EXAMPLES if "kind: Middleware\n" in block]
    [rule] = route["spec"]["rules"]
    group, kind, name = middleware["apiVersion"].split("/")[0], middleware["kind"], middleware["metadata"]["name"]
    assert rule["filters"] == [{"type": "ExtensionRef", "extensionRef": {"group": group, "kind": kind, "name": name}}]
    assert route["metadata"]["namespace"] == middleware["metadata"]["namespace"]
    assert route["spec"]["parentRefs"][0]["sectionName"] == "https"
    assert redirect["spec"]["rules"][0]["filters"][0]["type"] == "RequestRedirect"


def test_a_service_is_internal_unless_it_says_public_and_may_say_so_in_one_namespace_only() -> None:
    def shown(**annotations: str | None) -> tuple[str, str, bool]:
        [ingress] = made(ENTRANCES, CART, **annotations)
        spec = ingress["spec"]
        return spec["ingressClassName"], spec["rules"][0]["host"], "tls" in spec

    assert shown() == ("public", "cart.shop.example.com", True)
    assert shown(profile=None) == ("internal", "cart.shop.corp.example.net", False)

    def reasons(**annotations: str | None) -> set[Reason]:
        refused = ask(ENTRANCES, CART.replace("namespace: shop", "namespace: team-a"), **annotations).refused
        assert refused
        return {problem.reason for problem in refused.problems}

    assert Reason.PROFILE_NOT_ALLOWED in reasons()
    asked = {"profile": None, "class": "public", "host": "cart.team-a.example.com"}
    assert reasons(**asked) == {Reason.CLASS_NOT_ALLOWED, Reason.HOST_NOT_ALLOWED}


def test_a_service_with_both_entrances_is_reached_by_each_and_only_where_both_are_allowed() -> None:
    def shown(ingress: Any) -> tuple[str, str, str]:
        spec = ingress["spec"]
        return ingress["metadata"]["name"], spec["ingressClassName"], spec["rules"][0]["host"]

    internal = ("catalog", "internal", "catalog.shop.corp.example.net")
    assert list(map(shown, made(ENTRANCES, CATALOG))) == [
        internal,
        ("catalog.public", "public", "catalog.shop.example.com"),
    ]
    assert list(map(shown, made(ENTRANCES, CATALOG.replace('public.ingress/http: "true"', "")))) == [internal]
    refused = ask(ENTRANCES, CATALOG.replace("namespace: shop", "namespace: team-a")).refused
    assert refused
    assert [(each.reason, each.annotation) for each in refused.problems] == [
        (Reason.PROFILE_NOT_ALLOWED, "public.ingress/profile")
    ]
