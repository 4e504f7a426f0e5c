"""Properties that hold for random Services and settings."""

import json
from collections.abc import Iterator
from itertools import chain, product

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from devcluster.sync_requests import Object, as_created, body, sync_request
from hooks import admission
from hooks.sync import REMOVED, Answer, answer
from ingress_manager.core import settings_parser
from ingress_manager.core.effective import effective_settings
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.kubernetes import API_VERSIONS
from ingress_manager.core.settings import Limits, Settings
from ingress_manager.core.shape import format_path
from ingress_manager.core.syntax import wrong_path
from ingress_manager.core.vocabulary import protects
from tests.core import made_up
from tests.hooks.test_admission import DENY, review

MOST_ANNOTATION_BYTES = 256 * 1024
OF_AN_OBJECT = ("apiVersion", "kind", "metadata", "spec", "name", "namespace", "labels", "annotations")
ALB_AUTH = "alb.ingress.kubernetes.io/auth-type"


def desired_for(parent: Object, settings: Settings) -> list[Object]:
    """Return the objects that should exist; none if the hook refuses."""
    return attachments(answer(body(sync_request(parent)), settings))


def attachments(answered: Answer) -> list[Object]:
    """Return the objects in an answer; none if it is a refusal."""
    made: list[Object] = json.loads(answered.body)["attachments"] if answered.status == 200 else []
    return made


def answered_twice(request: bytes, settings: Settings) -> Answer:
    """Return the answer. Raises AssertionError if it varies, or is a refusal that isn't one printable line."""
    first, again = answer(request, settings), answer(request, settings)
    assert (first.status, first.body) == (again.status, again.body)
    if first.status != 200:
        line = first.body.decode()
        assert 1 < len(line) <= 501
        assert line.endswith("\n")
        assert line[:-1].isprintable()
    return first


@given(made_up.ANY_SERVICES, made_up.settings())
def test_opting_out_removes_everything(parent: Object, settings: Settings) -> None:
    standing = [as_created(item, parent) for item in desired_for(parent, settings)]
    annotations = parent["metadata"]["annotations"]
    paused = msgspec.structs.replace(settings, paused=True, namespaces={})
    for off in ({key: "false" for key in annotations if key.endswith("ingress/http")}, {}):
        others = {key: value for key, value in annotations.items() if not key.endswith("ingress/http")}
        asking = parent | {"metadata": parent["metadata"] | {"annotations": others | off}}
        for attached in (standing, []):
            sent = body(sync_request(asking, attached=attached))
            assert json.loads(answer(sent, settings).body) == {"attachments": []}
            assert answer(sent, paused).status == (429 if attached else 200)


@given(made_up.ANY_SERVICES, made_up.settings())
def test_objects_are_small_and_route_to_their_own_service(parent: Object, settings: Settings) -> None:
    """tests/e2e/test_accepted.py checks that a real API server accepts the objects."""
    name, ports = parent["metadata"]["name"], parent["spec"]["ports"]
    tcp = [port["port"] for port in ports if port.get("protocol", "TCP") == "TCP"]
    made = desired_for(parent, settings)
    assert len(set(map(key_of, made))) == len(made)
    for item in made:
        assert item["metadata"]["namespace"] == parent["metadata"]["namespace"]
        assert item["metadata"]["name"] == name or item["metadata"]["name"].startswith(f"{name}.")
        assert item["apiVersion"] == API_VERSIONS[item["kind"]]
        assert item.keys() | item["metadata"].keys() <= {*OF_AN_OBJECT}
        # With the copy of the object that Metacontroller adds to them, as Go encodes it: \u003c for <, and so on.
        copy = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
        longer = 5 * sum(map(copy.count, "<>&")) + 3 * sum(map(copy.count, "\u2028\u2029"))
        annotations = "".join(chain(*item["metadata"].get("annotations", {}).items()))
        assert len((annotations + copy).encode()) + longer < MOST_ANNOTATION_BYTES - 1000
        places = list(places_of(item))
        assert len({place[:3] for place in places}) == len(places)
        assert {(service_name, port in tcp) for *_, service_name, port in places} <= {(name, True)}
        assert bool(places) != (item["kind"] == "ListenerSet" or item["metadata"]["name"].endswith(".redirect"))
        if "tls" in item["spec"]:
            of_rules = [rule.get("host", "*") for rule in item["spec"]["rules"]]
            of_tls = [host for tls in item["spec"]["tls"] for host in tls.get("hosts", ["*"])]
            assert sorted(of_tls) == sorted(of_rules)
        not_copied = item["metadata"].get("annotations", {}).get("ingress/not-copied", "").split(", ")
        if item["kind"] != "ListenerSet" and not not_copied[-1].endswith(" more"):  # its HTTPRoute has the list
            for key, value in parent["metadata"]["annotations"].items():
                if key.startswith(("nginx.ingress.kubernetes.io/", "cert-manager.io/")):
                    assert (item["metadata"].get("annotations", {}).get(key) == value) != (key in not_copied)


