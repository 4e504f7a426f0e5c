"""What stands: a refused Service keeps its Ingress and its HTTPRoutes, unless the policy forbids what is in them."""

import json
from typing import Any

import pytest

from devcluster.sync_requests import Object, as_created, body, service, sync_request
from hooks.sync import Answer, answer
from ingress_manager.core.errors import Reason
from ingress_manager.core.settings import parse

ON = {"ingress/http": "true"}
OOPS = {"ingress/oops": "a mistake"}
SNIPPET = "nginx.ingress.kubernetes.io/configuration-snippet"
LAST_APPLIED = "metacontroller.k8s.io/last-applied-configuration"
TIMEOUT = "nginx.ingress.kubernetes.io/proxy-read-timeout"
ISSUER = "cert-manager.io/cluster-issuer"
PLUGINS = "konghq.com/plugins"
ROUTES = "outputs: [httproute]\ngateway: {name: web, namespace: infrastructure}\n"


def made(annotations: dict[str, str], settings: str = "") -> Object:
    """Return the Ingress as it stands once a Service with these annotations has got it, under these settings."""
    parent = service(ON | annotations)
    answered = answer(body(sync_request(parent)), parse(settings))
    assert answered.status == 200, answered.body
    return as_created(json.loads(answered.body)["attachments"][0], parent)


def answered(standing: Object, annotations: dict[str, str], settings: str = "", **spec: Any) -> Answer:
    """Return the answer for a Service beside the Ingress that stands."""
    return answer(body(sync_request(service(annotations, **spec), attached=[standing])), parse(settings))


def removes(answer: Answer) -> bool:
    return answer.status == 200 and json.loads(answer.body) == {"attachments": []}


def edited(standing: Object, change: Any) -> Object:
    """Return the Ingress with a hand-made change."""
    copied: Object = json.loads(json.dumps(standing))
    change(copied)
    return copied


def with_annotations(more: dict[str, str | None]) -> Any:
    def change(ingress: Object) -> None:
        ingress["metadata"]["annotations"] |= more
        ingress["metadata"]["annotations"] = {
            key: value for key, value in ingress["metadata"]["annotations"].items() if value is not None
        }

    return change


def with_path(**fields: str) -> Any:
    def change(ingress: Object) -> None:
        ingress["spec"]["rules"][0]["http"]["paths"][0] |= fields

    return change


def with_record(standing: Object, change: Any) -> Object:
    """Return the Ingress as if the hook had answered with the change in it."""
    record = edited(json.loads(standing["metadata"]["annotations"][LAST_APPLIED]), change)
    return edited(standing, with_annotations({LAST_APPLIED: json.dumps(record)}))


