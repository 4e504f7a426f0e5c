"""Effects: what an annotation of an ingress controller does to requests, by its key.

What protects must not be lost: an object that is made for a Service without it would be open to more than its owner
says. Sources: the pages on annotations of each controller; of ingress-nginx every key of its two pages (March 2026).
"""

import re
from enum import StrEnum


class Effect(StrEnum):
    """What an annotation does."""

    PROTECTS = "protects"
    """It keeps requests out, or may: who comes from elsewhere, has no password, asks too often."""

    CHANGES = "changes the answer"
    """Redirects, rewrites, headers, cookies, which pod answers, and what the pods are sent."""

    TUNES = "tunes"
    """Timeouts, buffers, sizes, logs: the answer is the same."""


PROTECTS, CHANGES, TUNES = Effect
NGINX = "nginx.ingress.kubernetes.io/"

# By effect: the controllers' prefixes, and the names behind each.
TABLE: dict[Effect, dict[str, str]] = {
    PROTECTS: {
        NGINX: (
            "allowlist-source-range auth-method auth-proxy-set-headers auth-response-headers auth-secret auth-snippet "
            "auth-tls-match-cn auth-tls-secret auth-tls-verify-client auth-tls-verify-depth auth-type auth-url "
            "configuration-snippet denylist-source-range enable-modsecurity enable-owasp-core-rules limit-connections "
            "limit-rpm limit-rps modsecurity-snippet server-snippet stream-snippet whitelist-source-range"
        ),
        "alb.ingress.kubernetes.io/": (
            "auth-idp-cognito auth-idp-oidc auth-type frontend-nlb-security-groups inbound-cidrs jwt-validation "
            "mutual-authentication security-group-prefix-lists security-groups shield-advanced-protection waf-acl-id "
            "wafv2-acl-arn wafv2-acl-name web-acl-id"
        ),
        "appgw.ingress.kubernetes.io/": "appgw-ssl-profile use-private-ip waf-policy-for-path",
        "appprotect.f5.com/": "app-protect-enable app-protect-policy",
        "appprotectdos.f5.com/": "app-protect-dos-resource",
        "beta.cloud.google.com/": "backend-config",
        "cloud.google.com/": "backend-config",
        "haproxy-ingress.github.io/": (
            "allowlist-source-range auth-secret auth-tls-secret auth-tls-strict auth-tls-verify-client auth-url "
            "config-backend denylist-source-range limit-connections limit-rps oauth waf whitelist-source-range"
        ),
        "haproxy.org/": (
            "allow-list auth-secret auth-type backend-config-snippet blacklist client-ca deny-list rate-limit-period "
            "rate-limit-requests whitelist"
        ),
        "ingress.kubernetes.io/": "auth-secret auth-tls-secret auth-type auth-url whitelist-source-range",
        "ingress.pomerium.io/": (
            "allow_any_authenticated_user allowed_domains allowed_email_domains allowed_groups allowed_idp_claims "
            "allowed_users policy"
        ),
        "konghq.com/": "methods plugins",
        "nginx.com/": "jwt-key jwt-token",
        "nginx.org/": "basic-auth-secret limit-req-key limit-req-rate location-snippets policies server-snippets",
        "traefik.ingress.kubernetes.io/": "router.entrypoints router.middlewares router.tls.options",
        "zalando.org/": "skipper-filter skipper-predicate",
    },
    CHANGES: {
        NGINX: (
            "affinity affinity-canary-behavior affinity-mode app-root auth-always-set-cookie auth-realm "
            "auth-request-redirect auth-secret-type auth-signin auth-signin-redirect-param auth-tls-error-page "
            "auth-tls-pass-certificate-to-upstream backend-protocol canary canary-by-cookie canary-by-header "
            "canary-by-header-pattern canary-by-header-value canary-weight canary-weight-total cors-allow-credentials "
            "cors-allow-headers cors-allow-methods cors-allow-origin cors-expose-headers cors-max-age custom-headers "
            "custom-http-errors default-backend disable-proxy-intercept-errors enable-cors enable-global-auth "
            "fastcgi-index fastcgi-params-configmap force-ssl-redirect from-to-www-redirect http2-push-preload "
            "mirror-host mirror-request-body mirror-target permanent-redirect permanent-redirect-code "
            "preserve-trailing-slash proxy-cookie-domain proxy-cookie-path proxy-redirect-from proxy-redirect-to "
            "proxy-ssl-ciphers proxy-ssl-name proxy-ssl-protocols proxy-ssl-secret proxy-ssl-server-name "
            "proxy-ssl-verify proxy-ssl-verify-depth relative-redirects rewrite-target satisfy server-alias "
            "session-cookie-change-on-failure session-cookie-conditional-samesite-none session-cookie-domain "
            "session-cookie-expires session-cookie-max-age session-cookie-name session-cookie-path "
            "session-cookie-samesite session-cookie-secure ssl-passthrough ssl-redirect temporal-redirect "
            "temporal-redirect-code upstream-hash-by upstream-hash-by-subset upstream-hash-by-subset-size "
            "upstream-vhost use-port-in-redirects use-regex x-forwarded-prefix"
        ),
        "alb.ingress.kubernetes.io/": "auth-on-unauthenticated-request",
        "haproxy-ingress.github.io/": "auth-tls-cert-header auth-tls-error-page",
        "haproxy.org/": "ssl-redirect",
        "konghq.com/": "preserve-host strip-path",
        "nginx.com/": "jwt-login-url jwt-realm",
        "nginx.org/": "basic-auth-realm",
        "traefik.ingress.kubernetes.io/": "router.tls",
    },
    TUNES: {
        NGINX: (
            "auth-cache-duration auth-cache-key auth-keepalive auth-keepalive-requests auth-keepalive-share-vars "
            "auth-keepalive-timeout client-body-buffer-size connection-proxy-header enable-access-log "
            "enable-opentelemetry enable-rewrite-log limit-allowlist limit-burst-multiplier limit-rate "
            "limit-rate-after limit-whitelist load-balance modsecurity-transaction-id opentelemetry-operation-name "
            "opentelemetry-trust-incoming-span proxy-body-size proxy-buffer-size proxy-buffering proxy-buffers-number "
            "proxy-busy-buffers-size proxy-connect-timeout proxy-http-version proxy-max-temp-file-size "
            "proxy-next-upstream proxy-next-upstream-timeout proxy-next-upstream-tries proxy-read-timeout "
            "proxy-request-buffering proxy-send-timeout service-upstream ssl-ciphers ssl-prefer-server-ciphers"
        ),
        "alb.ingress.kubernetes.io/": (
            "auth-scope auth-session-cookie auth-session-timeout manage-backend-security-group-rules"
        ),
        "appprotect.f5.com/": "app-protect-security-log app-protect-security-log-enable",
        "cert-manager.io/": "cluster-issuer issuer",
        "haproxy-ingress.github.io/": "limit-whitelist",
        "kubernetes.io/": "tls-acme",
        "nginx.org/": "client-max-body-size limit-req-log-level proxy-read-timeout",
        "traefik.ingress.kubernetes.io/": "router.tls.certresolver",
    },
}
EFFECTS = {
    f"{prefix}{name}": effect
    for effect, controllers in TABLE.items()
    for prefix, names in controllers.items()
    for name in names.split()
}

