"""The outputs: the kinds of objects that an exposure is written as."""

from collections.abc import Callable

from hooks.exposure import Exposure
from hooks.kubernetes import Object
from hooks.outputs.ingress import make_ingress

OUTPUTS: dict[str, Callable[[Exposure], list[Object]]] = {
    "ingress": make_ingress,
}
"""Returns the objects of one kind that expose a Service, by the name that the policy gives the kind."""
