"""`uninstall`: the steps that remove ingress-manager from a cluster, in an order that is safe. The pure part.

The DecoratorController and the hook go first. Without an answer of the hook, Metacontroller makes nothing again, and
deletes nothing.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ingress_manager.commands.plans.plan import Step, listed
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.installations import DEFAULT, Installation
from ingress_manager.commands.reading.kinds import HTTPROUTES, INGRESSES, LISTENERSETS, SERVICES
from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.view.entrances import entrances_in, keys_of
from ingress_manager.commands.view.managed import (
    CONTROLLER,
    controller_of,
    copied_from,
    is_managed,
    operations_to_disown,
)
from ingress_manager.commands.view.objects import ObjectView, as_object
from ingress_manager.core.kubernetes import Ingress

DECORATORS = "metacontroller.k8s.io/v1alpha1/DecoratorController"
COMPOSITES = "metacontroller.k8s.io/v1alpha1/CompositeController"

POLICIES = (
    "ingress-manager-external-name",
    "ingress-manager-name-taken",
    "ingress-manager-owner-guard",
    "ingress-manager-service-guard",
    "ingress-manager-size",
    "ingress-manager-httproute-external-name",
    "ingress-manager-httproute-name-taken",
)
"""The admission policies of metacontroller/, and their bindings; those of taken names are of earlier versions."""

GOING = ("--ignore-not-found", "--wait=false")
"""Options with which kubectl deletes many at once. It would wait for one after the other, though nothing needs them."""

VIEWERS = ("ingress-manager-aggregate-to-view", "ingress-manager-viewer")
"""The ClusterRoles of manifests/. Who is bound to them has bindings under names that nobody here knows."""

HOOK = "service,serviceaccount,networkpolicy.networking.k8s.io,poddisruptionbudget.policy,deployment.apps"
"""What carries the name of the hook's Deployment, or the webhook's."""

MOST_NAMES = 10
"""Objects that a command line names: kubectl has one client for them, which sends five requests a second from then on.
For each object that it reads it has another: two hundred take two seconds instead of forty."""


def uninstall(
    manifests: Manifests,
    installation: Installation = DEFAULT,
    *,
    keep: bool,
    keep_metacontroller: bool = False,
    has_controllers: bool | None = None,
) -> Iterator[Step]:
    """Yield the steps that remove an installation.

    With `keep`, every object stays as it is; without, all are removed that ingress-manager has made.
    Metacontroller stays with `keep_metacontroller`, or where it works for other controllers, or may do so.
    `has_controllers`: whether the cluster knows DecoratorControllers, all of which are then among the manifests; after
    a plan that wasn't finished, it may not. None: nobody has looked.
    """
    managed = [item for item in manifests.of_kind(INGRESSES, HTTPROUTES, LISTENERSETS) if is_managed(item)]
    asking = [item for item in manifests.of_kind(SERVICES) if asking_keys(item)]
    decorator = [] if has_controllers is False else [delete("decoratorcontroller", CONTROLLER)]
    if managed and not keep:
        urls = [f"  {url} ({item})" for item in managed if item.kind != LISTENERSETS for url in urls_of(item)]
        yield Step(notes=["No longer answered after this:", *urls])
    there = f"--namespace={installation.namespace}"
    deployment = delete("deployment", installation.name, options=(there, "--cascade=foreground"))
    yield from steps_of("Stop ingress-manager. What it has made is served on.", *decorator, deployment)
    if keep:
        head = f"Release what it has made, {len(managed)} in all: it stays, also when its Service is deleted."
        yield from titled(head, *releasing(managed))
    else:
        head = f"Remove what it has made, {len(managed)} in all: from here on, nothing serves the Services."
        yield from titled(head, *([each_of("delete", managed, GOING)] if managed else []))
    yield from titled(
        "Take the annotations off the Services. Whoever keeps Services in Git takes them off there.",
        *taking_off(asking, managed if keep else ()),
    )
    yield from steps_of(
        "Remove the webhook, the admission policies and the rights.",
        delete("validatingwebhookconfiguration", installation.name),
        delete("validatingadmissionpolicybinding,validatingadmissionpolicy", *POLICIES),
        delete("clusterrolebinding,clusterrole", CONTROLLER, *VIEWERS),
    )
    reason = staying(manifests, keep=keep_metacontroller, looked=has_controllers is not None)
    own = [installation.namespace] if installation.namespace == DEFAULT.namespace else []
    if not own:
        # As the chart names it: its Service's name has an end.
        webhook = f"{installation.name[:53]}-admission"
        rest = [delete(HOOK, installation.name, webhook, options=[there])]
        rest += [delete("role", f"{installation.name}-viewer", options=[there])]
        yield from steps_of("Remove what the hook has in its namespace, which may hold more.", *rest)
    elif reason:
        yield from steps_of("Remove the hook's namespace.", delete("namespace", *own))
    if reason:
        yield Step(notes=[f"Metacontroller stays{reason}"])
        return
    hook = "the hook's namespace, and " if own else ""
    crds = ("compositecontrollers", "controllerrevisions", "decoratorcontrollers")
    yield from steps_of(
        f"Remove {hook}Metacontroller, which works for nobody else.",
        # Both by one command: each takes seconds to go, and kubectl waits for both at a time.
        delete("namespace", *own, "metacontroller"),
        delete("crd", *(f"{name}.metacontroller.k8s.io" for name in crds)),
        # Last: by them, `make uninstall` knows that it was installed from here, also when it has to be run again.
        delete("clusterrolebinding,clusterrole", "ingress-manager-metacontroller"),
    )


def urls_of(item: Item) -> Iterator[str]:
    """Yield the hosts and paths at which an Ingress or an HTTPRoute answers."""
    found = as_object(item)
    if not isinstance(found, ObjectView):
        yield "hosts and paths that can't be read"
    elif not isinstance(found.typed, Ingress):
        yield from (f"{host or '*'}{path}" for host in found.typed.hosts() for path, _ in found.typed.paths())
    else:
        yield from (f"{host or '*'}{path.path or '/'}" for host, path in found.typed.spec.paths())
        yield from ["*/"] if found.typed.spec.default_backend else []


def asking_keys(service: Item) -> list[str]:
    """Return the annotations of a Service that ask for an entrance."""
    return [key for entrance in entrances_in(service.annotations) for key in keys_of(entrance, service.annotations)]


def lines(steps: Iterable[Step], options: Sequence[str] = ()) -> Iterator[str]:
    """Yield the steps as lines, with an empty one before those that have a title."""
    for number, step in enumerate(steps):
        yield from [""] if step.notes and number else []
        yield from listed([step], options)


def steps_of(head: str, *commands: Command) -> Iterator[Step]:
    """Yield a step for each command; the first has the note that says what they are for."""
    return titled(head, *map(Step, commands))


def titled(head: str, *steps: Step) -> Iterator[Step]:
    """Yield steps; the first has the note that says what they are for."""
    return (step if number else replace(step, notes=[head]) for number, step in enumerate(steps))


def releasing(managed: Iterable[Item]) -> Iterator[Step]:
    """Yield the steps after which objects are nobody's: few, since a call of kubectl for each would take a minute."""
    groups: dict[str, list[Item]] = {}
    for item in managed:
        groups.setdefault(json.dumps(operations_to_disown(item)), []).append(item)
    for operations, items in groups.items():
        yield each_of("patch", items, ["--type=json", f"--patch={operations}"])


