"""The settings: the policy, read from the text of one YAML file. Of several mistakes, one is told.

First is what is of another type than it should be, then what is wrong with a text or a key by itself, then what two
values of a mapping say together, then how settings that are right by themselves contradict each other.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET

from ingress_manager.core import copying
from ingress_manager.core.annotations import LONGEST_ENTRANCE, ingress_of, wrong_path_type
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.namespace_policy import NamespacePolicy, fill_in, resolve
from ingress_manager.core.policy import (
    HTTPROUTE,
    INGRESS,
    NO_DEFAULTS,
    NO_LIMITS,
    NO_NAME,
    OUTPUT_NAMES,
    TEMPLATE_FIELDS,
    Defaults,
    NamespaceSettings,
    Policy,
    Profile,
)
from ingress_manager.core.shape import FieldError, converted
from ingress_manager.core.strict_yaml import FieldPath, YamlError, load_typed
from ingress_manager.core.syntax import LONGEST_LABEL, wrong_host, wrong_label_value, wrong_name, wrong_namespace
from ingress_manager.core.text import listed, one_line, quoted
from ingress_manager.core.vocabulary import OLD_CLASS

FILE_VARIABLE = "INGRESS_MANAGER_SETTINGS"
"""The environment variable that holds the path of the settings file; without it, the defaults hold."""

Check = Callable[[str], str]
"""Returns the end of a sentence about a text that is wrong; "" if it is right."""

LAST_PORT = 65535
MOST_VALUES = 200_000
"""Keys, values, lists and mappings: more than 10,000 namespaces need, and what can be read in two seconds."""


def parse(text: str) -> Policy:
    """Return the policy that a YAML text states, whole; an empty one states what is built in. Raises SettingsError."""
    last = text.count("\n") + 1  # to YAML, some more characters end a line than to editors
    try:
        stated, places = load_typed(text, MOST_VALUES)
    except YamlError as error:
        raise SettingsError(one_line(error.what), line=min(error.line, last)) from error
    try:
        return read({} if stated is None else stated)
    except FieldError as error:
        around = [error.path[:length] for length in range(len(error.path), 0, -1)]
        line = next((places[path] for path in around if path in places), 0)
        raise SettingsError(error.sentence, error.path, min(line, last)) from error


def read(stated: Any) -> Policy:
    """Return the policy that plain values state, whole. Raises FieldError."""
    as_stated: Policy = converted(stated, Policy)
    _check_texts(as_stated, (), "")
    policy = as_stated.whole
    general = NamespaceSettings(policy.defaults, policy.limits)
    _check_entry((), "", general, Policy(policy.defaults, policy.limits, policy.profiles))
    for namespace, entry in policy.namespaces.items():
        _check_entry(("namespaces", namespace), namespace, entry, policy)
    unlimited = Policy(policy.defaults, profiles=policy.profiles)
    for name, profile in policy.profiles.items():
        _check_profile(("profiles", name), profile, resolve(unlimited, "", name))
    return policy


def _check_texts(value: Any, at: FieldPath, field: str) -> None:
    """Raise FieldError for the first text, or key of a mapping, that is wrong by itself, in a field of this name."""
    if isinstance(value, msgspec.Struct):
        for name, key in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            _check_texts(getattr(value, name), (*at, key), key)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_text(key, CHECKS_OF_KEYS.get(field), (*at, key))
            _check_texts(inner, (*at, key), field)
    elif isinstance(value, tuple):
        if copying.ANY in value:
            raise FieldError(at, ": the word any must stand alone, not in a list")
        for number, inner in enumerate(value):
            _check_texts(inner, (*at, number), field)
    elif isinstance(value, str):
        _check_text(value, CHECKS.get(field), at, f"{quoted(value)} ")


def _check_text(text: str, check: Check | None, at: FieldPath, subject: str = "") -> None:
    """Raise FieldError for what a check, if there is one, has against a text. The sentence begins with `subject`."""
    if check and (end := check(text)):
        raise FieldError(at, f": {subject}{end}")


def _check_entry(at: FieldPath, namespace: str, entry: NamespaceSettings, policy: Policy) -> None:
    """Raise FieldError for what is wrong with an entry of a namespace, or for "" with what holds in general."""
    defaults, limits = entry.defaults or NO_DEFAULTS, entry.limits or NO_LIMITS
    _check_stated((*at, "defaults"), defaults)
    if limits.path_types is not UNSET and "Prefix" not in limits.path_types:
        raise FieldError((*at, "limits", "pathTypes"), ": must hold Prefix, which is the default")
    for key, limit in (limits.copy_annotations or {}).items():
        for number, value in enumerate(limit if isinstance(limit, tuple) else ()):
            path = (*at, "limits", "copyAnnotations", key, number)
            _check_text(value, partial(copying.wrong_value, key), path, f"{quoted(value)} ")
    allowed = limits.profiles if isinstance(limits.profiles, tuple) else ()
    named: list[tuple[FieldPath, Any]] = [(("limits", "profiles", number), name) for number, name in enumerate(allowed)]
    for path, name in [(("defaults", "profile"), defaults.profile), *named]:
        if name and name not in policy.profiles:
            among = listed([*policy.profiles]) or "there is none"
            raise FieldError((*at, *path), f": {quoted(name)} must be the name of a profile: {among}")
    _check_here((*at, "defaults"), resolve(policy, namespace, None), policy)


def _check_here(at: FieldPath, here: NamespacePolicy, policy: Policy) -> None:
    """Raise FieldError for what the defaults of a namespace, or the general ones, contradict."""
    name, default = here.default_profile, here.default_class
    if name in policy.profiles and here.profile is None:
        end = f": {quoted(name)} must be one of the profiles that are allowed: {listed(here.usable_profiles())}"
        raise FieldError((*at, "profile"), end)
    if not here.allows_class(default):
        of = f" of the profile {here.profile}," if here.profile else ""
        shown = "null, the cluster's default," if default is None else quoted(default)
        end = f": the default{of} {shown} must be one of the classes that are allowed: {listed(here.classes)}"
        raise FieldError((*at, "class"), end)
    _check_class(at, here)
    _check_outputs(at, resolve(policy, here.namespace, NO_NAME) if here.profile else here)


def _check_stated(at: FieldPath, stated: Defaults | Profile) -> None:
    """Raise FieldError for what is wrong with defaults, or with a profile, wherever they hold."""
    if stated.tls and OLD_CLASS in (stated.tls.annotations or {}):
        end = ": can't depend on TLS; state it in annotations, with class: null beside them"
        raise FieldError((*at, "tls", "annotations", OLD_CLASS), end)
    if twice := [name for name in OUTPUT_NAMES if (stated.outputs or ()).count(name) > 1]:
        raise FieldError((*at, "outputs"), f": lists {twice[0]} twice")
    for number, each in enumerate((isinstance(stated, Profile) and stated.filters) or ()):
        if not isinstance(each.get("type"), str):
            raise FieldError((*at, "filters", number), ": must state type, as text")
    if stated.gateway and stated.gateway.listener_sets and not 1 <= stated.gateway.listener_sets.port <= LAST_PORT:
        raise FieldError((*at, "gateway", "listenerSets", "port"), f": must be a port, from 1 to {LAST_PORT}")
    if stated.gateway is None and at != ("defaults",):
        end = ": must name a Gateway, or be left out; only the general defaults can have none"
        raise FieldError((*at, "gateway"), end)


def _check_profile(at: FieldPath, profile: Profile, here: NamespacePolicy) -> None:
    """Raise FieldError for what is wrong with a profile, and what its outputs can't do. `here` holds with it."""
    _check_stated(at, profile)
    _check_class(at, here)
    outputs = profile.outputs or ()
    says_redirect = profile.tls and profile.tls.redirect and (not outputs or HTTPROUTE in outputs)
    fields: dict[FieldPath, Any] = {("filters",): profile.filters, ("timeouts",): profile.timeouts}
    fields["tls", "redirect"] = says_redirect
    for field in filter(fields.get, fields):
        if HTTPROUTE not in outputs:
            end = f": only HTTPRoutes have it; state outputs: [{HTTPROUTE}] in this profile"
            raise FieldError((*at, *field), end)
        if INGRESS in outputs and profile.annotations is UNSET:
            end = ": an Ingress can't say it; state annotations that do the same, or take ingress out of outputs"
            raise FieldError((*at, *field), end)
    if outputs:
        _check_outputs(at, here)