FORBIDDEN = [
    (
        "a host that was taken away",
        made({"ingress/host": "a.example.com"}),
        "namespaces: {team-a: {hosts: [b.example.com]}}",
        Reason.HOST_NOT_ALLOWED,
    ),
    (
        "a wildcard that now reaches too far",
        made({"ingress/host": "*.example.com"}),
        "namespaces: {team-a: {hosts: ['*.team-a.example.com', shop.example.com]}}",
        Reason.HOST_NOT_ALLOWED,
    ),
    (
        "a class that was taken away",
        made({"ingress/class": "public"}),
        "namespaces: {'*': {classes: [nginx]}}",
        Reason.CLASS_NOT_ALLOWED,
    ),
    (
        "no class, now that there is a limit",
        made({}, "class: null"),
        "namespaces: {'*': {classes: [nginx]}}",
        Reason.CLASS_NOT_ALLOWED,
    ),
    (
        "a path type that was taken away",
        made({"ingress/path-type": "Exact"}),
        "pathTypes: [Prefix]",
        Reason.PATH_TYPE_NOT_ALLOWED,
    ),
    (
        "a path that an earlier version let through",
        with_record(made({}), with_path(path="/*")),
        "",
        Reason.INVALID_VALUE,
    ),
    (
        "a pattern that an earlier version let through",
        with_record(made({}), with_path(path="/~/.a", pathType="ImplementationSpecific")),
        "pathTypes: [Prefix, ImplementationSpecific]",
        Reason.INVALID_VALUE,
    ),
    (
        "an annotation that isn't copied any more",
        made({SNIPPET: "return 418;"}, f"copyAnnotations: {{{SNIPPET}: any}}"),
        "",
        Reason.ANNOTATION_NOT_ALLOWED,
    ),
    (
        "a value that isn't allowed any more",
        made({TIMEOUT: "999"}),
        f"copyAnnotations: {{{TIMEOUT}: ['60']}}",
        Reason.ANNOTATION_NOT_ALLOWED,
    ),
    (
        "a copied annotation that is now the administrator's, though it may still be copied",
        made({TIMEOUT: "999999"}),
        f"annotations: {{{TIMEOUT}: '60'}}",
        Reason.ANNOTATION_NOT_ALLOWED,
    ),
    (
        "a copied annotation that is now the administrator's",
        made({ISSUER: "own"}, f"copyAnnotations: {{{ISSUER}: any}}"),
        f"annotations: {{{ISSUER}: letsencrypt}}",
        Reason.ANNOTATION_NOT_ALLOWED,
    ),
    (
        "a host of an HTTPRoute",
        made({"ingress/host": "a.example.com"}, ROUTES),
        "namespaces: {team-a: {hosts: [b.example.com]}}",
        Reason.HOST_NOT_ALLOWED,
    ),
    (
        "an HTTPRoute for every host",
        with_record(made({}, ROUTES), lambda route: route["spec"].pop("hostnames")),
        "namespaces: {team-a: {hosts: [b.example.com]}}",
        Reason.HOST_NOT_ALLOWED,
    ),
    (
        "another Gateway",
        made({}, ROUTES),
        "gateway: {name: internal, namespace: infrastructure}",
        Reason.LISTENER_NOT_ALLOWED,
    ),
    (
        "a listener that is named no more",
        made({}, ROUTES),
        "gateway: {name: web, namespace: infrastructure, http: null}",
        Reason.LISTENER_NOT_ALLOWED,
    ),
    (
        "a path type of an HTTPRoute",
        made({"ingress/path-type": "Exact"}, ROUTES),
        "pathTypes: [Prefix]",
        Reason.PATH_TYPE_NOT_ALLOWED,
    ),
    (
        "a regular expression in an HTTPRoute",
        with_record(
            made({}, ROUTES),
            lambda route: route["spec"]["rules"][0]["matches"][0]["path"].update(type="RegularExpression"),
        ),
        "",
        Reason.PATH_TYPE_NOT_ALLOWED,
    ),
    (
        "a copied annotation of an HTTPRoute",
        made({PLUGINS: "a"}, ROUTES + f"copyAnnotations: {{{PLUGINS}: any}}"),
        "",
        Reason.ANNOTATION_NOT_ALLOWED,
    ),
]


BESIDE: list[tuple[str, dict[str, str], dict[str, Any], bool]] = [
    ("a mistake", ON | OOPS, {}, False),
    ("a port that isn't there", ON | {"ingress/port": "none"}, {}, False),
    ("a wrong value of ingress/http", {"ingress/http": "yes"}, {}, False),
    ("no ports", ON, {"ports": []}, False),
    ("a pause", ON, {}, True),
    ("a pause and a mistake", ON | OOPS, {}, True),
    ("a pause, after opting out", {}, {}, True),
]


@pytest.mark.parametrize("forbidden", FORBIDDEN, ids=lambda case: case[0])
@pytest.mark.parametrize("beside", BESIDE, ids=lambda case: case[0])
def test_what_the_policy_forbids_is_removed_whatever_is_beside_it(
    forbidden: tuple[str, Object, str, Reason], beside: tuple[str, dict[str, str], dict[str, Any], bool]
) -> None:
    _, standing, settings, reason = forbidden
    _, annotations, spec, paused = beside
    answer = answered(standing, annotations, f"{settings}\npaused: {str(paused).lower()}", **spec)
    assert removes(answer), answer
    assert answer.forbidden is not None
    assert answer.forbidden.reason == reason


@pytest.mark.parametrize("forbidden", FORBIDDEN, ids=lambda case: case[0])
def test_what_is_forbidden_goes_first_and_what_is_allowed_comes_with_the_next_sync(
    forbidden: tuple[str, Object, str, Reason],
) -> None:
    """An update in place can be denied by the admission of others, and what is forbidden would stand."""
    what, standing, settings, reason = forbidden
    host = "b.example.com" if reason is Reason.HOST_NOT_ALLOWED and "wildcard" not in what else "shop.example.com"
    outputs = "" if standing["kind"] == "Ingress" or "gateway" in settings else ROUTES
    now = settings + "\n" + (outputs or ("outputs: [httproute]" if standing["kind"] == "HTTPRoute" else ""))
    asked = ON | {"ingress/host": host} | ({"ingress/tls": "true"} if "http: null" in settings else {})
    first = answered(standing, asked, now)
    assert removes(first), first
    assert first.forbidden is not None
    assert first.forbidden.reason == reason
    [made] = json.loads(answer_without(asked, now).body)["attachments"]
    parent = service(asked)
    again = answer(body(sync_request(parent, attached=[as_created(made, parent)])), parse(now))
    assert (again.forbidden, json.loads(again.body)["attachments"]) == (None, [made])


