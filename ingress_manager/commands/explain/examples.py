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
}
"""The annotations of a Service."""

HTTPROUTES: dict[str, Any] = {
    "outputs": ["httproute"],
    "gateway": {"name": "web", "namespace": "infrastructure", "http": "http", "https": "https"},
}

SETTINGS: dict[str, Any] = {
    "host": {"host": "{service}.{namespace}.apps.example.com"},
    "class": {"class": "public"},
    "tls": {"tls": {"enabled": True, "secret": "{service}-tls"}},
    "tls.enabled": {"tls": {"enabled": True}},
    "tls.secret": {"tls": {"secret": "{service}-tls"}},
    "tls.annotations": {"tls": {"annotations": {"cert-manager.io/cluster-issuer": "letsencrypt"}}},
    "annotations": {"annotations": {"nginx.ingress.kubernetes.io/proxy-body-size": "8m"}},
    "copyAnnotations": {
        "copyAnnotations": {
            "nginx.ingress.kubernetes.io/proxy-read-timeout": "any",
            "nginx.ingress.kubernetes.io/backend-protocol": ["HTTP", "GRPC"],
        }
    },
    "pathTypes": {"pathTypes": ["Prefix"]},
    "namespaces": {"namespaces": {"*": {"hosts": ["*.{namespace}.apps.example.com"], "classes": ["nginx"]}}},
    "namespaces.*.hosts": {"namespaces": {"team-a": {"hosts": ["shop.example.com", "*.team-a.example.com"]}}},
    "namespaces.*.classes": {"namespaces": {"team-a": {"classes": ["nginx", "internal"]}}},
    "namespaces.*.host": {"namespaces": {"team-a": {"host": "{service}.team-a.example.com"}}},
    "namespaces.*.class": {"namespaces": {"team-a": {"class": "internal"}}},
    "namespaces.*.tls": {"namespaces": {"team-a": {"tls": {"enabled": True}}}},
    "namespaces.*.tls.enabled": {"namespaces": {"team-a": {"tls": {"enabled": True}}}},
    "namespaces.*.tls.secret": {"namespaces": {"team-a": {"tls": {"secret": "team-a-tls"}}}},
    "namespaces.*.tls.annotations": {
        "namespaces": {"team-a": {"tls": {"annotations": {"cert-manager.io/cluster-issuer": "staging"}}}}
    },
    "namespaces.*.annotations": {
        "namespaces": {"team-a": {"annotations": {"nginx.ingress.kubernetes.io/proxy-body-size": "64m"}}}
    },
    "namespaces.*.outputs": {**HTTPROUTES, "namespaces": {"team-a": {"outputs": ["ingress", "httproute"]}}},
    "outputs": HTTPROUTES,
    **dict.fromkeys(("gateway", "gateway.name", "gateway.namespace", "gateway.http", "gateway.https"), HTTPROUTES),
    "paused": {"paused": True},
}
"""The settings file, by the path of the setting that it shows."""


class Refusal(NamedTuple):
    """A Service that is refused."""

    annotations: dict[str, str]
    spec: dict[str, Any] = {"ports": [{"port": 80}]}  # noqa: RUF012 - never changed
    settings: dict[str, Any] = {}  # noqa: RUF012 - never changed


REFUSALS: dict[Reason, Refusal] = {
    Reason.AMBIGUOUS_PORT: Refusal(
        {"ingress/http": "true"}, {"ports": [{"name": "web", "port": 8080}, {"name": "metrics", "port": 9090}]}
    ),
    Reason.ANNOTATION_NOT_ALLOWED: Refusal(
        {"ingress/http": "true", "nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"},
        settings={"copyAnnotations": {"nginx.ingress.kubernetes.io/backend-protocol": ["HTTP", "GRPC"]}},
    ),
    Reason.CLASS_NOT_ALLOWED: Refusal(
        {"ingress/http": "true", "ingress/class": "internal"}, settings={"namespaces": {"*": {"classes": ["nginx"]}}}
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
        settings={"namespaces": {"*": {"hosts": ["*.{namespace}.example.com"]}}},
    ),
    Reason.HTTPS_PORT: Refusal({"ingress/http": "true"}, {"ports": [{"name": "https", "port": 443}]}),
    Reason.INVALID_DEFAULT_HOST: Refusal(
        {"ingress/http": "true"},
        settings={"host": "{service}-of-{namespace}-on-the-shared-platform-of-the-example-company-ltd"},
    ),
    Reason.INVALID_VALUE: Refusal({"ingress/http": "true", "ingress/host": "Shop.example.com"}),
    Reason.NO_PORT: Refusal({"ingress/http": "true"}, {"ports": [{"port": 53, "protocol": "UDP"}]}),
    Reason.NOT_IN_HTTPROUTE: Refusal({"ingress/http": "true", "ingress/tls-secret": "shop-tls"}, settings=HTTPROUTES),
    Reason.PATH_TYPE_NOT_ALLOWED: Refusal({"ingress/http": "true", "ingress/path-type": "ImplementationSpecific"}),
    Reason.PAUSED: Refusal({"ingress/http": "true"}, settings={"paused": True}),
    Reason.UNKNOWN_ANNOTATION: Refusal({"ingress/http": "true", "ingress/hots": "shop.example.com"}),
    Reason.UNKNOWN_PORT: Refusal({"ingress/http": "true", "ingress/port": "web"}),
}
"""A Service for each reason. None can be shown of a request that is none, of an Ingress that is too large, of an
HTTPRoute that was made earlier, and of a DecoratorController that knows no HTTPRoutes."""
