"""What `helm test` makes: only its pod gets to the hook, and its script says whether the hook answers."""

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.helm import cases, lacking, of_helm_test, rendered
from tests.hooks.test_server import free_port
from tests.manifests.objects import Object, one, selects

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(lacking() is not None, reason=lacking() or ""),
]

NAMED = cases()["name"].stated["values"]
CHANGED_LABELS = {"commonLabels": {"app.kubernetes.io/instance": "mine", "app.kubernetes.io/component": "hook"}}


@pytest.mark.parametrize("values", [{}, NAMED, CHANGED_LABELS], ids=["none", "name", "labels"])
def test_nothing_of_the_hook_selects_the_tests_pod_and_only_the_tests_policy_lets_it_in(values: dict[str, Any]) -> None:
    objects = rendered(values, "mine")
    mine, others = ([item for item in objects if of_helm_test(item) is its] for its in (True, False))
    test, hook = one(mine, "Pod")["metadata"]["labels"], one(others, "Deployment")["spec"]["template"]
    own = one(others, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"]
    for selector in (own, one(others, "Service")["spec"]["selector"]):
        assert selects(selector, hook["metadata"]["labels"])
        assert not selects(selector, test)
    policy = one(mine, "NetworkPolicy")["spec"]
    [rule] = policy["ingress"]
    [peer] = rule["from"]
    assert policy["podSelector"]["matchLabels"] == own
    assert policy["policyTypes"] == ["Ingress"]
    assert rule["ports"] == [{"port": "http"}]
    assert peer.keys() == {"podSelector"}, "only pods of its own namespace"
    assert selects(peer["podSelector"]["matchLabels"], test)
    assert not selects(peer["podSelector"]["matchLabels"], hook["metadata"]["labels"])


def stated(pod: Object) -> dict[str, str]:
    """Return the environment of the only container of a pod."""
    [container] = pod["spec"]["containers"]
    return {each["name"]: each["value"] for each in container["env"]}


def run_against(port: int) -> subprocess.CompletedProcess[str]:
    """Run the script of the chart's pod against a port of this machine."""
    return script_against(one(rendered({}), "Pod"), port)


def script_against(pod: Object, port: int) -> subprocess.CompletedProcess[str]:
    """Run the script of a pod, as it stands there, against a port of this machine, without trying again."""
    [python, *rest] = pod["spec"]["containers"][0]["command"]
    assert python == "python"
    environment = os.environ | stated(pod) | {"HOOK": f"127.0.0.1:{port}", "SECONDS_TO_TRY": "0"}
    return subprocess.run(
        [sys.executable, *rest], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_it_fails_with_a_sentence_where_nothing_listens() -> None:
    port = free_port()
    done = run_against(port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"The hook doesn't answer at 127.0.0.1:{port}: ConnectionRefusedError(")
    assert done.stderr.endswith("See whether its pods are ready.\n")
