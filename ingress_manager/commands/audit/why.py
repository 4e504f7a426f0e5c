"""Why something isn't as it should be, though nothing is wrong with the Service: what its Events say is in the way.

Metacontroller reports each failed attempt as an Event of the Service, in the API server's words or with the hook's, and
tries again after 1,000 s at most. Only what no Event explains is put down to Metacontroller. The pure part.

Sources: the Kubernetes API reference, Event v1 core; the messages of k8s.io/apiserver (admission, ResourceQuota).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.audit.audit import Finding
from ingress_manager.commands.plans import steps
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.events import Report
from ingress_manager.commands.view.managed import CONTROLLER, controller_of
from ingress_manager.core.text import is_seen

_TRIED_AGAIN = "ingress-manager/tried-again"
"""An annotation that says nothing to anybody: any change of a Service makes Metacontroller try at once."""

_BEFORE = "Sync error: "
"""How Metacontroller begins."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What may be in the way: how the API server, or Metacontroller, says it, and what a person looks at."""

    says: re.Pattern[str]
    """Its first group, if there is one, is the name of what is in the way; of a hook, the namespace."""

    what: str
    look_at: Callable[[Item, str], Command]
    """Returns the command, for the Service's namespace and name (any object of them), and that name."""


def _try_again(service: Item, _name: str) -> Command:
    version = service.metadata.get("resourceVersion") or "once"
    return remedies.annotate(service, [f"{_TRIED_AGAIN}={version}"])


def _quota(service: Item, name: str) -> Command:
    return ("kubectl", "describe", f"--namespace={service.namespace}", "--", "resourcequota", name)


def _policy(_service: Item, name: str) -> Command:
    return ("kubectl", "describe", "--", "validatingadmissionpolicy", name)


def _webhooks(_service: Item, _name: str) -> Command:
    return ("kubectl", "get", "--", "validatingwebhookconfigurations,mutatingwebhookconfigurations")


def _hook(_service: Item, namespace: str) -> Command:
    where = (f"--namespace={namespace}",) if namespace else ("--all-namespaces", f"--selector={_LABEL}")
    return ("kubectl", "get", *where, "--", "deployments,pods")


def _describe(service: Item, _name: str) -> Command:
    return steps.kubectl("describe", service)


_INSTALL: Command = ("kubectl", "apply", "--kustomize=metacontroller/")
_LATER = ", so that Metacontroller tries again within 1,000 s"
_NAME = "([a-z0-9][a-z0-9.-]*)"
_HOOK = r"sync hook failed(?:.*?: Post \"https?://[^./:]+\.([a-z0-9-]*[a-z][a-z0-9-]*))?"
"""With the namespace of the hook that is meant, where Metacontroller could not reach it and names its URL.

A part that is only a number is one of an IP address."""

_LABEL = "app.kubernetes.io/name=ingress-manager"
"""What the hook's objects are labelled with."""

OBSTACLES = (
    Obstacle(re.compile(f"exceeded quota: {_NAME}"), "the ResourceQuota {} is used up", _quota),
    Obstacle(
        re.compile("is in the way: it was not made by"), f"the name was taken, and is free now{_LATER}", _try_again
    ),
    Obstacle(re.compile(f"ValidatingAdmissionPolicy '{_NAME}'"), "the ValidatingAdmissionPolicy {} denies it", _policy),
    Obstacle(re.compile(f'admission webhook "{_NAME}" denied'), "the admission webhook {} denies it", _webhooks),
    Obstacle(re.compile(f'failed calling webhook "{_NAME}"'), "the admission webhook {} doesn't answer", _webhooks),
    Obstacle(
        re.compile("unsupported status code: 4"),
        f"the hook refused the Service then, and would not by these settings{_LATER}",
        _try_again,
    ),
    Obstacle(re.compile(_HOOK), "the hook doesn't answer as it should", _hook),
    Obstacle(re.compile(""), "Metacontroller can't do it", _describe),
)
"""The first that fits counts; the last one always does."""


def nothing_done_at_all(controller: Item | None, *, knows_kind: bool, httproutes: bool) -> tuple[str, Command] | None:
    """Return why Metacontroller does nothing for any Service, and the command that helps; None where it may do so.

    `controller` is the DecoratorController, None where it is known that there is none; `knows_kind` says whether the
    cluster knows that kind, `httproutes` whether it knows HTTPRoutes.
    """
    if not knows_kind:
        return "Metacontroller isn't installed: the cluster knows no DecoratorControllers", _INSTALL
    if controller is None:
        return f"the DecoratorController {CONTROLLER} isn't there", _INSTALL
    attachments = controller.object.get("spec", {}).get("attachments", ())
    if not httproutes and any(each.get("resource") == "httproutes" for each in attachments):
        sentence = f"the DecoratorController {CONTROLLER} waits for the CRD of HTTPRoutes, and does nothing before"
        return sentence, ("kubectl", "get", "--", "customresourcedefinitions")
    return None


def with_reason_for_all(findings: Iterable[Finding], reason: tuple[str, Command]) -> Iterator[Finding]:
    """Yield the findings; for those that nothing explains yet, with the reason why nothing at all is done."""
    sentence, command = reason
    for finding in findings:
        is_unexplained = finding.command == remedies.SYNC_ALL
        told = replace(finding, sentence=f"{finding.sentence}; {sentence}", command=command)
        yield told if is_unexplained else finding


def need_a_reason(findings: Iterable[Finding]) -> bool:
    """Return whether something was found that Events may explain."""
    return any(finding.command == remedies.SYNC_ALL for finding in findings)


def with_reasons(findings: Iterable[Finding], found: Mapping[str, Report] | str) -> Iterator[Finding]:
    """Yield the findings, with what is in the way; `found`: the Services' reports, or why they can't be looked at."""
    for finding in findings:
        yield _with_reason(finding, found) if finding.command == remedies.SYNC_ALL else finding


def _with_reason(finding: Finding, found: Mapping[str, Report] | str) -> Finding:
    service = service_of(finding.item)
    if isinstance(found, str):
        sentence = f"{finding.sentence}; it isn't known why: {found}"
        return replace(finding, sentence=sentence, command=_describe(service, ""))
    report = found.get(str(service.metadata.get("uid") or ""))
    if report is None:
        return replace(finding, sentence=f"{finding.sentence}, and no Event of its Service says why")
    obstacle, name = next(
        (each, (match.groups("") or ("",))[0]) for each in OBSTACLES if (match := each.says.search(report.sentence))
    )
    sentence = (
        f"{finding.sentence}: {obstacle.what.format(name)}; Metacontroller said at {report.time}: "
        f"{report.sentence.removeprefix(_BEFORE)}"
    )
    return replace(finding, sentence=sentence, command=obstacle.look_at(service, name))


def service_of(item: Item) -> Item:
    """Return a Service as it is, and for what was made for one: that Service, as far as its owner reference says it."""
    if item.kind == SERVICES:
        return item
    owner = controller_of(item)
    metadata = {"name": owner.get("name"), "namespace": item.namespace, "uid": owner.get("uid")}
    service = Item({"apiVersion": "v1", "kind": "Service", "metadata": metadata}, item.origin)
    # No API server has a Service of a name that a command can't hold.
    return service if is_seen(service.name) else item