def test_what_is_allowed_is_changed_in_place_while_what_stands_beside_it_goes() -> None:
    """Traffic by the Ingress sees no gap, whatever becomes of the HTTPRoute."""
    both = ROUTES.replace("[", "[ingress, ")
    parent = service(ON | {"ingress/path-type": "Exact"})
    ingress, route = [
        as_created(each, parent)
        for each in json.loads(answer(body(sync_request(parent)), parse(both)).body)["attachments"]
    ]
    other = both.replace("web", "internal")
    now = answer(body(sync_request(service(ON), attached=[ingress, route])), parse(other))
    assert [each["kind"] for each in json.loads(now.body)["attachments"]] == ["Ingress"]
    assert now.forbidden is not None


def test_an_object_without_a_record_is_changed_in_place_since_the_hook_never_answered_with_it() -> None:
    """It is adopted. While its Service is refused, what is in it is judged all the same."""
    standing = edited(made({"ingress/host": "a.example.com"}), with_annotations({LAST_APPLIED: None}))
    settings = "namespaces: {'*': {hosts: [b.example.com]}}"
    answer = answered(standing, ON | {"ingress/host": "b.example.com"}, settings)
    assert (answer.forbidden, len(json.loads(answer.body)["attachments"])) == (None, 1)
    assert removes(answered(standing, ON, settings))


@pytest.mark.parametrize("paused", ["", "paused: true"])
def test_the_ingress_of_a_service_that_became_an_external_name_is_removed(paused: str) -> None:
    external = {"type": "ExternalName", "externalName": "secret.team-b.svc.cluster.local"}
    answer = answered(made({}), ON, paused, **external)
    assert removes(answer)
    assert answer.forbidden is not None
    assert answer.forbidden.reason is Reason.EXTERNAL_NAME
    refused = answer_without(ON, "", **external)
    assert (refused.status, b"ExternalName" in refused.body) == (422, True)


def answer_without(annotations: dict[str, str], settings: str, **spec: Any) -> Answer:
    """Return the answer when nothing stands."""
    return answer(body(sync_request(service(annotations, **spec))), parse(settings))


ADDED = made({"ingress/tls": "true"}, f"tls: {{annotations: {{{ISSUER}: letsencrypt}}}}")


@pytest.mark.parametrize(
    ("reason", "standing", "settings"),
    [
        (
            "all of it is allowed",
            made({"ingress/host": "a.example.com"}),
            "namespaces: {team-a: {hosts: ['*.example.com']}}",
        ),
        (
            "what cert-manager wrote is not ours",
            edited(made({}), with_annotations({"acme.cert-manager.io/x": "y"})),
            "",
        ),
        ("what the administrator once added", ADDED, ""),
        (
            "a copied annotation that the administrator now gives the same value",
            made({ISSUER: "own"}, f"copyAnnotations: {{{ISSUER}: any}}"),
            f"annotations: {{{ISSUER}: own}}",
        ),
        ("what the administrator adds with another value", ADDED, f"tls: {{annotations: {{{ISSUER}: other}}}}"),
        (
            "a copied annotation that somebody took away",
            edited(made({SNIPPET: "x"}, f"copyAnnotations: {{{SNIPPET}: any}}"), with_annotations({SNIPPET: None})),
            "",
        ),
        (
            "a record of what was applied that can't be read",
            edited(made({}), with_annotations({LAST_APPLIED: "{"})),
            "",
        ),
        ("a record that is too deep", edited(made({}), with_annotations({LAST_APPLIED: "[" * 100_000})), ""),
        ("no record of what was applied", edited(made({}), with_annotations({LAST_APPLIED: None})), ""),
        ("no annotations", edited(made({}), lambda ingress: ingress["metadata"].pop("annotations")), ""),
        ("no rules", with_record(made({}), lambda ingress: ingress["spec"].pop("rules")), ""),
        ("a rule without paths", with_record(made({}), lambda ingress: ingress["spec"]["rules"][0].pop("http")), ""),
        ("an HTTPRoute that is allowed", made({}, ROUTES), "namespaces: {team-a: {hosts: [example.com]}}"),
        ("an HTTPRoute of the Gateway that is named", made({}, ROUTES), ROUTES.replace("httproute", "ingress")),
        ("an HTTPRoute without a parent", with_record(made({}, ROUTES), lambda r: r["spec"].pop("parentRefs")), ROUTES),
        ("an HTTPRoute has no class", made({}, ROUTES), "class: b\nnamespaces: {team-a: {classes: [b]}}"),
        (
            "an HTTPRoute without rules is one for every path",
            with_record(made({}, ROUTES), lambda route: route["spec"].pop("rules")),
            "",
        ),
        (
            "a rule of an HTTPRoute without matches is one for every path",
            with_record(made({}, ROUTES), lambda route: route["spec"]["rules"][0].pop("matches")),
            "",
        ),
        ("TLS without hosts", with_record(made({}), lambda ingress: ingress["spec"].update(tls=[{}])), ""),
    ],
)
def test_what_is_not_forbidden_stays(reason: str, standing: Object, settings: str) -> None:
    assert answered(standing, ON | OOPS, settings).status == 422, reason
    assert answered(standing, ON, f"{settings}\npaused: true").status == 429, reason


