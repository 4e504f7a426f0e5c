"""`check`: for each part of an installation that is broken on its own, it reports the part and the remedy.

check/cases.yaml lists a cluster's objects other than the manifests, and what each case changes.
"""

import functools
import json
from base64 import b64encode
from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trustme
import yaml

from devcluster.build import REPOSITORY
from ingress_manager.commands.check import cluster as reading
from ingress_manager.commands.check import hook
from ingress_manager.commands.check.provided import NEVER, Access
from ingress_manager.commands.policies import policies_of
from ingress_manager.commands.printing import as_yaml
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.permissions import permissions_of
from ingress_manager.commands.snapshot.certificates import NOT_INSTALLED
from ingress_manager.core.settings_parser import read
from tests.commands.commands import Cluster, listing, run
from tests.manifests.objects import rendered

CLUSTER, CASES = yaml.safe_load(Path(__file__).with_name("check").joinpath("cases.yaml").read_text("utf-8")).values()
INSTALLED = ("manifests", "metacontroller/install", "metacontroller/listenerset")
NOW = datetime(2026, 1, 4, 0, 1, tzinfo=UTC)
HOST = "ingress-manager-admission.ingress-manager.svc"
GONE = object()
MADE = "--output=jsonpath={.items[*].metadata.creationTimestamp}"
PRINTED = {MADE: "made", "--output=name": "selected", "--raw": "metrics"}
"""The field of a case with kubectl's output, by the kubectl option."""


@functools.cache
def sound() -> str:
    """Return the objects of a healthy installation with the webhook, as JSON."""
    objects = deepcopy([obj for folder in INSTALLED for obj in rendered(folder) if obj["kind"] != "ConfigMap"])
    for file in ("deployment", "webhook"):
        objects += yaml.safe_load_all((REPOSITORY / f"manifests/admission/{file}.yaml").read_text(encoding="utf-8"))
    for obj in objects:
        if obj["kind"] == "Deployment":
            obj["status"] = {"readyReplicas": obj["spec"]["replicas"]}
            for volume in obj["spec"]["template"]["spec"].get("volumes", ()):
                if "configMap" in volume:
                    volume["configMap"]["name"] = "ingress-manager-settings"
    objects += CLUSTER
    return json.dumps(objects)


@functools.cache
def certificate(host: str = HOST, begin: datetime = datetime(2020, 1, 1), end: datetime = datetime(2099, 1, 1)) -> str:
    made = trustme.CA().issue_cert(host, not_before=begin, not_after=end)
    return b64encode(made.cert_chain_pems[0].bytes()).decode()


def changed(objects: list[dict[str, Any]], place: str, value: Any = GONE) -> None:
    """Set the value at `KIND NAME PATH`; without a value, delete it, or the whole object if there is no PATH."""
    kind, name, *paths = place.split(" ")
    [target] = [obj for obj in objects if (obj["kind"], obj["metadata"]["name"]) == (kind, name)]
    if not paths:
        objects.remove(target)
        return
    holds: Any = target
    *above, last = [int(key) if key.isdecimal() else key for key in paths[0].split(".")]
    for key in above:
        holds = holds.setdefault(key, {}) if isinstance(holds, dict) else holds[key]
    if value is GONE:
        del holds[last]
    else:
        holds[last] = value


