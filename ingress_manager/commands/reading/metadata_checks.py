"""Metadata checks: what of an object's metadata gets into commands is checked once, where objects are read.

No API server takes others. In a command, a name such as --all would be an option, and a uid with a comma would select
other Events. Sources: the Kubernetes documentation, "Object Names and IDs", and the reference of ObjectMeta.
"""

import re
from typing import NamedTuple

from ingress_manager.commands.reading.kinds import HTTPROUTES, INGRESSES, LISTENERSETS, SERVICES
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.syntax import wrong_name
from ingress_manager.core.text import quoted

NAMED = (SERVICES, INGRESSES, HTTPROUTES, LISTENERSETS)
"""The kinds whose objects commands of kubectl name."""

_ID = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._]*")
_KEY = re.compile(r"(?:[a-z0-9][-a-z0-9.]*/)?[a-z0-9](?:[-a-z0-9_.]{0,61}[a-z0-9])?", re.IGNORECASE | re.ASCII)


class Misnamed(NamedTuple):
    """Why an object can't be what it says, and the field that shows it."""

    sentence: str
    path: tuple[str, ...]


def misnamed(kind: str, metadata: Object, namespace: str) -> Misnamed | None:
    """Return what is wrong with the names of an object of a kind such as v1/Service, None if nothing is.

    `namespace` holds where the metadata state none. Of a kind that no command names, nothing is wrong.
    """
    if kind not in NAMED:
        return None
    called = f"is no valid {kind.rpartition('/')[2]}: metadata"
    if not metadata.get("name"):
        return Misnamed(f"{called}.name is missing", ("metadata",))
    for field in ("name", "namespace", "uid", "resourceVersion"):
        text = metadata.get(field) or (namespace if field == "namespace" else "")
        if not isinstance(text, str):
            return Misnamed(f"{called}.{field}: must be text: put it in quotes", ("metadata", field))
        if text and (wrong := wrong_name(text) if field in {"name", "namespace"} else _wrong_id(text)):
            return Misnamed(f"{called}.{field}: {quoted(text)} {wrong}", ("metadata", field))
    annotations = metadata.get("annotations")
    for key in annotations if isinstance(annotations, dict) else ():
        if not _KEY.fullmatch(key):
            wrong = "must be the key of an annotation, as in cert-manager.io/issuer"
            return Misnamed(f"{called}.annotations: {quoted(key)} {wrong}", ("metadata", "annotations", key))
    return None


def _wrong_id(text: str) -> str:
    return "" if _ID.fullmatch(text) else "must be what the API server has given it"


def is_name(text: object) -> bool:
    """Return whether an API server takes a text for a name, and a shell for no option."""
    return isinstance(text, str) and not wrong_name(text)
