"""`ingress-manager explain`: every key of the tables, with an example that is true."""

import re
from pathlib import Path

import msgspec
import pytest

from devcluster.sync_requests import Object, as_created, service
from ingress_manager.commands.audit.kinds import FindingKind
from ingress_manager.commands.explain import examples
from ingress_manager.commands.explain.entries import COPIED, OUR_ANNOTATIONS, SETTING, entries, find
from ingress_manager.commands.explain.sentences import words_in
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.core.annotations import KEYS
from ingress_manager.core.copying import KNOWN
from ingress_manager.core.decide import Desired, decide, refusal_of
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import NOTHING, Service
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from tests.commands.commands import HTTPROUTES, INGRESSES, Cluster, event, listing, run, settings_on_a_cluster
from tests.core.test_properties import desired_for
from tools import cases, dumps, golden

NEEDED = {"ingress/profile": examples.PROFILES, "ingress/tls-redirect": examples.HTTPROUTES}
"""The settings without which an annotation's example would be refused."""

WITHOUT_EXAMPLE = {
    Reason.BUG,
    Reason.INVALID_REQUEST,
    Reason.LISTENER_NOT_ALLOWED,
    Reason.NO_HTTPROUTES,
    Reason.NOT_MADE,
    Reason.OUTDATED,
    Reason.TOO_LARGE,
}


def test_everything_in_the_tables_can_be_explained() -> None:
    known = {entry.key for entry in entries()}
    assert known >= {*KEYS, *KNOWN, *Reason, *FindingKind, *OUR_ANNOTATIONS}
    for field in msgspec.structs.fields(Policy):
        assert field.encode_name in known


@pytest.mark.parametrize("key", KEYS)
def test_every_annotation_has_an_example_that_is_accepted(key: str) -> None:
    annotations = examples.ANNOTATIONS[key]
    assert key in annotations
    parent = service(annotations, ports=[{"name": "http", "port": 80}])
    policy = parse(as_yaml(NEEDED.get(key, {})))
    decision = decide(msgspec.convert(parent, Service), NOTHING, policy)
    assert isinstance(decision, Desired)
    assert decision.objects


@pytest.mark.parametrize("path", [entry.key for entry in entries() if entry.sort == SETTING])
def test_every_setting_has_an_example_that_is_accepted_and_states_it(path: str) -> None:
    stated = examples.SETTINGS[path]
    parse(as_yaml(stated))
    for step in path.split("."):
        stated = next(iter(stated.values())) if step == "*" else stated[step]


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_an_example_that_is_refused_for_it(reason: Reason) -> None:
    if reason in WITHOUT_EXAMPLE:
        assert reason not in examples.REFUSALS
        return
    example = examples.REFUSALS[reason]
    parent = service(example.annotations, **example.spec)
    parent["metadata"]["labels"] = example.labels
    refused = refusal_of(decide(msgspec.convert(parent, Service), NOTHING, parse(as_yaml(example.settings))))
    assert refused is not None
    assert [problem.reason for problem in refused.problems] == [reason]
    assert f"  {refused.line()}\n" in run("explain", reason).out


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("namespaces.team-a.paused", "namespaces.*.paused"),
        ("namespaces.team-a.limits.hosts", "limits.hosts"),
        ("namespaces.team-a.defaults.tls.secret", "defaults.tls.secret"),
        ("internal.ingress/host", "ingress/host"),
        ("profiles.internal.class", "defaults.class"),
        ("profiles.internal.timeouts", "profiles.*.timeouts"),
        ("profiles.internal.tls.secret", "defaults.tls.secret"),
    ],
)
def test_a_name_of_ones_own_stands_for_any(key: str, entry: str) -> None:
    assert [found.key for found in find(key)] == [entry]


def test_a_setting_is_told_with_its_default_if_there_is_one_and_with_where_else_it_can_be_stated() -> None:
    assert run("explain", "defaults.gateway.http").out.startswith(
        "defaults.gateway.http: setting\n\n"
        "  Its listener for hosts without TLS; null: a Service without TLS is refused.\n\n"
        '  default  "http"\n'
        "  also as  profiles.*.gateway.http, namespaces.*.defaults.gateway.http\n\n"
    )
    assert "default" not in run("explain", "namespaces.*.paused").out


def test_a_setting_and_a_reason_of_one_name_are_both_told() -> None:
    assert re.findall(r"^paused: (.*)$", run("explain", "paused").out, re.MULTILINE) == [
        "setting",
        "reason of a refusal",
    ]


def test_without_a_key_all_are_listed() -> None:
    out = run("explain").out
    for entry in entries():
        assert re.search(rf"^  {re.escape(entry.key)} +{re.escape(entry.meaning)}$", out, re.MULTILINE)
    assert f"\n{COPIED}:\n" in out


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("whitelist-source-range", ["It protects:", "HTTPRoute  can't say it", "if lost    the Service is refused"]),
        ("limit-rps", ["Requests a second", "effect     protects", "if lost"]),
        ("konghq.com/plugins", ["It protects:", "read    from the Service itself"]),
        ("alb.ingress.kubernetes.io/auth-type", ["read       from the Service itself", "if lost"]),
        ("app-root", ["It changes the answer"]),
        ("nginx.ingress.kubernetes.io/xyzzy", ["isn't known here"]),
    ],
)
def test_what_becomes_of_a_controllers_annotation_is_told_by_its_key_or_its_name(key: str, told: list[str]) -> None:
    out = run("explain", key).out
    assert key in out
    assert [each for each in told if each not in out] == []


