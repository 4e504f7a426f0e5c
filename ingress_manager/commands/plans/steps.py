"""Steps that several commands need, and the commands of kubectl that they run."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingress_manager.commands.plans.plan import Pause, Seen, Step, Until
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.manifests import Item, about
from ingress_manager.commands.view.events import SYNC_ERROR
from ingress_manager.commands.view.managed import CONTROLLER
from ingress_manager.core.decide import ABSENT, LONGEST_ABSENT
from ingress_manager.core.kubernetes import DECORATOR, LAST_APPLIED, Object
from ingress_manager.core.text import is_seen, quoted

MOVING = "ingress-manager/moving"
"""An annotation of a Service that says nothing to anybody. The last step takes it off."""

Annotations = Mapping[str, str | None]
"""Annotations and what they shall be; None takes one off."""


def kubectl(verb: str, *items: Item, options: Iterable[str] = (), changes: Iterable[str] = ()) -> Command:
    """Return the command that does something to objects of one kind in one namespace."""
    kind = items[0].kind.rpartition("/")[2].lower()
    names = (item.name for item in items)
    return ("kubectl", verb, f"--namespace={items[0].namespace}", *options, "--", kind, *names, *changes)


def patch(item: Item, change: dict[str, Any]) -> Command:
    """Return the command that merges a change into an object.

    When `change` has the metadata.resourceVersion, and the object has been changed since, the API server refuses it.
    """
    return kubectl("patch", item, options=("--type=merge", f"--patch={json.dumps(change)}"))


def annotate(*items: Item, changes: Iterable[str], overwrite: bool = False, options: Iterable[str] = ()) -> Command:
    """Return the command that changes annotations: each change is KEY=VALUE, or KEY- to take it off.

    Without `overwrite`, kubectl refuses to give an annotation another value.
    """
    return kubectl("annotate", *items, options=[*options, *(["--overwrite"] if overwrite else [])], changes=changes)


def path_of(key: str) -> str:
    """Return the JSONPath of an annotation, as kubectl has it."""
    return f"{{.metadata.annotations.{key.replace('.', chr(92) + '.')}}}"


def as_printed(value: Any) -> str:
    """Return a value as kubectl prints it by a JSONPath: as JSON of Go, but text as it is, and nothing for None."""
    if value is None:
        return ""
    is_text = isinstance(value, str)
    text = value if is_text else json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    # Go escapes these. Others that nobody would see can't be shown: what has them is never seen.
    hidden = {char for char in text if not char.isprintable()}
    for char in hidden if is_text else {*"<>&", *hidden}:
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def looking(namespace: str, name: str, *paths: str) -> Command:
    """Return the command that prints fields of an Ingress on one line, or nothing if it isn't there."""
    options = (f"--namespace={namespace}", "--ignore-not-found", f"--output=jsonpath={' '.join(paths)}")
    return ("kubectl", "get", *options, "--", "ingress", name)


def events_of(service: Item) -> Command:
    """Return the command that prints a line for each of Metacontroller's Events on a Service that tell of a failure.

    Its resourceVersion, in front, changes when the same Event is reported again.
    """
    these = f"--field-selector=involvedObject.uid={service.metadata.get('uid')},reason={SYNC_ERROR}"
    output = '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\\n"}{end}'
    return ("kubectl", "get", f"--namespace={service.namespace}", these, output, "--", "events")


def stands(service: Item, ingress: Object) -> Seen:
    """Return what shows that Metacontroller has made an Ingress for a Service, and that it says what is planned."""
    name, annotations = ingress["metadata"]["name"], ingress["metadata"].get("annotations", {})
    keys = [key for key in annotations if key.isprintable() and annotations[key].isprintable()]
    paths = ("{.metadata.ownerReferences[?(@.controller==true)].uid}", path_of(DECORATOR), "{.spec}")
    values = (service.metadata.get("uid"), CONTROLLER, ingress["spec"], *(annotations[key] for key in keys))
    return Seen(
        looking(service.namespace, name, *paths, *map(path_of, keys)),
        " ".join(map(as_printed, values)),
        f"Ingress {service.namespace}/{name} does not stand as planned; the Events of its Service may say why",
        why=events_of(service),
    )


def is_served(namespace: str, name: str, addresses: Any) -> Seen:
    """Return what shows that a controller has given an Ingress these addresses, those of its status."""
    return Seen(
        looking(namespace, name, "{.status.loadBalancer.ingress}"),
        as_printed(addresses),
        f"Ingress {namespace}/{name} does not have the addresses of the one that it replaces, which stays: it is not "
        "served yet, or has a load balancer of its own",
    )


