"""The outputs: the kinds of objects that an exposure is written as."""

from collections.abc import Callable

from hooks.exposure import Exposure
from hooks.kubernetes import Object
from hooks.outputs.httproute import make_httproutes
from hooks.outputs.ingress import make_ingress
from hooks.policy import HTTPROUTE, INGRESS

OUTPUTS: dict[str, Callable[[Exposure], list[Object]]] = {
    INGRESS: make_ingress,
    HTTPROUTE: make_httproutes,
}
"""For each name in `NamespacePolicy.outputs`: the function that returns the objects of that kind."""