@given(made_up.PROTECTED, made_up.settings(), *[st.sets(made_up.PROTECTING_KEYS)] * 2)
def test_no_protection_is_lost(parent: Object, settings: Settings, copied: set[str], accepted: set[str]) -> None:
    requested = parent["metadata"]["annotations"]
    limits = Limits(copy_annotations=dict.fromkeys(copied, "any"), accepted_losses=tuple(accepted))
    settings = msgspec.structs.replace(settings, limits=limits, namespaces={})
    for item in desired_for(parent, settings):
        annotations = item["metadata"].get("annotations", {})
        effective = effective_settings(settings, parent["metadata"]["namespace"], annotations.get("ingress/profile"))
        for key in filter(protects, requested):
            is_on = annotations.get(key) == requested[key] and (item["kind"] == "Ingress" or key.startswith("konghq"))
            of_service = key == "konghq.com/plugins" or (key == ALB_AUTH and item["kind"] == "Ingress")
            assert is_on or of_service or key in effective.accepted_losses, key


def everywhere(settings: Settings, *outputs: str) -> Settings:
    """Return the settings with these outputs in all namespaces and profiles, and with any host allowed."""
    return msgspec.structs.replace(
        settings,
        defaults=msgspec.structs.replace(settings.defaults, outputs=outputs),
        limits=msgspec.structs.replace(settings.limits, hosts="any"),
        profiles={name: {**profile, "outputs": outputs} for name, profile in settings.profiles.items()},
        namespaces={},
    )


@given(made_up.ANY_SERVICES, made_up.settings())
def test_ingresses_and_httproutes_route_to_the_same_ports(parent: Object, settings: Settings) -> None:
    both = everywhere(settings, "ingress", "httproute")
    made = desired_for(parent, both)
    for_ingress, of_routes = (
        sorted(place for item in made if item["kind"] == kind for place in places_of(item))
        for kind in ("Ingress", "HTTPRoute")
    )
    assert for_ingress == of_routes
    alone = desired_for(parent, everywhere(settings, "httproute"))
    if alone:
        of_alone, beside = ([item["spec"] for item in some if item["kind"] == "HTTPRoute"] for some in (alone, made))
        assert of_alone == beside


@given(
    made_up.valid_services(),
    made_up.settings(),
    st.lists(made_up.HOSTS, min_size=2, max_size=40, unique=True),
    st.lists(st.sampled_from(["/", "/a"]), min_size=40, max_size=40),
)
def test_a_new_host_recreates_no_route(parent: Object, settings: Settings, hosts: list[str], paths: list[str]) -> None:
    """Recreating a route would delete it first. The rules of existing routes must not change either."""
    only = everywhere(settings, "httproute")
    routes = [{"host": host, "path": path} for host, path in zip(hosts, paths, strict=False)]
    asking = ({"ingress/http": "true", "ingress/routes": json.dumps(some)} for some in (routes[:-1], routes))
    fewer, more = (parent | {"metadata": parent["metadata"] | {"annotations": annotations}} for annotations in asking)
    standing = [as_created(item, fewer) for item in desired_for(fewer, only)]
    after = {key_of(item): item for item in attachments(answer(body(sync_request(more, attached=standing)), only))}
    for item in standing if after else ():  # no object is created if there would be too many
        assert after[key_of(item)]["spec"].get("rules") == item["spec"].get("rules")


