"""The outputs: the kinds of objects that an exposure is written as."""

from collections.abc import Callable

from ingress_manager.core.exposure import Exposure
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.outputs.httproute import make_httproutes
from ingress_manager.core.outputs.ingress import make_ingress
from ingress_manager.core.policy import HTTPROUTE, INGRESS

OUTPUTS: dict[str, Callable[[Exposure], list[Object]]] = {INGRESS: make_ingress, HTTPROUTE: make_httproutes}
"""For each name in `NamespacePolicy.outputs`: what returns the objects of that kind, and adds what is wrong."""
