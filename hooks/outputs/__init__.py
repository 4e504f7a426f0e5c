"""The outputs: the kinds of objects that an exposure is written as."""

from collections.abc import Callable

from hooks.exposure import Exposure
from hooks.kubernetes import Object
from hooks.outputs.ingress import make_ingress

OUTPUTS: dict[str, Callable[[Exposure], list[Object]]] = {
    "ingress": make_ingress,
}
"""For each name in `NamespacePolicy.outputs`: the function that returns the objects of that kind."""