def _check_class(at: FieldPath, here: NamespacePolicy) -> None:
    """Raise FieldError for an IngressClass beside the annotation that names a class."""
    if here.ingress_class is not None and OLD_CLASS in here.annotations:
        end = (
            f": {quoted(here.ingress_class)} can't stand beside the annotation that names the class "
            f"{quoted(here.annotations[OLD_CLASS])}; state class: null here, or annotations without it"
        )
        raise FieldError((*at, "class"), end)


def _check_outputs(at: FieldPath, here: NamespacePolicy) -> None:
    """Raise FieldError for what the outputs, or their Gateway, can't do."""
    if HTTPROUTE not in here.outputs:
        if here.tls_redirect:
            end = f": must be false where outputs don't hold {HTTPROUTE}; an Ingress can't say it"
            raise FieldError((*at, "tls", "redirect"), end)
    elif not here.gateway:
        end = f": must be stated where outputs hold {HTTPROUTE}, as in {{name: web, namespace: infrastructure}}"
        raise FieldError((*at, "gateway"), end)
    elif here.tls_redirect and not here.gateway.redirects:
        end = ": must name a listener of its own where tls.redirect is true: it answers with the redirect"
        raise FieldError((*at, "gateway", "http"), end)


def wrong_output(name: str) -> str:
    """Return what is wrong with the name of an output."""
    return "" if name in OUTPUT_NAMES else f"must be {' or '.join(OUTPUT_NAMES)}"


