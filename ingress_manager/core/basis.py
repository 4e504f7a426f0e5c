"""The basis of an exposure: what it is decided from, and what is found wrong with it."""

import msgspec

from ingress_manager.core.annotations import Stated
from ingress_manager.core.errors import Problems
from ingress_manager.core.kubernetes import Service
from ingress_manager.core.policy import NamespacePolicy


class Basis(msgspec.Struct, frozen=True, gc=False):
    """What is known of one entrance of a Service. Whatever is decided by it is a function of it alone.

    Each such function adds what is wrong to `problems`, and goes on: all that is wrong is told at once. What it returns
    then is never used.
    """

    service: Service
    stated: Stated
    policy: NamespacePolicy
    name: str
    """That of what is made: the Service's, and for another entrance, its name behind a dot."""

    tls: bool
    """Whether its hosts are served with TLS."""

    problems: Problems
