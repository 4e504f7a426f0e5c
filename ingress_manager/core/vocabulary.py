"""The vocabulary: the effects of controllers' annotations, by key.

An annotation that keeps requests out must be recognized even if it or its prefix is new. So keys are matched mainly by
the name after the prefix. Sources: each controller's page on annotations; Gateway API reference, HTTPRoute.
"""

import re
from collections.abc import Iterable

NGINX = "nginx.ingress.kubernetes.io/"
TRAEFIK = "traefik.ingress.kubernetes.io/"

OLD_CLASS = "kubernetes.io/ingress.class"
EDIT_IN_PLACE = "acme.cert-manager.io/http01-edit-in-place"
"""Makes cert-manager write its challenge's path into the Ingress, where each sync removes it."""

# Fragments are searched for in the lowercase name of an annotation, written as `/-name-`: `-` is the beginning or end
# of a word, and `/-` is the beginning of the name.
# fmt: off
CODE = ("snippet", "-lua-", "skipper-", "config-backend", "config-frontend")
"""Name fragments of annotations whose value is code, or raw configuration for the controller."""

PROTECTING = (
    # By sender.
    "auth", "oidc", "jwt", "mtls", "client-ca", "client-cert", "csrf", "tls.options", "ssl-profile",
    "clientssl",
    # By origin and kind.
    "whitelist", "white-list", "allowlist", "allow-list", "denylist", "deny-list", "blacklist", "black-list",
    "blocklist", "block-list", "allowed", "source-range", "cidr", "security-group", "-acl", "methods", "entrypoints",
    "private-ip", "load-balancer-scheme", "allow-http-", "/-protocols-", "/-conditions.", "/-headers.", "/-match-",
    # By rate.
    "rate-limit", "ratelimit", "limit-req", "limit-rp", "limit-conn", "traffic-limit",
    # By inspecting or changing requests.
    *CODE, "waf-", "waf.", "wafv2", "wallarm-mode", "modsecurity", "owasp", "shield", "appprotect", "app-protect",
    "middleware-", "middlewares-", "/-modules-", "plugins-", "plugin-config", "backend-config",
    "/-polic",
    *(f"-{kind}-polic" for kind in ("access", "client", "ip", "network", "protect", "security", "traffic", "waf")),
)
"""Name fragments of annotations that may keep requests out. Words like retention-policy or waffle don't match."""

PROTECTING_DOMAINS = ("auth", "firewall.", "waf.")
"""Fragments of domains whose annotations protect, as in waf.example.com/enabled."""

NOT_AUTH = ("author-", "author.", "authors-", "authors.", "authored", "authority")
"""Words that contain `auth` but have nothing to do with authentication."""

NOT_PROTECTING = (
    "always-set-cookie", "auth-cache", "auth-keepalive", "auth-scope", "auth-session", "basic-auth-realm",
    "cert-header", "cors-allow", "error-page", "global-auth", "jwt-realm", "limit-allowlist", "limit-whitelist",
    "-log-", "login-url", "manage-backend", "on-unauthenticated", "pass-certificate", "request-redirect",
    "secret-type", "signin", "transaction-id", "upstream-policy",
)
"""Exceptions to PROTECTING: they look protective, but aren't. Some configure protection, and can undo it (`undoes`)."""

TUNING = (
    "timeout", "buffer", "body-size", "temp-file", "keepalive", "http-version", "next-upstream", "retries",
    "limit-allow", "limit-burst", "limit-rate", "limit-white", "auth-cache", "auth-scope", "auth-session", "-log-",
    "rewrite-log", "opentelemetry", "observability", "transaction-id", "manage-backend", "connection-proxy",
    "load-balance-", "service-upstream", "upstream-policy", "server-slots", "/-check", "health", "success-codes",
    "/-ssl-ciphers", "/-ssl-prefer", "certificate-arn", "certresolver", "tls-acme", "ingress.class", "static-ip",
    "ip-address-type", "/-tags-", "managed-certificates", "load-balancer-name", "load-balancer-attributes",
    "target-group", "target-node", "target-type",
)
"""Name fragments of annotations that only tune behaviour (timeouts, sizes, logs), unless PROTECTING matches, too."""

