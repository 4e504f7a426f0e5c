"""The API server as the stand-in needs it: JSON in and out, watches as iterators, logged in by a token."""

import base64
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import requests
import yaml
from requests.adapters import HTTPAdapter

Object = dict[str, Any]
ObjectMap = dict[str, dict[str, Object]]  # Kind.group/version → namespace/name → object

SELF = "metacontroller-standin"  # in Events, and as User-Agent: so the API server names us in managedFields
CONNECTIONS = 100  # kept open, if there are as many
WATCH_SECONDS = 300  # how long the API server is to keep a watch open


class ApiError(Exception):
    """The API server refused, with an HTTP status, a reason and a message; or could not be reached (status 0)."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason = status, reason


class Resource(NamedTuple):
    """One kind of object, and where the API server keeps it."""

    api_version: str
    plural: str
    kind: str
    namespaced: bool

    @property
    def group_key(self) -> str:
        """The key of `attachments` and `related` in hook requests: Kind.group/version."""
        return f"{self.kind}.{self.api_version}"

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of one object, or of all (in a namespace)."""
        scope = ["namespaces", namespace] if namespace and self.namespaced else []
        return "/".join([_root(self.api_version), *scope, self.plural, *([name] if name else [])])


class Key(NamedTuple):
    """Which object is meant; the namespace is empty where there is none."""

    resource: Resource
    namespace: str
    name: str


class Api:
    """A connection pool to the API server of a kubeconfig.

    Not devcluster.api, which has every write validated strictly: this client has to be as lenient as Metacontroller's.
    """

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        context, cluster, user = (
            {entry["name"]: entry[part] for entry in config[f"{part}s"]} for part in ("context", "cluster", "user")
        )
        current = context[config["current-context"]]
        where = cluster[current["cluster"]]
        if "certificate-authority-data" in where:
            authority = base64.b64decode(where["certificate-authority-data"]).decode()
        else:
            authority = (kubeconfig.parent / where["certificate-authority"]).read_text()
        self._server = where["server"]
        self._session = session(authority)
        self._session.headers["Authorization"] = f"Bearer {user[current['user']]['token']}"

    def request(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Object:
        """Return the answer to one request; ApiError if there is none or it is a refusal."""
        data = None if body is None else msgspec.json.encode(body)
        with _reaching():
            response = self._session.request(
                method, self._server + path, data=data, headers={"Content-Type": content_type}, timeout=30
            )
            return _decoded(response)

    def watch(self, resource: Resource, version: str) -> Iterator[tuple[str, Object]]:
        """Yield (type, object) of each event after `version` until the API server ends it; ApiError as in `request`."""
        query = {"watch": "1", "allowWatchBookmarks": "1", "resourceVersion": version}
        query["timeoutSeconds"] = str(WATCH_SECONDS)
        url = self._server + resource.path()
        with _reaching(), self._session.get(url, params=query, stream=True, timeout=WATCH_SECONDS + 30) as response:
            if not response.ok:
                _decoded(response)
            for line in response.iter_lines(chunk_size=None):  # None: each piece as it arrives
                event = msgspec.json.decode(line, type=Object)
                if event["type"] == "ERROR":
                    raise ApiError(event["object"]["code"], event["object"]["reason"], event["object"]["message"])
                yield event["type"], event["object"]

    def discover(self, api_version: str, plural: str) -> Resource:
        """Return the resource of that name; LookupError if there is none, ApiError as in `request`."""
        try:
            found = self.request("GET", _root(api_version))["resources"]
        except ApiError as error:
            if error.status != 404:
                raise
            found = []
        for item in found:
            if item["name"] == plural:
                return Resource(api_version, plural, item["kind"], item["namespaced"])
        raise LookupError(f'can\'t find resource "{plural}" in apiVersion "{api_version}"')


class Adapter(HTTPAdapter):
    """Keeps connections open, and trusts a certificate authority that is given as text (requests wants a file)."""

    def __init__(self, authority: str | None) -> None:
        self._context = ssl.create_default_context(cadata=authority)
        super().__init__(pool_maxsize=CONNECTIONS)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Have new connections use the context."""
        super().init_poolmanager(*args, ssl_context=self._context, **kwargs)


def session(authority: str | None = None) -> requests.Session:
    """Return a session that trusts that authority, and takes nothing (as a proxy) from the environment."""
    result = requests.Session()
    result.trust_env = False
    result.headers["User-Agent"] = SELF
    for scheme in ("http://", "https://"):
        result.mount(scheme, Adapter(authority))
    return result


def cause(error: BaseException) -> str:
    """Return why a connection failed: the innermost reason, as others hold memory addresses (each Event a new one)."""
    reason, inner = error, error.__cause__ or error.__context__
    while inner:
        reason = inner if isinstance(inner, OSError) else reason
        inner = inner.__cause__ or inner.__context__
    return (getattr(reason, "strerror", None) or str(reason) or type(reason).__name__).lower()


def controller_of(obj: Object) -> Object | None:
    """Return the owner reference of the object's controller, None if it has none."""
    return next((ref for ref in obj["metadata"].get("ownerReferences") or () if ref.get("controller")), None)


def name_of(obj: Object) -> str:
    """Return namespace/name, or the name alone where there is no namespace."""
    return "/".join(obj["metadata"][field] for field in ("namespace", "name") if obj["metadata"].get(field))


def group(api_version: str) -> str:
    """Return the API group, empty for the core group."""
    return api_version.rpartition("/")[0]


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if group(api_version) else f"/api/{api_version}"


def _decoded(response: requests.Response) -> Object:
    answer = msgspec.json.decode(response.content, type=Object)
    if not response.ok:
        raise ApiError(response.status_code, answer.get("reason", ""), answer["message"])
    return answer


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except (requests.RequestException, msgspec.MsgspecError) as error:  # a dying API server also cuts JSON off
        raise ApiError(0, "", f"the API server: {cause(error)}") from error
