"""The roles for people hold what the table of the commands' rights says."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from devcluster.manifests import find, rendered
from ingress_manager.commands.reading.rights import RIGHTS, Right, Where

LOOKING = ("audit", "check", "render", "status")
LEFT_OUT = {("list", "secrets"), ("get", "secrets"), ("get", "services/proxy")}
"""Who may do this has it from elsewhere."""

TO_VIEW = (
    "decoratorcontrollers.metacontroller.k8s.io",
    "gateways.gateway.networking.k8s.io",
    "httproutes.gateway.networking.k8s.io",
    "ingressclasses.networking.k8s.io",
)
"""What Kubernetes' own role `view` lacks."""

QUESTION = ("create", "subjectaccessreviews.authorization.k8s.io")
"""It is asked by creating something that the API server doesn't store."""


def granted(rules: Iterable[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return what rules allow: verbs, and resources as kubectl names them."""
    return {
        (verb, f"{plural}.{group}".rstrip("."))
        for rule in rules
        for group in rule["apiGroups"]
        for plural in rule["resources"]
        for verb in rule["verbs"]
    }


def needed(commands: Iterable[str], *where: Where) -> set[tuple[str, str]]:
    """Return what commands need there, with the options that write."""
    rights: list[Right] = [each for command in commands for each in RIGHTS[command] if each.where in where]
    return {(verb, each.resource) for each in rights for verb in each.verbs.split()}


def test_who_looks_gets_what_the_commands_need_and_may_write_nothing_and_see_no_secret() -> None:
    cluster_wide = granted(find("manifests", "ClusterRole", "ingress-manager-viewer")["rules"])
    # kubectl gets one of what it may list, which tells nobody more.
    lists = {("get", resource) for verb, resource in cluster_wide if verb == "list"}
    assert cluster_wide == (needed(LOOKING, Where.READ, Where.GATEWAYS, Where.ALL) - LEFT_OUT) | lists
    beside_the_hook = granted(find("manifests", "Role")["rules"])
    # `get` of a Deployment: who may not read DecoratorControllers looks for the hook by its name.
    assert beside_the_hook == (needed(LOOKING, Where.HOOK) - LEFT_OUT) | {("get", "deployments.apps")}
    to_view = granted(find("manifests", "ClusterRole", "ingress-manager-aggregate-to-view")["rules"])
    everything = cluster_wide | beside_the_hook | to_view
    assert {verb for verb, _ in everything - {QUESTION}} == {"get", "list", "watch"}
    assert {"secrets", "services/proxy"}.isdisjoint(resource for _, resource in everything)
    assert to_view == set(product(("get", "list", "watch"), TO_VIEW))
    assert granted(rule for item in rendered("manifests") for rule in item.get("rules", ())) == everything


def test_who_looks_reads_one_configmap_which_is_that_of_the_settings() -> None:
    [rule] = [rule for rule in find("manifests", "Role")["rules"] if "configmaps" in rule["resources"]]
    assert rule["resourceNames"] == [find("manifests", "ConfigMap")["metadata"]["name"]]


def test_the_mover_of_the_page_has_what_adopt_and_release_need_and_no_more() -> None:
    roles = yaml.safe_load_all((REPOSITORY / "docs/commands/examples/mover.yaml").read_text(encoding="utf-8"))
    namespace, beside_the_hook = (granted(role["rules"]) for role in roles)
    assert namespace == needed(("adopt", "release"), Where.READ)
    # By the hook's name; to look for it takes rights to the whole cluster.
    assert beside_the_hook == {("get", "deployments.apps"), ("get", "configmaps")}