SERVICE_DOMAINS = (
    "ingress", "kubectl.kubernetes.io", "service.kubernetes.io", "service.alpha.kubernetes.io",
    "service.beta.kubernetes.io", "external-dns.kubernetes.io", "external-dns.alpha.kubernetes.io",
    "metacontroller.k8s.io", "networking.gke.io", "loadbalancer.openstack.org", "load-balancer.hetzner.cloud",
    "oci.oraclecloud.com", "digitalocean.com", "civo.com", "ovhcloud.com", "stackit.cloud", "cloud.tencent.com",
    "alpha.openshift.io", "beta.openshift.io", "metallb.io", "metallb.universe.tf", "kube-vip.io", "purelb.io",
    "io.cilium", "cilium.io", "projectcalico.org", "tailscale.com", "istio.io", "linkerd.io", "hashicorp.com",
    "kuma.io", "mesh.traefik.io", "openservicemesh.io", "appmesh.k8s.aws", "dapr.io", "cert-manager.io", "helm.sh",
    "argoproj.io", "fluxcd.io", "weave.works", "k14s.io", "cattle.io", "kyverno.io", "gatekeeper.sh", "knative.dev",
    "stakater.com", "velero.io", "prometheus.io", "datadoghq.com", "grafana.com", "dynatrace.com", "cncf.io",
)
"""Endings of domains whose annotations configure Services themselves, or tools. No ingress controller reads them,
except ingress.* domains. cert-manager's and external-dns's are in CONTROLLER_DOMAINS, too."""

CONTROLLER_DOMAINS = (
    "ingress.", "ingress-", "haproxy.", "nginx.", "higress.", "apisix.", "projectcontour.", "konghq.", "zalando.",
    "f5.com", "route.openshift.", "ako.vmware.", "getambassador.", "external-dns.", "cert-manager.",
)
"""Fragments of domains whose annotations look meant for an Ingress, except `…/service.*`, which Traefik
reads from Services."""

RESERVED_PREFIXES = ("ingress/", "metacontroller.k8s.io/", "kubectl.kubernetes.io/")

CONTROLLER_KEYS = (
    "kubernetes.io/ingress.", "kubernetes.io/tls-acme", "networking.gke.io/managed-certificates",
    "networking.gke.io/v1beta1.frontendconfig", "tailscale.com/accept-app-caps", "tailscale.com/funnel",
    "tailscale.com/http-", "tailscale.com/proxy-", "tailscale.com/tags",
)
"""Prefixes of annotations outside CONTROLLER_DOMAINS that look meant for an Ingress, even in SERVICE_DOMAINS."""
# fmt: on

READ_FROM = {
    "HTTPRoute": ("external-dns.", "konghq.com/"),
    "redirect": ("external-dns.", "konghq.com/"),
    "ListenerSet": ("cert-manager.io/", "acme.cert-manager.io/", "external-dns."),
}
"""Prefixes of annotations that controllers read from objects other than an Ingress, by kind of object."""

READ_FROM_GATEWAYS = ("external-dns.kubernetes.io/target", "external-dns.alpha.kubernetes.io/target")
"""Annotations that external-dns reads only from the Gateway. Source: external-dns, docs/annotations."""