def is_unchanged(item: Item) -> Seen:
    """Return what shows that an Ingress still is as it was read."""
    values = (item.metadata.get("uid"), item.metadata.get("resourceVersion"))
    return Seen(
        looking(item.namespace, item.name, "{.metadata.uid}", "{.metadata.resourceVersion}"),
        " ".join(map(as_printed, values)),
        f"Ingress {item.full_name} has been changed since it was read: plan it again",
        at_once=True,
    )


def is_recorded(item: Item, spec: Any) -> Seen:
    """Return what shows that Metacontroller looks after an adopted Ingress, which has this spec."""
    return Seen(
        looking(item.namespace, item.name, "{.metadata.uid}", "{.spec}", path_of(LAST_APPLIED)),
        " ".join(map(as_printed, (item.metadata.get("uid"), spec, '{"apiVersion":'))),
        f"Metacontroller has not written its record on {item}, or the Ingress is not as planned: does the cluster have "
        "other settings?",
    )


def deleting(item: Item) -> Step:
    """Return the step that deletes an Ingress, unless it has been changed, or made again, since it was read.

    Source: DeleteOptions of the Kubernetes API reference; `kubectl delete ingress` has no preconditions.
    """
    as_read = {key: item.metadata.get(key) for key in ("uid", "resourceVersion")}
    uri = f"/apis/networking.k8s.io/v1/namespaces/{item.namespace}/ingresses/{item.name}"
    only = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": as_read}
    return Step(("kubectl", "delete", f"--raw={uri}", "--filename=-"), stdin=json.dumps(only), takes_away=True)


def annotating(service: Item, changes: Annotations, until: Sequence[Until] = (), *, version: bool = False) -> Step:
    """Return the step that changes annotations of a Service.

    With `version`, the API server refuses it when the Service has been changed since it was read.
    """
    before = {key: service.annotations.get(key) for key in changes}
    stated = service.metadata.get("resourceVersion") if version else None
    options = [f"--resource-version={stated}"] if stated else []
    command = _annotate(service, now=before, then=changes, options=options)
    return Step(command, _annotate(service, now=changes, then=before), until)


def _annotate(service: Item, *, now: Annotations, then: Annotations, options: Iterable[str] = ()) -> Command:
    replaces = any(None not in (now[key], value) and now[key] != value for key, value in then.items())
    words = [f"{key}-" if value is None else f"{key}={value}" for key, value in then.items()]
    return annotate(service, changes=words, overwrite=replaces, options=options)


def touch(service: Item, *items: Item) -> Step:
    """Return the step that makes Metacontroller look at a Service again, and report that it hasn't these objects.

    The value is another one each time that it is done, or it would be no change.
    """
    versions = [each.metadata.get("resourceVersion") for each in (service, *items)]
    value = ".".join(str(version) for version in versions if version)
    command = annotate(service, changes=[f"{MOVING}={value}"], overwrite=True)
    until = [is_reported(service, item) for item in items] if is_told(items) else [Pause()]
    return Step(command, annotate(service, changes=[f"{MOVING}-"]), until)


def is_told(items: Iterable[Item]) -> bool:
    """Return whether one Event of Metacontroller's names all of these objects."""
    return len(", ".join(f"{item}{ABSENT}" for item in items)) <= LONGEST_ABSENT


def is_reported(service: Item, item: Item) -> Seen:
    """Return Metacontroller's Event on a Service which says that it hasn't the object that it asks for.

    Source of its words: `not_made` of ingress_manager/core/decide.py.
    """
    text = f"{item}{ABSENT}"
    missing = (
        f"Metacontroller has not reported `{text}`, by which it says that it takes that for nobody's of its own. Where "
        "the settings pause ingress-manager, --without-event does without"
    )
    return Seen(events_of(service), text, missing, is_new=True)


def unseen(item: Item, annotations: Annotations) -> Iterator[Message]:
    """Yield a message for each value of an annotation, new or old (for the way back), that no command can show."""
    before = {key: item.annotations.get(key) for key in annotations}
    for key, value in (*annotations.items(), *before.items()):
        if value is not None and not is_seen(value):
            sentence = (
                f"{key}: {quoted(value)} holds characters that a person would not see in a command, so none is made: "
                "take them out, with `kubectl edit`"
            )
            yield about(item, sentence, "metadata", "annotations", key)
