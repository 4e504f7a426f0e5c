"""The answer at `kubectl apply`: it follows the API server's contract, with the wording of the later Event."""

import contextlib
import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import settings as tried
from hypothesis import strategies as st
from msgspec.structs import replace

from devcluster.sync_requests import Object, body, service, sync_request
from hooks import sync
from hooks.admission import LONGEST_WARNING, MOST_WARNINGS, answer
from ingress_manager.core import settings_parser
from ingress_manager.core.errors import Problems, Reason, SettingsError
from ingress_manager.core.settings import Admission, NamespaceSettings, Settings
from ingress_manager.core.vocabulary import is_read_from_services
from tests import golden
from tests.core import made_up

UID = "705ab4f5-6393-11e8-b7cc-42010a800002"
DENY = Admission(deny=True)
DENYING = Settings(admission=DENY)
PAUSING = Settings(namespaces={"team-a": NamespaceSettings(paused=True)})
APP_ROOT = "nginx.ingress.kubernetes.io/app-root"
WRONG = service({"ingress/http": "true", "ingress/host": "Shop", "ingress/path": "shop"})
SENTENCES = [
    'ingress/host: "Shop" must be lowercase [invalid-value]',
    'ingress/path: "shop" must start with / [invalid-value]',
]
PAUSE = "the settings pause ingress-manager in this namespace [paused]"
OBJECTS = "the Service's objects [not-copied]"
NO_EFFECT = 'has no effect because this Service lacks {}ingress/http: "true"{} [contradiction]'
MORE = re.compile(r"and ([0-9]+) more")


def review(new: Any, old: Object | None = None) -> bytes:
    """Return the API server's AdmissionReview before a Service is updated from `old`, or created if that is None.

    Source: the example of an AdmissionReview on Kubernetes' page on admission webhooks, adapted to Services.
    """
    version = {"group": "", "version": "v1"}
    request = {
        "uid": UID,
        "kind": version | {"kind": "Service"},
        "resource": version | {"resource": "services"},
        "name": "shop",
        "namespace": "team-a",
        "operation": "UPDATE" if old else "CREATE",
        "userInfo": {"username": "jane", "uid": "u", "groups": ["system:authenticated"], "extra": {"a": ["b"]}},
        "object": new,
        "oldObject": old,
    }
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