READ_FROM_SERVICES = re.compile(
    r"""(?P<alone>
        (beta\.)?cloud\.google\.com/backend-config|getambassador\.io/config|haproxy\.(org|com)/route-acl
        |ingress\.kubernetes\.io/service-upstream
        |konghq\.com/(ca-certificates-(configmap|secrets?)|client-cert|(connect|read|write)-timeout|host-header|path
            |protocol|retries|tls-verify(-depth)?|upstream-policy)
        |projectcontour\.io/((per-host-)?max-connections|max-(pending-requests|requests|retries)|upstream-protocol\..*)
        |traefik\.ingress\.kubernetes\.io/service\..*)
    |alb\.ingress\.kubernetes\.io/(
        auth-(idp-(cognito|oidc)|on-unauthenticated-request|scope|session-(cookie|timeout)|type)|tags|success-codes
        |backend-protocol(-version)?|healthcheck-(interval-seconds|path|port|protocol|timeout-seconds)
        |(un)?healthy-threshold-count|multi-cluster-target-group|target-(group-attributes|node-labels|type))
    |external-dns(\.alpha)?\.kubernetes\.io/.*
    |haproxy\.(org|com)/(
        abortonclose|backend-config-snippet|check(-http|-interval)?|cookie-persistence|forwarded-for|load-balance
        |pod-maxconn|scale-server-slots|send-proxy-protocol|server-(ca|crt|proto|ssl)|standalone-backend|timeout-check)
    |haproxy-ingress\.github\.io/(?!auth-tls-(error-page|secret|strict|verify-client)$).*
    |konghq\.com/(override|plugins|tags)""",
    re.VERBOSE,
)
"""Annotations that controllers read from the Service itself. The group `alone` matches those read nowhere else."""

READ_FROM_SERVICES_OF_HTTPROUTES = ("getambassador.io/", "haproxy-ingress.github.io/", "konghq.com/")
"""Prefixes of annotations in READ_FROM_SERVICES that also affect HTTPRoutes. For HTTPRoutes, Google's and AWS's
controllers read other objects."""

SERVICE_WINS = ("alb.ingress.kubernetes.io/", "haproxy-ingress.github.io/", "haproxy.com/", "haproxy.org/")
"""Prefixes of annotations in READ_FROM_SERVICES that override the Ingress's when set on the Service. Source: each
controller's documentation."""

ALTERNATIVES = {
    one: other
    for pair in (
        ("cert-manager.io/issuer", "cert-manager.io/cluster-issuer"),
        (f"{NGINX}whitelist-source-range", f"{NGINX}allowlist-source-range"),
        (f"{NGINX}limit-whitelist", f"{NGINX}limit-allowlist"),
    )
    for one, other in (pair, pair[::-1])
}
"""Pairs of annotations that a controller doesn't combine: cert-manager ignores both issuers, and ingress-nginx prefers
the allowlist. Sources: cert-manager, ingress-shim; ingress-nginx, internal/ingress/annotations."""

SSL_REDIRECT = f"{NGINX}ssl-redirect"
HAPROXY_SSL_REDIRECT = "haproxy.org/ssl-redirect"
REWRITE = f"{NGINX}rewrite-target"
FORCING = (f"{NGINX}force-ssl-redirect", HAPROXY_SSL_REDIRECT)
"""Annotations that redirect to https even if the Ingress has no TLS."""

EXPRESSED: dict[tuple[str, str], bool | None] = {
    **{(key, "true"): True for key in (*FORCING, f"{TRAEFIK}router.tls")},
    **{(key, "false"): None for key in (*FORCING, SSL_REDIRECT)},
    **{(NGINX + name, "false"): None for name in ("canary", "enable-cors", "from-to-www-redirect", "ssl-passthrough")},
    (f"{NGINX}use-regex", "false"): None,
    (SSL_REDIRECT, "true"): None,
    (f"{TRAEFIK}router.tls", "false"): False,
    **{(f"{NGINX}backend-protocol", http): None for http in ("HTTP", "http")},
    (REWRITE, "/"): None,
}
"""Annotations (key, value) whose effect HTTPRoutes have anyway: with TLS (True), without it (False), always (None)."""

