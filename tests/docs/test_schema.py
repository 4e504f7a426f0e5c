"""The schema of the settings takes and refuses what the hook does, as far as types and fields go."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from ingress_manager.core.errors import SettingsError
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from ingress_manager.core.shape import Mismatch, fit, type_of
from tools import docs

pytestmark = pytest.mark.no_cover  # it would take most of the time

SCHEMA = json.loads(docs.SCHEMA.read_text(encoding="utf-8"))
EVERYTHING = yaml.safe_load(
    """
    defaults:
      host: "{service}.example.com"
      class: internal
      tls:
        enabled: true
        secret: "{service}-tls"
        redirect: true
        redirectStatusCode: 308
        annotations: {cert-manager.io/cluster-issuer: ours}
      annotations: {example.com/a: b}
      labels: {team: a}
      outputs: [ingress, httproute]
      gateway: {name: web, namespace: infrastructure, http: http, https: https, supports: null}
      profile: all
    limits:
      hosts: ["*.{namespace}.example.com"]
      classes: [internal]
      pathTypes: [Prefix, Exact, ImplementationSpecific]
      paths: any
      copyAnnotations: {haproxy.org/ssl-redirect: ["true"]}
      copyLabels: {team: any}
      profiles: [all]
      acceptedLosses: [nginx.ingress.kubernetes.io/auth-url]
    profiles:
      all:
        class: internal
        outputs: [httproute]
        filters:
        - type: RequestHeaderModifier
          requestHeaderModifier: {set: [{name: a, value: b}], add: [{name: c, value: d}], remove: [e]}
        - {type: ResponseHeaderModifier, responseHeaderModifier: {remove: [e]}}
        - type: RequestMirror
          requestMirror: {backendRef: {group: "", kind: Service, name: a, namespace: b, port: 80}, percent: 5}
        - type: RequestMirror
          requestMirror: {backendRef: {name: a, port: 80}, fraction: {numerator: 1, denominator: 5}}
        - type: URLRewrite
          urlRewrite: {hostname: a.example.com, path: {type: ReplacePrefixMatch, replacePrefixMatch: /a}}
        - {type: ExtensionRef, extensionRef: {group: traefik.io, kind: Middleware, name: a}}
        - type: CORS
          cors:
            allowOrigins: ["https://example.com"]
            allowCredentials: true
            allowMethods: [GET]
            allowHeaders: [a]
            exposeHeaders: [b]
            maxAge: 60
        timeouts: {request: 10s, backendRequest: 5s}
      full-path:
        outputs: [httproute]
        filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /}}}]
    namespaces:
      team-a: {defaults: {class: internal}, limits: {classes: [internal]}, paused: true}
    paused: false
    admission: {deny: true}
    """
)
VALUES = [None, True, 7, -1, 1.5, "", "any", "a b", "x" * 5000, [], {}, ["any"], [7], ["a"] * 70, {"x": "y"}]


def changes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yield EVERYTHING with one thing changed: another value, one more field, or one fewer."""
    for other in VALUES if path else ():
        yield changed(path, other)
    if isinstance(value, dict):
        yield changed(path, {**value, "more": "x"})
        for key in value:
            yield changed(path, {other: inside for other, inside in value.items() if other != key})
    for key, inside in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from changes(inside, (*path, key))


def changed(path: tuple[Any, ...], value: Any) -> Any:
    """Return EVERYTHING with another value at a path."""
    if not path:
        return value
    *above, last = path
    made = inside = copy.deepcopy(EVERYTHING)
    for key in above:
        inside = inside[key]
    inside[last] = value
    return made


def test_the_example_states_every_field_of_the_schema() -> None:
    def keys(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from value
        for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from keys(inside)

    parse(json.dumps(EVERYTHING))
    assert {field for each in SCHEMA["$defs"].values() for field in each["properties"]} <= set(keys(EVERYTHING))


@pytest.mark.thorough
def test_the_schema_refuses_every_wrong_type_and_field_and_nothing_that_the_hook_takes() -> None:
    # It makes expressions for two seconds: in each process, if it stood above.
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    validator = Draft202012Validator(SCHEMA)
    for stated in changes(EVERYTHING):
        mismatches: list[Mismatch] = []
        fit(stated, type_of(Policy), mismatches)
        if validator.is_valid(stated):
            assert mismatches == [], stated
        elif not mismatches:
            # A name that is none of those in a list: the types alone don't say it.
            with pytest.raises(SettingsError):
                parse(json.dumps(stated))