@pytest.mark.parametrize(
    ("key", "end"),
    [
        ("host-not-alowed", "; did you mean host-not-allowed?\n"),
        ("ingress/hots", "; did you mean ingress/host?\n"),
        ("xyzzy", "; without a key, `explain` lists all\n"),
    ],
)
def test_an_unknown_key_is_wrong_use_and_the_nearest_is_named(key: str, end: str) -> None:
    ended = run("explain", key)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.endswith(f'Error: "{key}" is no annotation, setting, reason or kind of finding{end}')


# A sentence.

PROBLEM = re.compile(r"(.+) \[([a-z-]+)\]")
REFUSALS = [
    (case.name, found[1].removesuffix("…"), found[2])
    for case in golden.cases_in(golden.CASES)
    if isinstance(case.stated["becomes"], dict)
    for problem in case.stated["becomes"].get("refused 422", ())
    if (found := PROBLEM.fullmatch(problem))
]


def test_the_reason_of_a_sentence_is_known_also_where_its_word_was_cut_off() -> None:
    assert {reason for _, _, reason in REFUSALS} > {*Reason} - WITHOUT_EXAMPLE - {Reason.PAUSED}
    assert [(case, words_in(sentence)) for case, sentence, _ in REFUSALS] == [
        (case, [reason]) for case, _, reason in REFUSALS
    ]


