"""`ingress-manager audit`: every folder of tests/commands/audit holds what is on a cluster, and what is found.

objects.yaml    Services, Ingresses and HTTPRoutes; its first line says why the case exists
settings.yaml   the administrator's settings, if they aren't the defaults
audit.txt       what is printed
new.yaml        other settings, and in
changes.txt     what `--settings new.yaml` prints

`make cases` writes audit.txt and changes.txt.
"""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from devcluster.standin.updating import updated, with_annotation
from devcluster.sync_requests import Object, as_created, service
from ingress_manager.commands.audit import audit as audit_module
from ingress_manager.commands.audit.kinds import KINDS, Effect, FindingKind
from ingress_manager.commands.audit.preview import preview
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.commands.view.drift import differences
from ingress_manager.commands.view.managed import CONTROLLER
from ingress_manager.core.observed import DECORATOR
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from tests.commands.commands import Ended, kubectl_that_answers, listing, run, settings_on_a_cluster
from tests.commands.test_main import BIN, on_a_terminal, started
from tests.core import made_up
from tests.core.test_properties import desired_for
from tools import cases

AUDITS = cases.cases_in(cases.AUDITS)
WARNINGS = {FindingKind.NOT_COPIED, FindingKind.PLACEHOLDER_HOST}


@pytest.mark.parametrize("case", AUDITS, ids=lambda path: path.name)
def test_what_is_found_is_what_the_case_says(case: Path) -> None:
    assert cases.audited(case) == {name: (case / name).read_text(encoding="utf-8") for name in cases.audited(case)}
    inputs = {"objects.yaml", "settings.yaml", "new.yaml"}
    assert {path.name for path in case.iterdir()} - inputs == set(cases.audited(case))
    assert (case / "objects.yaml").read_text(encoding="utf-8").startswith("# ")


def test_every_kind_is_in_a_case_and_so_is_a_cluster_of_which_nothing_is_found() -> None:
    texts = [(case / "audit.txt").read_text(encoding="utf-8") for case in AUDITS]
    found = {line.split()[0] for text in texts for line in text.splitlines() if line}
    assert found >= {*FindingKind, "Nothing"}
    assert set(KINDS) == set(FindingKind)


def items_of(*objects: Object) -> list[Item]:
    return [Item(each, Origin("", "default")) for each in objects]


@given(made_up.services(), made_up.policy())
def test_what_the_hook_answers_and_metacontroller_makes_needs_nobody(parent: Object, policy: Policy) -> None:
    made = [as_created(each, parent) for each in desired_for(parent, policy)]
    if not made:
        return
    assert {found.kind for found in audit_module.audit(items_of(parent, *made), policy).findings} <= WARNINGS
    assert preview(items_of(parent, *made), policy).affected == []


@given(made_up.valid_services(), made_up.policy(), made_up.policy())
def test_what_would_change_is_what_is_found_once_it_holds_and_nothing_after_that(
    parent: Object, before: Policy, after: Policy
) -> None:
    made = {each["kind"] + each["metadata"]["name"]: as_created(each, parent) for each in desired_for(parent, before)}
    if not made:
        return
    items = items_of(parent, *made.values())
    would = {each.effect for each in preview(items, after).affected}
    found = {each.kind for each in audit_module.audit(items, after).findings} - WARNINGS
    assert (Effect.CREATED in would) == (FindingKind.MISSING in found)
    assert (Effect.REFUSED in would) == (FindingKind.REFUSED in found)
    assert (Effect.CHANGED in would) <= bool({FindingKind.DRIFTED, FindingKind.FORBIDDEN} & found)
    for each in desired_for(parent, after):
        if standing := made.get(each["kind"] + each["metadata"]["name"]):
            signed = with_annotation(each, DECORATOR, CONTROLLER)
            assert differences(items_of(updated(standing, signed))[0], each) == []


# The formats.

GOOD = service({"ingress/http": "true", "ingress/host": "shop.example.com"})
BAD: Object = {**GOOD, "metadata": {**GOOD["metadata"], "annotations": {"ingress/http": "`a|b<c`"}}}
INGRESS = as_created(desired_for(GOOD, Policy())[0], GOOD)
DEFAULTS = "With the default settings; --current-settings FILE takes others.\n"


