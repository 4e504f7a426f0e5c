"""`ingress-manager leaving ingress-nginx`: its table, held to the estate, the docs' report and Traefik itself."""

import mmap
import re
from typing import Any

import pytest
import yaml

from devcluster.build import REPOSITORY
from devcluster.programs import find_traefik
from ingress_manager.commands.leaving.judge import FIELDS, TABLE, AsHttpRoute, AtGateway, Judged, judge
from ingress_manager.commands.leaving.order import answered_by_others, by_host, near
from ingress_manager.commands.printing import as_yaml
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.vocabulary import NGINX, changes, protects
from tests import dumps
from tests.commands.commands import Cluster, Ended, listing, run
from tests.e2e.estate import ESTATE, ingress, stated

STANDS = [stated(ingress(title)) for title in ESTATE]
HALF_READ = {"affinity-canary-behavior", "modsecurity-transaction-id"}
"""What Traefik has a field for, which nothing asks for."""


def test_the_table_has_every_annotation_of_ingress_nginx_and_says_what_differs_and_what_to_do() -> None:
    known = yaml.safe_load((REPOSITORY / "tests/core/vocabulary.yaml").read_text(encoding="utf-8"))
    assert set(TABLE) == {name for does in ("protects", "changes", "tunes") for name in known[does][NGINX].split()}
    for name, row in (TABLE | FIELDS).items():
        assert bool(row.but) == (row.gateway not in {AtGateway.ALIKE, AtGateway.IGNORED}), name
        assert row.do or row.gateway not in {AtGateway.OPEN, AtGateway.REFUSED}, name
    tuning = [row.httproutes for name, row in TABLE.items() if not (protects(NGINX + name) or changes(NGINX + name))]
    assert {*tuning} == {AsHttpRoute.NO}, "HTTPRoutes do without"


@pytest.mark.parametrize("title", [title for title, row in ESTATE.items() if not row.unknowable])
def test_the_worst_that_is_said_of_an_ingress_is_what_it_is_answered(title: str) -> None:
    found = judge(*stated(ingress(title)), STANDS)
    assert next(each.row.gateway for each in found) in ESTATE[title].words, found


def test_what_only_other_ingresses_show_is_not_said_without_them() -> None:
    found = judge(*stated(ingress("an Exact path of the host")))
    assert {each.row.gateway for each in found} == {AtGateway.ALIKE}


def plain(
    name: str = "plain",
    annotations: dict[str, str] | None = None,
    path: str = "Prefix /",
    host: str = "shop.example.com",
    of_class: str | None = "nginx",
) -> Object:
    """Return an Ingress with one path of one host, "*" for every one."""
    own = {f"{NGINX}{key}": value for key, value in (annotations or {}).items()}
    rules = {host: {path: 80}}
    [made] = dumps.objects([{"Ingress": {"name": name, "annotations": own, "rules": rules, "class": of_class}}])
    return made


def judged(annotation: str, value: str) -> Judged:
    """Return what becomes of an annotation, by itself."""
    [found] = judge(*stated(plain(annotations={annotation: value})))
    return found


def test_another_may_answer_if_its_rule_is_as_long() -> None:
    every, one = stated(plain("every", host="*", path="Prefix /status")), stated(plain("one"))
    [[route, other, by]] = answered_by_others(one, [one, every], set())
    assert (len(route.rule()), other, by) == (43, "Prefix /status", every[0])


def test_a_path_is_a_regular_expression_if_any_ingress_of_its_host_asks_for_it() -> None:
    both = [stated(plain(path=f"ImplementationSpecific {path}")) for path in ("/api", "/api/v[0-9]+")]
    here = stated(plain("regex", {"use-regex": "true"}))
    elsewhere = stated(plain("regex", {"use-regex": "true"}, host="b.example.com"))
    internal = stated(plain("internal", {"use-regex": "true"}, of_class="internal"))
    assert {each.row.gateway for one in both for each in judge(*one, [here])} <= {AtGateway.ALIKE}
    assert [each.row.do for one in both for each in judge(*one, [elsewhere, internal])] == ["Make it Prefix.", ""]


def test_beside_an_ingress_are_all_that_may_answer_for_one_of_its_hosts() -> None:
    hosts = {"a.example.com", "b.example.com", "*.example.com", "other.example.org", "*"}
    beside = {
        "a.example.com": {"*.example.com", "*", "a.example.com"},
        "other.example.org": {"*", "other.example.org"},
        "*.example.com": hosts,
    }
    named = {host: stated(plain(host, host=host)) for host in hosts}
    estate = by_host(named.values())
    assert {host: {item.name for item, _ in near(named[host][1], estate)} for host in beside} == beside