_CODE, _PROTECTING, _PROTECTING_DOMAINS, _NOT_AUTH, _NOT_PROTECTING, _TUNING, _CONTROLLER_DOMAINS = (
    re.compile("|".join(map(re.escape, parts)))
    for parts in (CODE, PROTECTING, PROTECTING_DOMAINS, NOT_AUTH, NOT_PROTECTING, TUNING, CONTROLLER_DOMAINS)
)
_SERVICE_DOMAINS = tuple([f".{domain}" for domain in SERVICE_DOMAINS])


def _split(key: str) -> tuple[str, str]:
    """Return an annotation's domain, and its name as `/-name-`, both in lowercase because Traefik ignores case."""
    domain, _, name = key.lower().rpartition("/")
    return domain, f"/-{name}-"


def _is_about_services(domain: str, name: str) -> bool:
    is_about_services = f".{domain}".endswith(_SERVICE_DOMAINS) and not domain.startswith("ingress.")
    return is_about_services and not f"{domain}/{name[2:]}".startswith(CONTROLLER_KEYS)


def protects(key: str) -> bool:
    """Return whether the annotation `key` may keep requests out."""
    domain, name = _split(key)
    if _is_about_services(domain, name) or _NOT_PROTECTING.search(name):
        return False
    words = _NOT_AUTH.sub("-", name.replace("_", "-"))
    return (_PROTECTING.search(words) or _PROTECTING_DOMAINS.search(_NOT_AUTH.sub("-", f"{domain}."))) is not None


def undoes(key: str, configured: Iterable[str]) -> bool:
    """Return whether the Service's annotation `key` could undo protection that the `configured` annotations add.

    Even an annotation that only configures protection, such as `auth-on-unauthenticated-request: allow`, can undo it.
    """
    domain = _split(key)[0]
    return may_undo(key) and any(protects(other) and _split(other)[0] == domain for other in configured)


def may_undo(key: str) -> bool:
    """Return whether `key` concerns protection and, on a Service, overrides the same key on Ingresses."""
    wins = is_read_from_services(key) and key.startswith(SERVICE_WINS)
    return wins and (protects(key) or _NOT_PROTECTING.search(_split(key)[1]) is not None)


def holds_code(key: str) -> bool:
    return _CODE.search(_split(key)[1]) is not None


def is_for_controllers(key: str) -> bool:
    """Return whether an annotation looks meant for an ingress controller, or for a tool such as external-dns."""
    if key.startswith(RESERVED_PREFIXES):
        return False
    domain, name = _split(key)
    is_for_controller = _CONTROLLER_DOMAINS.search(domain) is not None and not name.startswith("/-service.")
    is_for_controller = is_for_controller or key.lower().startswith(CONTROLLER_KEYS) or protects(key)
    return is_for_controller and not domain.endswith(".ingress")  # that is an entrance's, as in internal.ingress/host


def belongs_on(kind: str, key: str) -> bool:
    """Return whether objects of this kind should carry an annotation, because a controller or other tool reads it."""
    if kind == "Ingress" or not is_for_controllers(key):
        # Dashboards are such tools: if the redirect carried their annotations, they would list the Service twice.
        return kind in {"Ingress", "HTTPRoute"}
    return key.lower().startswith(READ_FROM[kind]) and key.lower() not in READ_FROM_GATEWAYS


def is_lost_in_httproutes(key: str) -> bool:
    """Return whether an annotation that isn't protective changes Ingresses' responses, but not HTTPRoutes'."""
    domain, name = _split(key)
    tunes = _TUNING.search(name) or _is_about_services(domain, name)
    return not (belongs_on("HTTPRoute", key) or tunes or protects(key))


def is_expressed(key: str, value: str, *, tls: bool, at_root: bool) -> bool:
    """Return whether HTTPRoutes have an annotation's effect without it. `at_root` means every path is the prefix /."""
    # Rewriting / to / changes nothing. ingress-nginx rewrites any other path, and treats it as a pattern.
    return (key, value) in EXPRESSED and EXPRESSED[key, value] in {tls, None} and (at_root or key != REWRITE)


