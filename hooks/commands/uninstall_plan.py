"""`uninstall-plan`: the commands that remove ingress-manager from a cluster, in an order that is safe. The pure part.

The DecoratorController and the hook go first. Without an answer of the hook, Metacontroller makes nothing again, and
deletes nothing.
"""

from collections.abc import Iterable, Iterator

from hooks.annotations import PREFIX
from hooks.commands.administrators import DEPLOYMENT, NAMESPACE
from hooks.commands.ingresses import INGRESS
from hooks.commands.managed import CONTROLLER, HTTPROUTE, is_managed, without_marks
from hooks.commands.manifests import Item, Manifests
from hooks.commands.services import SERVICE
from hooks.commands.steps import patch

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

Command = tuple[str, ...]


def uninstall_plan(
    manifests: Manifests, *, keep: bool, keep_metacontroller: bool = False, has_controllers: bool | None = None
) -> Iterator[str | Command]:
    """Yield the commands, as arguments of kubectl, and comments that say what they are for.

    With `keep`, every Ingress and HTTPRoute stays as it is; without, all are removed that ingress-manager has made.
    Metacontroller stays with `keep_metacontroller`, or where it works for other controllers, or may do so.
    `has_controllers`: whether the cluster knows DecoratorControllers, all of which are then among the manifests; after
    a plan that wasn't finished, it may not. None: nobody has looked.
    """
    made = [item for item in manifests.of_kind(INGRESS, HTTPROUTE) if is_managed(item)]
    asking = [item for item in manifests.of_kind(SERVICE) if any(key.startswith(PREFIX) for key in item.annotations)]
    yield "Stop ingress-manager. What it has made is served on."
    if has_controllers is not False:
        yield ("delete", "decoratorcontroller", CONTROLLER, "--ignore-not-found")
    yield ("delete", "deployment", DEPLOYMENT, f"--namespace={NAMESPACE}", "--cascade=foreground", "--ignore-not-found")
    if made and keep:
        yield f"Release what it has made, {len(made)} in all: it stays, also when its Service is deleted."
        yield from (patch(item, {"metadata": without_marks(item)}) for item in made)
    elif made:
        yield f"Remove what it has made, {len(made)} in all: from here on, nothing serves the Services."
        for kind, items in (("ingress", of_kind(made, INGRESS)), ("httproute", of_kind(made, HTTPROUTE))):
            yield from each_namespace(items, ("delete", kind), ("--ignore-not-found",))
    if asking:
        yield "Take the annotations off the Services. Whoever keeps Services in Git takes them off there."
        keys = sorted({key for item in asking for key in item.annotations if key.startswith(PREFIX)})
        yield from each_namespace(asking, ("annotate", "service"), tuple(f"{key}-" for key in keys))
    yield from the_rest(manifests, keep_metacontroller=keep_metacontroller, looked=has_controllers is not None)


def of_kind(items: Iterable[Item], kind: str) -> list[Item]:
    """Return the items of a kind."""
    return [item for item in items if item.kind == kind]


def each_namespace(items: Iterable[Item], verb: Command, options: Command) -> Iterator[Command]:
    """Yield the commands that do the same to all items: one for each namespace, or more for very many."""
    names: dict[str, list[str]] = {}
    for item in items:
        names.setdefault(item.namespace, []).append(item.name)
    for namespace, of_one in names.items():
        for start in range(0, len(of_one), MOST_NAMES):
            yield (*verb, *of_one[start : start + MOST_NAMES], f"--namespace={namespace}", *options)


def the_rest(manifests: Manifests, *, keep_metacontroller: bool, looked: bool) -> Iterator[str | Command]:
    """Yield the commands that remove what was installed."""
    yield "Remove the admission policies, the rights, and the hook's namespace."
    kinds = "validatingadmissionpolicybinding,validatingadmissionpolicy"
    yield ("delete", kinds, *POLICIES, "--ignore-not-found")
    yield ("delete", "clusterrolebinding,clusterrole", CONTROLLER, "--ignore-not-found")
    yield ("delete", "namespace", NAMESPACE, "--ignore-not-found")
    if keep_metacontroller:
        yield "Metacontroller stays, as --keep-metacontroller asks for."
        return
    controllers = list(manifests.of_kind(DECORATORS, COMPOSITES))
    if not (controllers or looked):
        yield "Metacontroller stays: none of its controllers was read, so that it can't be known whether it has others."
        return
    others = [f"{item.kind.rpartition('/')[2]} {item.name}" for item in controllers if item.name != CONTROLLER]
    if others:
        yield f"Metacontroller stays: it also works for {', '.join(others)}."
        return
    yield "Remove Metacontroller. It works for nobody else."
    yield ("delete", "namespace", "metacontroller", "--ignore-not-found")
    crds = ("compositecontrollers", "controllerrevisions", "decoratorcontrollers")
    yield ("delete", "crd", *(f"{name}.metacontroller.k8s.io" for name in crds), "--ignore-not-found")
    # Last: by them, `make uninstall` knows that it was installed from here, also when it has to be run again.
    yield ("delete", "clusterrolebinding,clusterrole", "ingress-manager-metacontroller", "--ignore-not-found")
