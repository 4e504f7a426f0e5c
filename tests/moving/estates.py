"""Small clusters, drawn at random: what stands where people move in. The same seed draws the same cluster.

Hand-written Ingresses over one to three Services, and Services that are ingress-manager's already.
"""

from random import Random
from typing import Any

Object = dict[str, Any]

HOSTS = ("shop.example.com", "www.example.com", "a.b.example.com", "api.example.org", "*.example.com")
PATHS = ("/", "/", "/", "/cart", "/cart/items", "/api", "/static/")
PATH_TYPES = ("Prefix", "Prefix", "Prefix", "Prefix", "Exact", "ImplementationSpecific")
COPIED = {
    "nginx.ingress.kubernetes.io/proxy-read-timeout": "120",
    "nginx.ingress.kubernetes.io/ssl-redirect": "false",
    "nginx.ingress.kubernetes.io/proxy-body-size": "8m",
}
"""Annotations of Ingresses that a Service can ask for, the last one where the settings allow it."""

NOT_COPIED = {
    "nginx.ingress.kubernetes.io/auth-url": "https://login.example.com/check",
    "nginx.ingress.kubernetes.io/whitelist-source-range": "10.0.0.0/8",
    "nginx.ingress.kubernetes.io/rewrite-target": "/",
    "traefik.ingress.kubernetes.io/router.middlewares": "team-a-login@kubernetescrd",
}
ISSUER = {"cert-manager.io/cluster-issuer": "letsencrypt"}
OTHERS = {"example.com/owner": "team-a", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
HELM = {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "team-a"}

ALL_ALLOWED: Object = {
    "limits": {
        "pathTypes": ["Prefix", "Exact", "ImplementationSpecific"],
        "copyAnnotations": dict.fromkeys([*COPIED, *ISSUER], "any"),
    }
}
HOSTS_OF_TENANTS = {"team-a": ["*.example.com", "*.{namespace}.example.com"], "team-b": ["api.example.org", "*"]}
SETTINGS: tuple[Object, ...] = (
    *[ALL_ALLOWED] * 3,
    {},
    {**ALL_ALLOWED, "namespaces": {name: {"limits": {"hosts": hosts}} for name, hosts in HOSTS_OF_TENANTS.items()}},
    {**ALL_ALLOWED, "profiles": {"internal": {"class": "internal", "host": "{service}.internal"}}},
)


def new(kind: str, namespace: str, name: str, annotations: dict[str, str], spec: Object) -> Object:
    """Return a Service or an Ingress, to be created."""
    group = {"Service": "v1", "Ingress": "networking.k8s.io/v1"}[kind]
    metadata = {"namespace": namespace, "name": name, "annotations": annotations}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec}


def backend(service: str, port: int | str) -> Object:
    """Return what leads to a port of a Service, by its number or its name."""
    return {"service": {"name": service, "port": {"number" if isinstance(port, int) else "name": port}}}


