"""Vocabulary: what the annotations of controllers do, by their keys: data, and the few rules that follow from it.

What protects must not be lost: an object that is made for a Service without it would be open to more than its owner
says. Controllers learn new annotations, and read them under any prefix that they are told. So it is the name behind the
prefix that says what one does. Sources: the pages on annotations of each controller; Gateway API reference, HTTPRoute.
"""

import re

NGINX = "nginx.ingress.kubernetes.io/"
TRAEFIK = "traefik.ingress.kubernetes.io/"

OLD_CLASS = "kubernetes.io/ingress.class"
EDIT_IN_PLACE = "acme.cert-manager.io/http01-edit-in-place"
"""Has cert-manager write the path of its challenge into an Ingress, where each sync takes it out again."""

# The names of annotations are held against parts of names, in lower case, as `/-name-`: so `-` in front of a part, or
# behind it, is where a word of the name begins, or ends, and `/-` is where the name begins.
# fmt: off
PROTECTING = (
    # Who asks.
    "auth", "oidc", "jwt", "mtls", "client-ca", "client-cert", "csrf", "tls.options", "ssl-profile",
    # From where, and how.
    "whitelist", "white-list", "allowlist", "allow-list", "denylist", "deny-list", "blacklist", "black-list",
    "blocklist", "block-list", "allowed", "source-range", "cidr", "security-group", "-acl", "methods", "entrypoints",
    "private-ip", "load-balancer-scheme", "/-conditions.", "/-headers.",
    # How often.
    "rate-limit", "ratelimit", "limit-req", "limit-rp", "limit-conn",
    # What looks at requests, or may do anything with them.
    "waf-", "waf.", "wafv2", "modsecurity", "owasp", "shield", "appprotect", "app-protect", "skipper-", "snippet",
    "middleware-", "middlewares-", "plugins-", "plugin-config", "config-backend", "backend-config",
    "/-polic", *(f"-{of}-polic" for of in ("access", "client", "network", "protect", "security", "traffic", "waf")),
)
"""What is in the name of an annotation that keeps requests out, or may: who comes from elsewhere, has no password, asks
too often. But not what merely sounds so: retention-policy, waffle."""

SOUNDS_SO = ("author-", "author.", "authors-", "authors.", "authored", "authority")
"""What has nothing to do with `auth`."""

BESIDE = (
    "always-set-cookie", "auth-cache", "auth-keepalive", "auth-scope", "auth-session", "cert-header", "cors-allow",
    "error-page", "global-auth", "limit-allowlist", "limit-whitelist", "-log-", "login-url", "manage-backend",
    "on-unauthenticated", "pass-certificate", "realm", "request-redirect", "secret-type", "signin", "transaction-id",
    "upstream-policy",
)
"""What is in the name of one that keeps nobody out itself: it says more of another one that does."""

TUNING = (
    "timeout", "buffer", "body-size", "temp-file", "keepalive", "http-version", "next-upstream", "retries",
    "limit-allow", "limit-burst", "limit-rate", "limit-white", "auth-cache", "auth-scope", "auth-session", "-log-",
    "rewrite-log", "opentelemetry", "observability", "transaction-id", "manage-backend", "connection-proxy",
    "load-balance-", "service-upstream", "upstream-policy", "server-slots", "/-check", "health", "success-codes",
    "/-ssl-ciphers", "/-ssl-prefer", "certificate-arn", "certresolver", "tls-acme", "ingress.class", "static-ip",
    "ip-address-type", "/-tags-", "load-balancer-name", "load-balancer-attributes", "target-group",
    "target-node", "target-type",
)
"""What is in the name of one that, if it keeps nobody out, leaves the answer the same, too: timeouts, sizes, logs."""