def audited(*objects: Object, options: tuple[str | Path, ...] = ()) -> Ended:
    return run("audit", "-f", "-", *options, stdin="---\n".join(map(as_yaml, objects)))


def test_a_cluster_of_which_nothing_is_found_is_told_in_a_line() -> None:
    said = "Nothing was found in 1 Service (1 to be exposed), 1 Ingress (1 made by ingress-manager).\n"
    assert audited(GOOD, INGRESS) == (0, said, DEFAULTS)
    assert audited(GOOD, INGRESS, options=("-o", "markdown")) == (0, said, DEFAULTS)


def test_the_table_has_a_line_for_each_finding_and_the_command_below_it() -> None:
    assert audited(BAD, INGRESS) == (
        1,
        (
            'refused  Service team-a/shop  ingress/http: "`a|b<c`" must be "true" or "false"\n'
            "    kubectl annotate --namespace=team-a --overwrite -- service shop ingress/http=VALUE\n"
            "\n"
            "1 finding (1 refused) in 1 Service (1 to be exposed), 1 Ingress (1 made by ingress-manager).\n"
        ),
        DEFAULTS,
    )


def test_json_has_all_of_it() -> None:
    ended = audited(BAD, INGRESS, options=("-o", "json"))
    assert (ended.status, json.loads(ended.out)) == (
        1,
        {
            "findings": [
                {
                    "kind": "refused",
                    "severity": "error",
                    "object": {"kind": "Service", "namespace": "team-a", "name": "shop"},
                    "sentence": 'ingress/http: "`a|b<c`" must be "true" or "false"',
                    "command": "kubectl annotate --namespace=team-a --overwrite -- service shop ingress/http=VALUE",
                    "file": "stdin",
                    "line": 1,
                }
            ],
            "kinds": {"refused": 1},
            "objects": {
                "Service": {"all": 1, "ours": 1},
                "Ingress": {"all": 1, "ours": 1},
                "HTTPRoute": {"all": 0, "ours": 0},
            },
            "paused": None,
            "unseen": [],
        },
    )


def test_markdown_is_a_table_that_nothing_in_it_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert audited(BAD, INGRESS, options=("-o", "markdown")).out == (
        "1 finding (1 refused) in 1 Service (1 to be exposed), 1 Ingress (1 made by ingress-manager).\n"
        "\n"
        "| kind | object | what | what to do |\n"
        "|---|---|---|---|\n"
        '| refused | Service team-a/shop | ingress/http: "\\`a\\|b&lt;c\\`" must be "true" or "false" | '
        "`kubectl annotate --namespace=team-a --overwrite -- service shop ingress/http=VALUE` |\n"
    )
    answers = {**SETTINGS, "services": listing(BAD), INGRESSES: listing(INGRESS), HTTPROUTES: listing()}
    kubectl_that_answers(tmp_path, monkeypatch, answers)
    assert run("audit", "-o", "markdown", "--context", "a`|b").out.endswith(
        " | ``kubectl annotate --namespace=team-a --overwrite '--context=a`\\|b' -- "
        "service shop ingress/http=VALUE`` |\n"
    )


def test_a_name_that_cannot_be_one_is_told_and_is_in_no_command() -> None:
    odd = {**BAD, "metadata": {**BAD["metadata"], "name": "--all"}}
    ingress = {**INGRESS, "metadata": {**INGRESS["metadata"], "name": "--all", "ownerReferences": []}}
    strangers = {**ingress, "metadata": {"name": "--all", "namespace": "team-a"}}
    ended = audited(GOOD, odd, ingress, strangers, options=("--only", "refused", "--only", "detached"))
    assert (ended.status, ended.out.count("kubectl")) == (1, 0)
    for kind, most in (("Service", 63), ("Ingress", 253)):
        assert (
            f'team-a/--all: is no valid {kind}: metadata.name: "--all" must be a name of at most {most} ' in ended.err
        )
    in_another = {**GOOD, "metadata": {**GOOD["metadata"], "namespace": "Team"}}
    assert 'is no valid Service: metadata.namespace: "Team" must be a namespace\'s name' in audited(in_another).err


