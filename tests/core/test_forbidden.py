"""Forbidden objects: a refused Service keeps its objects, unless the settings forbid their content."""

import json
from pathlib import Path

import pytest
import yaml

from devcluster.sync_requests import Object, as_created, body, service, sync_request
from hooks.sync import COMPLETE, REMOVED, Answer, answer
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import LAST_APPLIED
from ingress_manager.core.settings import Limits
from ingress_manager.core.settings_parser import parse
from tests.dumps import patched

ON = {"ingress/http": "true"}
OOPS = {"ingress/oops": "a mistake"}
WEB: Object = {"outputs": ["ingress", "httproute"], "gateway": {"name": "web", "namespace": "infrastructure"}}
BOTH: Object = {"defaults": WEB}

CASES: list[Object] = yaml.safe_load(Path(__file__).with_name("forbidden.yaml").read_text(encoding="utf-8"))
FORBIDDEN, OUTDATED = (
    [pytest.param(case, id=case["what"]) for case in CASES if word in case] for word in ("forbidden", "outdated")
)
ALLOWED = [pytest.param(case, id=case["what"]) for case in CASES if not {"forbidden", "outdated"} & case.keys()]


def answered(parent: Object, settings: Object, *observed: Object) -> Answer:
    return answer(body(sync_request(parent, attached=[*observed])), parse(json.dumps(settings)))


def attachments(answer: Answer) -> list[Object]:
    assert answer.status == 200, answer
    made: list[Object] = json.loads(answer.body)["attachments"]
    return made


def made(annotations: dict[str, str], settings: Object | None = None) -> list[Object]:
    """Return the observed objects once a Service with these annotations has been synced under these settings."""
    parent = service(ON | annotations)
    return [as_created(item, parent) for item in attachments(answered(parent, settings or {}))]


def standing_in(case: Object) -> Object:
    all_made = made(case.get("made", {}), case.get("then"))
    [made_then] = [item for item in all_made if item["kind"] == case.get("kind", item["kind"])]
    annotations, changes = made_then["metadata"]["annotations"], case.get("object", {})
    annotations[LAST_APPLIED] = json.dumps(patched(json.loads(annotations[LAST_APPLIED]), changes))
    changed: Object = patched(made_then, changes)
    return changed


def test_every_limit_is_judged_except_accepted_losses() -> None:
    tried: set[str] = set()
    for case in CASES:
        now = case.get("now", {}) if "forbidden" in case else {}
        for entry in (now, *now.get("namespaces", {}).values()):
            tried |= entry.get("limits", {}).keys()
    assert {*Limits.__struct_encode_fields__} - tried == {"acceptedLosses"}


@pytest.mark.parametrize(
    ("annotations", "spec"),
    [
        pytest.param(ON | OOPS, {}, id="a mistake"),
        pytest.param(ON | {"ingress/port": "none"}, {}, id="a port that isn't there"),
        pytest.param({"ingress/http": "yes"}, {}, id="a wrong value of ingress/http"),
        pytest.param(ON, {"ports": []}, id="no ports"),
    ],
)
@pytest.mark.parametrize("case", FORBIDDEN + OUTDATED)
def test_a_forbidden_object_goes_despite_a_mistake(case: Object, annotations: dict[str, str], spec: Object) -> None:
    answer = answered(service(annotations, **spec), case.get("now", {}), standing_in(case))
    assert attachments(answer) == []
    assert answer.problems
    assert answer.problems.kept[0].reason.value == case.get("forbidden", case.get("outdated"))


@pytest.mark.parametrize("case", FORBIDDEN)
def test_a_forbidden_object_goes_first_and_an_allowed_one_comes_with_the_next_sync(case: Object) -> None:
    """Another admission webhook could deny an update in place, and the forbidden object would stay."""
    now, parent = case.get("now", {}), service(ON | case.get("asks", {}))
    standing = standing_in(case)
    first = answered(parent, now, standing)
    assert standing["kind"] not in [item["kind"] for item in attachments(first)]
    assert first.problems
    assert first.problems.kept[0].reason.value == case["forbidden"]
    desired = attachments(answered(parent, now))
    again = answered(parent, now, *[as_created(item, parent) for item in desired])
    assert (again.outcome, len(desired), attachments(again)) == (COMPLETE, 1, desired)


