"""The attacks of attacks.yaml, which are sequences of steps, played on a real API server. Each step is one of these:

settings: SETTINGS            the administrator changes the settings: the hook restarts with them
others deny: EXPRESSION       somebody else's admission policy denies an Ingress for which this CEL expression is true
create: {annotations, labels, spec, finalizers}   the tenant creates the Service shop; without a spec, it has a port
patch: PATCH                  the tenant patches it (RFC 7396)
delete: OPTIONS               the tenant deletes it
manage fields: BYTES          the tenant writes a field of so many bytes into its managedFields
edit the ingress: PATCH       somebody who may edit Ingresses patches that one
ingress: FIELDS               soon the Ingress has these fields, among others; null: there is none
unchanged: true               after one more sync, the Ingress is the one last seen, with the same spec and annotations
owned: true                   after a second, the Ingress still has its Service as an owner
event: TEXT                   soon an Event on the Service says so

`denied: TEXT` beside a write: the API server refuses it, and says so. The tenant may do everything to the Services of
the namespace, and nothing else.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Api, Object, Resource, path_of, wait_for
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests import golden
from tests.e2e.conftest import SERVING_SETTINGS
from tests.e2e.objects import POLICIES, POLICY_BINDINGS, by_hand, create, new
from tests.e2e.people import said, tenant_of
from tests.words import holds

ATTACKS = {attack.name: attack.stated["steps"] for attack in golden.read(Path(__file__).with_name("attacks.yaml"))}
AT_THE_GATE = {"entrance-kept-by-a-mistake-in-another", "host-kept-by-a-pause"}
"""These are in `make test`. There, test_service_guard.py tries the other kinds."""

NAME = "shop"
ADMISSION = "admissionregistration.k8s.io/v1"


class Attack:
    """Plays the steps of one attack in a namespace of its own."""

    def __init__(self, cluster: DevCluster, stage: Stage, tenant: Api) -> None:
        self.cluster = cluster
        self.stage = stage
        self.tenant = tenant
        self.seen: list[Object] = []
        """The Ingress, as each step that waited for it has seen it."""

        self.service: Object = {}
        """The Service as it was created."""

        self.touches = 0
        self.made: list[Resource] = []
        """What others have made for the whole cluster, by the name of the namespace."""

    def play(self, step: Object) -> None:
        """Play one step. Raises AssertionError, or NotReady, when something else comes of it."""
        denied = step.pop("denied", None)
        [(kind, value)] = step.items()
        act: Callable[[Any], Any] = getattr(self, kind.replace(" ", "_"))
        if denied is None:
            act(value)
        else:
            assert denied in (said(lambda: act(value)) or "it was let through")

    def settings(self, settings: Object) -> None:
        if yaml.safe_load(self.cluster.settings_file.read_text()) != settings:
            self.cluster.restart_hook(settings)

    def others_deny(self, expression: str) -> None:
        rule = {"apiGroups": ["networking.k8s.io"], "apiVersions": ["v1"], "resources": ["ingresses"]}
        rule["operations"] = ["CREATE", "UPDATE"]
        here = {"matchLabels": {"kubernetes.io/metadata.name": self.stage.namespace}}
        rule_of_others = f"object.metadata.name != 'probe' && !({expression})"
        denied = {"expression": rule_of_others, "message": "denied by others", "reason": "Forbidden"}
        constraints = {"resourceRules": [rule], "namespaceSelector": here}
        spec = {"matchConstraints": constraints, "validations": [denied]}
        binding = {"policyName": self.stage.namespace, "validationActions": ["Deny"]}
        for resource, content in ((POLICIES, spec), (POLICY_BINDINGS, binding)):
            create(self.stage.api, resource, self.stage.namespace, spec=content)
            self.made.append(resource)
        probe = by_hand(self.stage.namespace, "probe", "probe.example.com", "probe")
        path, dry = path_of(INGRESSES, self.stage.namespace), {"dryRun": "All"}
        wait_for(lambda: said(lambda: self.stage.api.request("POST", path, params=dry, body=probe)), 30)

    def create(self, service: Object) -> None:
        metadata = {key: value for key, value in service.items() if key != "spec"}
        spec = service.get("spec", {"ports": [{"name": "http", "port": 80}]})
        self.service = new(SERVICES, NAME, self.stage.namespace, metadata, spec=spec)
        self.tenant.create(SERVICES, self.service)

    def patch(self, patch: Object) -> None:
        self.tenant.patch(SERVICES, NAME, patch, self.stage.namespace)

    def manage_fields(self, size: int) -> None:
        # Go writes each < as six bytes when Metacontroller sends the Service to the hook.
        fields: Object = {f"f:{'<' * size}": {}}
        entry = {"manager": "tenant", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
        # The API server ignores an update that changes nothing else.
        managed = {"labels": {"managed": f"{size}"}, "managedFields": [{**entry, "fieldsV1": fields}]}
        service = self.service | {"metadata": self.service["metadata"] | managed}
        self.tenant.request("PUT", path_of(SERVICES, self.stage.namespace, NAME), body=service)

    def delete(self, options: Object) -> None:
        self.tenant.request("DELETE", path_of(SERVICES, self.stage.namespace, NAME), body=options)

    def edit_the_ingress(self, patch: Object) -> None:
        self.stage.api.patch(INGRESSES, NAME, patch, self.stage.namespace)

    def ingress(self, fields: Object | None) -> None:
        if fields is None:
            self.stage.until("no Ingress", lambda: self.stage.ingress(NAME) is None)
        else:
            found = self.stage.until_ingress(NAME, f"an Ingress with {fields}", lambda made: holds(made, fields))
            self.seen.append(found)

    def unchanged(self, _: bool) -> None:
        self.touches += 1
        self.patch({"metadata": {"labels": {"touched": f"{self.touches}"}}})
        # Services are synced in the order of their events: once another one, made now, is answered, this one has been.
        later = f"later-{self.touches}"
        self.stage.create_service(later, {"ingress/http": "true"})
        self.stage.until("an answer for a later Service", lambda: self.stage.ingress(later) or self.is_refused(later))
        now = self.stage.ingress(NAME)
        assert now is not None, "it was removed"
        before = self.seen[-1]
        assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"])
        assert now["metadata"]["annotations"] == before["metadata"]["annotations"]

    def is_refused(self, service: str) -> bool:
        """Return whether the hook has refused the Service, by its log."""
        whole, _, _ = self.cluster.hook.log_path.read_text().rpartition("\n")  # it may be writing the last line
        lines = map(json.loads, whole.splitlines())
        return any((line.get("namespace"), line.get("service")) == (self.stage.namespace, service) for line in lines)

    def owned(self, _: bool) -> None:
        time.sleep(1)  # in which the garbage collector has tried more than once
        ingress = self.stage.ingress(NAME) or {"metadata": {}}
        assert [owner["name"] for owner in ingress["metadata"].get("ownerReferences", [])] == [NAME]

    def event(self, text: str) -> None:
        self.stage.until_event(NAME, text)


@pytest.fixture(scope="module")
def attacked(serving: DevCluster) -> Iterator[DevCluster]:
    """Yield the cluster that each attack gives its own settings."""
    yield serving
    serving.restart_hook(SERVING_SETTINGS)


@pytest.fixture
def attack(attacked: DevCluster, request: pytest.FixtureRequest) -> Iterator[Attack]:
    """Yield an attack in a fresh namespace, under the default settings; afterwards, all is as it was."""
    namespace = f"attacked-{list(ATTACKS).index(request.node.callspec.params['name'])}"
    api = attacked.api
    create(api, NAMESPACES, namespace)
    with contextlib.closing(tenant_of(attacked.control_plane, namespace)) as tenant:
        made = Attack(attacked, Stage(api, namespace), tenant)
        made.settings({})
        yield made
    for resource in made.made:
        api.delete(resource, namespace)
    api.delete(NAMESPACES, namespace)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.gate] * (name in AT_THE_GATE)) for name in ATTACKS]
)
def test_the_attack_comes_to_nothing(attack: Attack, name: str) -> None:
    for step in ATTACKS[name]:
        attack.play(step)
