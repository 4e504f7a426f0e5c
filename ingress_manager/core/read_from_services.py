"""Keys that controllers read from the Service itself: they do their work there, and need not be copied.

Whoever took them off would change what is served. Sources: the pages on annotations of the AWS Load Balancer Controller
("Location": ingress,service), Contour, external-dns (its source `service`), GKE, HAProxy's own controller, HAProxy
Ingress (the scopes Backend and Path; "Gateway API") and Kong.
"""

ALB = (
    "auth-idp-cognito auth-idp-oidc auth-on-unauthenticated-request auth-scope auth-session-cookie "
    "auth-session-timeout auth-type backend-protocol backend-protocol-version healthcheck-interval-seconds "
    "healthcheck-path healthcheck-port healthcheck-protocol healthcheck-timeout-seconds healthy-threshold-count "
    "multi-cluster-target-group success-codes tags target-group-attributes target-node-labels target-type "
    "unhealthy-threshold-count"
)
CONTOUR = "max-connections max-pending-requests max-requests max-retries per-host-max-connections"
HAPROXY = (
    "abortonclose backend-config-snippet check check-http check-interval cookie-persistence forwarded-for load-balance "
    "pod-maxconn scale-server-slots send-proxy-protocol server-ca server-crt server-proto server-ssl "
    "standalone-backend timeout-check"
)
KONG = (
    "ca-certificates-configmap ca-certificates-secret ca-certificates-secrets client-cert connect-timeout host-header "
    "override path plugins protocol read-timeout retries tags tls-verify tls-verify-depth upstream-policy write-timeout"
)
KEYS = {
    f"{prefix}/{name}"
    for prefix, names in (
        ("alb.ingress.kubernetes.io", ALB),
        ("beta.cloud.google.com", "backend-config"),
        ("cloud.google.com", "backend-config"),
        ("haproxy.org", HAPROXY),
        ("ingress.kubernetes.io", "service-upstream"),  # Kong's, too
        ("konghq.com", KONG),
        ("projectcontour.io", CONTOUR),
    )
    for name in names.split()
}
PREFIXES = (
    "external-dns.alpha.kubernetes.io/",
    "external-dns.kubernetes.io/",
    "haproxy-ingress.github.io/",
    "projectcontour.io/upstream-protocol.",
)


OF_HOSTS = tuple(
    [f"haproxy-ingress.github.io/auth-tls-{name}" for name in ("error-page", "secret", "strict", "verify-client")]
)
"""Those of HAProxy Ingress that it reads from an Ingress alone: their scope is a host."""

WITH_HTTPROUTES = ("haproxy-ingress.github.io/", "konghq.com/")
"""How the keys begin that are read from the Service of an HTTPRoute, too. Google and AWS have objects for that."""


def is_read_from_services(key: str, *, of_httproutes: bool = False) -> bool:
    """Return whether a controller reads this annotation from the Service itself; `of_httproutes`: for an HTTPRoute."""
    if of_httproutes and not key.startswith(WITH_HTTPROUTES):
        return False
    return key in KEYS or (key.startswith(PREFIXES) and key not in OF_HOSTS)
