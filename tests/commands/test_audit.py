"""`ingress-manager audit`: the tables in tests/commands/audit have what is on a cluster, and what is found."""

import copy
import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given

from devcluster.standin.children import updated, with_annotation
from devcluster.sync_requests import Object, as_created, service
from ingress_manager.commands.audit import audit as audit_module
from ingress_manager.commands.audit.kinds import KINDS
from ingress_manager.commands.audit.preview import Effect, preview
from ingress_manager.commands.audit.reports import findings
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.commands.view import merge
from ingress_manager.commands.view.drift import differences
from ingress_manager.commands.view.managed import CONTROLLER
from ingress_manager.core.kubernetes import DECORATOR
from ingress_manager.core.policy import Policy
from tests import dumps, golden
from tests import make_cases as cases
from tests.commands.commands import (
    HTTPROUTES,
    INGRESSES,
    LISTENERSETS,
    UNKNOWN_KIND,
    Cluster,
    Ended,
    listing,
    run,
    settings_on_a_cluster,
)
from tests.core import made_up
from tests.core.test_properties import desired_for
from tests.golden import Case

AUDITS = golden.cases_in(cases.AUDITS)

WARNINGS = {"not-copied"}


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case.name)
def test_what_is_found_is_what_the_case_says(case: Case) -> None:
    assert cases.audited(case) == case.stated["becomes"]
    assert [*case.stated] == [field for field in cases.FIELDS if field in case.stated]


def test_every_kind_is_in_a_case_and_so_is_a_cluster_of_which_nothing_is_found() -> None:
    texts = [case.stated["becomes"].get("audit", "") for case in AUDITS]
    found = {line.split()[0] for text in texts for line in text.splitlines() if line}
    assert found >= {*KINDS, "Nothing"}


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case.name)
def test_a_narrow_terminal_breaks_lines_and_no_word(case: Case) -> None:
    manifests = dumps.manifests(case)
    found = audit_module.audit(manifests.items, case.policy, around=dumps.around(manifests))
    whole = "".join(findings(found, "table"))
    for width in (80, 110, 160):
        lines = "".join(findings(found, "table", width=width)).splitlines()
        assert all(len(line) <= width or len(shlex.split(line.rstrip("\\"))) == 1 for line in lines)
        assert [word for line in lines for word in line.removesuffix(" \\").split()] == whole.split()


MAY_BE_DELETED = {
    "forbidden",  # the settings say that it must not serve
    "unwanted",  # its Service has turned it off
}


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case.name)
def test_no_advice_deletes_what_serves(case: Case) -> None:
    items = dumps.manifests(case).items
    services = {item.full_name for item in items if item.kind == SERVICES}
    objects = {f"{item.object['kind'].lower()} {item.full_name}": item for item in items}
    for found in audit_module.audit(items, case.policy).findings:
        if found.command[:2] != ("kubectl", "delete") or found.kind in MAY_BE_DELETED:
            continue
        _, _, namespace, _, kind, name = found.command
        text = json.dumps(objects[f"{kind} {namespace.removeprefix('--namespace=')}/{name}"].object["spec"])
        leads_to = {f"{found.item.namespace}/{each}" for each in re.findall(r'"name": "([^"]+)"', text)}
        # What a Service that is gone owns is deleted by Kubernetes, too.
        assert leads_to.isdisjoint(services) or "which isn't there" in found.sentence, found
        assert "RequestRedirect" not in text


def items_of(*objects: Object) -> list[Item]:
    return [Item(each, Origin("", "default")) for each in objects]


def changes(items: list[Item], policy: Policy) -> list[Finding]:
    return preview(audit_module.look_at(items, policy), policy).findings


@given(made_up.services(), made_up.policy())
def test_what_the_hook_answers_and_metacontroller_makes_needs_nobody(parent: Object, policy: Policy) -> None:
    made = [as_created(each, parent) for each in desired_for(parent, policy)]
    if not made:
        return
    assert {found.kind for found in audit_module.audit(items_of(parent, *made), policy).findings} <= WARNINGS
    assert changes(items_of(parent, *made), policy) == []