DESCRIBED = """
  Warning  SyncError  4s (x11 over 9s)  metacontroller  Sync error: sync hook failed (version=v2): unsupported status
  code: 422 body: ingress/host: "x" may not be claimed; allowed in namespace team-a: *.a.example.com [host-no
t-allowed] · ingress/port: "web" is not a TCP port of this Service; it has 80 [unknown-port] · and 3 more
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DESCRIBED, ["host-not-allowed", "unknown-port"]),
        (DESCRIBED[: DESCRIBED.index("[host-no")], ["host-not-allowed"]),
        ("Ingress team-a/shop is in the way: it was not made by", ["name-taken"]),
        ('ingresses "a" is forbidden: exceeded quota: none', ["missing"]),
        ("[no-word-of-ours] Back-off restarting failed container", []),
    ],
)
def test_what_kubectl_shows_is_explained_with_the_words_around_it_and_however_it_is_wrapped(
    text: str, words: list[str]
) -> None:
    assert words_in(text) == words
    ended = run("explain", text)
    assert [
        line.partition(":")[0] for line in ended.out.splitlines() if ": reason " in line or ": kind " in line
    ] == words
    assert ended.status == (0 if words else 2)
    assert run("explain", *text.split()).out == ended.out, "without quotes, the shell makes many words of it"


# A Service.


def test_a_service_is_told_with_what_it_asks_for_what_stands_what_happened_and_what_to_do(
    tmp_path: Path,
) -> None:
    (tmp_path / "settings.yaml").write_text("")
    [case] = (each for each in golden.cases_in(cases.AUDITS) if each.name == "missing-for-a-reason")
    dump = tmp_path / "dump.yaml"
    dump.write_text(dumps.text(case), encoding="utf-8")
    ended = run("explain", "service/quota", "-n", "team-a", "-f", dump, "--settings", tmp_path / "settings.yaml")
    assert (ended.status, ended.out[: ended.out.index("exceeded quota")]) == (
        0,
        (
            "Service team-a/quota\n"
            "\n"
            "  asks for\n"
            '    ingress/http: "true"\n'
            '    ingress/host: "quota.example.com"\n'
            "\n"
            "  is to be given\n"
            "    Ingress team-a/quota: quota.example.com/\n"
            "\n"
            "  stands\n"
            "    nothing\n"
            "\n"
            "  happened\n"
            "    2026-01-01T04:00:00Z SyncError: Sync error: can't reconcile children for Service team-a/quota: "
            'ingresses.networking.k8s.io "quota" is forbidden: '
        ),
    )
    assert "\n    2026-01-01T03:30:00Z SyncError: Sync error: an older one\n" in ended.out
    assert ended.out.endswith("\n      $ kubectl describe --namespace=team-a -- resourcequota none\n")


GATEWAY = """
defaults: {outputs: [ingress, httproute], gateway: {name: web, namespace: infrastructure}, profile: inside}
profiles: {inside: {class: inside}}
"""


SOMEBODYS: Object = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "Ingress",
    "metadata": {"name": "of-somebody", "namespace": "team-a"},
    "spec": {},
}


def told(tmp_path: Path, name: str, *objects: Object, settings: str = "", status: int = 0) -> str:
    (tmp_path / "dump.yaml").write_text("---\n".join(map(as_yaml, (*objects, SOMEBODYS))))
    (tmp_path / "settings.yaml").write_text(settings)
    ended = run("explain", name, "-f", tmp_path / "dump.yaml", "--settings", tmp_path / "settings.yaml")
    assert ended.status == status, ended.err
    return ended.out


def test_each_object_is_told_by_its_uid_with_whether_it_was_made_for_the_service(tmp_path: Path) -> None:
    parent = service(
        {"ingress/http": "true", "ingress/host": "*", "web.ingress/http": "true", "web.ingress/host": "b.c"}
    )
    policy = parse(GATEWAY)
    made = [as_created(each, parent) | {"status": {}} for each in desired_for(parent, policy)]
    others = as_created(made[0], parent)
    others["metadata"] |= {"name": "other", "uid": "7", "annotations": {}, "ownerReferences": []}
    elsewhere = {**others, "metadata": {**others["metadata"], "namespace": "team-b"}}
    out = told(tmp_path, "svc/shop", parent, *made[1:], others, elsewhere, settings=GATEWAY)
    assert '    web.ingress/host: "b.c"\n' in out
    assert out.count("the profile inside, by the settings") == 2
    assert "    Ingress team-a/shop: every host/\n" in out
    assert "    HTTPRoute team-a/shop.web: b.c/\n" in out
    assert "    Ingress team-a/other (uid 7): not made for it, but leads to it\n" in out
    assert out.count("): made for it\n") == len(made) - 1
    assert "team-b" not in out


def test_a_service_that_asks_for_nothing_and_one_that_is_refused_are_told_so(tmp_path: Path) -> None:
    out = told(tmp_path, "service/shop", service({}))
    assert 'asks for\n    nothing: it has no annotation ingress/http: "true"\n' in out
    assert out.endswith("  to do\n    nothing was found\n")
    out = told(tmp_path, "services/shop", service({"ingress/http": "true", "ingress/hots": "x"}))
    assert "nothing new, and what stands stays: ingress/hots is not an annotation" in out
    assert "      Correct its name, or take it off.\n      $ kubectl annotate " in out
    out = told(
        tmp_path, "service/shop", service({"ingress/http": "true", "ingress/host": "a.b"}), settings="{paused: true}"
    )
    assert "nothing new, and what stands stays: ingress-manager is paused by its settings [paused]\n" in out
    assert "missing: its Ingress team-a/shop isn't there, because of the pause\n" in out
    assert "$ kubectl" not in out


def test_a_service_of_the_cluster_is_told_with_its_events_or_that_they_may_not_be_read(cluster: Cluster) -> None:
    parent = service({"ingress/http": "true"})
    denied = event(parent, 'Sync error: admission webhook "a.example.com" denied the request: no', count=11)
    on_a_cluster = settings_on_a_cluster("defaults: {host: shop.example.com}\n")
    answers = {**on_a_cluster, "services": listing(parent), INGRESSES: listing(), HTTPROUTES: listing()}
    cluster.says(answers | {"events": listing(denied)})
    ended = run("explain", "service/shop", "-n", "team-a", "--context", "here")
    assert ended.status == 0
    happened = '2026-01-01T04:00:00Z SyncError (11 times): Sync error: admission webhook "a.example.com" denied the'
    assert f"  happened\n    {happened} request: no\n" in ended.out
    assert "isn't there: the admission webhook a.example.com denies it; " in ended.out
    assert "      $ kubectl get --context=here -- validatingwebhookconfigurations," in ended.out
    assert "--field-selector=involvedObject.kind=Service,involvedObject.name=shop" in "\n".join(cluster.calls)

    cluster.says(answers)
    ended = run("explain", "service/shop", "-n", "team-a")
    assert ended.status == 2
    assert "isn't there; it isn't known why: Events may not be read\n" in ended.out
    assert ended.out.endswith("  not looked at\n    Events could not be looked at: Error from server: no\n")


def test_what_is_no_service_and_options_that_say_where_none_is_are_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "dump.yaml").write_text(as_yaml({**service({}), "spec": {"ports": "none"}}))
    for words, message in (
        (
            ("service/shop", "-f", tmp_path / "dump.yaml"),
            "team-a/shop: is no valid Service: spec.ports: must be a list",
        ),
        (("service/blog", "-f", tmp_path / "dump.yaml"), "there is no Service blog"),
        (("host-not-allowed", "-n", "team-a"), "the options say where a Service is, and none is named: service/NAME"),
    ):
        ended = run("explain", *words)
        assert (ended.status, ended.out) == (2, "")
        assert message in ended.err


def test_without_the_settings_what_a_service_is_given_is_not_said(tmp_path: Path) -> None:
    (tmp_path / "dump.yaml").write_text(as_yaml(service({"ingress/http": "true"})))
    ended = run("explain", "service/shop", "-f", tmp_path / "dump.yaml")
    assert ended.status == 2
    assert "is to be given" not in ended.out
    assert "  stands\n" not in ended.out
    assert "  not looked at\n    Ingresses could not be looked at: " in ended.out
    assert "    The settings could not be looked at: they are not in the files; --settings FILE" in ended.out