OF_SERVICES = (
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
"""How domains end whose annotations are about Services themselves, or about tools: no ingress controller reads them,
but those of ingress.cilium.io and its like."""

CONTROLLERS = (
    "ingress.", "ingress-", "haproxy.", "nginx.", "higress.", "apisix.", "projectcontour.", "konghq.", "zalando.",
    "f5.com", "external-dns.", "cert-manager.",
)
"""What is in domains whose annotations look meant for an Ingress. (Traefik reads `…/service.*` from the Service.)"""
# fmt: on

OTHERS_PREFIXES = ("ingress/", "metacontroller.k8s.io/", "kubectl.kubernetes.io/")
"""How keys begin that belong to ingress-manager, Metacontroller or kubectl."""

OF_CONTROLLERS = ("kubernetes.io/ingress.", "kubernetes.io/tls-acme")
"""How others begin that look so."""

READ_FROM = {
    "HTTPRoute": ("external-dns.", "konghq.com/"),
    "ListenerSet": ("cert-manager.io/", "acme.cert-manager.io/", "external-dns."),
}
"""How those begin that are read from an object of another kind than an Ingress, as well."""

FROM_SERVICES = re.compile(
    r"""alb\.ingress\.kubernetes\.io/(
        auth-(idp-(cognito|oidc)|on-unauthenticated-request|scope|session-(cookie|timeout)|type)|tags|success-codes
        |backend-protocol(-version)?|healthcheck-(interval-seconds|path|port|protocol|timeout-seconds)
        |(un)?healthy-threshold-count|multi-cluster-target-group|target-(group-attributes|node-labels|type))
    |(beta\.)?cloud\.google\.com/backend-config
    |external-dns(\.alpha)?\.kubernetes\.io/.*
    |haproxy\.(org|com)/(
        abortonclose|backend-config-snippet|check(-http|-interval)?|cookie-persistence|forwarded-for|load-balance
        |pod-maxconn|route-acl|scale-server-slots|send-proxy-protocol|server-(ca|crt|proto|ssl)|standalone-backend
        |timeout-check)
    |haproxy-ingress\.github\.io/(?!auth-tls-(error-page|secret|strict|verify-client)$).*
    |ingress\.kubernetes\.io/service-upstream
    |konghq\.com/(
        ca-certificates-(configmap|secrets?)|client-cert|(connect|read|write)-timeout|host-header|override|path|plugins
        |protocol|retries|tags|tls-verify(-depth)?|upstream-policy)
    |projectcontour\.io/((per-host-)?max-connections|max-(pending-requests|requests|retries)|upstream-protocol\..*)""",
    re.VERBOSE,
)
"""The keys that controllers read from the Service itself: whoever took them off would change what is served."""

FROM_SERVICES_OF_HTTPROUTES = ("haproxy-ingress.github.io/", "konghq.com/")
"""The prefixes of those that are read from the Service of an HTTPRoute, too. Google and AWS have objects for that."""

SSL_REDIRECT = f"{NGINX}ssl-redirect"
OF_HAPROXY = "haproxy.org/ssl-redirect"
REWRITE = f"{NGINX}rewrite-target"
FORCING = (f"{NGINX}force-ssl-redirect", OF_HAPROXY)
"""What redirects to https even where the Ingress has no TLS."""

SAID: dict[tuple[str, str], bool | None] = {
    **{(key, "true"): True for key in (*FORCING, f"{TRAEFIK}router.tls")},
    **{(key, "false"): None for key in (*FORCING, SSL_REDIRECT)},
    **{(NGINX + name, "false"): None for name in ("canary", "enable-cors", "from-to-www-redirect", "ssl-passthrough")},
    (f"{NGINX}use-regex", "false"): None,
    (SSL_REDIRECT, "true"): None,
    (f"{TRAEFIK}router.tls", "false"): False,
    **{(f"{NGINX}backend-protocol", http): None for http in ("HTTP", "http")},
    (REWRITE, "/"): None,
}
"""The annotations and their values that HTTPRoutes say, or that ask for what HTTPRoutes do anyway: only for a Service
with TLS, or only for one without it; None: for both."""


_PROTECTING, _SOUNDS_SO, _BESIDE, _TUNING, _CONTROLLERS = (
    re.compile("|".join(map(re.escape, parts))) for parts in (PROTECTING, SOUNDS_SO, BESIDE, TUNING, CONTROLLERS)
)
_OF_SERVICES = tuple([f".{domain}" for domain in OF_SERVICES])


def _split(key: str) -> tuple[str, str]:
    """Return the domain of a key, and its name as it is held against parts: in lower case, as Traefik reads keys."""
    domain, _, name = key.lower().rpartition("/")
    return domain, f"/-{name}-"


def _is_of_services(domain: str) -> bool:
    return f".{domain}".endswith(_OF_SERVICES) and not domain.startswith("ingress.")


def protects(key: str) -> bool:
    """Return whether an annotation may keep requests out."""
    domain, name = _split(key)
    if _is_of_services(domain) or not _PROTECTING.search(_SOUNDS_SO.sub("-", name.replace("_", "-"))):
        return False
    return not _BESIDE.search(name)


def is_for_controllers(key: str) -> bool:
    """Return whether the annotation looks like one that an ingress controller, or a program beside it, reads."""
    if key.startswith(OTHERS_PREFIXES):
        return False
    domain, name = _split(key)
    looks_so = _CONTROLLERS.search(domain) is not None and not name.startswith("/-service.")
    looks_so = looks_so or key.lower().startswith(OF_CONTROLLERS) or protects(key)
    return looks_so and not domain.endswith(".ingress")  # of an entrance


def is_read_from(kind: str, key: str) -> bool:
    """Return whether the annotation does something on an object of a kind, or nobody knows of whom it is."""
    return kind == "Ingress" or key.lower().startswith(READ_FROM[kind]) or not is_for_controllers(key)


def changes_answer(key: str) -> bool:
    """Return whether the annotation may change the answer of an Ingress, and keeps nobody out."""
    domain, name = _split(key)
    tunes = _TUNING.search(name) or _is_of_services(domain)
    return not (is_read_from("HTTPRoute", key) or tunes or protects(key))


def is_said(key: str, value: str, *, tls: bool, at_root: bool) -> bool:
    """Return whether HTTPRoutes with, or without, TLS say what the annotation says; `at_root`: for the path / alone."""
    # To rewrite a path as itself is nothing. ingress-nginx rewrites each other one, and takes it for a pattern.
    return (key, value) in SAID and SAID[key, value] in {tls, None} and (at_root or key != REWRITE)


def is_read_from_services(key: str, *, of_httproutes: bool = False) -> bool:
    """Return whether a controller reads this annotation from the Service itself; `of_httproutes`: for an HTTPRoute."""
    is_read = FROM_SERVICES.fullmatch(key) is not None
    return is_read and (not of_httproutes or key.startswith(FROM_SERVICES_OF_HTTPROUTES))


# Keys whose values we know: a regular expression of those that can't break a controller's configuration, and the end of
# a sentence that says what would be right. What can be no such value is refused, whatever the settings allow.

SWITCH = ("true|false", 'must be "true" or "false"')
TOGGLE = ("on|off", 'must be "on" or "off"')
SECONDS = ("[0-9]{1,6}", "must be a number of seconds, of one to six digits")
SIZE = ("[0-9]{1,15}|[0-9]{1,6}[kKmMgG]", "must be one to 15 digits, or one to six with k, m or g behind them")
RATE = ("[1-9][0-9]{0,5}", "must be a number of one to six digits, from 1")
NAME = ("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", "must be a name of lower-case letters, digits, - and .")

# fmt: off
COPIED_BY_DEFAULT = {
    f"{NGINX}ssl-redirect": SWITCH,
    f"{NGINX}force-ssl-redirect": SWITCH,
    f"{NGINX}proxy-read-timeout": SECONDS,
    f"{NGINX}proxy-send-timeout": SECONDS,
    f"{NGINX}proxy-connect-timeout": SECONDS,
    f"{NGINX}proxy-http-version": (r"1\.[01]", 'must be "1.0" or "1.1"'),
    f"{TRAEFIK}router.tls": SWITCH,
    "konghq.com/strip-path": SWITCH,
    "konghq.com/preserve-host": SWITCH,
}
"""Those that can harm nobody, whichever controller reads them: they are copied where the settings say nothing."""

KNOWN = COPIED_BY_DEFAULT | {
    f"{NGINX}proxy-body-size": SIZE,
    f"{NGINX}proxy-request-buffering": TOGGLE,
    f"{NGINX}proxy-buffering": TOGGLE,
    f"{NGINX}proxy-buffer-size": ("[1-9][0-9]{0,5}[kK]?|[1-9][0-9]{0,2}[mM]",
        "must be one to six digits, from 1, perhaps with k behind them, or one to three with m"),
    f"{NGINX}proxy-next-upstream-tries": ("[0-9]{1,3}", "must be a number of one to three digits"),
    f"{NGINX}backend-protocol": ("(?ai:HTTPS?|GRPCS?|AUTO_HTTP)",
        "must be HTTP, HTTPS, GRPC, GRPCS or AUTO_HTTP"),
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
    "nginx.org/proxy-read-timeout": ("[0-9]{1,6}s", "must be one to six digits with s behind them"),
    "nginx.org/client-max-body-size": SIZE,
}
# fmt: on
"""All of them. The patterns follow from what each controller's source does with a value: many are written into the
configuration as they are, and nginx refuses the whole of it for a number that is too large (-1, too)."""