@given(made_up.valid_services(), made_up.policy(), made_up.policy())
def test_what_would_change_is_what_is_found_once_it_holds_and_nothing_after_that(
    parent: Object, before: Policy, after: Policy
) -> None:
    made = {each["kind"] + each["metadata"]["name"]: as_created(each, parent) for each in desired_for(parent, before)}
    if not made:
        return
    items = items_of(parent, *made.values())
    would = {each.kind for each in changes(items, after)}
    found = {each.kind for each in audit_module.audit(items, after).findings} - WARNINGS
    assert ("missing" in found) <= (Effect.CREATED in would) <= bool({"missing", "forbidden"} & found)
    assert (Effect.REFUSED in would) == ("refused" in found)
    assert bool({Effect.CHANGED, Effect.MOVED} & would) <= bool({"drifted", "forbidden"} & found)
    for each in desired_for(parent, after):
        if standing := made.get(each["kind"] + each["metadata"]["name"]):
            signed = with_annotation(each, DECORATOR, CONTROLLER)
            assert differences(items_of(updated(standing, signed))[0], each) == []


# The command.

GOOD = service({"ingress/http": "true", "ingress/host": "shop.example.com"})
BAD: Object = {**GOOD, "metadata": {**GOOD["metadata"], "annotations": {"ingress/http": "`a|b<c`"}}}
INGRESS = as_created(desired_for(GOOD, Policy())[0], GOOD)
STRANGERS: Object = {**INGRESS, "metadata": {"name": "theirs", "namespace": "team-b"}}
Settings = Callable[[str], Path]


def audited(*objects: Object, options: tuple[str | Path, ...] = ("--current-settings", os.devnull)) -> Ended:
    return run("audit", "-f", "-", *options, stdin="---\n".join(map(as_yaml, objects)))


def with_defaults(*objects: Object, options: tuple[str, ...]) -> Ended:
    return audited(*objects, options=("--current-settings", os.devnull, *options))


def test_a_cluster_of_which_nothing_is_found_is_told_in_a_line_with_what_was_not_looked_at() -> None:
    around = (
        "IngressClasses, EndpointSlices could not be looked at: they are looked at in a cluster alone. Not "
        "looked for, or not everywhere: no-class, no-endpoints."
    )
    said = "Nothing was found in 1 Service (1 to be exposed), 1 Ingress (1 made by ingress-manager).\n"
    assert audited(GOOD, INGRESS) == (0, f"{said}{around}\n", "")


def test_a_pause_is_told(settings: Settings) -> None:
    path = settings("namespaces: {team-a: {paused: true}}\n")
    ended = audited(GOOD, STRANGERS, options=("--current-settings", path))
    assert "The settings pause team-a: nothing changes there until" in ended.err
    path.write_text("defaults: {class: internal}\npaused: true\n")
    ended = audited(GOOD, INGRESS, options=("--settings", path))
    assert (ended.status, ended.out.split()[0]) == (1, "moved"), "what holds once the pause is over is told"
    assert ended.err == "The settings pause every namespace: nothing changes there until `paused` is false.\n"


def test_what_would_be_moved_is_a_reason_for_exit_status_1_although_nothing_is_removed(settings: Settings) -> None:
    options = ("--settings", settings("defaults: {class: internal}\n"))
    assert audited(GOOD, INGRESS, options=options).status == 1
    settings("")
    created = {**GOOD, "metadata": {**GOOD["metadata"], "name": "new", "uid": "2"}}
    ended = audited(GOOD, INGRESS, created, options=options)
    assert (ended.status, "created" in ended.out) == (0, True)


def test_one_kind_alone_is_printed_and_counted(settings: Settings) -> None:
    assert with_defaults(BAD, INGRESS, options=("--only", "drifted")).status == 0
    ended = with_defaults(BAD, STRANGERS, options=("--only", "drifted", "--only", "refused", "-o", "json"))
    assert (ended.status, ended.json["kinds"]) == (1, {"refused": 1})
    forbids = ("--settings", settings("limits: {hosts: [a.example.com]}\n"))
    ended = audited(GOOD, INGRESS, options=(*forbids, "--only", "refused"))
    assert (ended.status, ended.out.splitlines()[0].split()[0]) == (1, "refused"), "what is removed counts all the same"
    assert "removed" not in ended.out
    for options, message in (
        (("--only", "created"), "--only created is for an audit with --settings"),
        ((*forbids, "--only", "drifted"), "--only drifted is for an audit without --settings"),
    ):
        ended = audited(GOOD, options=options)
        assert (ended.status, message in ended.err) == (2, True)