PROTECTING = re.compile(
    r"auth|oidc|jwt|mtls|client-c(a|ert)|(white|allow|deny|black)-?list|source-range|cidr|security-group|acl|waf"
    r"|modsecurity|shield|app-?protect|snippet|middleware|plugins|rate-?limit|limit-(req|rp|conn)"
)
"""What is in the name of an annotation that isn't in the table and may protect: controllers learn new ones."""

PROTECTING_PREFIXES = ("alb.ingress.kubernetes.io/conditions.", "konghq.com/headers.")
"""How keys begin of which any may protect: such a condition can name the addresses that may come."""

OF_OTHERS = (
    "acme.cert-manager.io/",
    "cert-manager.io/",
    "external-dns.alpha.kubernetes.io/",
    "external-dns.kubernetes.io/",
)
"""How keys begin that no ingress controller reads: they keep nobody out, whatever they are called."""


def effect_of(key: str) -> Effect | None:
    """Return what an annotation does; None: it isn't known, and nothing in its key says that it may protect."""
    key = key.lower()  # because Traefik reads its keys so
    if found := EFFECTS.get(key):
        return found
    may = PROTECTING.search(key.partition("/")[2]) or key.startswith(PROTECTING_PREFIXES)
    return PROTECTS if may and not key.startswith(OF_OTHERS) else None


def protects(key: str) -> bool:
    """Return whether an annotation may keep requests out."""
    return effect_of(key) is PROTECTS
