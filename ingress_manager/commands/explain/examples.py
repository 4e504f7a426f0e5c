"""Examples, for `ingress-manager explain`: one for each annotation, each setting, and each reason that can have one.

The tests read each of them, and see that it is accepted, or refused for its reason.
"""

from typing import Any, NamedTuple

from ingress_manager.core.errors import Reason

ANNOTATIONS: dict[str, dict[str, str]] = {
    "ingress/http": {"ingress/http": "true"},
    "ingress/host": {"ingress/http": "true", "ingress/host": "shop.example.com, www.example.com"},
    "ingress/path": {"ingress/http": "true", "ingress/path": "/shop"},
    "ingress/path-type": {"ingress/http": "true", "ingress/path": "/healthz", "ingress/path-type": "Exact"},
    "ingress/port": {"ingress/http": "true", "ingress/port": "80"},
    "ingress/class": {"ingress/http": "true", "ingress/class": "internal"},
    "ingress/tls": {"ingress/http": "true", "ingress/tls": "true"},
    "ingress/tls-secret": {"ingress/http": "true", "ingress/tls-secret": "shop-tls"},
    "ingress/routes": {
        "ingress/http": "true",
        "ingress/routes": "- path: /\n- host: admin.example.com\n  path: /admin\n  pathType: Exact\n",
    },
    "ingress/profile": {"ingress/http": "true", "ingress/profile": "internal"},
    "ingress/tls-redirect": {"ingress/http": "true", "ingress/tls": "true", "ingress/tls-redirect": "true"},
}

WEB = {"name": "web", "namespace": "infrastructure", "http": "http", "https": "https"}
HTTPROUTES: dict[str, Any] = {"defaults": {"outputs": ["httproute"], "gateway": WEB}}

INTERNAL = {"class": "internal", "host": "{service}.{namespace}.internal.example.com"}
PROFILES = {"profiles": {"internal": INTERNAL}}

FILTER = {
    "type": "ExtensionRef",
    "extensionRef": {"group": "traefik.io", "kind": "Middleware", "name": "single-sign-on"},
}
ACCEPTED = {"acceptedLosses": ["nginx.ingress.kubernetes.io/auth-url"]}
SLOW = {"profiles": {"slow": HTTPROUTES["defaults"] | {"timeouts": {"request": "60s", "backendRequest": "20s"}}}}

REDIRECT = {"outputs": ["httproute"], "gateway": WEB, "tls": {"redirect": True, "redirectStatusCode": 308}}

STATED: dict[str, dict[str, Any]] = {
    "host": {"host": "{service}.{namespace}.apps.example.com"},
    "class": {"class": "public"},
    "tls": {"tls": {"enabled": True, "secret": "{service}-tls"}},
    "annotations": {"annotations": {"nginx.ingress.kubernetes.io/proxy-body-size": "8m"}},
    "labels": {"labels": {"example.com/zone": "public"}},
    "outputs": HTTPROUTES["defaults"],
    "gateway": HTTPROUTES["defaults"],
}
"""What can be stated in `defaults`, by its field."""

LIMITS: dict[str, dict[str, Any]] = {
    "hosts": {"hosts": ["shop.example.com", "*.{namespace}.apps.example.com"]},
    "classes": {"classes": ["nginx", "internal"]},
    "pathTypes": {"pathTypes": ["Prefix"]},
    "paths": {"pathTypes": ["Prefix", "Exact", "ImplementationSpecific"], "paths": "any"},
    "copyAnnotations": {
        "copyAnnotations": {
            "nginx.ingress.kubernetes.io/proxy-read-timeout": "any",
            "nginx.ingress.kubernetes.io/backend-protocol": ["HTTP", "GRPC"],
        }
    },
    "copyLabels": {"copyLabels": {"example.com/team": "any", "example.com/stage": ["test", "production"]}},
    "acceptedLosses": ACCEPTED,
}

SETTINGS: dict[str, Any] = {
    "defaults": {"defaults": STATED["host"] | STATED["class"]},
    **{f"defaults.{field}": {"defaults": stated} for field, stated in STATED.items()},
    "defaults.tls.enabled": {"defaults": {"tls": {"enabled": True}}},
    "defaults.tls.secret": {"defaults": {"tls": {"secret": "{service}-tls"}}},
    "defaults.tls.redirect": {"defaults": REDIRECT},
    "defaults.tls.redirectStatusCode": {"defaults": REDIRECT},
    "defaults.tls.annotations": {
        "defaults": {"tls": {"annotations": {"cert-manager.io/cluster-issuer": "letsencrypt"}}}
    },
    **{f"defaults.gateway.{field}": HTTPROUTES for field in WEB},
    "defaults.gateway.decides": {
        "defaults": {"outputs": ["httproute"], "gateway": WEB | {"decides": ["class", "certificates"]}}
    },
    "defaults.gateway.supports": {
        "defaults": {
            "outputs": ["httproute"],
            "gateway": WEB | {"supports": ["HTTPRouteCORS", "HTTPRouteSchemeRedirect"]},
        }
    },
    "defaults.profile": {"defaults": {"profile": "internal"}, **PROFILES},
    "limits": {"limits": LIMITS["hosts"] | LIMITS["classes"]},
    **{f"limits.{field}": {"limits": stated} for field, stated in LIMITS.items()},
    "limits.profiles": {"limits": {"profiles": ["internal"]}, **PROFILES},
    "profiles": PROFILES,
    "profiles.*.filters": {"profiles": {"sso": HTTPROUTES["defaults"] | {"filters": [FILTER]}}},
    "profiles.*.acceptedLosses": {"profiles": {"sso": HTTPROUTES["defaults"] | {"filters": [FILTER]} | ACCEPTED}},
    "profiles.*.timeouts": SLOW,
    "profiles.*.timeouts.request": SLOW,
    "profiles.*.timeouts.backendRequest": SLOW,
    "namespaces": {"namespaces": {"team-a": {"defaults": STATED["class"], "limits": LIMITS["hosts"]}}},
    "namespaces.*.defaults": {"namespaces": {"team-a": {"defaults": {"host": "{service}.team-a.example.com"}}}},
    "namespaces.*.limits": {"namespaces": {"team-a": {"limits": LIMITS["hosts"]}}},
    "namespaces.*.paused": {"namespaces": {"team-a": {"paused": True}}},
    "paused": {"paused": True},
    **{key: {"admission": {"deny": True}} for key in ("admission", "admission.deny")},
    **{
        key: {"ingressClasses": {"internal": {"reads": ["haproxy.org/"]}}}
        for key in ("ingressClasses", "ingressClasses.*.reads")
    },
}
"""The settings file, by the path of the setting that it shows."""


