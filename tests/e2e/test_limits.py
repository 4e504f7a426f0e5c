"""The policies of `settings --policies` apply the settings' limits to hand-written objects."""

import contextlib
import itertools
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcluster.api import HTTPROUTES, INGRESSES, LISTENERSETS, Object, Resource, path_of, wait_for
from devcluster.cluster import DevCluster
from devcluster.control_plane import ControlPlane
from devcluster.story import Stage
from ingress_manager.core.effective import effective_settings
from ingress_manager.core.settings_parser import read
from ingress_manager.core.syntax import wrong_host
from tests.core import made_up
from tests.e2e.objects import backend, by_hand, give_address, new, published
from tests.e2e.people import editor_of, said, sh

GRPCROUTES = HTTPROUTES._replace(plural="grpcroutes", kind="GRPCRoute")
KINDS = (INGRESSES, HTTPROUTES, GRPCROUTES, LISTENERSETS)
NAMESPACE_NAMES = ("kube-system", "kube-public", "kube-node-lease")
_numbers = itertools.count(1)


def claiming(resource: Resource, host: str) -> Object:
    """Return the spec of an object that claims a host; `*` is any host."""
    is_named = host != "*"
    if resource is INGRESSES:
        rule = {"rules": [{"host": host}]} if is_named else {"defaultBackend": backend("shop", 80)}
        return {"ingressClassName": "nginx"} | rule
    if resource is LISTENERSETS:
        listener = {"name": "one", "port": 80, "protocol": "HTTP"} | ({"hostname": host} if is_named else {})
        return {"parentRef": {"name": "web"}, "listeners": [listener]}
    rules = [{"backendRefs": [{"name": "shop", "port": 80}]}]
    return {"rules": rules} | ({"hostnames": [host]} if is_named else {})


def denial(plane: ControlPlane, resource: Resource, namespace: str, host: str) -> str | None:
    body = new(resource, "probe", namespace, spec=claiming(resource, host))
    return said(lambda: plane.api.request("POST", path_of(resource, namespace), params={"dryRun": "All"}, body=body))


@contextlib.contextmanager
def limited(plane: ControlPlane, stated: Object, resources: Sequence[Resource] = KINDS) -> Iterator[None]:
    """Apply the settings' policies and wait until each is in force; at the end, remove them and wait until none is."""
    right, wrong = (f"{name}{next(_numbers)}.example.org" for name in ("right", "wrong"))
    namespaces = {**stated.get("namespaces", {}), "default": {"limits": {"hosts": [right], "classes": "any"}}}
    environment = {"SETTINGS": json.dumps(stated | {"namespaces": namespaces})}
    sh(plane, 'echo "$SETTINGS" | ingress-manager settings --policies - | kubectl apply -f -', environment=environment)
    probes = [partial(denial, plane, each, "default", host) for each in resources for host in (wrong, right)]
    try:
        in_force = [True, False] * len(resources)  # no earlier policy allowed this host
        wait_for(lambda: [bool(probe()) for probe in probes] == in_force, 30, what="the policies")
        yield
    finally:
        kinds = "validatingadmissionpolicies,validatingadmissionpolicybindings"
        sh(plane, f"kubectl delete {kinds} --selector=app.kubernetes.io/component=limits")
        wait_for(lambda: not any(probe() for probe in probes), 30, what="the end of the policies")


OUTSIDE = "bank.team-b.apps.example.com"
HIJACK = 'kubectl create ingress hijack --class=nginx --rule="%s/*=shop:80"'
DENIED = {
    HIJACK % OUTSIDE: OUTSIDE,
    f"{HIJACK % OUTSIDE} --dry-run=client --output=yaml | kubectl apply --server-side --filename=-": OUTSIDE,
    HIJACK % "*.apps.example.com": "*.apps.example.com",
    HIJACK % "": "*",
    "kubectl create ingress hijack --class=nginx --default-backend=shop:80": "*",
    "kubectl patch ingress old --patch='spec: {rules: [{host: x.example.com}]}'": "x.example.com",
    f"kubectl patch ingress mine --patch='spec: {{tls: [{{hosts: [{OUTSIDE}]}}]}}'": OUTSIDE,
    "kubectl patch ingress mine --patch='spec: {ingressClassName: internal}'": "internal",
    "kubectl annotate ingress mine kubernetes.io/ingress.class=internal": "internal",
}
"""Commands denied to a user with `edit`, and the host or class that the message names."""


@pytest.mark.gate
def test_edit_alone_claims_no_host_outside_the_limits(stage: Stage, cluster: DevCluster, tmp_path: Path) -> None:
    plane, namespace = cluster.control_plane, stage.namespace
    kubeconfig = editor_of(plane, namespace, tmp_path)

    def by_team(script: str) -> tuple[int, str]:
        ended = sh(plane, script, kubeconfig=kubeconfig, check=False)
        return ended.returncode, ended.stderr

    cluster.api.create(INGRESSES, by_hand(namespace, "old", OUTSIDE, "shop", ingressClassName="internal"))
    limits = {"hosts": ["*.{namespace}.apps.example.com"], "classes": ["nginx"]}
    with limited(plane, {"namespaces": {namespace: {"limits": limits}}}, [INGRESSES]):
        allowed = f"*.{namespace}.apps.example.com"
        assert by_team((HIJACK % allowed).replace("hijack", "mine")) == (0, "")
        for script, named in DENIED.items():
            status, message = by_team(script)
            end = f"; allowed in namespace {namespace}: {'nginx' if named == 'internal' else allowed}\n"
            assert (status, message.endswith(end), f'"{named}" is not allowed; ' in message) == (1, True, True), message
        assert by_team("kubectl patch ingress old --patch='spec: {tls: [{secretName: a}]}'")[0] == 0
        give_address(stage, "old")
        published(stage, annotations={"ingress/class": "nginx", "ingress/host": f"shop.{namespace}.apps.example.com"})


STARRED = made_up.PATTERNS | st.sampled_from(["*.{*}.example", "{*}.example", "{*}.{namespace}.example"])
ENTRIES, STARRED_ENTRIES = (
    st.fixed_dictionaries({"limits": st.fixed_dictionaries({"hosts": made_up.limit(patterns)})})
    for patterns in (made_up.PATTERNS, STARRED)
)
SETTINGS = st.builds(
    lambda general, named, starred: general | {"namespaces": named | starred},
    ENTRIES,
    st.dictionaries(st.sampled_from(NAMESPACE_NAMES), ENTRIES, max_size=2),
    st.dictionaries(st.sampled_from(["*", "kube-*", "*-public", "k*e"]), STARRED_ENTRIES, max_size=3),
)


@pytest.mark.gate
@settings(max_examples=settings.get_profile("here").max_examples // 3)
@given(SETTINGS, st.lists(made_up.HOSTS | st.just("*"), min_size=4, max_size=4))
def test_the_policies_allow_what_the_core_allows(empty_cluster: ControlPlane, stated: Object, hosts: list[str]) -> None:
    with limited(empty_cluster, stated):
        for namespace in NAMESPACE_NAMES:
            effective = effective_settings(read(stated), namespace)
            patterns = effective.host_patterns or ()
            near = [pattern.replace("*", star) for pattern in patterns for star in ("*", "a", "*.a")]
            for host, resource in zip(dict.fromkeys([*near, *hosts]), itertools.cycle(KINDS), strict=False):
                if not wrong_host(host):
                    is_allowed = denial(empty_cluster, resource, namespace, host) is None
                    assert is_allowed == effective.allows_host(host), (namespace, resource.kind, host)
