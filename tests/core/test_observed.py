"""What is observed: while a Service is refused, its objects stay, unless the policy forbids what is in them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.sync_requests import Object, as_created, body, service, sync_request
from hooks.sync import Answer, answer
from ingress_manager.core.errors import Reason
from ingress_manager.core.observed import DECORATOR, LAST_APPLIED
from ingress_manager.core.settings import parse

ON = {"ingress/http": "true"}
OOPS = {"ingress/oops": "a mistake"}
WEB: Object = {"outputs": ["ingress", "httproute"], "gateway": {"name": "web", "namespace": "infrastructure"}}
BOTH: Object = {"defaults": WEB}

CASES: list[Object] = yaml.safe_load(Path(__file__).with_name("observed.yaml").read_text(encoding="utf-8"))
FORBIDDEN = [pytest.param(case, id=case["what"]) for case in CASES if "forbidden" in case]
LACKING = [pytest.param(case, id=case["what"]) for case in CASES if "lacks" in case]
ALLOWED = [pytest.param(case, id=case["what"]) for case in CASES if not {"forbidden", "lacks"} & case.keys()]


def answered(parent: Object, settings: Object, *observed: Object) -> Answer:
    """Return the answer for a Service beside what is observed."""
    return answer(body(sync_request(parent, attached=[*observed])), parse(json.dumps(settings)))


def attachments(answer: Answer) -> list[Object]:
    """Return the objects of an answer that is no refusal."""
    assert answer.status == 200, answer
    made: list[Object] = json.loads(answer.body)["attachments"]
    return made


def made(
    annotations: dict[str, str], settings: Object | None = None, labels: dict[str, str] | None = None
) -> list[Object]:
    """Return what is observed once a Service with these annotations and labels has got it, under these settings."""
    parent = service(ON | annotations)
    parent["metadata"]["labels"] = labels or {}
    return [as_created(each, parent) for each in attachments(answered(parent, settings or {}))]


def patched(value: Any, patch: Any) -> Any:
    """Return a value after a JSON merge patch (RFC 7386), in which a number stands for an item of a list."""
    if not isinstance(patch, dict):
        return patch
    if isinstance(value, list):
        return [patched(item, patch.get(number, {})) for number, item in enumerate(value)]
    if not isinstance(value, dict):
        return patch or value
    changed = {key: patched(value.get(key, {}), inside) for key, inside in patch.items()}
    return {key: inside for key, inside in {**value, **changed}.items() if inside is not None}


def observed_in(case: Object) -> Object:
    """Return the object that a case describes."""
    [made_then] = made(case.get("made", {}), case.get("then"), case.get("labels"))
    if "record" in case:
        record = json.dumps(patched(json.loads(made_then["metadata"]["annotations"][LAST_APPLIED]), case["record"]))
        made_then = patched(patched(made_then, case["record"]), {"metadata": {"annotations": {LAST_APPLIED: record}}})
    changed: Object = patched(made_then, case.get("object", {}))
    return changed


def as_answered(observed: Object) -> Object:
    """Return an object as the hook answered with it, by its record."""
    made: Object = json.loads(observed["metadata"]["annotations"][LAST_APPLIED])
    annotations = made["metadata"].pop("annotations")
    del annotations[DECORATOR]
    made["metadata"] |= {"annotations": annotations} if annotations else {}
    return made


@pytest.mark.parametrize(
    ("annotations", "spec", "paused"),
    [
        pytest.param(ON | OOPS, {}, False, id="a mistake"),
        pytest.param(ON | {"ingress/port": "none"}, {}, False, id="a port that isn't there"),
        pytest.param({"ingress/http": "yes"}, {}, False, id="a wrong value of ingress/http"),
        pytest.param(ON, {"ports": []}, False, id="no ports"),
        pytest.param(ON, {}, True, id="a pause"),
        pytest.param(ON | OOPS, {}, True, id="a pause and a mistake"),
        pytest.param({}, {}, True, id="a pause, after opting out"),
    ],
)
@pytest.mark.parametrize("case", FORBIDDEN + LACKING)
def test_what_the_policy_forbids_is_removed_whatever_is_beside_it(
    case: Object, annotations: dict[str, str], spec: Object, paused: bool
) -> None:
    settings = case.get("now", {}) | {"paused": paused}
    answer = answered(service(annotations, **spec), settings, observed_in(case))
    assert attachments(answer) == []
    assert answer.forbidden is not None
    assert answer.forbidden.reason.value == case.get("forbidden", case.get("lacks"))


@pytest.mark.parametrize("case", LACKING)
def test_what_an_accepted_service_lacks_is_given_in_place(case: Object) -> None:
    """A Service without a mistake sees no gap, whatever else is asked of it now."""
    parent = service(ON | case.get("made", {}))
    answer = answered(parent, case["now"], observed_in(case))
    assert (answer.status, answer.forbidden) == (200, None)
    assert attachments(answer) == attachments(answered(parent, case["now"]))


@pytest.mark.parametrize("case", FORBIDDEN)
def test_what_is_forbidden_goes_first_and_what_is_allowed_comes_with_the_next_sync(case: Object) -> None:
    """An update in place can be denied by the admission of others, and what is forbidden would stay."""
    now, parent = case.get("now", {}), service(ON | case.get("asks", {}))
    first = answered(parent, now, observed_in(case))
    assert attachments(first) == []
    assert first.forbidden is not None
    assert first.forbidden.reason.value == case["forbidden"]
    desired = attachments(answered(parent, now))
    again = answered(parent, now, *[as_created(each, parent) for each in desired])
    assert (again.forbidden, len(desired), attachments(again)) == (None, 1, desired)


@pytest.mark.parametrize("case", ALLOWED)
def test_what_is_not_forbidden_stays_until_an_answer_can_be_given(case: Object) -> None:
    observed, now = observed_in(case), case.get("now", {})
    assert answered(service(ON | OOPS), now, observed).status == 422
    assert answered(service(ON), now | {"paused": True}, observed).status == 429
    repaired = answered(service(ON), now, observed)
    assert (repaired.status, repaired.forbidden) == (200, None)


def test_a_record_that_is_too_deep_is_none() -> None:
    [ingress] = made({})
    deep = patched(ingress, {"metadata": {"annotations": {LAST_APPLIED: "[" * 100_000}}})
    assert answered(service(ON | OOPS), {}, deep).status == 422


def test_what_is_allowed_is_changed_in_place_while_what_is_forbidden_beside_it_goes() -> None:
    """Traffic by the Ingress sees no gap, whatever becomes of the HTTPRoute."""
    observed = made({"ingress/path-type": "Exact"}, BOTH)
    settings = {"defaults": WEB | {"gateway": {"name": "internal", "namespace": "infrastructure"}}}
    now = answered(service(ON), settings, *observed)
    assert [each["kind"] for each in attachments(now)] == ["Ingress"]
    assert now.forbidden is not None


def test_an_httproute_to_which_somebody_has_added_a_listener_is_made_anew() -> None:
    """Metacontroller can't take it off in place, and no other change would arrive."""
    ingress, route = made({}, BOTH)
    [parent] = route["spec"]["parentRefs"]
    route["spec"]["parentRefs"] = [parent, parent | {"sectionName": "https"}]
    now = answered(service(ON), BOTH, ingress, route)
    assert [each["kind"] for each in attachments(now)] == ["Ingress"]
    assert now.forbidden is not None
    assert answered(service(ON | OOPS), BOTH, ingress, route).status == 422, "what serves stays"


