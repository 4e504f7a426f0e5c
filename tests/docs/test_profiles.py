"""The page on profiles: its settings are read, and do to its Services what it says."""

import json
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from devcluster.sync_requests import body, sync_request
from hooks.sync import answer
from ingress_manager.core.settings import parse
from tools import markdown

PAGE = (REPOSITORY / "docs/profiles.md").read_text(encoding="utf-8")
EXAMPLES = [fence.text for fence in markdown.fences(PAGE) if fence.info == "yaml"]
NGINX, BOTH, SSO, ENTRANCES = (block for block in EXAMPLES if "profiles:" in block)
REPORTS, LEDGER, CATALOG = (block for block in EXAMPLES if "kind: Service\n" in block)


def made(settings: str, service: str) -> list[Any]:
    """Return what is made for the page's Service."""
    asking = yaml.safe_load(service)
    asking["metadata"]["uid"] = "1"
    answered = answer(body(sync_request(asking)), parse(settings))
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


def test_the_service_has_the_entrances_that_the_page_says() -> None:
    def shown(ingress: Any) -> tuple[str, str, str]:
        spec = ingress["spec"]
        return ingress["metadata"]["name"], spec["ingressClassName"], spec["rules"][0]["host"]

    assert list(map(shown, made(ENTRANCES, CATALOG))) == [
        ("catalog", "internal", "catalog.shop.corp.example.net"),
        ("catalog.public", "public", "catalog.shop.example.com"),
    ]
