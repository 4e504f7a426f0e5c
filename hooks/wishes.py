"""The wishes: what a Service's annotations say. The Service's owner decides here; nobody else."""

from hooks.answers import Refused, quoted
from hooks.contract import Service

PREFIX = "ingress/"
HTTP = "ingress/http"


def wants_ingress(service: Service) -> bool:
    """Return whether the Service asks for an Ingress: ingress/http is "true" rather than "false" or absent.

    Raises Refused (422) for any other value, and for an ingress/ annotation that does not exist.
    """
    annotations = service.metadata.annotations or {}
    value = annotations.get(HTTP, "false")
    if value == "false":
        return False
    if value != "true":
        raise Refused(422, f'{HTTP}: {quoted(value)} must be "true" or "false"')
    for key in annotations:
        if key.startswith(PREFIX) and key != HTTP:
            raise Refused(422, f"{key} is not an annotation of ingress-manager")
    return True