@pytest.mark.parametrize("asks", [{}, {"ingress/profile": "slow"}, {"ingress/profile": "fast"}])
def test_a_service_that_takes_another_profile_keeps_its_ingress_which_is_changed_in_place(asks: dict[str, str]) -> None:
    """What it has copied was not forbidden, though the other profile states the same key."""
    timeout = "nginx.ingress.kubernetes.io/proxy-read-timeout"
    profiles = {"slow": {"annotations": {timeout: "600"}, "labels": {"team": "slow"}}, "fast": {}}
    settings = {"profiles": profiles}
    observed = made({timeout: "60"} | ({} if asks else {"ingress/profile": "fast"}), settings)
    parent = service(ON | {timeout: "60"} | asks)
    answer = answered(parent, settings, *observed)
    assert (answer.forbidden, len(attachments(answer))) == (None, 1)
    parent["metadata"]["annotations"] |= OOPS
    assert answered(parent, settings, *observed).status == 422


def test_an_object_without_a_record_is_changed_in_place_since_the_hook_never_answered_with_it() -> None:
    """It is adopted. While its Service is refused, what is in it is judged all the same."""
    [ingress] = made({"ingress/host": "a.example.com"})
    adopted = patched(ingress, {"metadata": {"annotations": {LAST_APPLIED: None}}})
    settings = {"limits": {"hosts": ["b.example.com"]}}
    answer = answered(service(ON | {"ingress/host": "b.example.com"}), settings, adopted)
    assert (answer.forbidden, len(attachments(answer))) == (None, 1)
    assert attachments(answered(service(ON | OOPS), settings, adopted)) == []