def test_how_httproutes_say_it() -> None:
    said = {
        ("proxy-read-timeout", "60"): AsHttpRoute.SAME,
        ("ssl-redirect", "false"): AsHttpRoute.SAME,
        ("rewrite-target", "/"): AsHttpRoute.SAME,
        ("rewrite-target", "/x"): AsHttpRoute.FILTER,
        ("rewrite-target", "/$2"): AsHttpRoute.NO,
        ("permanent-redirect", "https://new.example.com/$1"): AsHttpRoute.NO,
        ("mirror-target", "https://copy.example.com$request_uri"): AsHttpRoute.FILTER,
        ("whitelist-source-range", "192.0.2.0/24"): AsHttpRoute.PROFILE,
        ("auth-type", "basic"): AsHttpRoute.NO,
        ("auth-type", ""): AsHttpRoute.SAME,
    }
    assert {stands: judged(*stands).row.httproutes for stands in said} == said
    for path in ("/", "/shop", "/v[0-9]+"):
        [found] = judge(*stated(plain(path=f"ImplementationSpecific {path}")))
        assert found.row.httproutes is AsHttpRoute.NO, path


def test_an_annotation_that_nobody_knows_is_open_if_it_seems_to_protect() -> None:
    assert (judged("auth-new", "x").row.gateway, judged("new", "x").row.gateway) == (AtGateway.OPEN, AtGateway.IGNORED)


def test_traefik_reads_what_is_alike_and_nothing_that_the_table_does_not_have() -> None:
    with find_traefik().open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program:
        # The tags of its fields, which Go keeps in the program.
        tags = re.findall(rb'annotation:"nginx\.ingress\.kubernetes\.io/([a-z0-9-]+)', program)
    read = {tag.decode() for tag in tags}
    assert read - set(TABLE) == set()
    assert {name for name, row in TABLE.items() if row.gateway is AtGateway.ALIKE} - read == set()
    assert {name for name in read if TABLE[name].gateway is AtGateway.IGNORED} <= HALF_READ | {"enable-global-auth"}


# The report, of which the docs show the rows.


def reported(*objects: Any, options: tuple[str, ...] = ()) -> Ended:
    return run("leaving", "ingress-nginx", "-f", "-", *options, stdin="---\n".join(map(as_yaml, objects)))


def test_below_the_rows_it_is_said_once_what_differs_and_what_to_do() -> None:
    size = {"proxy-body-size": "50m"}
    legacy = plain("legacy", {"configuration-snippet": "x;\n", **size}, host="legacy.example.com")
    closed = plain("closed", {"auth-type": "basic"}, host="closed.example.com")
    ended = reported(plain("upload", size), legacy, closed)
    assert ended.status == 1
    assert (
        ended.out
        == """\
AT THE GATEWAY  AS HTTPROUTES  INGRESS        BECAUSE OF
refused         no             team-a/legacy  configuration-snippet, proxy-body-size
differs         same           team-a/upload  proxy-body-size
alike           no             team-a/closed

refused: configuration-snippet "x;\\n" of team-a/legacy
  An Ingress with a snippet isn't served. Use annotations, or let the Pods do it.

differs: proxy-body-size "50m" of team-a/legacy, team-a/upload
  There is no limit, unless proxy-request-buffering is "on".

As HTTPRoutes, no:
  configuration-snippet of team-a/legacy
  auth-type of team-a/closed

3 Ingresses: 1 refused, 1 differs, 1 alike.
"""
    )


def test_as_json_everything_is_told_with_its_place() -> None:
    found = reported(plain("a"), plain("b", {"denylist-source-range": "192.0.2.0/24"}), options=("-o", "json"))
    first, second = found.json["ingresses"]
    [said] = first.pop("annotations")
    assert said.items() >= {"key": f"{NGINX}denylist-source-range", "value": "192.0.2.0/24", "gateway": "open"}.items()
    place = {"namespace": "team-a", "name": "b", "file": "stdin", "line": 22}
    assert first == {**place, "gateway": "open", "httproutes": "profile"}
    assert (second["gateway"], second["httproutes"]) == ("alike", "same")
    assert found.status == 1


def test_without_anything_open_or_refused_all_is_fine(cluster: Cluster) -> None:
    items = listing(plain("a", {"rewrite-target": "/x"}), plain("b", host="b.example.com"))
    cluster.says({"ingresses.networking.k8s.io": items})
    ended = run("leaving", "ingress-nginx", "--namespace", "team-a")
    assert ended.status == 0
    assert ended.out.endswith("2 Ingresses: 1 differs, 1 alike.\n")
    assert ended.err == (
        "What Ingresses of other namespaces answer for the same hosts isn't known: --all-namespaces reads them.\n"
    )


def test_only_the_class_nginx_is_told_of_and_an_ingress_without_one_noted() -> None:
    others = [plain(name, of_class=name) for name in ("internal", "haproxy", "ingress-manager")]
    ended = reported(*others, plain("more", of_class="internal"), plain("bare", of_class=None))
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        "There is no Ingress of the class nginx in what was read.\n"
        "The gateway serves no Ingress without a class; ingress-nginx does with --watch-ingress-without-class. "
        "Then give the class nginx to team-a/bare.\n"
        "Ingresses of other classes weren't judged, though ingress-nginx may serve them: haproxy (1), internal (2).\n"
    )