@pytest.mark.parametrize(
    "change",
    [
        lambda ingress: ingress["spec"]["rules"].append({}),
        lambda ingress: ingress["spec"].update(tls=[{"hosts": ["b.example.com"]}]),
        with_path(path="/.well-known/acme-challenge/x", pathType="ImplementationSpecific"),
        with_annotations({TIMEOUT: "60s"}),
    ],
    ids=["a rule for every host", "TLS for a host", "the path of a certificate's challenge", "a value"],
)
def test_what_others_have_changed_is_theirs_and_repaired_when_an_answer_can_be_given(change: Any) -> None:
    settings = "namespaces: {team-a: {hosts: [example.com]}}"
    standing = edited(made({TIMEOUT: "60"}), change)
    assert answered(standing, ON | OOPS, settings).status == 422
    assert answered(standing, ON, f"{settings}\npaused: true").status == 429
    assert answered(standing, ON, settings).status == 200


CLASSES = "namespaces: {'*': {classes: [internal], class: internal}}"


@pytest.mark.parametrize("record", ["", None], ids=["its record can't be read", "it has no record"])
def test_what_may_stay_beside_what_is_forbidden_stays_if_it_is_known(record: str | None) -> None:
    parent = service(ON | {"ingress/host": "a.example.com"})
    both = json.loads(answer(body(sync_request(parent)), parse(ROUTES.replace("[", "[ingress, "))).body)["attachments"]
    ingress, route = [as_created(each, parent) for each in both]
    assert [each["kind"] for each in both] == ["Ingress", "HTTPRoute"]
    refused = service(ON | OOPS)
    kept = json.loads(answer(body(sync_request(refused, attached=[ingress, route])), parse(CLASSES)).body)[
        "attachments"
    ]
    assert kept == [json.loads(route["metadata"]["annotations"][LAST_APPLIED])]
    assert kept[0]["spec"] == both[1]["spec"]
    unknown = edited(route, with_annotations({LAST_APPLIED: record}))
    assert removes(answer(body(sync_request(refused, attached=[ingress, unknown])), parse(CLASSES)))


def test_without_a_record_what_is_there_is_judged() -> None:
    standing = edited(made({"ingress/host": "a.example.com"}), with_annotations({LAST_APPLIED: None}))
    assert removes(answered(standing, ON | OOPS, "namespaces: {'*': {hosts: [b.example.com]}}"))


@pytest.mark.parametrize("observed", ["nginx", None])
def test_an_ingress_keeps_its_class_when_none_is_stated_any_more(observed: str | None) -> None:
    """The API server gives the cluster's default only to a new Ingress."""
    standing = edited(made({}), lambda ingress: ingress["spec"].update(ingressClassName=observed))
    answer = answered(standing, ON, "class: null")
    assert json.loads(answer.body)["attachments"][0]["spec"].get("ingressClassName") == observed


def test_a_record_without_a_class_leaves_that_of_the_cluster_to_be_judged() -> None:
    standing = edited(made({}, "class: null"), lambda ingress: ingress["spec"].update(ingressClassName="public"))
    assert removes(answered(standing, ON | OOPS, "namespaces: {'*': {classes: [nginx]}}"))
    assert answered(standing, ON | OOPS, "namespaces: {'*': {classes: [nginx, public]}}").status == 422