def places_of(made: Object) -> Iterator[tuple[str, str, str, str, int]]:
    """Yield the host ("*" for any), path, path type, Service and port of each path in an object."""
    if made["kind"] == "Ingress":
        for rule in made["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                service = path["backend"]["service"]
                yield rule.get("host", "*"), path["path"], path["pathType"], service["name"], service["port"]["number"]
    else:
        for host, rule in product(made["spec"].get("hostnames", ["*"]), made["spec"].get("rules", ())):
            for match, backend in product(rule["matches"], rule.get("backendRefs", ())):
                path_type = match["path"]["type"].removeprefix("Path")
                yield host, match["path"]["value"], path_type, backend["name"], backend["port"]


@given(made_up.ANY_SERVICES, made_up.settings(), made_up.settings())
def test_observed_objects_stay_or_go_together(parent: Object, earlier: Settings, settings: Settings) -> None:
    """If a Service is refused, all its objects stay or all go. test_forbidden.py tests which are forbidden."""
    alone = answered_twice(body(sync_request(parent)), settings)
    desired = [without_class(item) for item in attachments(alone)]
    for before in (earlier, settings):
        standing = [as_created(item, parent) for item in desired_for(parent, before)]
        answered = answered_twice(body(sync_request(parent, attached=standing)), settings)
        kept = [without_class(item) for item in attachments(answered)]
        if alone.status == 422:
            assert (answered.status == 422) == (answered.outcome != REMOVED)
            assert kept == []
        elif answered.outcome != REMOVED:
            assert kept == desired
        else:
            # A forbidden object isn't even changed in place, because the update could be denied.
            assert before is not settings
            assert all(item in desired for item in kept)
    annotations = parent["metadata"]["annotations"]
    annotations |= {key: "yes" for key, was in annotations.items() if key.endswith("ingress/http") and was != "false"}
    assert not standing or answer(body(sync_request(parent, attached=standing)), settings).status == 422


def without_class(made: Object) -> Object:
    """Return an object without its class, which an observed Ingress keeps if the settings have none."""
    return made | {"spec": {key: value for key, value in made["spec"].items() if key != "ingressClassName"}}


def key_of(made: Object) -> tuple[str, str]:
    return made["kind"], made["metadata"]["name"]


@given(made_up.ANY_SERVICES, made_up.settings(), st.data())
def test_no_observed_object_becomes_an_answer(parent: Object, settings: Settings, data: st.DataObject) -> None:
    made = [as_created(item, parent) for item in desired_for(parent, settings)]
    forged = data.draw(made_up.forged(made))
    answered = answered_twice(body(sync_request(parent) | {"attachments": forged}), settings)
    right = [without_class(item) for item in desired_for(parent, settings)]
    assert all(without_class(item) in right for item in attachments(answered))


@given(made_up.NASTY.map("/".__add__) | made_up.PATHS)
def test_a_path_that_we_accept_is_harmless(path: str) -> None:
    if wrong_path(path, "Prefix"):
        return
    assert path.startswith("/")
    assert path.isascii()
    assert not set(path) & set("\n\r\0 \t\"'`{};$\\<>|^?#[]*")


@given(made_up.spoiled(made_up.services().map(sync_request)), made_up.settings())
def test_a_request_with_anything_in_it_is_answered_as_the_contract_says(request: Object, settings: Settings) -> None:
    assert answered_twice(body(request), settings).status in {200, 400, 422}


@given(made_up.ANY_SERVICES, made_up.settings(), made_up.settings(), st.data())
def test_unused_fields_are_ignored(parent: Object, earlier: Settings, settings: Settings, data: st.DataObject) -> None:
    """A field that can't be decoded would keep forbidden objects alive, and stop the owner from opting out."""
    made = [as_created(each, parent) for each in desired_for(parent, earlier)]
    odd = data.draw(made_up.odd(parent))
    sent = body(sync_request(odd, attached=[data.draw(made_up.odd(each)) for each in made]))
    with_odd = answer(sent, settings)
    without = answer(body(sync_request(parent, attached=made)), settings)
    assert (with_odd.status, with_odd.body, with_odd.outcome) == (without.status, without.body, without.outcome)
    assert answer(sent, settings, now=1.8e9).status == without.status
    denying = msgspec.structs.replace(settings, admission=DENY)
    old = data.draw(st.none() | made_up.odd(parent))
    plain = review(parent, parent if old else None)
    assert admission.answer(review(odd, old), denying).body == admission.answer(plain, denying).body


@given(made_up.spoiled(made_up.plain_settings()).map(json.dumps) | made_up.YAML)
def test_any_text_of_settings_is_read_or_refused_with_a_reason(text: str) -> None:
    try:
        settings_parser.parse(text)
    except SettingsError as error:
        refused, path = error, format_path(error.path)
    else:
        return
    assert refused.sentence.startswith(path)
    assert refused.sentence.removeprefix(path).strip(": ")
    assert refused.sentence.isprintable()
    assert refused.line <= text.count("\n") + 1