@pytest.mark.parametrize("paused", [False, True])
def test_the_ingress_of_a_service_that_became_an_external_name_is_removed(paused: bool) -> None:
    external = service(ON, type="ExternalName", externalName="secret.team-b.svc.cluster.local")
    answer = answered(external, {"paused": paused}, *made({}))
    assert attachments(answer) == []
    assert answer.forbidden is not None
    assert answer.forbidden.reason is Reason.EXTERNAL_NAME


@pytest.mark.parametrize("record", ["", None], ids=["its record can't be read", "it has no record"])
def test_what_may_stay_beside_what_is_forbidden_stays_as_it_is(record: str | None) -> None:
    settings = {"defaults": WEB | {"class": "internal"}, "limits": {"classes": ["internal"]}}
    ingress, route = made({"ingress/host": "a.example.com"}, BOTH)
    kept = attachments(answered(service(ON | OOPS), settings, ingress, route))
    assert kept == [as_answered(route)]
    assert kept[0]["spec"] == route["spec"]
    unknown = patched(route, {"metadata": {"annotations": {LAST_APPLIED: record}}})
    named = kept[0] | {"metadata": {"name": "shop", "namespace": "team-a"}}
    assert attachments(answered(service(ON | OOPS), settings, ingress, unknown)) == [named]


INTERNAL = {"internal.ingress/http": "true"}
TWO = {
    "ingress/host": "a.example.com",
    "ingress/routes": "[{path: /a}, {host: b.example.com}]",
    "ingress/tls": "true",
}
TWO_INTERNAL = {f"internal.{key}": value.replace(".example", ".corp.example") for key, value in TWO.items()}
REDIRECTED: Object = {"defaults": WEB | {"tls": {"redirect": True}}}


@pytest.mark.parametrize(
    ("asks", "stays"),
    [
        pytest.param(ON | OOPS, False, id="the one with a name opts out"),
        pytest.param(INTERNAL | {"internal.ingress/oops": ""}, True, id="the one without a name opts out"),
        pytest.param(
            INTERNAL | {"ingress/http": "false", "internal.ingress/port": "no"}, True, id="the same by a word"
        ),
        pytest.param({f"e{number}.ingress/http": "true" for number in range(9)} | INTERNAL, True, id="too many"),
    ],
)
def test_an_entrance_that_opts_out_goes_while_another_one_is_refused(asks: dict[str, str], stays: bool) -> None:
    """With all its HTTPRoutes: those for other hosts, and those that redirect."""
    observed = made(TWO | INTERNAL | TWO_INTERNAL, REDIRECTED)
    of_internal = [each for each in observed if each["metadata"]["name"].startswith("shop.internal")]
    assert (len(observed), len(of_internal)) == (10, 5)
    kept = of_internal if stays else [each for each in observed if each not in of_internal]
    answer = answered(service(asks), REDIRECTED, *observed)
    assert attachments(answer) == [as_answered(each) for each in kept]
    assert (answer.forbidden, answer.missing) == (None, None), "no removal is told of, and nothing waited for"
    assert answered(service(asks), REDIRECTED, *kept).status == 422
    assert answered(service(asks), REDIRECTED | {"paused": True}, *observed).status == 429


FORGED = [
    {"kind": "ClusterRoleBinding", "apiVersion": "rbac.authorization.k8s.io/v1"},
    {"metadata": {"namespace": "team-b", "name": "private", "finalizers": ["a/b"], "ownerReferences": []}},
    {"metadata": {"annotations": {"nginx.ingress.kubernetes.io/auth-url": "a"}, "labels": {"team": "b"}}},
    {"spec": {"rules": [{"host": "evil.example.org"}], "hostnames": ["evil.example.org"], "defaultBackend": {}}},
    {"spec": {"rules": None}},
    {"roleRef": {"kind": "ClusterRole", "name": "cluster-admin"}, "status": {}},
]


