"""`ingress-manager leaving ingress-nginx`: a row for each Ingress, the worst first, and what to do."""

from typing import Any

import pytest

from ingress_manager.commands.leaving import command
from ingress_manager.commands.leaving.order import Estate
from ingress_manager.commands.leaving.report import NARROW, WIDE
from ingress_manager.commands.leaving.table import AsHttpRoute, AtGateway, Judged
from ingress_manager.commands.printing.objects import as_yaml
from tests.commands.commands import Cluster, Ended, listing, run

NGINX = "nginx.ingress.kubernetes.io/"


def says(
    name: str, gateway: AtGateway, httproutes: AsHttpRoute = AsHttpRoute.NO, but: str = "", do: str = ""
) -> Judged:
    return Judged(f"{NGINX}{name}", "on", gateway, httproutes, but, do)


JUDGED = {
    f"{NGINX}denylist-source-range": says(
        "denylist-source-range", AtGateway.OPEN, but="The gateway ignores it.", do="Write allowlist-source-range."
    ),
    f"{NGINX}server-snippet": says("server-snippet", AtGateway.REFUSED, but="It isn't served.", do="Leave it out."),
    f"{NGINX}auth-url": says("auth-url", AtGateway.ALIKE, AsHttpRoute.PROFILE),
    f"{NGINX}rewrite-target": says("rewrite-target", AtGateway.DIFFERS, AsHttpRoute.FILTER, "It replaces each match."),
    f"{NGINX}limit-rate": says("limit-rate", AtGateway.IGNORED, AsHttpRoute.WITHOUT),
}
"""What is said of an annotation here. What the table says of it is tested in its own place."""


@pytest.fixture(autouse=True)
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(ingress: Any, _beside: Any) -> list[Judged]:
        found = [JUDGED[key] for key in ingress["metadata"]["annotations"] if key in JUDGED]
        return sorted(found, key=lambda each: [*AtGateway].index(each.gateway))

    monkeypatch.setattr(command, "judge", judge)


def ingress(name: str, *annotations: str, ingress_class: str | None = "nginx") -> Any:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {
            "name": name,
            "namespace": "team-a",
            "annotations": {f"{NGINX}{key}": "on" for key in annotations},
        },
        "spec": {"ingressClassName": ingress_class, "rules": [{"host": f"{name}.example.com"}]},
    }


def reported(*objects: Any, options: tuple[str, ...] = ()) -> Ended:
    return run("leaving", "ingress-nginx", "-f", "-", *options, stdin="---\n".join(map(as_yaml, objects)))


ESTATE = (
    ingress("plain"),
    ingress("slow", "limit-rate"),
    ingress("moved", "rewrite-target"),
    ingress("staff", "auth-url"),
    ingress("blog", "server-snippet", "rewrite-target"),
    ingress("open", "denylist-source-range"),
)


def test_each_ingress_has_a_row_the_worst_first_and_below_it_is_said_once_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    ended = reported(*ESTATE)
    assert ended.status == 1
    assert (
        ended.out
        == """\
AT THE GATEWAY   AS HTTPROUTES  INGRESS       BECAUSE OF
open             not            team-a/open   denylist-source-range
refused          not            team-a/blog   server-snippet, rewrite-target
served, but for  by a filter    team-a/moved  rewrite-target
served alike     by a profile   team-a/staff
served alike     the same       team-a/plain
served alike     the same       team-a/slow

open: denylist-source-range "on" of team-a/open
  The gateway ignores it. Write allowlist-source-range.

refused: server-snippet "on" of team-a/blog
  It isn't served. Leave it out.

served, but for: rewrite-target "on" of team-a/blog, team-a/moved
  It replaces each match.

HTTPRoutes say not:
  denylist-source-range of team-a/open
  server-snippet of team-a/blog

HTTPRoutes say by a filter:
  rewrite-target of team-a/blog, team-a/moved

HTTPRoutes say by a profile:
  auth-url of team-a/staff

6 Ingresses: 1 open, 1 refused, 1 served, but for differences, 3 served alike.
"""
    )


