"""Small clusters, drawn at random: what stands where people move in.

Hand-written Ingresses over one to three Services, Ingresses that older tools have left, and Services that are
ingress-manager's already. The same seed draws the same cluster.
"""

from dataclasses import dataclass, field
from random import Random

import yaml

from devcluster.api import INGRESSES, SERVICES
from devcluster.sync_requests import Object
from tests.e2e.objects import backend, new

NAMES = ("shop", "cart", "blog", "api")
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
"""Those that it can't ask for."""

ISSUER = {"cert-manager.io/cluster-issuer": "letsencrypt"}
OTHERS = {"example.com/owner": "team-a", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
"""Those that change nothing of what is served."""

HELM_LABELS = {"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "shop-1.2.3"}
HELM = {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "team-a"}
LET_GO = {"helm.sh/resource-policy": "keep"}
"""What says that the chart no longer has the Ingress: before that, adopt waits."""


ALL_ALLOWED = {
    "limits": {
        "pathTypes": ["Prefix", "Exact", "ImplementationSpecific"],
        "paths": "any",
        "copyAnnotations": dict.fromkeys([*COPIED, *ISSUER], "any"),
    }
}
HOSTS_OF_TENANTS = {"team-a": ["*.example.com", "*.{namespace}.example.com"], "team-b": ["api.example.org", "*"]}
GATEWAY = {"name": "public", "namespace": "gateway"}
SETTINGS: dict[str, Object] = {
    "all allowed": ALL_ALLOWED,
    "defaults": {},
    "tenants": {
        **ALL_ALLOWED,
        "namespaces": {name: {"limits": {"hosts": hosts}} for name, hosts in HOSTS_OF_TENANTS.items()},
    },
    "a profile": {**ALL_ALLOWED, "profiles": {"internal": {"class": "internal", "host": "{service}.internal"}}},
    "HTTPRoutes": {
        **ALL_ALLOWED,
        "namespaces": {"team-b": {"defaults": {"outputs": ["ingress", "httproute"], "gateway": GATEWAY}}},
    },
}
MOSTLY = ("all allowed", "all allowed", "all allowed", *SETTINGS)


@dataclass(frozen=True)
class Cluster:
    """What is there, and what the settings say."""

    seed: int
    kind: str
    """That of its settings, or the case."""

    settings: Object
    objects: list[Object] = field(default_factory=list)
    """The oldest first."""

    host_first: bool = False
    """Whether the controller looks for a path only under the host that fits best, as nginx does, or goes on."""

    address: str = ""
    """What the controller writes into the status of its Ingresses; "" for one that writes none."""

    @property
    def makes_httproutes(self) -> bool:
        """Return whether the cluster knows HTTPRoutes, and the settings ask for them."""
        return "httproute" in str(self.settings)

    def text(self) -> str:
        """Return all of it as YAML."""
        return yaml.safe_dump_all([self.settings, *self.objects], sort_keys=False)

    def of(self, kind: str) -> list[Object]:
        """Return the objects of a kind."""
        return [each for each in self.objects if each["kind"] == kind]


def draw(seed: int) -> Cluster:
    """Return the cluster of a seed."""
    chance = Random(seed)
    objects: list[Object] = []
    claimed: set[tuple[str, str]] = set()
    for namespace in ("team-a", "team-b")[: chance.choice((1, 1, 2))]:
        objects += Drawing(chance, namespace, claimed).objects()
    kind, address = chance.choice(MOSTLY), chance.choice(("", "203.0.113.10"))
    return Cluster(seed, kind, SETTINGS[kind], objects, host_first=chance.random() < 0.5, address=address)


class Drawing:
    """What is drawn for one namespace."""

    def __init__(self, chance: Random, namespace: str, claimed: set[tuple[str, str]]) -> None:
        self.chance, self.namespace = chance, namespace
        self.claimed = claimed
        """The hosts and paths of all Ingresses: each is drawn once, but for those that `claimed_again` draws."""

        self.hosts = chance.sample(HOSTS, chance.randint(1, 3))
        self.ports: dict[str, list[Object]] = {}
        """The ports of each Service."""

    def often(self, percent: int) -> bool:
        """Return true in so many of a hundred draws."""
        return self.chance.randrange(100) < percent

    def objects(self) -> list[Object]:
        """Return the Services and Ingresses, the oldest first."""
        services = [self.service(name) for name in self.chance.sample(NAMES, self.chance.randint(1, 4))]
        ingresses: list[Object] = []
        for _ in range(self.chance.randint(1, 3)):
            made = self.ingress([each["metadata"]["name"] for each in ingresses])
            if ingresses and self.often(15):
                made["spec"]["rules"] = self.claimed_again(self.chance.choice(ingresses))
            ingresses.append(made)
        if self.often(12):
            ingresses.append(self.left_by_another_controller(self.chance.choice(services)))
        named = {each["metadata"]["name"]: each for each in ingresses}
        found = [*services, *named.values()]
        self.chance.shuffle(found)
        return found

    # Services.

    def service(self, name: str) -> Object:
        """Return a Service: plain, headless, with several ports, an ExternalName, or ingress-manager's already."""
        ports: list[Object] = [{"name": "http", "port": 80}]
        if self.often(25):
            ports = [{"port": 8080}]
        if self.often(30):
            ports = [*({"name": "http", **each} for each in ports), {"name": "admin", "port": 9090}]
        self.ports[name] = ports
        spec: Object = {"selector": {"app": name}, "ports": ports}
        if self.often(8):
            spec["clusterIP"] = "None"
        elif self.often(5):
            spec = {"type": "ExternalName", "externalName": "elsewhere.example.net", "ports": ports}
        metadata: Object = {"annotations": {}}
        if self.often(20):
            metadata["annotations"] = self.asking(name)
        if self.often(10):
            metadata["labels"] = HELM_LABELS
            metadata["annotations"] |= HELM
        return new(SERVICES, name, self.namespace, metadata, spec=spec)

    def asking(self, name: str) -> dict[str, str]:
        """Return annotations of a Service that is ingress-manager's already; its name may be taken."""
        asked = {"ingress/http": "true", "ingress/host": self.chance.choice(("{}.own.example.com", self.hosts[0]))}
        asked["ingress/host"] = asked["ingress/host"].format(name)
        if self.often(30):
            asked["ingress/path"] = self.chance.choice(PATHS)
        if self.often(30):
            asked |= {"internal.ingress/http": "true", "internal.ingress/host": f"{name}.internal.example.com"}
        if self.often(20):
            asked["ingress/tls-secret"] = "own-cert"
        if self.often(20):
            asked |= {"nginx.ingress.kubernetes.io/proxy-read-timeout": "60"}
        return asked

    # Ingresses.

    def ingress(self, taken: list[str]) -> Object:
        """Return a hand-written Ingress, mostly of one Service and of its name."""
        names = list(self.ports)
        over = self.chance.sample(names, min(len(names), self.chance.choice((1, 1, 1, 1, 2, 2, 3))))
        free = [name for name in over if name not in taken]
        name = free[0] if free and self.often(65) else f"{over[0]}-{self.chance.choice(('web', 'public', 'redirect'))}"
        if self.often(2):
            over[0] = "gone"
        spec: Object = {"rules": self.rules(over)}
        if (each := self.chance.choice(("nginx",) * 8 + ("internal", ""))) != "":
            spec["ingressClassName"] = each
        if self.often(8):
            spec["defaultBackend"] = self.backend(self.chance.choice(over))
            if self.often(30):
                del spec["rules"]
        metadata: Object = {"annotations": self.annotations()}
        if self.often(35):
            spec["tls"] = self.tls(spec)
            if self.often(15):
                metadata["annotations"] |= ISSUER
        if self.often(12):
            metadata["labels"] = HELM_LABELS
            metadata["annotations"] |= {**HELM, **(LET_GO if self.often(75) else {})}
        return new(INGRESSES, name, self.namespace, metadata, spec=spec)

    def rules(self, over: list[str]) -> list[Object]:
        """Return rules that lead to all of these Services."""
        hosts = self.chance.sample(self.hosts, self.chance.randint(1, min(2, len(self.hosts))))
        if self.often(6):
            hosts[0] = ""
        found: dict[str, list[Object]] = {host: [] for host in hosts}
        for name in over:
            for host in hosts if self.often(50) else hosts[:1]:
                path = self.path(name, host, sole=len(over) == 1)
                self.claimed.add((host, path["path"].rstrip("/")))
                found[host].append(path)
        return [({"host": host} if host else {}) | {"http": {"paths": paths}} for host, paths in found.items() if paths]

    def path(self, name: str, host: str, *, sole: bool) -> Object:
        """Return a path that leads to a Service; that of a Service alone is mostly /."""
        path = "/" if sole and self.often(60) else self.chance.choice(PATHS)
        while (host, path.rstrip("/")) in self.claimed:
            path = f"/{self.chance.choice(NAMES)}{path}" if self.often(90) else f"/{len(self.claimed)}"
        kind = self.chance.choice(PATH_TYPES)
        return {"path": path, "pathType": kind, "backend": self.backend(name)}

    def backend(self, name: str) -> Object:
        """Return what leads to a port of a Service, by its number or name, and rarely to one that it hasn't."""
        port = self.chance.choice(self.ports.get(name, [{"port": 80}]))
        if self.often(2):
            return backend(name, 7777)
        return backend(name, port["name"] if "name" in port and self.often(20) else port["port"])

    def annotations(self) -> dict[str, str]:
        """Return none mostly; else some that a Service can ask for, or that it can't, or that nobody reads."""
        among: dict[str, str] = self.chance.choice(({}, {}, {}, {}, {}, COPIED, COPIED, OTHERS, NOT_COPIED))
        return dict(self.chance.sample(sorted(among.items()), min(len(among), self.chance.randint(1, 2))))

    def tls(self, spec: Object) -> list[Object]:
        """Return entries for some of the hosts: one Secret, a wildcard, several, or no host at all."""
        hosts = [each["host"] for each in spec.get("rules", []) if "host" in each]
        form = self.chance.choice(("one", "one", "one", "one", "several", "wildcard", "no host", "no Secret"))
        if form == "no host" or not hosts:
            return [{"secretName": "cert"}]
        if form == "no Secret":
            return [{"hosts": hosts}]
        if form == "wildcard":
            return [{"hosts": [f"*.{hosts[0].partition('.')[2]}"], "secretName": "wild-cert"}]
        if form == "several":
            return [{"hosts": [host], "secretName": f"cert-{number}"} for number, host in enumerate(hosts)]
        return [{"hosts": hosts, "secretName": "cert"}]

    def claimed_again(self, other: Object) -> list[Object]:
        """Return rules for hosts and paths that another Ingress has, which may lead to another Service."""
        return [
            {
                **rule,
                "http": {
                    "paths": [
                        {**path, "backend": self.backend(self.chance.choice(list(self.ports)))}
                        for path in rule["http"]["paths"]
                    ]
                },
            }
            for rule in other["spec"].get("rules", [])
        ] or self.rules([next(iter(self.ports))])

    def left_by_another_controller(self, service: Object) -> Object:
        """Return an Ingress as older tools have left them: the class is an annotation, and the path type is open."""
        name = service["metadata"]["name"]
        keys = {"kubernetes.io/ingress.class": "nginx", "nginx.ingress.kubernetes.io/proxy-read-timeout": "120"}
        path = {"backend": backend(name, self.ports[name][0]["port"]), "pathType": "ImplementationSpecific"}
        ingress = f"{name}-ingress" if self.often(25) else name
        host = f"{name}.{self.namespace}.apps.example.com"
        rules = [{"host": host, "http": {"paths": [path]}}]
        return new(INGRESSES, ingress, self.namespace, {"annotations": keys}, spec={"rules": rules})
