"""Entrances: the names of their annotations, and of what is made for them. That of ingress/… itself is ""."""

from collections.abc import Iterable, Iterator, Mapping

from ingress_manager.core.annotations import HTTP, PREFIX


def begin_of(entrance: str) -> str:
    """Return what stands before ingress/… in the annotations of an entrance."""
    return f"{entrance}." if entrance else ""


def ingress_of(entrance: str, service: str) -> str:
    """Return the name of the Ingress of an entrance."""
    return f"{service}.{entrance}" if entrance else service


def entrances_in(keys: Iterable[str]) -> Iterator[str]:
    """Yield the entrances that annotations with these keys describe, whether they are on or off."""
    found = list(keys)
    if any(key.startswith(PREFIX) for key in found):
        yield ""
    yield from (key.removesuffix(f".{HTTP.key}") for key in found if key.endswith(f".{HTTP.key}"))


def is_on(entrance: str, annotations: Mapping[str, str]) -> bool:
    """Return whether a Service with these annotations asks for an entrance, even if it is refused."""
    return annotations.get(f"{begin_of(entrance)}{HTTP.key}", "false") != "false"


def keys_of(entrance: str, keys: Iterable[str]) -> list[str]:
    """Return those of the keys that are annotations of an entrance."""
    return [key for key in keys if key.startswith(f"{begin_of(entrance)}{PREFIX}")]