class Estate:
    """What is there, and what the settings say."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self._claimed: set[tuple[str, str]] = set()
        self.seed, self.settings = seed, self._chance.choice(SETTINGS)
        self.host_first = self._often(50)
        self.objects: list[Object] = []
        for namespace in ("team-a", "team-b")[: self._chance.choice((1, 1, 2))]:
            self.objects += self._drawn(namespace)

    def _often(self, percent: int) -> bool:
        return self._chance.randrange(100) < percent

    def _drawn(self, namespace: str) -> list[Object]:
        hosts = self._chance.sample(HOSTS, self._chance.randint(1, 3))
        names = self._chance.sample(("shop", "cart", "blog", "api"), self._chance.randint(1, 4))
        services = {name: self._service(namespace, name, hosts[0]) for name in names}
        ingresses: dict[str, Object] = {}
        for _ in range(self._chance.randint(1, 3)):
            made = self._ingress(namespace, services, hosts, {*ingresses})
            if ingresses and self._often(15):
                made["spec"]["rules"] = self._chance.choice([*ingresses.values()])["spec"].get("rules", [])
            ingresses[made["metadata"]["name"]] = made
        found = [*services.values(), *ingresses.values()]
        self._chance.shuffle(found)
        return found

    def _service(self, namespace: str, name: str, host: str) -> Object:
        """Return a Service: plain, headless, with several ports, an ExternalName, or ingress-manager's already."""
        ports: list[Object] = [self._chance.choice(({"name": "http", "port": 80}, {"name": "web", "port": 8080}))]
        ports += [{"name": "admin", "port": 9090}] * self._often(30)
        spec: Object = {"ports": ports} | ({"clusterIP": "None"} if self._often(8) else {})
        if self._often(5):
            spec |= {"type": "ExternalName", "externalName": "elsewhere.example.net"}
        asked = {}
        if self._often(20):
            own = self._chance.choice((f"{name}.own.example.com", host))
            asked = {"ingress/http": "true", "ingress/host": own, "ingress/path": self._chance.choice(PATHS)}
            if self._often(30):
                asked |= {"internal.ingress/http": "true", "internal.ingress/host": f"{name}.internal.example.com"}
            asked |= {"ingress/tls-secret": "own-cert"} if self._often(20) else {}
        return new("Service", namespace, name, asked | (HELM if self._often(10) else {}), spec)

    def _ingress(self, namespace: str, services: dict[str, Object], hosts: list[str], taken: set[str]) -> Object:
        """Return a hand-written Ingress, mostly of one Service and of its name."""
        over = self._chance.sample([*services], min(len(services), self._chance.choice((1, 1, 1, 1, 2, 2, 3))))
        name = over[0] if over[0] not in taken and self._often(65) else f"{over[0]}-{self._chance.choice('abc')}"
        used = ["", *hosts[1:2]] if self._often(6) else hosts[:2]
        rules: dict[str, list[Object]] = {}
        for each in over:
            for host in used if self._often(40) else used[:1]:
                rules.setdefault(host, []).append(self._path(services[each], host))
        spec: Object = {
            "rules": [({"host": host} if host else {}) | {"http": {"paths": paths}} for host, paths in rules.items()]
        }
        spec |= {"ingressClassName": each} if (each := self._chance.choice(("nginx",) * 8 + ("internal", ""))) else {}
        if self._often(8):
            spec["defaultBackend"] = self._path(services[over[0]], "")["backend"]
            if self._often(30):
                del spec["rules"]
        among = self._chance.choice(({}, {}, {}, {}, {}, COPIED, COPIED, OTHERS, NOT_COPIED))
        annotations = dict(self._chance.sample(sorted(among.items()), min(len(among), self._chance.randint(1, 2))))
        if self._often(35):
            spec["tls"] = self._tls([host for host in rules if host])
            annotations |= ISSUER if self._often(15) else {}
        return new("Ingress", namespace, name, annotations | (HELM if self._often(5) else {}), spec)

    def _path(self, service: Object, host: str) -> Object:
        """Return a path that leads to a Service, and that no other Ingress has."""
        path = self._chance.choice(PATHS)
        while (host, path.rstrip("/")) in self._claimed:
            path = f"/{len(self._claimed)}{path}"
        self._claimed.add((host, path.rstrip("/")))
        port = self._chance.choice(service["spec"]["ports"])
        leads = backend(
            service["metadata"]["name"], 7777 if self._often(2) else port[self._chance.choice(("name", "port"))]
        )
        return {"path": path, "pathType": self._chance.choice(PATH_TYPES), "backend": leads}

    def _tls(self, hosts: list[str]) -> list[Object]:
        """Return entries for the hosts: one Secret, mostly, a wildcard's, several, or no host at all."""
        if not hosts or self._often(10):
            return [{"secretName": "cert"}]
        if self._often(15):
            return [{"hosts": [f"*.{hosts[0].partition('.')[2]}"], "secretName": "wild-cert"}]
        if self._often(15):
            return [{"hosts": [host], "secretName": f"cert-{number}"} for number, host in enumerate(hosts)]
        return [{"hosts": hosts, "secretName": "cert"}]