def test_what_no_command_mends_has_none(tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text("namespaces: {team-a: {paused: true}}\n")
    options = ("--current-settings", settings, "-o")
    ended = audited(GOOD, options=(*options, "json"))
    assert [found["command"] for found in json.loads(ended.out)["findings"]] == [None]
    assert json.loads(ended.out)["paused"] == "team-a"
    assert "The settings pause team-a: nothing but what is forbidden changes there until" in ended.err
    assert audited(GOOD, options=(*options, "markdown")).out.endswith(" because of the pause |  |\n")


def new_settings(tmp_path: Path, text: str) -> tuple[str | Path, ...]:
    (tmp_path / "new.yaml").write_text(text)
    return ("--settings", tmp_path / "new.yaml")


DIFF = """\
--- Ingress team-a/shop as it is
+++ Ingress team-a/shop as it would be
@@ -5,7 +5,7 @@
     ingress/not-copied: external-dns.alpha.kubernetes.io/ttl
     metacontroller.k8s.io/decorator-controller: ingress-manager
 spec:
-  ingressClassName: nginx
+  ingressClassName: internal
   rules:
   - host: shop.example.com
     http:
"""


def test_other_settings_are_told_by_what_they_would_do(tmp_path: Path) -> None:
    parent = service({**GOOD["metadata"]["annotations"], "external-dns.alpha.kubernetes.io/ttl": "60"})
    standing = as_created(desired_for(parent, Policy())[0], parent)
    created = {**GOOD, "metadata": {**GOOD["metadata"], "name": "new", "uid": "2"}}
    off = {**BAD, "metadata": {**BAD["metadata"], "name": "off", "uid": "3", "namespace": "team-b", "annotations": {}}}
    removed = as_created(desired_for({**GOOD, "metadata": {**off["metadata"], **GOOD_HOST}}, Policy())[0], off)
    objects = (parent, standing, created, off, removed)
    options = new_settings(tmp_path, "defaults: {class: internal}\n")
    assert audited(*objects, options=options) == (
        1,
        "removed  Ingress team-b/off  Service team-b/off doesn't ask for it with these settings\n"
        "changed  Ingress team-a/shop\n"
        + "".join(f"    {line}\n" for line in DIFF.splitlines())
        + "created  Ingress team-a/new  Service team-a/new asks for it\n"
        "\n"
        "NAMESPACE  REMOVED  REFUSED  CHANGED  CREATED\n"
        "team-a           0        0        1        1\n"
        "team-b           1        0        0        0\n"
        "all              1        0        1        1\n",
        "",
    )
    body = "".join(f"  {line}\n" for line in DIFF.splitlines())
    assert audited(*objects, options=(*options, "-o", "markdown")).out == (
        "| namespace | removed | refused | changed | created |\n"
        "|---|--:|--:|--:|--:|\n"
        "| team-a | 0 | 0 | 1 | 1 |\n"
        "| team-b | 1 | 0 | 0 | 0 |\n"
        "| all | 1 | 0 | 1 | 1 |\n"
        "\n"
        "- **removed** Ingress team-b/off: Service team-b/off doesn't ask for it with these settings\n"
        "- **changed** Ingress team-a/shop\n"
        f"\n  ```diff\n{body}  ```\n\n"
        "- **created** Ingress team-a/new: Service team-a/new asks for it\n"
    )
    found = json.loads(audited(*objects, options=(*options, "-o", "json")).out)
    assert found["namespaces"] == {
        "team-a": {"removed": 0, "refused": 0, "changed": 1, "created": 1},
        "team-b": {"removed": 1, "refused": 0, "changed": 0, "created": 0},
    }
    assert found["changes"][1] == {
        "change": "changed",
        "object": {"kind": "Ingress", "namespace": "team-a", "name": "shop"},
        "sentence": None,
        "diff": DIFF,
    }
    assert [each["change"] for each in found["changes"]] == ["removed", "changed", "created"]


GOOD_HOST: dict[str, Any] = {"annotations": {"ingress/http": "true", "ingress/host": "off.example.com"}}


def test_settings_that_change_nothing_and_those_that_pause_are_told_of(tmp_path: Path) -> None:
    for form in ("table", "markdown"):
        options = (*new_settings(tmp_path, "defaults: {class: nginx}\n"), "-o", form)
        assert audited(GOOD, INGRESS, options=options) == (0, "Nothing would change.\n", "")
    ended = audited(GOOD, INGRESS, options=new_settings(tmp_path, "defaults: {class: internal}\npaused: true\n"))
    assert ended == (
        0,
        "Nothing would change.\n",
        "These settings pause every namespace: until `paused` is false there, only what they forbid is removed.\n",
    )


def test_the_variable_of_the_hook_names_the_settings_that_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings.yaml").write_text("defaults: {class: internal}\n")
    monkeypatch.setenv("INGRESS_MANAGER_SETTINGS", str(tmp_path / "settings.yaml"))
    ended = audited(GOOD, INGRESS)
    assert (ended.status, ended.err) == (1, "")
    assert 'spec.ingressClassName is "nginx" instead of "internal"' in ended.out


def test_one_kind_alone_is_printed_and_counted(tmp_path: Path) -> None:
    assert audited(BAD, INGRESS, options=("--only", "drifted")).status == 0
    ended = audited(BAD, options=("--only", "drifted", "--only", "refused", "-o", "json"))
    assert (ended.status, json.loads(ended.out)["kinds"]) == (1, {"refused": 1})
    forbids = new_settings(tmp_path, "limits: {hosts: [a.example.com]}\n")
    ended = audited(GOOD, INGRESS, options=(*forbids, "--only", "refused"))
    assert (ended.status, ended.out.splitlines()[0].split()[0]) == (1, "refused"), "what is removed counts all the same"
    assert "removed" not in ended.out
    for options, message in (
        (("--only", "created"), "--only created is for an audit with --settings"),
        ((*forbids, "--only", "drifted"), "--only drifted is for an audit without --settings"),
        (("--only", "nothing"), "'nothing' is not one of"),
    ):
        ended = audited(GOOD, options=options)
        assert ended.status == 2
        assert message in ended.err


def test_the_shell_completes_the_kinds() -> None:
    words = "ingress-manager audit --only name"
    completed = started("ingress-manager", _INGRESS_MANAGER_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD="3")
    assert completed.stdout == "plain,name-taken\n"


def test_what_cannot_be_read_or_judged_is_told_and_the_rest_is_judged() -> None:
    wrong = {**GOOD, "metadata": {**GOOD["metadata"], "name": "wrong"}, "spec": {"ports": "none"}}
    text = "---\n".join([*map(as_yaml, (GOOD, INGRESS, wrong)), "a: [\n"])
    lines = text.splitlines()
    ended = run("audit", "-", stdin=text)
    assert (ended.status, ended.out[:17]) == (1, "Nothing was found")
    where = "team-a/wrong: is no valid Service: spec.ports: must be a list or null, not text"
    assert ended.err == (
        f"{DEFAULTS}"
        f"stdin:{1 + lines.index('  ports: none')}: {where}\n"
        f"stdin:{len(lines)}: is not YAML: did not find expected node content\n"
    )


def test_a_dump_without_services_or_without_ingresses_is_told_of() -> None:
    ended = audited(INGRESS)
    # Not even Services that are there were read: that one is gone isn't known, and nothing may be deleted.
    assert (ended.status, ended.out) == (
        2,
        "Nothing was found in 0 Services (0 to be exposed), 1 Ingress (1 made by ingress-manager).\n",
    )
    both = "`kubectl get services,ingresses` prints both."
    assert ended.err == f"{DEFAULTS}Services could not be looked at: there is none in what was read; {both}\n"
    assert "There is no Ingress in what was read; `kubectl get services,ingresses` prints both.\n" in audited(GOOD).err


def test_severities_and_changes_have_colours_on_a_terminal(tmp_path: Path) -> None:
    dump, new = tmp_path / "dump.yaml", tmp_path / "new.yaml"
    dump.write_text(f"{as_yaml(BAD)}---\n{as_yaml(INGRESS)}")
    new.write_text("defaults: {class: internal}\n")
    shown = on_a_terminal(str(BIN / "ingress-manager"), "audit", str(dump))
    assert "\x1b[31mrefused\x1b[0m" in shown
    assert "\x1b[2mkubectl annotate --namespace" in shown
    dump.write_text(f"{as_yaml(GOOD)}---\n{as_yaml(INGRESS)}")
    shown = on_a_terminal(str(BIN / "ingress-manager"), "audit", str(dump), "--settings", str(new))
    for text in ("36mchanged", "1m--- Ingress", "31m-  ingressClassName", "32m+  ingressClassName", "1mNAMESPACE"):
        assert f"\x1b[{text}" in shown


# From the cluster.

SETTINGS = settings_on_a_cluster("defaults: {class: nginx}\n")
INGRESSES, HTTPROUTES = "ingresses.networking.k8s.io", "httproutes.gateway.networking.k8s.io"


WITH_SETTINGS = "With the settings of the ConfigMap ingress-manager/ingress-manager-settings-abc.\n"


def test_a_cluster_is_read_kind_by_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {**SETTINGS, "services": listing(GOOD), INGRESSES: listing(INGRESS), HTTPROUTES: listing()}
    calls = kubectl_that_answers(tmp_path, monkeypatch, answers)
    ended = run("audit", "-A", "--context", "there")
    assert (ended.status, ended.err) == (0, WITH_SETTINGS)
    # The Services last: the Ingress of one that is made meanwhile isn't one whose Service is gone.
    assert calls.read_text().splitlines()[:3] == [
        f"get --output=json --all-namespaces --context=there -- {kind}" for kind in (INGRESSES, HTTPROUTES, "services")
    ]


def test_the_commands_are_for_the_cluster_that_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {**SETTINGS, "services": listing(BAD), INGRESSES: listing(), HTTPROUTES: listing()}
    kubectl_that_answers(tmp_path, monkeypatch, answers)
    ended = run("audit", "--context", "of two words", "--kubeconfig", "mine", "-o", "json")
    [found] = json.loads(ended.out)["findings"]
    assert shlex.split(found["command"])[4:7] == ["--context=of two words", "--kubeconfig=mine", "--"]


def test_a_cluster_without_httproutes_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {**SETTINGS, "services": listing(GOOD), INGRESSES: listing(INGRESS)}
    absent = 'error: the server doesn\'t have a resource type "httproutes"'
    kubectl_that_answers(tmp_path, monkeypatch, answers, absent)
    ended = run("audit")
    assert (ended.status, ended.err) == (0, WITH_SETTINGS)
    routes = new_settings(
        tmp_path, "defaults: {outputs: [httproute], gateway: {name: web, namespace: infrastructure}}\n"
    )
    ended = run("audit", "--current-settings", routes[1])
    assert ended.status == 1
    assert "Metacontroller doesn't look after HTTPRoutes" in ended.out
    assert "kubectl apply --kustomize=metacontroller/httproute/\n" in ended.out
    assert "Metacontroller doesn't look after HTTPRoutes" in run("audit", *routes).out


def test_what_the_user_may_not_look_at_is_told_in_a_line_and_by_the_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no = "Error from server (Forbidden): no"
    kubectl_that_answers(tmp_path, monkeypatch, {"services": listing(BAD)}, no)
    ended = run("audit")
    assert (ended.status, ended.out.splitlines()[0].split()[0]) == (2, "refused")
    assert ended.out.splitlines()[-1] == "1 finding (1 refused) in 1 Service (1 to be exposed)."
    assert ended.err == (
        f"Ingresses could not be looked at: {no}\n"
        f"HTTPRoutes could not be looked at: {no}\n"
        "The settings could not be looked at, and the defaults were taken in their place; --current-settings names "
        f"others: {no}\n"
    )
    kubectl_that_answers(tmp_path, monkeypatch, {"services": listing(GOOD)}, no)
    found = json.loads(run("audit", "-o", "json").out)
    assert (found["findings"], len(found["unseen"])) == ([], 3), "no Ingress is missing that nobody may look at"
    ended = run("audit", *new_settings(tmp_path, "defaults: {class: internal}\n"))
    assert (ended.status, ended.out) == (2, "Nothing would change.\n")
    kubectl_that_answers(tmp_path, monkeypatch, {}, no)
    assert run("audit") == (2, "", f"Error: {no}\n")


def test_settings_are_parsed_before_the_cluster_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = kubectl_that_answers(tmp_path, monkeypatch, {})
    ended = run("audit", *new_settings(tmp_path, "hosts: []\n"))
    assert (ended.status, calls.exists()) == (2, False)
    assert "hosts is not a setting" in ended.err


def test_the_default_of_the_setting_host_is_the_placeholder() -> None:
    assert parse("").defaults.host == audit_module.PLACEHOLDER == "example.com"
