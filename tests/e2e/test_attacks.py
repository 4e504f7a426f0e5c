"""Plays the attacks of attacks.yaml, which are sequences of steps, on a real API server. Each step is one of these:

settings: SETTINGS            the administrator changes the settings: the hook restarts with them
label the namespace: LABELS    the administrator adds labels to the namespace
others deny: HOST             somebody else's admission policy denies Ingresses for this host
create: {annotations, labels, spec, finalizers}   the tenant creates the Service shop; without a spec, it has a port
patch: PATCH                  the tenant patches it (RFC 7396)
delete: OPTIONS               the tenant deletes it
manage fields: BYTES          the tenant writes a field name of so many bytes into its managedFields
manage at: TIME               the tenant writes a time into its managedFields
edit the ingress: PATCH       somebody who may edit Ingresses patches the Service's Ingress
ingress: FIELDS               soon the Ingress has these fields, among others; null: it doesn't exist
unchanged: true               after one more sync, the Ingress has the same spec and annotations as when last seen
owned: true                   after a second, the Service is still an owner of the Ingress
event: TEXT                   soon an Event on the Service contains the text

`denied: TEXT` beside a write means that the API server rejects it with this text. The tenant may do everything to the
namespace's Services, and nothing else.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Api, Object, path_of, wait_for
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests import golden
from tests.e2e.conftest import SERVING_SETTINGS, fresh_stage
from tests.e2e.objects import ON, POLICIES, POLICY_BINDINGS, by_hand, create, service
from tests.e2e.people import said, tenant_of
from tests.words import holds

ATTACKS = {attack.name: attack.fields["steps"] for attack in golden.read(Path(__file__).with_name("attacks.yaml"))}
AT_THE_GATE = {"entrance-kept-by-a-mistake-in-another", "host-kept-by-a-pause", "year-zero"}
"""The attacks that `make test` plays. There, test_policies.py covers the other kinds."""

NAME = "shop"


class Attack:
    def __init__(self, cluster: DevCluster, stage: Stage, tenant: Api) -> None:
        self.cluster = cluster
        self.stage = stage
        self.tenant = tenant
        self.path = path_of(SERVICES, stage.namespace, NAME)
        self.seen: Object = {}
        """The Ingress, as the last step that waited for it observed it."""

    def play(self, step: Object) -> None:
        """Play one step. Raises AssertionError or NotReady if the outcome differs."""
        [(kind, value)] = [each for each in step.items() if each[0] != "denied"]
        act: Callable[[Any], Any] = getattr(self, kind.replace(" ", "_"))
        if "denied" in step:
            assert step["denied"] in (said(lambda: act(value)) or "it was let through")
        else:
            act(value)

    def settings(self, settings: Object) -> None:
        if yaml.safe_load(self.cluster.settings_file.read_text()) != settings:
            self.cluster.restart_hook(settings)

    def label_the_namespace(self, labels: Object) -> None:
        self.stage.api.patch(NAMESPACES, self.stage.namespace, {"metadata": {"labels": labels}})

    def others_deny(self, host: str) -> None:
        api, name = self.stage.api, self.stage.namespace
        rule = {"apiGroups": ["networking.k8s.io"], "apiVersions": ["v1"], "resources": ["ingresses"]}
        rule["operations"] = ["CREATE", "UPDATE"]
        here = {"matchLabels": {"kubernetes.io/metadata.name": name}}
        denied = {"expression": f"!object.spec.rules.exists(rule, rule.host == '{host}')", "reason": "Forbidden"}
        spec = {
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": here},
            "validations": [denied | {"message": "denied by others"}],
        }
        binding = {"policyName": name, "validationActions": ["Deny"]}
        for resource, content in ((POLICIES, spec), (POLICY_BINDINGS, binding)):
            create(api, resource, name, spec=content)
            self.stage.exits.callback(api.delete, resource, name)
        probe, path = by_hand(name, "probe", host, "probe"), path_of(INGRESSES, name)
        wait_for(lambda: said(lambda: api.request("POST", path, params={"dryRun": "All"}, body=probe)), 30)

    def create(self, stated: Object) -> None:
        self.tenant.create(SERVICES, service(self.stage.namespace, NAME, **stated))

    def patch(self, patch: Object) -> None:
        self.tenant.request("PATCH", self.path, body=patch)

    def manage_fields(self, size: int, **more: Any) -> None:
        # Go encodes each < as six bytes when Metacontroller sends the Service to the hook.
        fields: Object = {f"f:{'<' * size}": {}}
        entry = {"manager": "tenant", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", **more}
        # The API server ignores an update of managedFields alone.
        managed = {"labels": {"managed": f"{size}"}, "managedFields": [{**entry, "fieldsV1": fields}]}
        self.patch({"metadata": managed})

    def manage_at(self, time: str) -> None:
        self.manage_fields(1, time=time)
        written = self.tenant.get(SERVICES, NAME, self.stage.namespace) or {"metadata": {}}
        assert time in [entry.get("time") for entry in written["metadata"]["managedFields"]]

    def delete(self, options: Object) -> None:
        self.tenant.request("DELETE", self.path, body=options)

    def edit_the_ingress(self, patch: Object) -> None:
        self.stage.api.patch(INGRESSES, NAME, patch, self.stage.namespace)

    def ingress(self, fields: Object | None) -> None:
        if fields is None:
            self.stage.until("no Ingress", lambda: self.stage.ingress(NAME) is None)
        else:
            self.seen = self.stage.until_ingress(NAME, f"one with {fields}", lambda made: holds(made, fields))

    def unchanged(self, _: bool) -> None:
        # Services are synced in the order of their changes: once a Service created now is synced, this one has been.
        later = f"later-{time.monotonic_ns()}"
        self.patch({"metadata": {"labels": {"touched": later}}})
        self.stage.create_service(later, ON)
        log = self.cluster.hook.log_path
        self.stage.until("its Ingress, or a refusal", lambda: self.stage.ingress(later) or later in log.read_text())
        now, before = self.stage.ingress(NAME), self.seen
        assert now is not None, "it was removed"
        assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"])
        assert now["metadata"]["annotations"] == before["metadata"]["annotations"]

    def owned(self, _: bool) -> None:
        time.sleep(1)  # enough for several attempts of the garbage collector
        ingress = self.stage.ingress(NAME) or {"metadata": {}}
        assert [owner["name"] for owner in ingress["metadata"].get("ownerReferences", [])] == [NAME]

    def event(self, text: str) -> None:
        self.stage.until_event(NAME, text)


@pytest.fixture(scope="module")
def attacked(serving: DevCluster) -> Iterator[DevCluster]:
    """Yield the cluster whose settings each attack changes, and restore them at the end."""
    yield serving
    serving.restart_hook(SERVING_SETTINGS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.gate] * (name in AT_THE_GATE)) for name in ATTACKS]
)
def test_the_attack_comes_to_nothing(attacked: DevCluster, name: str) -> None:
    with (
        fresh_stage(attacked) as stage,
        contextlib.closing(tenant_of(attacked.control_plane, stage.namespace)) as tenant,
    ):
        attack = Attack(attacked, stage, tenant)
        for step in [{"settings": {}}, *ATTACKS[name]]:
            attack.play(step)
