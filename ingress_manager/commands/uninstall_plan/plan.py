"""`uninstall-plan`: the commands that remove ingress-manager from a cluster, in an order that is safe. The pure part.

The DecoratorController and the hook go first. Without an answer of the hook, Metacontroller makes nothing again, and
deletes nothing.
"""

from collections.abc import Iterable, Iterator, Sequence

from ingress_manager.commands.plans.plan import Step, script
from ingress_manager.commands.plans.steps import annotate, kubectl, patch
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import HTTPROUTES, INGRESSES, SERVICES
from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.reading.settings import DEPLOYMENT, NAMESPACE
from ingress_manager.commands.view.entrances import entrances_in, keys_of
from ingress_manager.commands.view.managed import CONTROLLER, is_managed, patch_to_disown

DECORATORS = "metacontroller.k8s.io/v1alpha1/DecoratorController"
COMPOSITES = "metacontroller.k8s.io/v1alpha1/CompositeController"

POLICIES = (
    "ingress-manager-depth",
    "ingress-manager-name-taken",
    "ingress-manager-owner-guard",
    "ingress-manager-service-guard",
    "ingress-manager-httproute-name-taken",
)
"""The admission policies of metacontroller/, and their bindings."""

MOST_NAMES = 100
"""Objects of one command: a command line has an end."""


def uninstall_plan(
    manifests: Manifests, *, keep: bool, keep_metacontroller: bool = False, has_controllers: bool | None = None
) -> Iterator[Step]:
    """Yield the steps.

    With `keep`, every Ingress and HTTPRoute stays as it is; without, all are removed that ingress-manager has made.
    Metacontroller stays with `keep_metacontroller`, or where it works for other controllers, or may do so.
    `has_controllers`: whether the cluster knows DecoratorControllers, all of which are then among the manifests; after
    a plan that wasn't finished, it may not. None: nobody has looked.
    """
    managed = [item for item in manifests.of_kind(INGRESSES, HTTPROUTES) if is_managed(item)]
    asking = [item for item in manifests.of_kind(SERVICES) if asking_keys(item)]
    decorator = [] if has_controllers is False else [delete("decoratorcontroller", CONTROLLER)]
    deployment = delete("deployment", DEPLOYMENT, options=(f"--namespace={NAMESPACE}", "--cascade=foreground"))
    yield from steps_of("Stop ingress-manager. What it has made is served on.", *decorator, deployment)
    if keep:
        head = f"Release what it has made, {len(managed)} in all: it stays, also when its Service is deleted."
        yield from steps_of(head, *(patch(item, {"metadata": patch_to_disown(item)}) for item in managed))
    else:
        head = f"Remove what it has made, {len(managed)} in all: from here on, nothing serves the Services."
        gone = (kubectl("delete", *items, options=["--ignore-not-found"]) for items in together(managed))
        yield from steps_of(head, *gone)
    keys = sorted({key for item in asking for key in asking_keys(item)})
    yield from steps_of(
        "Take the annotations off the Services. Whoever keeps Services in Git takes them off there.",
        *(annotate(*items, changes=[f"{key}-" for key in keys]) for items in together(asking)),
    )
    yield from steps_of(
        "Remove the admission policies, the rights, and the hook's namespace.",
        delete("validatingadmissionpolicybinding,validatingadmissionpolicy", *POLICIES),
        delete("clusterrolebinding,clusterrole", CONTROLLER),
        delete("namespace", NAMESPACE),
    )
    if reason := staying(manifests, keep=keep_metacontroller, looked=has_controllers is not None):
        yield Step(notes=[f"Metacontroller stays{reason}"])
        return
    crds = ("compositecontrollers", "controllerrevisions", "decoratorcontrollers")
    yield from steps_of(
        "Remove Metacontroller. It works for nobody else.",
        delete("namespace", "metacontroller"),
        delete("crd", *(f"{name}.metacontroller.k8s.io" for name in crds)),
        # Last: by them, `make uninstall` knows that it was installed from here, also when it has to be run again.
        delete("clusterrolebinding,clusterrole", "ingress-manager-metacontroller"),
    )


def asking_keys(service: Item) -> list[str]:
    """Return the annotations of a Service that ask for an entrance."""
    return [key for entrance in entrances_in(service.annotations) for key in keys_of(entrance, service.annotations)]


def lines(steps: Iterable[Step], options: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of the script. They are no subshell: `sh -v` prints each as it comes to it."""
    yield "set -e"
    for step in steps:
        yield from [""] if step.notes else []
        yield from script([step], options)


def steps_of(head: str, *commands: Command) -> Iterator[Step]:
    """Yield a step for each command; the first has the note that says what they are for."""
    return (Step(command, notes=[] if number else [head]) for number, command in enumerate(commands))


def delete(kind: str, *names: str, options: Iterable[str] = ()) -> Command:
    """Return the command that deletes what is there of some objects."""
    return ("kubectl", "delete", *options, "--ignore-not-found", "--", kind, *names)


def together(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items of each kind and namespace, not too many at once: a namespace with very many comes again."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        groups.setdefault((item.kind, item.namespace), []).append(item)
    for group in groups.values():
        for start in range(0, len(group), MOST_NAMES):
            yield group[start : start + MOST_NAMES]


def staying(manifests: Manifests, *, keep: bool, looked: bool) -> str:
    """Return why Metacontroller stays; empty when it goes."""
    if keep:
        return ", as --keep-metacontroller asks for."
    controllers = list(manifests.of_kind(DECORATORS, COMPOSITES))
    if not (controllers or looked):
        return ": none of its controllers was read, so that it can't be known whether it has others."
    others = [f"{item.kind.rpartition('/')[2]} {item.name}" for item in controllers if item.name != CONTROLLER]
    return f": it also works for {', '.join(others)}." if others else ""