class Installed(Cluster):
    """Answers in place of kubectl for a healthy installation with the changes of one case."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch)
        self.objects = json.loads(sound())
        self.case: dict[str, Any] = {}
        monkeypatch.setattr(reading, "datetime", SimpleNamespace(now=lambda _: NOW))
        self.heals_after = 0
        """The number of sleeps after which the installation is healthy."""

    def nap(self, seconds: float) -> None:
        super().nap(seconds)
        if len(self.naps) == self.heals_after:
            self.objects = json.loads(sound())

    def becomes(self, case: dict[str, Any]) -> None:
        self.case = case
        for place, value in (dict.fromkeys(case.get("gone", ()), GONE) | case.get("set", {})).items():
            changed(self.objects, place, value)
        if "settings" in case:
            data = {"settings.yaml": as_yaml(case["settings"])}
            changed(self.objects, "ConfigMap ingress-manager-settings data", data)
        self.objects += case.get("add", ())
        if "policies" in case:
            stated, *action = case["policies"]
            self.objects += policies_of(read(stated), *action)

    def answer(self, arguments: Sequence[str], stdin: str) -> str:
        words = {arguments[0], *arguments[1:], *(argument.partition("/")[0] for argument in arguments)}
        if unread := words & {*self.case.get("unread", ())}:
            permissions = " and ".join(f"list {name}" for name in unread).replace("list version", "get /version")
            raise KubectlFailed(f"you don't have permission to {permissions}")
        if arguments[0] == "version":
            return json.dumps({"serverVersion": {"gitVersion": self.case.get("kubernetes", "v1.36.3")}})
        if "--dry-run=server" in arguments:
            for message in map(self.case.get("denied", {}).get, json.loads(stdin)["spec"]["rules"][0]):
                if message:
                    raise KubectlFailed(message)
            return ""
        if arguments[0] == "create":
            wanted = [Access(**review["spec"]["resourceAttributes"]) for review in json.loads(stdin)["items"]]
            answers = {Access(*access): allowed for *access, allowed in self.case.get("permissions", ())}
            return " ".join(str(answers.get(access, access not in NEVER)).lower() for access in wanted)
        for option in PRINTED.keys() & {*arguments}:
            return str(self.case.get(PRINTED[option], ""))
        if any("tls" in argument for argument in arguments[:-1]):
            crt = self.case.get("crt", {})
            return "" if crt is None else certificate(**crt)
        resource, _, name = arguments[-1].partition("/")
        plural = resource.partition(".")[0]
        kinds = {plural.removesuffix("s"), plural.removesuffix("es"), plural.removesuffix("ies") + "y"}
        objects = [obj for obj in self.objects if obj["kind"].lower() in kinds]
        objects = [obj for obj in objects if name in {"", obj["metadata"]["name"]}]
        return "" if not objects and "--ignore-not-found" in arguments else json.dumps(listing(*objects))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Installed:
    return Installed(monkeypatch)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_broken_part_is_reported(case: dict[str, Any], cluster: Installed) -> None:
    cluster.becomes(case)
    *lines, _, _ = run("check").out.splitlines(keepends=True)
    assert "".join(line for line in lines if line[0] != "✓") == case["says"]


@pytest.mark.usefixtures("cluster")
def test_it_says_that_all_is_well() -> None:
    ended = run("check")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("✓ Kubernetes: its version is supported\n✓ Metacontroller: it runs")
    assert ended.out.endswith("\n\nAll is well: 10 ok.\n")


@pytest.mark.parametrize("permission", [needed.permission for needed in permissions_of("check")])
def test_unreadable_objects_are_unknown_and_cause_no_other_finding(permission: str, cluster: Installed) -> None:
    resource = permission.rsplit(maxsplit=1)[-1]
    failed = {
        "Event shop message": "sync hook failed: http error: connection refused",
        "Event shop lastTimestamp": "2026-01-04T00:00:00Z",
    }
    short = resource.partition(".")[0]
    asked = {"subjectaccessreviews": "create", "services/proxy": "--raw", "secrets": "secret"}.get(short, short)
    asked = "--dry-run=server" if permission.startswith("create httproutes") else asked
    cluster.becomes({"unread": [asked, resource], "set": failed if short == "ingresses" else {}})
    ended = run("check")
    assert ended.status == (0 if asked == "--raw" else 2)
    assert not {"✗", "!"} & {line[0] for line in ended.out.splitlines() if line}


@pytest.mark.parametrize(("heals_after", "status"), [(3, 0), (0, 1)])
def test_it_waits_until_nothing_is_wrong_or_the_timeout(heals_after: int, status: int, cluster: Installed) -> None:
    cluster.heals_after = heals_after
    changed(cluster.objects, "DecoratorController ingress-manager")
    ended = run("check", "--wait", "--timeout", "5")
    assert (ended.status, cluster.naps) == (status, [2.0, 2.0, 2.0])
    assert ended.err.startswith("… waiting for this to be fixed: DecoratorController: DecoratorController ingr")


def test_the_private_key_in_the_webhooks_secret_is_not_printed(cluster: Installed) -> None:
    run("check")
    [read] = [call for call in cluster.calls if "secret/" in call]
    only = "--namespace=ingress-manager --ignore-not-found --output=jsonpath={.data.tls\\.crt}"
    assert read == f"get {only} -- secret/ingress-manager-admission-tls"


@pytest.mark.usefixtures("cluster")
def test_without_the_library_no_certificate_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "can_be_read", lambda: False)
    sentence = f"-tls could not be read: {NOT_INSTALLED}\n"
    assert sentence in run("check").out
