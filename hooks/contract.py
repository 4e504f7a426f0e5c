"""The contract: what Metacontroller sends to the hooks of a DecoratorController, as types.

Only the fields that decide something are named; msgspec checks their types and skips the rest, so a field that a later
Kubernetes adds changes nothing. Source: https://metacontroller.github.io/metacontroller/api/decoratorcontroller.html
(hook version v2) and the Kubernetes API reference (ServiceSpec v1 core, ObjectMeta v1 meta).
"""

from typing import Literal, TypeVar

import msgspec

from hooks.answers import Refused, one_line


class ObjectMeta(msgspec.Struct, rename="camel", frozen=True):
    name: str
    namespace: str
    uid: str
    annotations: dict[str, str] | None = None


class ServicePort(msgspec.Struct, rename="camel", frozen=True):
    port: int
    name: str | None = None
    protocol: str = "TCP"
    app_protocol: str | None = None


class ServiceSpec(msgspec.Struct, frozen=True):
    type: str = "ClusterIP"
    ports: list[ServicePort] | None = None


class Service(msgspec.Struct, rename="camel", frozen=True):
    api_version: Literal["v1"]
    kind: Literal["Service"]
    metadata: ObjectMeta
    spec: ServiceSpec


class Attachment(msgspec.Struct, frozen=True):
    """What was made for the Service before. What should exist does not depend on it, so nothing of it is read."""


class SyncRequest(msgspec.Struct, frozen=True):
    object: Service
    attachments: dict[str, dict[str, Attachment]]
    finalizing: bool = False


Request = TypeVar("Request")


def decode(decoder: msgspec.json.Decoder[Request], body: bytes) -> Request:
    """Return the typed request in the JSON text `body`.

    Raises Refused (400) naming the field, when `body` is not JSON or not the contract.
    """
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(400, f"not a request of Metacontroller's contract v2: {one_line(str(error))}") from error
    except RecursionError as error:
        raise Refused(400, "not a request of Metacontroller's contract v2: nested too deeply") from error


sync_requests = msgspec.json.Decoder(SyncRequest)
