"""Why something isn't as it should be, though nothing is wrong with the Service: what its Events say is in the way.

Metacontroller reports each failed attempt as an Event of the Service, in the API server's words or with the hook's, and
tries again after 1,000 s at most. Only what no Event explains is put down to Metacontroller. The pure part.

Sources: the Kubernetes API reference, Event v1 core; the messages of k8s.io/apiserver (admission, ResourceQuota).
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.events import Report
from ingress_manager.commands.view.managed import controller_of
from ingress_manager.core.decide import ABSENT
from ingress_manager.core.text import is_seen


class Obstacle(NamedTuple):
    """What may be in the way."""

    says: str
    """How the API server, or Metacontroller, says it; the first group, if there is one, is `name`."""

    what: str
    command: Command
    """What a person looks at. `kind`, `namespace`, `object` and `version` are those of the Service."""


DESCRIBE: Command = ("kubectl", "describe", "--namespace={namespace}", "--", "{kind}", "{object}")
_WEBHOOKS: Command = ("kubectl", "get", "--", "validatingwebhookconfigurations,mutatingwebhookconfigurations")
_TRY_AGAIN: Command = (
    *("kubectl", "annotate", "--namespace={namespace}", "--overwrite", "--", "{kind}", "{object}"),
    "ingress-manager/tried-again={version}",
)
"""It says nothing to anybody: any change of a Service makes Metacontroller try at once."""

_LABEL = "app.kubernetes.io/name=ingress-manager"
_HOOK = "the hook doesn't answer as it should"
_LATER = ", so that Metacontroller tries again within 1,000 s"
_NAME = "([a-z0-9][a-z0-9.-]*)"

OBSTACLES = (
    Obstacle(
        f"exceeded quota: {_NAME}",
        "the ResourceQuota {name} is used up",
        ("kubectl", "describe", "--namespace={namespace}", "--", "resourcequota", "{name}"),
    ),
    Obstacle(
        f"{ABSENT}: one that",
        "the name was taken, and is free now, or something denies it; it is asked for again within six minutes",
        _TRY_AGAIN,
    ),
    Obstacle(
        f"ValidatingAdmissionPolicy '{_NAME}'",
        "the ValidatingAdmissionPolicy {name} denies it",
        ("kubectl", "describe", "--", "validatingadmissionpolicy", "{name}"),
    ),
    Obstacle(f'admission webhook "{_NAME}" denied', "the admission webhook {name} denies it", _WEBHOOKS),
    Obstacle(f'failed calling webhook "{_NAME}"', "the admission webhook {name} doesn't answer", _WEBHOOKS),
    Obstacle(
        "unsupported status code: 4",
        f"the hook refused the Service then, and would not by these settings{_LATER}",
        _TRY_AGAIN,
    ),
    # Metacontroller names the URL of a hook that it could not reach. A part that is only a number is of an IP address.
    Obstacle(
        r'sync hook failed.*?: Post "https?://[^./:]+\.([a-z0-9-]*[a-z][a-z0-9-]*)',
        _HOOK,
        ("kubectl", "get", "--namespace={name}", "--", "deployments,pods"),
    ),
    Obstacle(
        "sync hook failed",
        _HOOK,
        ("kubectl", "get", "--all-namespaces", f"--selector={_LABEL}", "--", "deployments,pods"),
    ),
    Obstacle("", "Metacontroller can't do it", DESCRIBE),
)
"""The first that fits counts; the last one always does."""


def is_unexplained(finding: Finding) -> bool:
    """Return whether something was found that Events may explain."""
    return finding.command == remedies.SYNC_ALL


def with_reasons(findings: Iterable[Finding], found: Mapping[str, Report] | str) -> list[Finding]:
    """Return the findings, with what is in the way; `found`: the Services' reports, or why they can't be looked at."""
    return [_with_reason(each, found) if is_unexplained(each) else each for each in findings]


def _with_reason(finding: Finding, found: Mapping[str, Report] | str) -> Finding:
    service = service_of(finding.item)
    words = {
        "kind": service.kind.rpartition("/")[2].lower(),
        "namespace": service.namespace,
        "object": service.name,
        "version": service.metadata.get("resourceVersion") or "once",
    }
    if isinstance(found, str):
        command = tuple(word.format(**words) for word in DESCRIBE)
        return finding._replace(sentence=f"{finding.sentence}; it isn't known why: {found}", command=command)
    report = found.get(str(service.metadata.get("uid") or ""))
    if report is None:
        return finding._replace(sentence=f"{finding.sentence}, and no Event of its Service says why")
    obstacle, match = next((each, match) for each in OBSTACLES if (match := re.search(each.says, report.sentence)))
    words["name"] = (match.groups() or ("",))[0]
    said = f"Metacontroller said at {report.time}: {report.sentence.removeprefix('Sync error: ')}"
    sentence = f"{finding.sentence}: {obstacle.what.format(**words)}; {said}"
    return finding._replace(sentence=sentence, command=tuple(word.format(**words) for word in obstacle.command))


def service_of(item: Item) -> Item:
    """Return a Service as it is, and for what was made for one: that Service, as far as its owner reference says it."""
    if item.kind == SERVICES:
        return item
    owner = controller_of(item)
    metadata = {"name": owner.get("name"), "namespace": item.namespace, "uid": owner.get("uid")}
    service = Item({"apiVersion": "v1", "kind": "Service", "metadata": metadata}, item.origin)
    # No API server has a Service of a name that a command can't hold.
    return service if is_seen(service.name) else item
