"""How Metacontroller's contract names objects, and what is read from objects of every kind."""

from typing import NamedTuple

from devcluster.api import Object, Resource

ObjectMap = dict[str, dict[str, Object]]
"""Objects by "Kind.group/version", and then by "namespace/name"."""

SELF = "metacontroller-standin"
"""The name of the stand-in in Events, and, as its User-Agent, in managedFields."""


class Key(NamedTuple):
    """Which object is meant; the namespace is empty where there is none."""

    resource: Resource
    namespace: str
    name: str


def group_key(resource: Resource) -> str:
    """Return the key of a kind in `attachments` of the hook's requests: Kind.group/version."""
    return f"{resource.kind}.{resource.api_version}"


def controller_of(obj: Object) -> Object | None:
    """Return the owner reference of the object's controller, None if it has none."""
    return next((ref for ref in obj["metadata"].get("ownerReferences") or () if ref.get("controller")), None)


def name_of(obj: Object) -> str:
    """Return namespace/name, or the name alone where there is no namespace."""
    return "/".join(obj["metadata"][field] for field in ("namespace", "name") if obj["metadata"].get(field))


def group(api_version: str) -> str:
    """Return the API group, empty for the core group."""
    return api_version.rpartition("/")[0]