def response_to(sent: bytes, settings: Settings) -> Object:
    """Return the response to a review. Raises AssertionError if it violates the API server's contract."""
    answered = answer(sent, settings)
    assert answered.status == 200
    told = json.loads(answered.body)
    response: Object = told.pop("response")
    assert told == {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    assert response["uid"] == UID
    if response["allowed"]:
        assert response.keys() <= {"uid", "allowed", "warnings"}
    else:
        assert response.keys() == {"uid", "allowed", "status"}
        status = response["status"]
        assert status.keys() == {"code", "reason", "message", "details"}
        assert (status["code"], status["reason"], status["message"].isprintable()) == (422, "Invalid", True)
    warnings = response.get("warnings", [])
    # apimachinery's NewWarningHeader accepts these, and the API server's filter doesn't truncate them.
    assert all(warning.isprintable() and 0 < len(warning) <= 256 for warning in warnings)
    assert len("".join(warnings)) <= 4096
    return response


def warnings_of(new: Object, settings: Settings) -> list[str]:
    warnings: list[str] = response_to(review(new), settings).get("warnings", [])
    return warnings


def check_not_copied(new: Object, made: list[Object], warnings: list[str]) -> None:
    """Raise AssertionError unless the warnings for an accepted Service name exactly the keys that no object has."""
    left = [each["metadata"].get("annotations", {}).get("ingress/not-copied", "") for each in made]
    keys = [{key for key in each.split(", ") if key and not is_read_from_services(key)} for each in left]
    told = {warning.split()[0] for warning in warnings if "no effect" not in warning}
    if not any(map(MORE.search, left)):
        assert set.intersection(*keys) <= told <= set.union(*keys) if keys else not told, new["metadata"]


def check_both_ways(new: Object, settings: Settings) -> None:
    """Raise AssertionError unless a new Service's warnings match its refusal, and its denial has the Event's line."""
    synced = sync.answer(body(sync_request(new)), settings.without_pause())
    warnings = [each for each in warnings_of(new, settings) if each != PAUSE]
    response = response_to(review(new), replace(settings, admission=DENY))
    if synced.status == 200:
        check_not_copied(new, json.loads(synced.body)["attachments"], warnings)
        assert response["allowed"]
        return
    assert (refusal := synced.problems)
    more = MORE.fullmatch(warnings[-1])
    shown = warnings[:-1] if more else warnings
    assert shown == [problem.line(LONGEST_WARNING) for problem in refusal.kept[: len(shown)]]
    assert len(shown) + int(more[1] if more else 0) == len(refusal.kept) + refusal.more
    assert not response["allowed"]
    assert response["status"]["message"] == synced.body.decode().removesuffix("\n")


def test_a_case_gets_warnings_exactly_like_its_refusal() -> None:
    for case in golden.cases_in(golden.CASES):
        with contextlib.suppress(SettingsError):
            check_both_ways(case.service, case.settings)


@given(made_up.ANY_SERVICES, made_up.settings(), st.sampled_from([False, False, True]))
def test_any_service_gets_warnings_exactly_like_its_refusal(new: Object, settings: Settings, paused: bool) -> None:
    check_both_ways(new, replace(settings, paused=paused))


def test_a_denial_has_the_events_line_and_each_problem_as_a_cause() -> None:
    status = response_to(review(WRONG), DENYING)["status"]
    assert status["message"] == " · ".join(SENTENCES)
    causes = [{"field": "metadata.annotations", "message": sentence} for sentence in SENTENCES]
    assert status["details"] == {"kind": "Service", "name": "shop", "causes": causes}


ELSEWHERE = {"external-dns.alpha.kubernetes.io/hostname": "a.example", "konghq.com/protocol": "http"}
ELSEWHERE |= {"prometheus.io/scrape": "true", "nginx.ingress.kubernetes.io/proxy-read-timeout": "30"}
"""Annotations that something else reads from the Service, and one that is copied."""


@pytest.mark.parametrize(
    ("annotations", "settings", "warnings"),
    [
        (None, PAUSING, []),
        ({"ingress/http": "true"}, DENYING, []),
        ({"ingress/http": "true"}, PAUSING, [PAUSE]),
        (WRONG["metadata"]["annotations"], PAUSING, [PAUSE, *SENTENCES]),
        (WRONG["metadata"]["annotations"] | {"ingress/http": "false", APP_ROOT: "x"}, PAUSING, []),
        (ELSEWHERE | {"ingress/http": "true", APP_ROOT: "x"}, DENYING, [f"{APP_ROOT} is not copied to {OBJECTS}"]),
        (
            {"ingress/htpp": "true"},
            DENYING,
            [f"ingress/htpp {NO_EFFECT.format('', '; should ingress/htpp be ingress/http?')}"],
        ),
        ({"ingress/http": "true", "a.ingress/path": ""}, DENYING, [f"a.ingress/path {NO_EFFECT.format('a.', '')}"]),
        ({"ingress/hots": "shop.example"}, DENYING, [f"ingress/hots {NO_EFFECT.format('', '')}"]),
    ],
)
def test_an_allowed_service_may_get_warnings(annotations: Any, settings: Settings, warnings: list[str]) -> None:
    response = response_to(review(service(annotations)), settings)
    assert response == {"uid": UID, "allowed": True} | ({"warnings": warnings} if warnings else {})


def test_warnings_beyond_the_api_servers_limit_are_counted() -> None:
    for begin in (f"ingress/{'x' * 200}", "nginx.org/"):
        others = {f"{begin}{number}": "" for number in range(30)}
        *shown, last = warnings_of(service({"ingress/http": "true"} | others), Settings())
        assert (len(shown), last) == (MOST_WARNINGS, f"and {30 - MOST_WARNINGS} more")


GETTING_WORSE = settings_parser.parse("""
admission: {deny: true}
defaults: {host: "{service}.{namespace}.example.com"}
limits:
  hosts: ["*.{namespace}.example.com"]
  classes: [nginx, internal, office]
  profiles: [fast]
profiles:
  fast: {annotations: {example.com/fast: "true"}}
  slow: {annotations: {example.com/fast: "false"}}
""")
PAUSED = replace(GETTING_WORSE, namespaces={"team-a": replace(GETTING_WORSE, paused=True)})
WARNING = replace(GETTING_WORSE, admission=Admission())
VALUES: dict[str, list[str | None]] = {
    "ingress/http": ["true", "true", "true", "false", None],
    "internal.ingress/http": ["true", "yes", None],
    "internal.ingress/class": ["office"],
    "ingress/profile": ["fast", "slow", "none-such", None],
    "ingress/host": ["a.team-a.example.com", "example.org", "A", None],
    "ingress/path": ["/shop", "shop", None],
    "ingress/port": ["80", "nope", None],
    "internal.ingress/tls": ["true", "maybe", None],
    "ingress/routes": ["- {}\n- host: example.org\n", "- path: [\n", None, None],
    "ingress/hots": ["x", None, None],
    APP_ROOT: ["/a", None],
    "type": ["ClusterIP", "ClusterIP", "ExternalName"],
}
"""Values of a Service's annotations, and of its type."""
STATED = st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in VALUES.items()})


