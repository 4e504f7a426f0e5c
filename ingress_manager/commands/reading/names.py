"""Names of objects as arguments: `[NAMESPACE/]NAME`."""

from collections.abc import Iterable
from dataclasses import replace

import click

from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.reading.options import Source

RESOURCES = "services,ingresses"


def read_named(source: Source, kind: str, names: Iterable[str]) -> tuple[Manifests, list[Item]]:
    """Return what is in the namespaces of the objects that are named, and those. Raises click.UsageError."""
    namespaces = {name.rpartition("/")[0] or source.namespace for name in names}
    if source.files:
        manifests = source.read(RESOURCES)
    else:
        manifests = Manifests()
        for namespace in sorted(namespaces, key=str):
            manifests.extend(replace(source, namespace=namespace).read(RESOURCES, "--show-managed-fields"))
    return manifests, [named(manifests, kind, name, source.namespace) for name in dict.fromkeys(names)]


def named(manifests: Manifests, kind: str, name: str, namespace: str | None) -> Item:
    """Return the object with a name. Without a namespace, it is in the one that kubectl has taken."""
    where, _, own = name.rpartition("/")
    found = {
        item.full_name: item
        for item in manifests.of_kind(kind)
        if item.name == own and (where or namespace or item.namespace) == item.namespace
    }
    if len(found) > 1:
        raise click.UsageError(f"there are several of the name {name}: write NAMESPACE/{own}")
    if not found:
        raise click.UsageError(f"there is no {kind.rpartition('/')[2]} {name}")
    [only] = found.values()
    return only