def test_a_dump_without_services_or_without_ingresses_is_told_of() -> None:
    ended = audited(INGRESS)
    # Not even Services that are there were read: that one is gone isn't known, and nothing may be deleted.
    where = "there is none in what was read; `kubectl get {}` prints them."
    skipped = "Not looked for, or not everywhere: "
    first = "Nothing was found in 0 Services (0 to be exposed), 1 Ingress (1 made by ingress-manager)."
    assert (ended.status, ended.out.splitlines()[0]) == (2, first)
    assert f"Services could not be looked at: {where.format('services')} {skipped}refused, " in ended.out
    ended = audited(GOOD)
    assert (ended.status, ended.err) == (2, "")
    assert f"Ingresses could not be looked at: {where.format('ingresses')} {skipped}name-taken" in ended.out
    assert "HTTPRoutes" not in ended.out, "no Service asks for one"


@pytest.mark.parametrize(
    ("unread", "sentence"),
    [
        (as_yaml({**INGRESS, "spec": 5}), "team-a/shop: is no valid Ingress: spec: 5 must be a mapping"),
        ("a: [", "is not YAML: "),
        (
            as_yaml({**INGRESS, "apiVersion": "networking.k8s.io/v1beta1"}),
            'team-a/shop: has the version "networking.k8s.io/v1beta1", which isn\'t read; networking.k8s.io/v1 is\n',
        ),
    ],
)
def test_what_cannot_be_read_ends_the_audit(unread: str, sentence: str) -> None:
    ended = run("audit", "-f", "-", stdin=f"{as_yaml(GOOD)}---\n{unread}")
    assert (ended.status, ended.out, sentence in ended.err) == (1, "", True)


def test_kinds_are_left_out_and_do_not_count() -> None:
    both = {"refused": 1, "detached": 1}
    alone = {**INGRESS, "metadata": {**INGRESS["metadata"], "ownerReferences": []}}
    for options, expected in (
        (("--ignore", "refused"), (1, {"detached": 1})),
        (("--ignore", "refused, detached"), (0, {})),
        (("--ignore", "missing"), (1, both)),
    ):
        ended = with_defaults(BAD, alone, options=(*options, "-o", "json"))
        assert (ended.status, ended.json["kinds"]) == expected, options
    ended = with_defaults(BAD, options=("--ignore", "refusd"))
    assert ended.status == 2
    assert '"refusd" is no kind of findings; did you mean refused?' in " ".join(ended.err.split())


@pytest.mark.parametrize("option", ["--ignore=refused", "--installation=edge", "--current-settings=settings.yaml"])
def test_an_option_that_other_settings_leave_without_effect_is_refused(settings: Settings, option: str) -> None:
    ended = run("audit", option, "--settings", settings(""))
    assert (ended.status, "are for an audit without --settings" in " ".join(ended.err.split())) == (2, True)


# From the cluster.

SETTINGS = settings_on_a_cluster("defaults: {class: nginx}\n")
WITH_SETTINGS = "With the settings of the ConfigMap ingress-manager/ingress-manager-settings-abc.\n"
NO_HTTPROUTES = f'{UNKNOWN_KIND} "httproutes"'


def test_a_cluster_is_read_kind_by_kind(cluster: Cluster) -> None:
    cluster.says({**SETTINGS, "services": listing(GOOD), INGRESSES: listing(INGRESS), HTTPROUTES: listing()})
    ended = run("audit", "-A", "--context", "there")
    assert (ended.status, ended.err) == (0, WITH_SETTINGS)
    # The Services last: the Ingress of one that is made meanwhile isn't one whose Service is gone.
    assert cluster.calls[:4] == [
        f"get --output=json --all-namespaces --context=there -- {kind}"
        for kind in (INGRESSES, HTTPROUTES, LISTENERSETS, "services")
    ]