@pytest.mark.parametrize("forged", FORGED)
def test_a_record_is_not_answered_and_neither_is_what_others_have_added(forged: Object) -> None:
    """With any record, what stands is answered, or a part of it. What the record has is in it if it stands."""
    first, internal = made(INTERNAL | {"internal.ingress/host": "a.example.org", "ingress/tls": "true"})
    record = patched(json.loads(first["metadata"]["annotations"][LAST_APPLIED]), forged)
    theirs = {"cert-manager.io/common-name": "a", LAST_APPLIED: json.dumps(record)}
    edited = {"rules": {0: {"host": "www.example.com"}}, "ingressClassName": "internal"}
    now = patched(first, {"metadata": {"annotations": theirs, "labels": {"theirs": "a"}}, "spec": edited})
    [kept] = attachments(answered(service(ON | OOPS), {}, now, internal))
    whole = {"metadata": {"labels": as_answered(first)["metadata"]["labels"]}, "spec": now["spec"]}
    if "rules" in forged.get("spec", {}) and forged["spec"]["rules"] is None:
        del whole["spec"]["rules"]
    named = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress"}
    assert kept == named | whole | {"metadata": whole["metadata"] | {"name": "shop", "namespace": "team-a"}}
    [again] = attachments(answered(service(ON | OOPS), {}, patched(now, as_created(kept, service())), internal))
    assert again == kept, "it doesn't loop"


@pytest.mark.parametrize("then", [{"defaults": WEB}, {"defaults": WEB | {"profile": "web"}, "profiles": {"web": WEB}}])
def test_no_listener_is_allowed_where_no_gateway_is_stated_any_more(then: Object) -> None:
    answer = answered(service(ON), {"profiles": {"web": {}}}, *made({}, then))
    assert [each["kind"] for each in attachments(answer)] == ["Ingress"]
    assert answer.forbidden is not None
    assert answer.forbidden.reason is Reason.LISTENER_NOT_ALLOWED


def test_a_redirect_has_a_filter_of_its_own_and_stays_beside_those_of_the_profile() -> None:
    login = {"type": "ExtensionRef", "extensionRef": {"group": "traefik.io", "kind": "Middleware", "name": "sso"}}
    profile = {"outputs": ["httproute"], "filters": [login], "tls": {"enabled": True, "redirect": True}}
    settings = {"defaults": WEB, "profiles": {"sso": profile}}
    observed = made({"ingress/profile": "sso"}, settings)
    assert len(observed) == 2
    assert answered(service(ON | OOPS), settings, *observed).status == 422


@pytest.mark.parametrize(("namespace", "name"), [("team-b", "shop"), ("team-a", "shopping"), ("team-a", "shop-a")])
def test_an_object_that_may_be_anothers_is_not_answered(namespace: str, name: str) -> None:
    ingress, internal = made(INTERNAL | {"internal.ingress/host": "a.example.org"})
    others = patched(ingress, {"metadata": {"namespace": namespace, "name": name}})
    assert answered(service(ON | OOPS), {}, others, internal).status == 422


def test_an_entrance_that_may_not_stay_goes_and_the_other_one_stays_as_it_is() -> None:
    observed = made(INTERNAL | {"internal.ingress/host": "a.example.org"})
    answer = answered(service(ON | INTERNAL | OOPS), {"limits": {"hosts": ["example.com"]}}, *observed)
    assert [each["metadata"]["name"] for each in attachments(answer)] == ["shop"]
    assert answer.forbidden is not None


@pytest.mark.parametrize("observed", ["nginx", None])
def test_an_ingress_keeps_its_class_when_none_is_stated_any_more(observed: str | None) -> None:
    """The API server gives the cluster's default only to a new Ingress."""
    [ingress] = made({})
    classed = patched(ingress, {"spec": {"ingressClassName": observed}})
    [desired] = attachments(answered(service(ON), {"defaults": {"class": None}}, classed))
    assert desired["spec"].get("ingressClassName") == observed


def test_an_ingress_loses_its_class_when_an_annotation_names_one() -> None:
    [desired] = attachments(
        answered(
            service(ON),
            {"defaults": {"class": None, "annotations": {"kubernetes.io/ingress.class": "gce"}}},
            *made({}),
        )
    )
    assert "ingressClassName" not in desired["spec"]
