"""`uninstall-plan`: the commands that remove ingress-manager from a cluster, in an order that is safe. The pure part.

The DecoratorController and the hook go first. Without an answer of the hook, Metacontroller makes nothing again, and
deletes nothing.
"""

from collections.abc import Iterable, Iterator

from ingress_manager.commands.plans.steps import patch
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.reading.settings import DEPLOYMENT, NAMESPACE
from ingress_manager.commands.view.ingresses import INGRESS
from ingress_manager.commands.view.managed import CONTROLLER, HTTPROUTE, is_managed, without_marks
from ingress_manager.commands.view.typed import SERVICE
from ingress_manager.core.annotations import PREFIX

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
        yield delete("decoratorcontroller", CONTROLLER)
    yield delete("deployment", DEPLOYMENT, options=(f"--namespace={NAMESPACE}", "--cascade=foreground"))
    if made and keep:
        yield f"Release what it has made, {len(made)} in all: it stays, also when its Service is deleted."
        yield from (patch(item, {"metadata": without_marks(item)}) for item in made)
    elif made:
        yield f"Remove what it has made, {len(made)} in all: from here on, nothing serves the Services."
        for kind, items in (("ingress", of_kind(made, INGRESS)), ("httproute", of_kind(made, HTTPROUTE))):
            for namespace, names in each_namespace(items):
                yield delete(kind, *names, options=(f"--namespace={namespace}",))
    if asking:
        yield "Take the annotations off the Services. Whoever keeps Services in Git takes them off there."
        keys = sorted({key for item in asking for key in item.annotations if key.startswith(PREFIX)})
        off = [f"{key}-" for key in keys]
        for namespace, names in each_namespace(asking):
            yield ("annotate", f"--namespace={namespace}", "--", "service", *names, *off)
    yield from the_rest(manifests, keep_metacontroller=keep_metacontroller, looked=has_controllers is not None)


def of_kind(items: Iterable[Item], kind: str) -> list[Item]:
    """Return the items of a kind."""
    return [item for item in items if item.kind == kind]


def delete(kind: str, *names: str, options: Command = ()) -> Command:
    """Return the arguments that delete what is there of some objects."""
    return ("delete", *options, "--ignore-not-found", "--", kind, *names)


def each_namespace(items: Iterable[Item]) -> Iterator[tuple[str, list[str]]]:
    """Yield the namespaces and the names in each, not too many at once: a namespace with very many comes again."""
    names: dict[str, list[str]] = {}
    for item in items:
        names.setdefault(item.namespace, []).append(item.name)
    for namespace, of_one in names.items():
        for start in range(0, len(of_one), MOST_NAMES):
            yield namespace, of_one[start : start + MOST_NAMES]


def the_rest(manifests: Manifests, *, keep_metacontroller: bool, looked: bool) -> Iterator[str | Command]:
    """Yield the commands that remove what was installed."""
    yield "Remove the admission policies, the rights, and the hook's namespace."
    kinds = "validatingadmissionpolicybinding,validatingadmissionpolicy"
    yield delete(kinds, *POLICIES)
    yield delete("clusterrolebinding,clusterrole", CONTROLLER)
    yield delete("namespace", NAMESPACE)
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
    yield delete("namespace", "metacontroller")
    crds = ("compositecontrollers", "controllerrevisions", "decoratorcontrollers")
    yield delete("crd", *(f"{name}.metacontroller.k8s.io" for name in crds))
    # Last: by them, `make uninstall` knows that it was installed from here, also when it has to be run again.
    yield delete("clusterrolebinding,clusterrole", "ingress-manager-metacontroller")