@pytest.mark.parametrize(("columns", "widest"), [(20, NARROW), (100, 100), (400, WIDE)])
def test_lines_end_at_words_within_the_terminal(columns: int, widest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    many = {f"{NGINX}key-{number}": says(f"key-{number}", AtGateway.OPEN, but="It " * 80) for number in range(40)}
    monkeypatch.setattr("tests.commands.test_leaving.JUDGED", many)
    lines = reported(ingress("open", *(f"key-{number}" for number in range(40)))).out.splitlines()
    assert widest - 10 < max(map(len, lines)) <= widest
    assert not any(line.endswith("key-") for line in lines)


def test_as_json_everything_is_told_with_its_place() -> None:
    found = reported(ingress("staff", "auth-url"), ingress("open", "denylist-source-range"), options=("-o", "json"))
    first, second = found.json["ingresses"]
    assert first == {
        "namespace": "team-a",
        "name": "open",
        "gateway": "open",
        "httproutes": "no",
        "annotations": [JUDGED[f"{NGINX}denylist-source-range"]._asdict()],
        "file": "stdin",
        "line": 13,
    }
    assert (second["gateway"], second["httproutes"]) == ("alike", "profile")


def test_without_anything_open_or_refused_all_is_fine(cluster: Cluster) -> None:
    cluster.says({"ingresses.networking.k8s.io": listing(ingress("moved", "rewrite-target"), ingress("plain"))})
    ended = run("leaving", "ingress-nginx", "--all-namespaces")
    assert ended.status == 0
    assert ended.out.endswith("2 Ingresses: 1 served, but for differences, 1 served alike.\n")


def test_of_one_namespace_it_says_what_was_not_looked_at(cluster: Cluster) -> None:
    cluster.says({"ingresses.networking.k8s.io": listing(ingress("plain"))})
    ended = run("leaving", "ingress-nginx", "--namespace", "team-a")
    assert ended.err == (
        "What Ingresses of other namespaces answer for the same hosts isn't known: --all-namespaces reads them.\n"
    )


def test_only_the_class_nginx_is_told_of_and_an_ingress_without_one_noted() -> None:
    ended = reported(ingress("internal", ingress_class="internal"), ingress("bare", ingress_class=None))
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        "There is no Ingress of the class nginx in what was read.\n"
        "The gateway serves no Ingress without a class; ingress-nginx does with --watch-ingress-without-class. "
        "Then give the class nginx to team-a/bare.\n"
    )


def test_what_can_not_be_read_is_told_and_is_no_success() -> None:
    broken = ingress("broken") | {"spec": {"rules": "none"}}
    ended = reported(ingress("plain"), broken)
    assert (ended.status, ended.out.count("team-a/plain")) == (1, 1)
    assert "team-a/broken: is no valid Ingress: spec.rules" in ended.err


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("a.example.com", ["*.example.com", "", "a.example.com"]),
        ("*.example.com", ["*.example.com", "", "a.example.com", "b.example.com"]),
        ("other.example.org", ["", "other.example.org"]),
        ("", ["*.example.com", "", "a.example.com", "b.example.com", "other.example.org"]),
    ],
)
def test_beside_an_ingress_are_those_that_may_answer_for_one_of_its_hosts(host: str, near: list[str]) -> None:
    hosts = ["a.example.com", "b.example.com", "*.example.com", "other.example.org", ""]
    by_host = {each: ingress(f"of-{number}") for number, each in enumerate(hosts)}
    for each, found in by_host.items():
        found["spec"]["rules"] = [{"host": each} if each else {}]
    around = Estate([*by_host.values()]).near(by_host[host])
    assert sorted(each for each, found in by_host.items() if found in around) == sorted(near)