def is_read_from_services(key: str, *, of_httproutes: bool = False) -> bool:
    """Return whether controllers read `key` from the Service itself (with `of_httproutes`, also for its HTTPRoutes)."""
    is_read = READ_FROM_SERVICES.fullmatch(key) is not None
    return is_read and (not of_httproutes or key.startswith(READ_FROM_SERVICES_OF_HTTPROUTES))


# Known values: a pattern of those that can't break a controller's configuration, and the end of the message for all
# others, which are refused whatever the settings allow.

SWITCH = ("true|false", 'is not "true" or "false"')
TOGGLE = ("on|off", 'is not "on" or "off"')
SECONDS = ("[0-9]{1,6}", "must be a number of seconds: one to six digits, without a unit")
SIZE = ("[0-9]{1,15}|[0-9]{1,6}[kKmMgG]", "must be one to 15 digits, or one to six digits plus k, m or g")
RATE = ("[1-9][0-9]{0,5}", "must be a number from 1 to 999999")
NAME = ("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", "must be a name of lowercase letters, digits, - and .")

# fmt: off
COPIED_BY_DEFAULT = {
    f"{NGINX}ssl-redirect": SWITCH,
    f"{NGINX}force-ssl-redirect": SWITCH,
    f"{NGINX}proxy-read-timeout": SECONDS,
    f"{NGINX}proxy-send-timeout": SECONDS,
    f"{NGINX}proxy-connect-timeout": SECONDS,
    f"{NGINX}proxy-http-version": (r"1\.[01]", 'is not "1.0" or "1.1"'),
    f"{TRAEFIK}router.tls": SWITCH,
    "konghq.com/strip-path": SWITCH,
    "konghq.com/preserve-host": SWITCH,
}
"""Annotations that are harmless with any controller. limits.copyAnnotations replaces this list."""

KNOWN = COPIED_BY_DEFAULT | {
    f"{NGINX}proxy-body-size": SIZE,
    f"{NGINX}proxy-request-buffering": TOGGLE,
    f"{NGINX}proxy-buffering": TOGGLE,
    f"{NGINX}proxy-buffer-size": ("[1-9][0-9]{0,5}[kK]?|[1-9][0-9]{0,2}[mM]",
        "must be 1 to 999999, 1k to 999999k, or 1m to 999m"),
    f"{NGINX}proxy-next-upstream-tries": ("[0-9]{1,3}", "must be a number from 0 to 999"),
    f"{NGINX}backend-protocol": ("(?ai:HTTPS?|GRPCS?|AUTO_HTTP)",
        "is not HTTP, HTTPS, GRPC, GRPCS or AUTO_HTTP"),
    f"{NGINX}service-upstream": SWITCH,
    f"{NGINX}affinity": ("cookie", 'must be "cookie"'),
    f"{NGINX}limit-rps": RATE,
    f"{NGINX}limit-rpm": RATE,
    f"{NGINX}limit-connections": ("[1-9][0-9]{0,3}", "must be a number from 1 to 9999"),
    "cert-manager.io/cluster-issuer": NAME,
    "cert-manager.io/issuer": NAME,
    "kubernetes.io/tls-acme": SWITCH,
    f"{TRAEFIK}router.tls.certresolver": ("[A-Za-z0-9][-_A-Za-z0-9]{0,62}",
        "must be a name of letters, digits, - and _"),
    "haproxy.org/ssl-redirect": SWITCH,
    "nginx.org/proxy-read-timeout": ("[0-9]{1,6}s", "must be one to six digits followed by s"),
    "nginx.org/client-max-body-size": SIZE,
}
# fmt: on
"""Safe values of known annotations. Source: each controller's code. Many are copied verbatim into the
configuration, which nginx rejects as a whole if a number is too large or is -1."""