class Refusal(NamedTuple):
    """A Service that is refused."""

    annotations: dict[str, str]
    spec: dict[str, Any] = {"ports": [{"port": 80}]}  # noqa: RUF012 - never changed
    settings: dict[str, Any] = {}  # noqa: RUF012 - never changed
    labels: dict[str, str] = {}  # noqa: RUF012 - never changed


REFUSALS: dict[Reason, Refusal] = {
    Reason.AMBIGUOUS_PORT: Refusal(
        {"ingress/http": "true"}, {"ports": [{"name": "web", "port": 8080}, {"name": "metrics", "port": 9090}]}
    ),
    Reason.ANNOTATION_NOT_ALLOWED: Refusal(
        {"ingress/http": "true", "nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"},
        settings={"limits": {"copyAnnotations": {"nginx.ingress.kubernetes.io/backend-protocol": ["HTTP", "GRPC"]}}},
    ),
    Reason.CLASS_NOT_ALLOWED: Refusal(
        {"ingress/http": "true", "ingress/class": "internal"}, settings={"limits": {"classes": ["nginx"]}}
    ),
    Reason.CONTRADICTION: Refusal(
        {"ingress/http": "true", "ingress/tls": "false", "ingress/tls-secret": "shop-tls"},
    ),
    Reason.DUPLICATE_ROUTE: Refusal({"ingress/http": "true", "ingress/routes": "[{path: /a}, {path: /a/}]"}),
    Reason.EXTERNAL_NAME: Refusal(
        {"ingress/http": "true"},
        {"type": "ExternalName", "externalName": "shop.example.net", "ports": [{"port": 80}]},
    ),
    Reason.HOST_NOT_ALLOWED: Refusal(
        {"ingress/http": "true", "ingress/host": "bank.example.com"},
        settings={"limits": {"hosts": ["*.{namespace}.example.com"]}},
    ),
    Reason.HTTPS_PORT: Refusal({"ingress/http": "true"}, {"ports": [{"name": "https", "port": 443}]}),
    Reason.INVALID_DEFAULT_HOST: Refusal(
        {"ingress/http": "true"},
        settings={"defaults": {"host": "{service}-of-{namespace}-on-the-shared-platform-of-the-example-company-ltd"}},
    ),
    Reason.INVALID_VALUE: Refusal({"ingress/http": "true", "ingress/host": "Shop.example.com"}),
    Reason.LABEL_NOT_ALLOWED: Refusal(
        {"ingress/http": "true"},
        settings={"limits": {"copyLabels": {"example.com/stage": ["test", "production"]}}},
        labels={"example.com/stage": "live"},
    ),
    Reason.NO_PORT: Refusal({"ingress/http": "true"}, {"ports": [{"port": 53, "protocol": "UDP"}]}),
    Reason.NOT_IN_HTTPROUTE: Refusal({"ingress/http": "true", "ingress/tls-secret": "shop-tls"}, settings=HTTPROUTES),
    Reason.NOT_IN_INGRESS: Refusal({"ingress/http": "true", "ingress/tls": "true", "ingress/tls-redirect": "true"}),
    Reason.PATH_TYPE_NOT_ALLOWED: Refusal({"ingress/http": "true", "ingress/path-type": "ImplementationSpecific"}),
    Reason.PAUSED: Refusal({"ingress/http": "true"}, settings={"paused": True}),
    Reason.PROFILE_NOT_ALLOWED: Refusal(
        {"ingress/http": "true", "ingress/profile": "internal"},
        settings={
            "limits": {"profiles": ["public"]},
            "profiles": {"public": {"class": "public"}, "internal": {"class": "internal"}},
        },
    ),
    Reason.PROTECTION_LOST: Refusal(
        {"ingress/http": "true", "nginx.ingress.kubernetes.io/whitelist-source-range": "10.0.0.0/8"}
    ),
    Reason.TOO_MANY_OBJECTS: Refusal(
        {
            "ingress/http": "true",
            "ingress/tls": "true",
            "ingress/tls-redirect": "true",
            "ingress/routes": "".join(f"- {{host: h{n}.example.com, path: /{n}}}\n" for n in range(1, 11)),
        },
        settings=HTTPROUTES,
    ),
    Reason.UNKNOWN_ANNOTATION: Refusal({"ingress/http": "true", "ingress/hots": "shop.example.com"}),
    Reason.UNKNOWN_PORT: Refusal({"ingress/http": "true", "ingress/port": "web"}),
    Reason.UNKNOWN_PROFILE: Refusal({"ingress/http": "true", "ingress/profile": "intern"}, settings=PROFILES),
}
"""A Service for each reason. None can be shown of a request that is none, of an Ingress that is too large, of an
HTTPRoute that was made earlier, and of a DecoratorController that knows no HTTPRoutes."""
