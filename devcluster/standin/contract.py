"""The contract with the hooks: what a DecoratorController may say, what a hook may answer, and how it is asked.

Everything is decoded strictly: a field that is not defined here is an error that names it.
"""

from typing import Literal

import msgspec
import requests

from devcluster.api import Object, cause, new_session
from devcluster.standin.objects import SELF

DEFAULT_TIMEOUT = 10.0


class SyncError(Exception):
    """A parent can't be synced; the message is for the Event about it."""


class TooManyRequestsError(Exception):
    """The hook answered 429: it wants no request about this parent for some seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many requests: again after {seconds} s")
        self.seconds = seconds


class Strict(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """A part of a document that has these fields and no others."""


class ResourceRule(Strict):
    api_version: str
    resource: str


class UpdateStrategy(Strict):
    method: Literal["InPlace"]


class AttachmentRule(ResourceRule):
    update_strategy: UpdateStrategy


class ServiceReference(Strict):
    name: str
    namespace: str
    port: int = 80
    protocol: str = "http"


class Webhook(Strict):
    url: str | None = None
    service: ServiceReference | None = None
    path: str | None = None
    timeout: str | None = None

    def address(self) -> str:
        """Return the URL to POST to; ValueError if neither `url` nor `service` and `path` are there."""
        if self.url is not None:
            return self.url
        if self.service is None or self.path is None:
            raise ValueError("invalid webhook config: must specify either a full 'url', or both 'service' and 'path'")
        service = self.service
        return f"{service.protocol}://{service.name}.{service.namespace}:{service.port}{self.path}"

    def seconds(self) -> float:
        """Return the timeout, which is stated in seconds; 10 if it is missing."""
        return float(self.timeout.removesuffix("s")) if self.timeout else DEFAULT_TIMEOUT


class HookRule(Strict):
    version: Literal["v2"]
    webhook: Webhook


class Hooks(Strict):
    sync: HookRule


class Spec(Strict):
    """The spec of a DecoratorController."""

    resources: list[ResourceRule]
    hooks: Hooks
    attachments: list[AttachmentRule] = []
    resync_period_seconds: int | None = None


class SyncAnswer(Strict):
    attachments: list[Object] | None = None
    resync_after_seconds: float = 0


class Hook:
    """The sync hook of a DecoratorController, over connections that stay open."""

    def __init__(self, rule: HookRule) -> None:
        self._url, self._timeout = rule.webhook.address(), rule.webhook.seconds()
        self._session = new_session(SELF)
        self._session.trust_env = True  # Metacontroller goes by HTTP_PROXY, too

    def ask(self, request: Object) -> SyncAnswer:
        """Return the hook's answer; TooManyRequestsError for 429, else SyncError if it isn't a 200 that can be used."""
        try:
            response = self._session.post(
                self._url,
                data=msgspec.json.encode(request),
                headers={"Content-Type": "application/json"},
                timeout=self._timeout,
            )
        except requests.RequestException as error:
            raise SyncError(f'http error: Post "{self._url}": {cause(error)}') from error
        if response.status_code == 429:
            raise TooManyRequestsError(int(response.headers["Retry-After"]))
        if response.status_code != 200:
            text = response.content.decode(errors="replace")
            raise SyncError(f"unsupported status code: {response.status_code} body: {text}")
        try:
            return msgspec.json.decode(response.content, type=SyncAnswer)
        except msgspec.DecodeError as error:
            raise SyncError(f"can't unmarshal webhookResponse (version: v2, type: sync): {error}") from error