@pytest.mark.parametrize("case", OUTDATED)
def test_an_outdated_object_is_updated_in_place_while_its_service_is_valid(case: Object) -> None:
    asks: dict[str, str] = case.get("asks") or case.get("made") or {}
    parent = service(ON | asks)
    assert answered(parent, case["now"], standing_in(case)).outcome != REMOVED


@pytest.mark.parametrize("case", ALLOWED)
def test_an_allowed_object_stays_until_there_is_an_answer(case: Object) -> None:
    standing, now, asks = standing_in(case), case.get("now", {}), ON | case.get("asks", {})
    assert answered(service(asks | OOPS), now, standing).status == 422
    repaired = answered(service(asks), now, standing)
    assert (repaired.status, repaired.outcome == REMOVED) == (200, False)


def test_an_allowed_object_is_updated_in_place_while_a_forbidden_one_goes() -> None:
    """The HTTPRoute's traffic is not interrupted when the Ingress is removed."""
    settings = {"defaults": WEB | {"class": "internal"}, "limits": {"classes": ["internal"]}}
    now = answered(service(ON), settings, *made({}, BOTH))
    assert [item["kind"] for item in attachments(now)] == ["HTTPRoute"]
    assert now.outcome == REMOVED
    assert attachments(answered(service(ON | OOPS), settings, *made({}, BOTH))) == [], "of a refused one, all go"


def test_an_httproute_with_an_added_listener_is_recreated() -> None:
    """Metacontroller can't remove the listener in place, and no other change would be applied either."""
    ingress, route = made({}, BOTH)
    [parent] = route["spec"]["parentRefs"]
    route["spec"]["parentRefs"] = [parent, parent | {"sectionName": "https"}]
    now = answered(service(ON), BOTH, ingress, route)
    assert [item["kind"] for item in attachments(now)] == ["Ingress"]
    assert now.outcome == REMOVED


def test_the_ingress_of_a_service_that_became_an_external_name_is_removed() -> None:
    external = service(ON, type="ExternalName", externalName="secret.team-b.svc.cluster.local")
    answer = answered(external, {}, *made({}))
    assert attachments(answer) == []
    assert answer.problems
    assert answer.problems.kept[0].reason is Reason.EXTERNAL_NAME


INTERNAL = {"internal.ingress/http": "true", "internal.ingress/host": "a.example.org"}


@pytest.mark.parametrize(
    "asks", [ON | OOPS, INTERNAL | {"internal.ingress/port": "no"}, {"internal.ingress/http": "yes"}]
)
def test_an_entrance_that_opts_out_is_removed_along_with_one_that_has_mistakes(asks: Object) -> None:
    """Observed objects are never part of an answer, so none can stay if one must go. The mistake is still reported."""
    answer = answered(service(asks), BOTH, *made(INTERNAL, BOTH))
    assert attachments(answer) == []
    assert answer.problems
    assert answer.problems.kept[0].annotation in asks
    assert answered(service(ON | OOPS), BOTH, *made({}, BOTH)).status == 422


def test_an_edited_object_is_restored_in_place_although_the_settings_forbid_it() -> None:
    """Another admission webhook may make the same edit to every new object, so recreating it would loop forever."""
    [ingress] = made({})
    edited = patched(ingress, {"spec": {"ingressClassName": "other", "rules": {0: {"host": "evil.example.org"}}}})
    limits = {"limits": {"hosts": ["example.com"], "classes": ["nginx"]}}
    answer = answered(service(ON), limits, edited)
    assert (answer.outcome, len(attachments(answer))) == (COMPLETE, 1)
    assert attachments(answered(service(ON | OOPS), limits, edited)) == [], "of a refused one, nobody mends it"
    edited["metadata"]["annotations"][LAST_APPLIED] = "no JSON"
    assert attachments(answered(service(ON), limits, edited)) == [], "Metacontroller can't mend it without its record"


@pytest.mark.parametrize(
    ("observed", "added", "expected"),
    [("nginx", {}, "nginx"), (None, {}, None), ("nginx", {"kubernetes.io/ingress.class": "gce"}, None)],
)
def test_an_ingress_keeps_an_unset_class(observed: str | None, added: dict[str, str], expected: str | None) -> None:
    """The API server sets the cluster's default class only on new Ingresses."""
    [ingress] = made({})
    classed = patched(ingress, {"spec": {"ingressClassName": observed}})
    [desired] = attachments(answered(service(ON), {"defaults": {"class": None, "annotations": added}}, classed))
    assert desired["spec"].get("ingressClassName") == expected
