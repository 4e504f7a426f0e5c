"""The table of what becomes of ingress-nginx's annotations, held to the estate, the policy, and Traefik itself."""

import mmap
import re

import pytest
import yaml

from devcluster.build import REPOSITORY
from devcluster.programs import find_traefik
from ingress_manager.commands.leaving.order import answered_by_others
from ingress_manager.commands.leaving.table import FIELDS, TABLE, AsHttpRoute, AtGateway, judge
from ingress_manager.core.vocabulary import NGINX
from tests.e2e.estate import ESTATE, ingress

STANDS = [ingress(title) for title in ESTATE]
HALF_READ = {"affinity-canary-behavior", "modsecurity-transaction-id"}
"""What Traefik has a field for, which nothing asks for."""


def test_the_table_has_every_annotation_of_ingress_nginx_and_says_what_differs_and_what_to_do() -> None:
    known = yaml.safe_load((REPOSITORY / "tests/core/vocabulary.yaml").read_text(encoding="utf-8"))
    assert set(TABLE) == {name for does in ("protects", "changes", "tunes") for name in known[does][NGINX].split()}
    for name, row in (TABLE | FIELDS).items():
        assert bool(row.but) == (row.gateway not in {AtGateway.ALIKE, AtGateway.IGNORED}), name
        assert row.do or row.gateway not in {AtGateway.OPEN, AtGateway.REFUSED}, name


@pytest.mark.parametrize("title", [title for title, row in ESTATE.items() if not row.unknowable])
def test_the_worst_that_is_said_of_an_ingress_is_what_it_is_answered(title: str) -> None:
    found = judge(ingress(title), STANDS)
    assert next(each.gateway for each in found) in ESTATE[title].words, found


def test_what_only_other_ingresses_show_is_not_said_without_them() -> None:
    assert {each.gateway for each in judge(ingress("an Exact path of the host"))} == {AtGateway.ALIKE}


def test_another_may_answer_if_its_rule_is_as_long() -> None:
    every, one = ingress("plain"), ingress("plain")
    every["metadata"]["name"], one["metadata"]["name"] = "every", "one"
    for each, host, path in ((every, "", "/status"), (one, "shop.example.com", "/")):
        [rule] = each["spec"]["rules"]
        rule.update(host=host)
        rule["http"]["paths"][0].update(path=path, pathType="Prefix")
    [[route, other, by]] = answered_by_others(one, [every])
    assert (len(route.rule()), other, by) == (43, "Prefix /status", every)


@pytest.mark.parametrize(
    ("annotation", "value", "said"),
    [
        ("proxy-read-timeout", "60", AsHttpRoute.WITHOUT),
        ("ssl-redirect", "false", AsHttpRoute.SAME),
        ("rewrite-target", "/", AsHttpRoute.SAME),
        ("rewrite-target", "/x", AsHttpRoute.FILTER),
        ("whitelist-source-range", "192.0.2.0/24", AsHttpRoute.PROFILE),
        ("auth-type", "basic", AsHttpRoute.NO),
        ("auth-type", "", AsHttpRoute.SAME),
    ],
)
def test_how_httproutes_say_it(annotation: str, value: str, said: AsHttpRoute) -> None:
    plain = ingress("plain")
    plain["metadata"]["annotations"] = {f"{NGINX}{annotation}": value}
    assert [each.httproutes for each in judge(plain)] == [said]


@pytest.mark.parametrize(("key", "word"), [("auth-new", AtGateway.OPEN), ("new", AtGateway.IGNORED)])
def test_an_annotation_that_nobody_knows_is_open_if_it_seems_to_protect(key: str, word: AtGateway) -> None:
    plain = ingress("plain")
    plain["metadata"]["annotations"] = {f"{NGINX}{key}": "x"}
    assert [each.gateway for each in judge(plain)] == [word]


def test_traefik_reads_what_is_alike_and_nothing_that_the_table_does_not_have() -> None:
    with find_traefik().open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program:
        # The tags of its fields, which Go keeps in the program.
        tags = re.findall(rb'annotation:"nginx\.ingress\.kubernetes\.io/([a-z0-9-]+)', program)
    read = {tag.decode() for tag in tags}
    assert read - set(TABLE) == set()
    assert {name for name, row in TABLE.items() if row.gateway is AtGateway.ALIKE} - read == set()
    assert {name for name in read if TABLE[name].gateway is AtGateway.IGNORED} <= HALF_READ | {"enable-global-auth"}