def test_a_cluster_without_httproutes_has_none(settings: Settings, cluster: Cluster) -> None:
    cluster.says({**SETTINGS, "services": listing(GOOD), INGRESSES: listing(INGRESS)}, NO_HTTPROUTES)
    ended = run("audit")
    assert (ended.status, ended.err) == (0, WITH_SETTINGS)
    routes = settings("defaults: {outputs: [httproute], gateway: {name: web, namespace: infrastructure}}\n")
    for option in ("--current-settings", "--settings"):
        ended = run("audit", option, routes)
        assert "Metacontroller doesn't look after HTTPRoutes" in ended.out
    ended = run("audit", "--current-settings", routes)
    assert (ended.status, "kubectl apply --kustomize=metacontroller/httproute/\n" in ended.out) == (1, True)


def test_a_cluster_without_listenersets_has_none(settings: Settings, cluster: Cluster) -> None:
    cluster.says({**SETTINGS, "services": listing(GOOD), INGRESSES: listing(), HTTPROUTES: listing()})
    gateway = "gateway: {name: web, namespace: infrastructure, listenerSets: {port: 443}}"
    listeners = settings(f"defaults: {{outputs: [httproute], {gateway}, tls: {{enabled: true, secret: a}}}}")
    ended = run("audit", "--current-settings", listeners)
    assert "kubectl apply --kustomize=metacontroller/listenerset/\n" in ended.out


def test_what_the_user_may_not_look_at_is_told_in_a_line_and_by_the_exit_status(
    settings: Settings, cluster: Cluster
) -> None:
    no = "Error from server (Forbidden): no"
    cluster.says({"services": listing(BAD)}, no)
    ended = run("audit")
    scope = "Only kubectl's current namespace was looked at."
    nothing = f"Nothing was found in 1 Service (1 to be exposed). {scope}"
    assert (ended.status, ended.out.splitlines()[0]) == (2, nothing)
    assert [line.partition(f": {no}")[0] for line in ended.out.splitlines()[1:]] == [
        f"{what} could not be looked at" for what in ("Ingresses", "HTTPRoutes", "The settings")
    ]
    cluster.says({"services": listing(GOOD)}, no)
    found = run("audit", "-o", "json").json
    assert (found["findings"], len(found["unseen"])) == ([], 3), "no Ingress is missing that nobody may look at"
    ended = run("audit", "--settings", settings("defaults: {class: internal}\n"))
    assert (ended.status, ended.out.splitlines()[0].startswith("Nothing would change in 1 Service")) == (2, True)
    cluster.says({}, no)
    assert run("audit") == (2, "", f"Error: {no}\n")


def test_nothing_in_a_namespace_is_said(cluster: Cluster) -> None:
    cluster.says({**SETTINGS, "services": listing(), INGRESSES: listing(), HTTPROUTES: listing()})
    ended = run("audit", "-n", "nope")
    assert ended.status == 2
    assert "There is nothing to look at in the namespace nope, if it is there at all.\n" in ended.out
    assert "There is nothing to look at in the cluster" in run("audit", "-A").out


# What is in the way of what is missing.


def test_what_no_event_explains_is_put_down_to_metacontroller(cluster: Cluster) -> None:
    cluster.says({**SETTINGS, "services": listing(GOOD), INGRESSES: listing(), "events": listing()})
    [found] = run("audit", "-o", "json").json["findings"]
    assert found["sentence"] == "its Ingress team-a/shop isn't there, and no Event of its Service says why"
    assert found["command"].startswith("kubectl rollout restart ")


# The merge, by which `audit` knows what Metacontroller would change: it comes out as Metacontroller's does.


@pytest.mark.parametrize(
    "case",
    yaml.safe_load(Path(__file__).with_name("merge.yaml").read_text(encoding="utf-8")),
    ids=lambda case: case["why"],
)
def test_a_merge(case: Object) -> None:
    given = copy.deepcopy(case)
    assert merge.merge(case["observed"], case["last"], case["desired"]) == case["becomes"]
    assert case == given, "what was given is not changed"
