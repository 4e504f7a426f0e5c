"""`ingress-manager uninstall`: remove ingress-manager in a safe order.

The DecoratorController and the hook are deleted first, because Metacontroller changes nothing without the hook.
"""

from collections.abc import Iterable, Iterator, Sequence

import click

from ingress_manager.commands.plans.plan import SharedLists, Step, apply_option, carry_out, listed
from ingress_manager.commands.plans.steps import disown, for_all
from ingress_manager.commands.reading.kubectl import OF_GATEWAY_API
from ingress_manager.commands.reading.options import CLUSTER, Source, with_source
from ingress_manager.commands.reading.settings import DECORATORS, DEFAULT_INSTALLATION, named_by
from ingress_manager.commands.release import removals_from
from ingress_manager.commands.snapshot.items import HTTPROUTE, INGRESS, LISTENERSET, SERVICE, Item, of_kind
from ingress_manager.commands.snapshot.managed import CONTROLLER, controller_of, is_managed
from ingress_manager.core.annotations import by_entrance

CONTROLLERS = (DECORATORS, "compositecontrollers.metacontroller.k8s.io")

CLUSTER_WIDE = (
    "validatingwebhookconfiguration,validatingadmissionpolicybinding,validatingadmissionpolicy,"
    "clusterrolebinding,clusterrole"
)
SELECTOR = "--selector=app.kubernetes.io/name in (ingress-manager, ingress-manager-admission)"
"""The kubectl option that selects ingress-manager's own objects, but not Metacontroller's."""

DELETE_OPTIONS = ("--ignore-not-found", "--wait=false")
"""Options for deleting many objects without waiting until each one is gone, because no later step requires that."""


@click.command(short_help="Remove ingress-manager, and keep or remove its objects.")
@click.option("--keep", is_flag=True, help="Keep the managed Ingresses and HTTPRoutes. Choose --keep or --remove.")
@click.option("--remove", is_flag=True, help="Delete the managed Ingresses and HTTPRoutes.")
@click.option("--keep-metacontroller", is_flag=True, help="Keep Metacontroller, even if nothing else uses it.")
@apply_option
@with_source(*CLUSTER)
def uninstall(source: Source, *, keep: bool, remove: bool, keep_metacontroller: bool, apply: bool) -> None:
    """Show or carry out the steps that remove ingress-manager from a cluster.

    With --keep, the managed Ingresses, HTTPRoutes and ListenerSets stay unchanged, and are served throughout. With
    --remove, they are deleted. Only an administrator of the cluster can carry out the steps.

    Exit status: 0 for success, 2 for a usage error or if kubectl fails.

    \b
    Examples:
      ingress-manager uninstall --keep
      ingress-manager uninstall --keep --apply
    """  # noqa: D301 - \b keeps click from joining lines
    if keep == remove:
        raise click.UsageError("choose what happens to the Ingresses: --keep or --remove")
    items = source.kubectl.get("services,ingresses", "--all-namespaces")
    for resource in (*OF_GATEWAY_API, *CONTROLLERS):
        items += source.kubectl.get_if_known(resource, "--all-namespaces")
    plan = uninstall_steps(items, keep=keep, keep_metacontroller=keep_metacontroller)
    if apply:
        carry_out(SharedLists(source.kubectl), "uninstall", plan)
        click.echo("ingress-manager is removed.")
    else:
        click.echo("\n".join(listed(plan, source.kubectl.options)))


def uninstall_steps(items: Sequence[Item], *, keep: bool, keep_metacontroller: bool = False) -> Iterator[Step]:
    """Yield the steps that remove ingress-manager and, if nothing else uses it, Metacontroller.

    With `keep`, the managed objects stay. Without it, they are deleted.
    """
    managed = [item for item in of_kind(items, INGRESS, HTTPROUTE, LISTENERSET) if is_managed(item)]
    controllers = of_kind(items, "DecoratorController", "CompositeController")
    ours = [item for item in controllers if item.name == CONTROLLER and item.kind == "DecoratorController"]
    namespace, hook = named_by(ours) or DEFAULT_INSTALLATION
    # After an interrupted run, the cluster may no longer have this kind.
    stop = [delete("decoratorcontroller", CONTROLLER)] if ours else []
    # In the foreground, kubectl also waits until the Pods are gone.
    stop.append(delete("deployment", hook, options=(f"--namespace={namespace}", "--cascade=foreground")))
    yield from titled("Stop ingress-manager. The managed objects are still served.", stop)
    if keep:
        head = f"Release the managed objects, {len(managed)} in all, so they stay even if the Services are deleted."
        yield from titled(head, disown(managed))
    else:
        head = f"Delete the managed objects, {len(managed)} in all. From then on, their hosts are no longer served."
        yield from titled(head, [for_all("delete", managed, DELETE_OPTIONS)] if managed else [])
    head = "Remove the annotations from the Services. If the Services are in Git, remove the annotations there, too."
    yield from titled(head, unannotate(of_kind(items, SERVICE), managed if keep else ()))
    yield from titled("Remove the webhook, admission policies and RBAC.", [delete(CLUSTER_WIDE, options=[SELECTOR])])
    if namespace == DEFAULT_INSTALLATION.namespace:
        yield from titled("Remove the hook's namespace.", [delete("namespace", namespace)])
    else:
        yield Step(notes=[f"The namespace {namespace} stays. Remove the Helm release with `helm uninstall`."])
    others = ", ".join(f"{item.kind} {item.name}" for item in controllers if item not in ours)
    if others or keep_metacontroller:
        why = f"it also runs {others}" if others else "--keep-metacontroller is set"
        yield Step(notes=[f"Metacontroller stays: {why}."])
        return
    kinds = ("compositecontrollers", "controllerrevisions", "decoratorcontrollers")
    gone = [delete("namespace", "metacontroller"), delete("crd", *(f"{kind}.metacontroller.k8s.io" for kind in kinds))]
    # Last, because `make uninstall` recognizes an installation by them, even after an interrupted run.
    gone.append(delete("clusterrolebinding,clusterrole", "ingress-manager-metacontroller"))
    yield from titled("Remove Metacontroller, which nothing else uses.", gone)


def titled(head: str, steps: Iterable[Step]) -> list[Step]:
    titled_steps = [*steps]
    return [Step(notes=[head]), *titled_steps] if titled_steps else []


def unannotate(services: Iterable[Item], kept: Iterable[Item]) -> Iterator[Step]:
    """Yield steps that remove from Services the ingress/… annotations and the annotations copied to `kept` objects."""
    owned: dict[object, list[Item]] = {}
    for item in kept:
        owned.setdefault(controller_of(item).get("uid"), []).append(item)
    groups: dict[tuple[str, ...], list[Item]] = {}
    for item in services:
        if removed := removals_from(item, [*by_entrance(item.annotations)], owned.get(item.metadata.get("uid"), ())):
            groups.setdefault(tuple(removed), []).append(item)
    for keys, items in groups.items():
        yield for_all("annotate", items, changes=[f"{key}-" for key in keys])


def delete(kind: str, *names: str, options: Sequence[str] = ()) -> Step:
    return Step(("kubectl", "delete", *options, "--ignore-not-found", "--", kind, *names))