def taking_off(asking: Sequence[Item], kept: Iterable[Item]) -> Iterator[Step]:
    """Yield the steps that take off Services what asks for something, and what was copied to the objects that stay."""
    keys = sorted({key for item in asking for key in asking_keys(item)})
    made: dict[str, list[Item]] = {}
    for item in kept:
        made.setdefault(str(controller_of(item).get("uid")), []).append(item)
    groups: dict[tuple[str, ...], list[Item]] = {}
    for item in asking:
        copied = tuple(copied_from(item, made.get(str(item.metadata.get("uid")), ())))
        groups.setdefault(copied, []).append(item)
    for copied, items in groups.items():
        yield each_of("annotate", items, changes=[f"{key}-" for key in (*keys, *copied)])


def each_of(verb: str, items: Sequence[Item], options: Sequence[str] = (), changes: Sequence[str] = ()) -> Step:
    """Return the step that does something to each of some objects, by one call of kubectl.

    Its command line names a few objects of one kind in one namespace. Others are named by what it reads.
    """
    if len(items) <= MOST_NAMES and len({(item.kind, item.namespace) for item in items}) == 1:
        return Step(kubectl(verb, *items, options=options, changes=changes))
    named = [reference(item) for item in items]
    command = ("kubectl", verb, "--filename=-", *options, *(["--", *changes] if changes else []))
    return Step(command, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": named}))


def reference(item: Item) -> dict[str, object]:
    version, _, kind = item.kind.rpartition("/")
    return {"apiVersion": version, "kind": kind, "metadata": {"namespace": item.namespace, "name": item.name}}


def delete(kind: str, *names: str, options: Iterable[str] = ()) -> Command:
    """Return the command that deletes what is there of some objects."""
    return ("kubectl", "delete", *options, "--ignore-not-found", "--", kind, *names)


def staying(manifests: Manifests, *, keep: bool, looked: bool) -> str:
    """Return why Metacontroller stays; empty when it goes."""
    if keep:
        return ", as --keep-metacontroller asks for."
    controllers = list(manifests.of_kind(DECORATORS, COMPOSITES))
    if not (controllers or looked):
        return ": none of its controllers was read, so that it can't be known whether it has others."
    others = [f"{item.kind.rpartition('/')[2]} {item.name}" for item in controllers if item.name != CONTROLLER]
    return f": it also works for {', '.join(others)}." if others else ""