def mistakes(new: Object) -> tuple[int, set[tuple[str, Reason]]]:
    """Return the number of mistakes, as counted in the Event, and the reasons with the annotations concerned."""
    answered = sync.answer(body(sync_request(new)), WARNING)
    refusal = answered.problems if answered.problems and answered.status == 422 else Problems()
    return len(refusal.kept) + refusal.more, {(problem.annotation, problem.reason) for problem in refusal.kept}


ROUTES = "[{path: /a, port: nope}, {path: /b, port: no}%s]"
HIDDEN = {"ingress/http": "true", "ingress/host": "example.org", "ingress/port": "nope"}
"""Mistakes that show only when a worse one is corrected; such a correction is not denied."""


@tried(max_examples=300)
@given(STATED, STATED)
@example(HIDDEN | {"ingress/profile": "none-such"}, {"ingress/profile": "fast"})
@example(HIDDEN | {"ingress/routes": ROUTES % ", x"}, {"ingress/routes": ROUTES % ""})
def test_only_additional_mistakes_are_denied(before: dict[str, str | None], change: dict[str, str | None]) -> None:
    stated = ({key: value for key, value in each.items() if value is not None} for each in (before, before | change))
    old, new = (service(each, type=each.pop("type", "ClusterIP")) for each in stated)
    (old_count, old_kinds), (count, kinds) = mistakes(old), mistakes(new)
    assert response_to(review(old), GETTING_WORSE)["allowed"] == (not old_count)
    for settings in (GETTING_WORSE, PAUSED):
        assert response_to(review(new, old), settings)["allowed"] == (count <= old_count or not old_kinds <= kinds)
    assert response_to(review(new, old), WARNING)["allowed"]


NOT_REVIEWS = {
    "another kind": review(WRONG).replace(b"AdmissionReview", b"ConversionReview"),
    "another version": review(WRONG).replace(b"admission.k8s.io/v1", b"admission.k8s.io/v1beta1"),
    "another kind, of many lines": review(WRONG).replace(b"AdmissionReview", b"\\n" * 100_000),
    "a uid that is not UTF-8": review(WRONG).replace(UID.encode(), b"\xff"),
    "of an object that is no Service": review(service() | {"kind": "Ingress"}),
    "of no object": review(None),
    "an earlier state that can't be read": review(WRONG, {"metadata": {}}),
    "nested deeply": review(WRONG).replace(b"80", b"[" * 1_000_000),
}


@pytest.mark.parametrize("sent", NOT_REVIEWS.values(), ids=NOT_REVIEWS.keys())
def test_a_body_that_is_no_review_is_answered_400_in_one_line(sent: bytes) -> None:
    answered = answer(sent, DENYING)
    assert (answered.status, answered.outcome) == (400, "unread")
    assert re.fullmatch(r"not an AdmissionReview \(admission.k8s.io/v1\): .{,454}\n", line := answered.body.decode())
    assert line[:-1].isprintable()


@given(made_up.spoiled(made_up.services().map(review).map(json.loads)), made_up.settings())
def test_a_review_is_denied_only_if_its_service_is_refused(sent: Any, settings: Settings) -> None:
    answered = answer(json.dumps(sent).encode(), replace(settings, admission=DENY))
    assert answered.status in {200, 400}
    if answered.status == 200 and not json.loads(answered.body)["response"]["allowed"]:
        assert sync.answer(body(sync_request(sent["request"]["object"])), settings).status == 422