def wrong_pattern_of_namespaces(pattern: str) -> str:
    """Return what is wrong with the name of a namespace, or a pattern that some name fits."""
    if pattern.count("*") > 1:
        return "must be a namespace's name, or a pattern with one *"
    return wrong_namespace(pattern.replace("*", "a"))


def template(check: Check, placeholders: Iterable[str], service: str, namespace: str) -> Check:
    """Return a check of a template: what becomes of it with these names has to be right."""

    def wrong_template(text: str) -> str:
        filled_in = fill_in(text, service, namespace)
        return f"may hold only {' and '.join(placeholders)} in braces" if "{" in filled_in else check(filled_in)

    return wrong_template


LONGEST = "a" * LONGEST_LABEL
"""A Service, or a namespace, whose name is as long as one can be."""

CHECKS: dict[str, Check] = {
    **dict.fromkeys(("class", "classes", "http", "https", "name", "profiles"), wrong_name),
    "acceptedLosses": copying.wrong_loss,
    "host": template(wrong_host, TEMPLATE_FIELDS, "a", "a"),
    "hosts": template(wrong_host, TEMPLATE_FIELDS[1:], TEMPLATE_FIELDS[0], "a"),
    "labels": wrong_label_value,
    "namespace": wrong_namespace,
    "outputs": wrong_output,
    "pathTypes": wrong_path_type,
    "reads": copying.wrong_prefix,
    "secret": template(wrong_name, TEMPLATE_FIELDS, ingress_of("a" * LONGEST_ENTRANCE, LONGEST), LONGEST),
}
"""What checks a text of the settings, by the field that it is in."""

CHECKS_OF_KEYS: dict[str, Check] = {
    **dict.fromkeys(("ingressClasses", "profiles"), wrong_name),
    "annotations": copying.wrong_own_key,
    "copyAnnotations": copying.wrong_copied_key,
    "labels": copying.wrong_own_label_key,
    "namespaces": wrong_pattern_of_namespaces,
}
"""What checks a key, by the field that it is in."""
