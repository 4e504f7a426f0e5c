"""`ingress-manager adopt`: tests/commands/adopt has Ingresses and the result of adopting them (see tests/adoptions.py).

tests/e2e/test_adopt.py runs the steps on a cluster.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from ingress_manager.commands.adopt.adoption import Adoption, adoptions_of
from ingress_manager.commands.adopt.command import CODE, NEEDED
from ingress_manager.commands.adopt.needed import entries, find_needs
from ingress_manager.commands.printing import as_yaml
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.snapshot.items import INGRESS, Item, of_kind
from ingress_manager.core.annotations import PATH_TYPES, PROFILE, TABLE, by_entrance, key_prefix
from ingress_manager.core.copying import MANAGED_BY_LABEL, wrong_copied_key
from ingress_manager.core.kubernetes import LAST_APPLIED
from ingress_manager.core.settings import Limits, Settings
from ingress_manager.core.settings_parser import parse
from tests import adoptions, dumps, golden, make_cases
from tests.commands.commands import DEFAULTS, Cluster, Ended, event, listing, run

ADOPTIONS = {case.name: case for case in golden.cases_in(adoptions.FOLDER)}


@pytest.mark.parametrize("case", ADOPTIONS.values(), ids=lambda case: case.name)
def test_an_ingress_is_adopted_as_its_case_says(case: golden.Case) -> None:
    becomes = case.fields["becomes"]
    assert adoptions.becomes(case) == becomes
    assert [*case.fields] == [field for field in make_cases.FIELDS if field in case.fields]
    assert ("refused" in becomes) == case.name.endswith("-refused")
    assert ("accept" in case.fields) >= case.name.endswith("-accepted")
    assert ("refused" in becomes) == (adoptions.printed(case) == "")


def test_only_annotations_marked_as_adopted_are_written() -> None:
    adoptions_of_cases = [adoptions_of(*adoptions.adoptable(case)) for case in ADOPTIONS.values()]
    requests = [part.requested for [adoption] in adoptions_of_cases for part in adoption.parts]
    written = [by_entrance({key: value for key, value in texts.items() if value is not None}) for texts in requests]
    keys = {key for entrances in written for annotations in entrances.values() for key in annotations}
    assert keys == {key for key, row in TABLE.items() if row.adopted}


@pytest.mark.parametrize(
    "case", [case for case in ADOPTIONS.values() if case.name.endswith("-accepted")], ids=lambda case: case.name
)
def test_each_field_that_may_change_has_to_be_accepted(case: golden.Case) -> None:
    manifests, ingresses, settings, accepted = adoptions.adoptable(case)
    for left_out in accepted:
        [refused] = adoptions_of(manifests, ingresses, settings, {*accepted} - {left_out})
        assert (refused.steps, refused.becomes) == ([], [])
        assert refused.messages[-1].sentence.startswith(f"{left_out}: ")
        assert refused.messages[-1].remedy.endswith(f"--accept-changes {left_out}")


@pytest.mark.parametrize("name", ["several-services", "several-services-without-what-is-not-copied-accepted"])
def test_a_new_plan_after_an_interruption_gives_no_service_another_entrance(name: str) -> None:
    """Not even after a plan that dropped something, which the observed Ingresses therefore lack."""
    manifests, ingresses, settings, accepted = adoptions.adoptable(ADOPTIONS[name])
    [first] = adoptions_of(manifests, ingresses, settings, accepted)
    changed = {part.service.name: part.changed for part in first.parts if part.annotations}
    assert len(changed) == len(first.becomes)
    [again] = adoptions_of([*of_kind(manifests, INGRESS), *changed.values()], ingresses, settings, accepted)
    assert again.becomes == first.becomes
    assert not any(part.annotations for part in again.parts)


@pytest.mark.parametrize("case", golden.cases_in(golden.CASES), ids=lambda case: case.name)
def test_ingress_manager_can_adopt_what_it_creates(case: golden.Case) -> None:
    """Adopts each Ingress of tests/cases as if it were hand-written, for a Service with at most profile annotations."""
    ingresses = case.objects
    if not ingresses or {made["kind"] for made in ingresses} != {"Ingress"}:
        return
    shop, settings = case.service, case.settings
    present = shop["metadata"].get("annotations") or {}
    asking = [key_prefix(entrance) + key for entrance, keys in by_entrance(present).items() for key in keys]
    yet = {key: value for key, value in present.items() if key not in asking or key.endswith(PROFILE)}
    for made in ingresses:
        del made["metadata"]["labels"][MANAGED_BY_LABEL]
        ingress = Item(made)
        for annotations in (yet, present):
            shop["metadata"]["annotations"] = annotations
            [adoption] = adoptions_of([Item(shop), ingress], [ingress], settings)
            assert [part.ingress["spec"] for part in adoption.parts] == [made["spec"]], adoption.messages
        assert [step for step in adoption.steps if step.command] == [], "what the case says suffices"


TIGHT = {"hosts": ["nobody.example.com"], "pathTypes": ["Prefix"], "copyAnnotations": {"example.com/none": "any"}}
"""Limits that forbid nearly every Ingress."""


def test_each_limit_is_proposed_or_forbids_no_ingress() -> None:
    """Add a new limit to TIGHT, and to the limits that adopt/needed.py lifts and proposes."""
    assert {*TIGHT, "classes"} == {*Limits.__struct_encode_fields__} - {"profiles", "acceptedLosses"}


def tightened(case: golden.Case) -> dict[str, Any]:
    """Return the settings of a case, with limits that forbid nearly everything."""
    fields: dict[str, Any] = yaml.safe_load(case.settings_text or adoptions.DEFAULT_SETTINGS)
    default = parse(yaml.safe_dump(fields)).defaults.ingress_class
    classes = {"classes": [default]} if default else {}
    losses = {key: value for key, value in fields.get("limits", {}).items() if key == "acceptedLosses"}
    return fields | {"limits": {**TIGHT, **classes, **losses}, "namespaces": {}}


@pytest.mark.parametrize("case", ADOPTIONS.values(), ids=lambda case: case.name)
def test_the_proposed_settings_allow_only_what_an_adoption_needs(case: golden.Case) -> None:
    manifests, ingresses, _, accepted = adoptions.adoptable(case)
    fields, values = tightened(case), dict.fromkeys(ingresses[0].annotations, "any")
    copied = {key: value for key, value in values.items() if not wrong_copied_key(key)}
    every = {"hosts": "any", "classes": "any", "pathTypes": [*PATH_TYPES]}

    def plan(settings: Settings) -> list[Adoption]:
        return [*adoptions_of(manifests, ingresses, settings, accepted)]

    def with_namespaces(entries: dict[str, Any]) -> Settings:
        return parse(yaml.safe_dump(fields | {"namespaces": entries}))

    tight = with_namespaces({})
    before = plan(tight)
    find_needs(before, tight, plan, accepted)
    pasted = yaml.safe_load(as_yaml(entries(tight, before)))
    lifted = fields | {"limits": fields["limits"] | every | {"copyAnnotations": copied or TIGHT["copyAnnotations"]}}
    could = bool(plan(parse(yaml.safe_dump(lifted)))[0].becomes)
    assert bool(plan(with_namespaces(pasted))[0].becomes) == could
    assert bool(pasted) == (could and not before[0].becomes)
    for limit, name, *value in before[0].needs:
        allowed = pasted["team-a"]["limits"][limit]
        assert allowed[name] == value if value else name in allowed
        rest = [entry for entry in allowed if entry != name]
        less = rest if isinstance(allowed, list) else {key: allowed[key] for key in rest}
        settings = with_namespaces({"team-a": {"limits": pasted["team-a"]["limits"] | {limit: less}}})
        assert plan(settings)[0].messages, f"{name} would have to be allowed"


# The command.

CASE = ADOPTIONS["hosts"]
PRINTED = CASE.fields["becomes"]["printed"]
Apply = Callable[..., Ended]


def objects(case: golden.Case = CASE) -> dict[str, Any]:
    return listing(*(item.object for item in adoptions.adoptable(case)[0]))


def test_all_are_listed_with_obstacles_and_proposed_settings(settings: Callable[[str], Path]) -> None:
    names = ("annotation-that-protects-refused", "annotations-that-are-copied", "edited-in-place-refused")
    dump = json.dumps(listing(*(obj for name in names for obj in objects(ADOPTIONS[name])["items"])))
    general = "limits: {hosts: ['*.{namespace}.example.com']}\n"
    of_teams = "namespaces: {team-*: {defaults: {host: a.example.com}, limits: {classes: [nginx]}}}\n"
    ended = run("adopt", "--all", "-f", "-", "--settings", settings(general + of_teams), stdin=dump)
    assert ended.status == 1
    table, _, pasted = ended.out.partition(f"# {NEEDED}\n")
    assert table.startswith(
        "# team-a/annotation-that-protects-refused  can't be adopted\n"
        "#   limits.hosts: annotation-that-protects-refused.example.com\n"
        '#   limits.copyAnnotations: nginx.ingress.kubernetes.io/whitelist-source-range: "10.0.0.0/8"\n'
        "# team-a/annotations-that-are-copied       can't be adopted\n"
        "#   limits.hosts: annotations-that-are-copied.example.com\n"
        '#   limits.copyAnnotations: cert-manager.io/cluster-issuer: "letsencrypt"\n'
    )
    assert "\n# 0 of 3 Ingresses can be adopted, and 2 more with the settings printed at the end.\n" in table
    [entry] = yaml.safe_load(pasted)["namespaces"].values()
    held = entry["defaults"], entry["limits"]["classes"], entry["limits"]["hosts"][0]
    assert held == ({"host": "a.example.com"}, ["nginx"], "*.{namespace}.example.com"), "what held holds on"
    again = run("adopt", "--all", "-f", "-", "--settings", settings(f"{general}{pasted}"), stdin=dump)
    assert "cert-manager.io/cluster-issuer=letsencrypt" in again.out
    assert "\n# 2 of 3 Ingresses can be adopted.\n" in again.out
    assert NEEDED not in again.out


@pytest.mark.parametrize(("name", "is_code"), [("configuration-snippet", True), ("auth-url", False)])
def test_a_comment_warns_of_code_among_the_settings_to_paste(name: str, is_code: bool) -> None:
    key = f"nginx.ingress.kubernetes.io/{name}"
    dump = json.dumps(objects(ADOPTIONS["annotation-that-protects-refused"]))
    dump = dump.replace("nginx.ingress.kubernetes.io/whitelist-source-range", key)
    _, _, pasted = run("adopt", "--all", "-f", "-", "--settings", os.devnull, stdin=dump).out.partition(f"# {NEEDED}\n")
    assert key in yaml.safe_load(pasted)["namespaces"]["team-a"]["limits"]["copyAnnotations"]
    assert (f"# {CODE.format(key)}\n" in pasted) == is_code


def test_what_no_limit_can_allow_is_reported_with_the_limit_that_hides_it(settings: Callable[[str], Path]) -> None:
    dump = json.dumps(objects(ADOPTIONS["annotation-that-protects-an-entrance-refused"]))
    path = settings("defaults: {class: nginx}\nlimits: {hosts: [a.example.com]}\n")
    ended = run("adopt", "--all", "-f", "-", "--settings", path, stdin=dump)
    assert (ended.status, NEEDED in ended.out) == (1, False)
    for stream in (ended.out, ended.err):
        assert 'internal.ingress/host: "b.example.com" is not allowed' in stream
        assert "metadata.annotations.nginx.ingress.kubernetes.io/whitelist-source-range: if Ingress " in stream


def test_a_dump_is_planned_without_a_cluster() -> None:
    dump = json.dumps(objects())
    for names in (["team-a/hosts"], ["team-a/hosts", "hosts", "-n", "team-a"]):
        assert run("adopt", *names, "-f", "-", stdin=dump) == (0, PRINTED, DEFAULTS)
    wrong = objects()
    wrong["items"][0]["spec"]["ports"] = "none"
    ended = run("adopt", "--all", "-f", "-", stdin=json.dumps(wrong))
    assert (ended.status, ended.out) == (1, "")
    assert "team-a/hosts: invalid Service: spec.ports: " in ended.err


def test_manifests_that_were_never_applied_are_planned_as_far_as_possible() -> None:
    text = "---\n".join(as_yaml(obj) for obj in adoptions.objects(CASE))
    ended = run("adopt", "hosts", "-f", "-", "-n", "team-a", stdin=text)
    hosts = "'ingress/host=www.hosts.example.com, hosts.example.com'"
    step = f"kubectl annotate --namespace=team-a -- service hosts ingress/http=true {hosts}"
    rest = "# The remaining steps can only be planned for objects that were read from a cluster."
    assert (ended.status, ended.out) == (0, f"# team-a/hosts\n{step}\n{rest}\n")


def test_an_ingress_that_is_already_managed_is_left_alone() -> None:
    dump = listing(*dumps.objects([{"Service": {}, "Ingress": {}}]))
    ended = run("adopt", "team-a/shop", "-f", "-", stdin=json.dumps(dump))
    assert ended == (0, "", f"{DEFAULTS}team-a/shop: already managed by ingress-manager\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["team-a/nobody", "-f", "-"], "there is no Ingress team-a/nobody"),
        (["hosts", "-f", "-", "-n", "c"], "there is no Ingress hosts"),
        (["hosts", "-f", "-"], "Ingress hosts exists in several namespaces: write NAMESPACE/hosts"),
        (["team-a/hosts", "-f", "-", "--apply"], "--apply can't be used with files"),
        (["hosts", "-f", "-", "--all"], "either name Ingresses or use --all"),
        (["-f", "-"], "either name Ingresses or use --all"),
        (["team-a/hosts", "--all-namespaces"], "--namespace and --all-namespaces can't be combined"),
    ],
)
def test_usage_errors_exit_with_status_2(arguments: list[str], message: str) -> None:
    dump = objects()
    dump["items"] += [{**item, "metadata": {**item["metadata"], "namespace": "b"}} for item in dump["items"]]
    ended = run("adopt", *arguments, stdin=json.dumps(dump))
    assert (ended.status, ended.out, message in ended.err) == (2, "", True)


def test_claims_in_other_namespaces_keep_an_ingress_from_being_replaced(path: Path, cluster: Cluster) -> None:
    name = "several-services-of-other-names"
    dump = objects(ADOPTIONS[name])
    ingress, later = dump["items"][-1], {"namespace": "team-b", "creationTimestamp": "2030-01-01T00:00:00Z"}
    other = ingress | {"metadata": ingress["metadata"] | later}
    cluster.says({"services,ingresses": dump, "ingresses.networking.k8s.io": listing(ingress, other)})
    arguments = ("adopt", f"team-a/{name}", "--settings", path)
    ended = run(*arguments)
    assert (ended.status, ended.out) == (1, "")
    assert f"Ingress team-b/{name} also has the path other-names.example.com/b, and would take" in ended.err
    cluster.says({"services,ingresses": dump})
    unseen = "Ingresses in other namespaces could not be read, so conflicts may be missed: Error from server: no\n"
    assert run(*arguments)[::2] == (0, unseen)


# With --apply, on a fake kubectl; tests/e2e/test_adopt.py uses a real one.

SHOP, BY_HAND = objects()["items"]


def events(*said: str) -> dict[str, Any]:
    return listing(*(event(SHOP, message, metadata={"name": "a", "resourceVersion": "7"}) for message in said))


NONE, TAKEN = events(), events("422 Ingress team-a/hosts doesn't exist yet: one has that name [not-made]")
PLANNED = [line for line in PRINTED.splitlines() if line.startswith("kubectl")]
BEGUN = [command.replace(" -- ", " --context=there -- ") for command in PLANNED]
GO_ON = ("To continue, run the same command again.", "To undo the steps, run:")
BACK = "kubectl annotate --namespace=team-a --context=there -- service hosts ingress/http- ingress/host-"


@pytest.fixture
def path(settings: Callable[[str], Path]) -> Path:
    return settings(adoptions.DEFAULT_SETTINGS)


@pytest.fixture
def apply(cluster: Cluster, path: Path) -> Apply:
    """Return a function that runs `adopt --apply` on a cluster that has these Events, one after the other."""

    def applied(*arguments: str, events: Sequence[Any] = (NONE,)) -> Ended:
        seen = BY_HAND | {"metadata": BY_HAND["metadata"] | {"annotations": {LAST_APPLIED: "{}"}}}
        cluster.says({"services,ingresses": objects(), "ingress": seen, **cluster.answers, "events": [*events]})
        return run("adopt", "team-a/hosts", "--apply", "--context", "there", "--settings", path, *arguments)

    return applied


def test_the_steps_run_one_by_one_and_the_ingress_is_read_again(apply: Apply, cluster: Cluster) -> None:
    ended = apply(events=[NONE, NONE, TAKEN])
    assert (ended.status, ended.err) == (0, "")
    *steps, last = [line for line in ended.out.splitlines() if not line.startswith("#")]
    done = "team-a/hosts is adopted. ingress-manager manages team-a/hosts."
    assert (steps, last) == ([f"$ {command}" for command in BEGUN], done)
    of_steps = ("get events", "annotate service", "get events", "get events", "patch ingress", "get ingress")
    assert cluster.asked == ["get services,ingresses", *of_steps]


OF_ANOTHER, REFUSED = events("Ingress team-a/hosts.web [not-made]"), events("Ingress team-a/hosts [not-watched]")


@pytest.mark.parametrize("said", [[TAKEN], [NONE, OF_ANOTHER], [NONE, REFUSED]])
def test_without_a_new_event_it_stops_and_says_how_to_undo(said: Any, apply: Apply, cluster: Cluster) -> None:
    ended = apply(events=said)
    assert (ended.status, "patch ingress" in cluster.asked) == (2, False)
    missing = "a new Event on Service team-a/hosts reports [not-made] for Ingress team-a/hosts: the Event would "
    assert f"Error: team-a/hosts: After 300 s, still waiting until {missing}" in ended.err
    assert ended.err.endswith("\n".join(["", "Run so far:", f"  {BEGUN[0]}", *GO_ON, f"  {BACK}", ""]))


def test_an_ingress_that_is_not_as_planned_is_reported(apply: Apply, cluster: Cluster) -> None:
    cluster.answers["ingress"] = BY_HAND
    ended = apply(events=[NONE, TAKEN])
    assert (ended.status, "Ingress team-a/hosts has the planned spec and the last" in ended.err) == (2, True)


def test_the_first_error_ends_it_and_the_steps_so_far_are_listed(apply: Apply, cluster: Cluster) -> None:
    cluster.fails = {"patch": KubectlFailed("Error from server (Conflict): the object has been modified")}
    ended = apply(events=[NONE, TAKEN])
    assert ended.status == 2
    assert ended.err.splitlines() == [
        "Error: team-a/hosts: Error from server (Conflict): the object has been modified",
        # It is unknown whether the last command took effect.
        *("Run so far:", *(f"  {command}" for command in BEGUN), *GO_ON),
        *("  ingress-manager release team-a/hosts --apply --context=there", f"  {BACK}"),
    ]
    cluster.fails = {"get events": KeyboardInterrupt()}
    assert apply().err == "Error: team-a/hosts: interrupted\nNothing was done.\n"


def test_a_refused_ingress_keeps_no_other_from_being_adopted(apply: Apply, cluster: Cluster) -> None:
    refused = "kept-by-argo-cd-refused"
    cluster.answers = {"services,ingresses": listing(SHOP, BY_HAND, *objects(ADOPTIONS[refused])["items"])}
    ended = apply(f"team-a/{refused}", events=[NONE, TAKEN])
    assert (ended.status, f"team-a/{refused}: " in ended.err) == (1, True)
    assert "\nteam-a/hosts is adopted. ingress-manager manages team-a/hosts.\n" in ended.out


def test_the_settings_must_be_readable(cluster: Cluster) -> None:
    """A plan based on other settings would create different Ingresses."""
    cluster.answers = {"services,ingresses": objects()}
    ended = run("adopt", "team-a/hosts")
    assert (ended.status, ended.out) == (2, "")
    assert "The settings could not be read: Error from server: no; name a file with --settings FILE" in ended.err
