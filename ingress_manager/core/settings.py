"""The settings: the policy, read from the text of one YAML file. Of several mistakes, one is told.

First is what is of another type than it should be, then what is wrong with a text or a key by itself, then what two
values of a mapping say together, then how settings that are right by themselves contradict each other.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec

from ingress_manager.core import copying
from ingress_manager.core.annotations import LONGEST_ENTRANCE, ingress_of, wrong_path_type
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.namespace_policy import NamespacePolicy, fill_in, resolve
from ingress_manager.core.policy import (
    BUILT_IN_CLASSES,
    HTTPROUTE,
    INGRESS,
    OUTPUT_NAMES,
    TEMPLATE_FIELDS,
    Defaults,
    Policy,
    Profile,
    overlaid,
)
from ingress_manager.core.shape import FieldError, converted
from ingress_manager.core.strict_yaml import FieldPath, YamlError, load
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
        stated, places = load(text, MOST_VALUES)
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
    profiles = {name: converted(each, Profile, ("profiles", name)) for name, each in as_stated.profiles.items()}
    _check_texts(msgspec.structs.replace(as_stated, profiles=profiles), (), "")
    policy = msgspec.convert(filled_in(stated), Policy)
    _check_entry((), "", msgspec.structs.replace(policy, namespaces={}))
    for namespace in policy.namespaces:
        _check_entry(("namespaces", namespace), namespace, policy)
    unlimited = Policy(policy.defaults, profiles=policy.profiles)
    for name in policy.profiles:
        _check_profile(("profiles", name), resolve(unlimited, "", name))
    return policy


def filled_in(stated: Object) -> Object:
    """Return plain settings with what holds in general wherever a namespace leaves something out."""
    defaults, limits = stated.get("defaults", {}), stated.get("limits", {})
    namespaces = {
        name: {
            "defaults": overlaid(defaults, entry.get("defaults", {})),
            "limits": {**limits, **entry.get("limits", {})},
            "paused": entry.get("paused", stated.get("paused", False)),
        }
        for name, entry in stated.get("namespaces", {}).items()
    }
    classes = {**msgspec.to_builtins(BUILT_IN_CLASSES), **stated.get("ingressClasses", {})}
    return {**stated, "namespaces": namespaces, "ingressClasses": classes}


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


def _check_entry(at: FieldPath, namespace: str, policy: Policy) -> None:
    """Raise FieldError for what is wrong with an entry of a namespace, or for "" with what holds in general."""
    here = resolve(policy, namespace, None)
    defaults, limits = policy.entry_of(namespace).defaults, here.limits
    _check_given((*at, "defaults"), defaults)
    if "Prefix" not in limits.path_types:
        raise FieldError((*at, "limits", "pathTypes"), ": must hold Prefix, which is the default")
    for key, limit in limits.copy_annotations.items():
        for number, value in enumerate(limit if isinstance(limit, tuple) else ()):
            path = (*at, "limits", "copyAnnotations", key, number)
            _check_text(value, partial(copying.wrong_value, key), path, f"{quoted(value)} ")
    allowed = limits.profiles if isinstance(limits.profiles, tuple) else ()
    named: list[tuple[FieldPath, Any]] = [(("limits", "profiles", number), name) for number, name in enumerate(allowed)]
    for path, name in [(("defaults", "profile"), defaults.profile), *named]:
        if name and name not in policy.profiles:
            among = listed([*policy.profiles]) or "there is none"
            raise FieldError((*at, *path), f": {quoted(name)} must be the name of a profile: {among}")
    if defaults.profile and here.profile is None:
        usable = listed(here.usable_profiles)
        end = f": {quoted(defaults.profile)} must be one of the profiles that are allowed: {usable}"
        raise FieldError((*at, "defaults", "profile"), end)
    if here.not_allowed(here.default_class, limits.classes):
        of = f" of the profile {here.profile}," if here.profile else ""
        shown = "null, the cluster's default," if here.default_class is None else quoted(here.default_class)
        end = f": the default{of} {shown} must be one of the classes that are allowed: {listed(limits.classes)}"
        raise FieldError((*at, "defaults", "class"), end)


def _check_given(at: FieldPath, given: Defaults | Profile) -> None:
    """Raise FieldError for what is wrong with defaults, or with a profile, wherever they hold."""
    if OLD_CLASS in given.tls.annotations:
        end = ": can't depend on TLS; state it in annotations, with class: null beside them"
        raise FieldError((*at, "tls", "annotations", OLD_CLASS), end)
    if given.ingress_class is not None and OLD_CLASS in given.annotations:
        end = (
            f": {quoted(given.ingress_class)} can't stand beside the annotation that names the class "
            f"{quoted(given.annotations[OLD_CLASS])}; state class: null here, or annotations without it"
        )
        raise FieldError((*at, "class"), end)
    if twice := [name for name in OUTPUT_NAMES if given.outputs.count(name) > 1]:
        raise FieldError((*at, "outputs"), f": lists {twice[0]} twice")
    if given.gateway and given.gateway.listener_sets and not 1 <= given.gateway.listener_sets.port <= LAST_PORT:
        raise FieldError((*at, "gateway", "listenerSets", "port"), f": must be a port, from 1 to {LAST_PORT}")
    if HTTPROUTE not in given.outputs:
        if given.tls.redirect:
            end = f": must be false where outputs don't hold {HTTPROUTE}; an Ingress can't say it"
            raise FieldError((*at, "tls", "redirect"), end)
    elif not given.gateway:
        end = f": must be stated where outputs hold {HTTPROUTE}, as in {{name: web, namespace: infrastructure}}"
        raise FieldError((*at, "gateway"), end)
    elif given.tls.redirect and not given.gateway.redirects:
        end = ": must name a listener of its own where tls.redirect is true: it answers with the redirect"
        raise FieldError((*at, "gateway", "http"), end)


def _check_profile(at: FieldPath, here: NamespacePolicy) -> None:
    """Raise FieldError for what is wrong with a profile, and what its outputs can't do. `here` holds with it."""
    for number, each in enumerate(here.filters):
        if not isinstance(each.get("type"), str):
            raise FieldError((*at, "filters", number), ": must state type, as text")
    own, outputs = here.own, here.own.get("outputs", ())
    says_redirect = own.get("tls", {}).get("redirect") and (not outputs or HTTPROUTE in outputs)
    fields: dict[FieldPath, Any] = {("filters",): here.filters, ("timeouts",): here.timeouts}
    fields["tls", "redirect"] = says_redirect
    for field in filter(fields.get, fields):
        if HTTPROUTE not in outputs:
            end = f": only HTTPRoutes have it; state outputs: [{HTTPROUTE}] in this profile"
            raise FieldError((*at, *field), end)
        if INGRESS in outputs and "annotations" not in own:
            end = ": an Ingress can't say it; state annotations that do the same, or take ingress out of outputs"
            raise FieldError((*at, *field), end)
    _check_given(at, here)


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
