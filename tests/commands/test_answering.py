"""Why nothing answers: how a cluster is asked for what is around. tests/commands/audit has the causes."""

import importlib
import re
import sys
from typing import Any

import pytest

from ingress_manager.commands.view import certificates
from ingress_manager.commands.view.surroundings import RESOURCES as AROUND
from tests import dumps, golden
from tests import make_cases as cases
from tests.commands.commands import INGRESSES, UNKNOWN_KIND, Cluster, listing, run

[CASE] = (case for case in golden.cases_in(cases.AUDITS) if case.name == "why-nothing-answers")
OBJECTS = dumps.objects(CASE.stated["objects"])
CLASSES, SLICES = AROUND["IngressClass"], AROUND["EndpointSlice"]
FORBIDDEN = "Error from server (Forbidden): no"


def of_kind(*kinds: str) -> list[Any]:
    return [each for each in OBJECTS if each["kind"] in kinds]


SECRETS = "".join(
    f"team-a {each['metadata']['name']} {each['data']['tls.crt']} {','.join(each['data'])}, {each['type']}\n"
    for each in of_kind("Secret")
)
ANSWERS = {
    "services": listing(*of_kind("Service")),
    INGRESSES: listing(*of_kind("Ingress")),
    CLASSES: listing(*of_kind("IngressClass")),
    SLICES: listing(*of_kind("EndpointSlice")),
    "secrets": SECRETS,
}


@pytest.fixture
def audit(settings: Any) -> list[Any]:
    return ["audit", "--current-settings", settings(CASE.settings), "-n", "team-a"]


def test_what_is_around_is_asked_for_and_no_private_key_is_read(audit: list[Any], cluster: Cluster) -> None:
    cluster.says(ANSWERS, UNKNOWN_KIND)
    ended = run(*audit)
    assert ended == (1, CASE.stated["becomes"]["audit"] + "Only the namespace team-a was looked at.\n", "")
    assert len(cluster.calls) == 7
    [call] = [each for each in cluster.calls if each.endswith(" secrets")]
    assert "go-template=" in call
    assert not re.search(r"index \. [^)]*tls\.key|json", call)


def test_what_may_be_read_is_judged_though_other_kinds_may_not(audit: list[Any], cluster: Cluster) -> None:
    cluster.says({key: ANSWERS[key] for key in ("services", INGRESSES, CLASSES)}, FORBIDDEN)
    found = run(*audit, "-o", "json").json
    assert found["kinds"] == {"no-class": 1}
    [_, _, unseen] = found["unseen"]
    skipped = "not looked for, or not everywhere: no-endpoints, certificate"
    assert unseen == f"EndpointSlices, Secrets could not be looked at: {FORBIDDEN}; {skipped}"


def test_without_the_library_no_certificate_is_judged(
    audit: list[Any], cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.says(ANSWERS, UNKNOWN_KIND)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "cryptography", None)
        importlib.reload(certificates)
        found = run(*audit, "-o", "json").json
    importlib.reload(certificates)
    [_, unseen] = found["unseen"]
    assert "pip install '.[certificates]'" in unseen
    assert unseen.endswith("not looked for, or not everywhere: certificate")
