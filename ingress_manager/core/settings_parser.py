"""Parses the settings file, and reports the first mistake.

It first checks types, then applies the checks in settings.py to values and keys, and finally looks for valid values
that contradict each other.
"""

from typing import Any

import msgspec

from ingress_manager.core.copying import wrong_value
from ingress_manager.core.effective import EffectiveSettings, resolve
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.settings import (
    BUILT_IN_CLASSES,
    HTTPROUTE,
    INGRESS,
    STAR_FIELD,
    Defaults,
    NamespaceSettings,
    Profile,
    Settings,
    overlay,
)
from ingress_manager.core.shape import FieldError, check_values, convert
from ingress_manager.core.strict_yaml import FieldPath, YamlError, load
from ingress_manager.core.text import listed, one_line, quoted
from ingress_manager.core.vocabulary import OLD_CLASS

FILE_VARIABLE = "INGRESS_MANAGER_SETTINGS"
"""The environment variable with the settings file's path. If it is unset, the defaults apply."""

MOST_VALUES = 200_000
"""The most keys, values, lists and mappings in a file. 10,000 namespaces need fewer. Reading this many takes 2 s."""


def parse(text: str) -> Settings:
    """Parse the text of a settings file. Raises SettingsError."""
    last = text.count("\n") + 1  # in YAML, more characters end a line than in editors
    try:
        plain, places = load(text, MOST_VALUES)
    except YamlError as error:
        raise SettingsError(one_line(error.message), line=min(error.line, last)) from error
    try:
        return read({} if plain is None else plain)
    except FieldError as error:
        enclosing = [error.path[:length] for length in range(len(error.path), 0, -1)]
        line = next((places[path] for path in enclosing if path in places), 0)
        raise SettingsError(error.sentence, error.path, min(line, last)) from error


def read(plain: Any) -> Settings:
    """Convert plain settings, read from YAML, and check them. Raises FieldError."""
    profiles = convert(plain, Settings).profiles
    for name, profile in profiles.items():
        convert(profile, Profile, ("profiles", name))
    check_values(plain, Settings)
    for name, profile in profiles.items():
        check_values(profile, Profile, ("profiles", name))
    settings = msgspec.convert(fill_in_namespaces(plain), Settings)
    # Without entries, because a pattern such as * would match the namespace "".
    _check_entry((), "", msgspec.structs.replace(settings, namespaces={}))
    for namespace in settings.namespaces:
        _check_entry(("namespaces", namespace), namespace, settings)
    unlimited = Settings(settings.defaults, profiles=settings.profiles)  # or a limit could leave a profile unchecked
    for name in settings.profiles:
        _check_profile(("profiles", name), resolve(unlimited, "", name))
    return settings


def fill_in_namespaces(plain: Object) -> Object:
    """Return settings with built-in classes, and with namespaces' omitted fields copied from the general settings."""
    general = {key: plain[key] for key in NamespaceSettings.__struct_encode_fields__ if key in plain}
    entries = plain.get("namespaces", {}).items()
    namespaces = {name: overlay(general, entry, NamespaceSettings) for name, entry in entries}
    classes = {**msgspec.to_builtins(BUILT_IN_CLASSES), **plain.get("ingressClasses", {})}
    return {**plain, "namespaces": namespaces, "ingressClasses": classes}


def _check_entry(path: FieldPath, namespace: str, settings: Settings) -> None:
    """Raise FieldError for a mistake in a namespace's entry, or in the general settings if `namespace` is ""."""
    effective = resolve(settings, namespace, None)
    defaults, limits = settings.entry_for(namespace).defaults, effective.limits
    for number, host in enumerate(limits.hosts):
        _check_star((*path, "limits", "hosts", number), namespace, host)
    _check_values((*path, "defaults"), defaults, namespace)
    for key, limit in limits.copy_annotations.items():
        for number, value in enumerate(limit if isinstance(limit, tuple) else ()):
            if end := wrong_value(key, value):
                raise FieldError((*path, "limits", "copyAnnotations", key, number), f": {quoted(value)} {end}")
    allowed = limits.profiles if isinstance(limits.profiles, tuple) else ()
    named: list[tuple[FieldPath, Any]] = [(("limits", "profiles", number), name) for number, name in enumerate(allowed)]
    for field, name in [(("defaults", "profile"), defaults.profile), *named]:
        if name and name not in settings.profiles:
            profiles = listed([*settings.profiles]) or "there are none"
            raise FieldError((*path, *field), f": {quoted(name)} is not one of the profiles: {profiles}")
    if defaults.profile and effective.profile is None:
        usable = listed(effective.usable_profiles)
        end = f": {quoted(defaults.profile)} is not one of the allowed profiles: {usable}"
        raise FieldError((*path, "defaults", "profile"), end)
    if effective.why_not_allowed(effective.default_class, limits.classes):
        start = f"{quoted(effective.profile)} has the class" if effective.profile else "the default is"
        shown = "null (the cluster's default)" if effective.default_class is None else quoted(effective.default_class)
        end = f": {start} {shown}, which is not one of the allowed classes: {listed(limits.classes)}"
        raise FieldError((*path, "defaults", "profile" if effective.profile else "class"), end)


def _check_star(path: FieldPath, namespace: str, text: str | None) -> None:
    if text and STAR_FIELD in text and "*" not in namespace:
        raise FieldError(
            path, f": {quoted(text)} may contain {STAR_FIELD} only in the entry of a namespace pattern such as *-prod"
        )


def _check_values(path: FieldPath, values: Defaults | Profile, namespace: str = "") -> None:
    _check_star((*path, "host"), namespace, values.host)
    _check_star((*path, "tls", "secret"), namespace, values.tls.secret)
    if values.ingress_class is not None and OLD_CLASS in values.annotations:
        end = (
            f": {quoted(values.ingress_class)} can't be combined with the annotation {OLD_CLASS}: "
            f"{quoted(values.annotations[OLD_CLASS])}; set class to null, or remove the annotation"
        )
        raise FieldError((*path, "class"), end)
    if HTTPROUTE not in values.outputs:
        if values.tls.redirect:
            end = f": must be false unless outputs include {HTTPROUTE}, because it only affects HTTPRoutes"
            raise FieldError((*path, "tls", "redirect"), end)
    elif not values.gateway:
        end = f": must be set, as in {{name: web, namespace: infrastructure}}, because outputs include {HTTPROUTE}"
        raise FieldError((*path, "gateway"), end)
    elif values.tls.redirect and not values.gateway.can_redirect:
        end = ": must name a listener for HTTP alone, because tls.redirect is true"
        raise FieldError((*path, "gateway", "http"), end)


def _check_profile(path: FieldPath, effective: EffectiveSettings) -> None:
    overrides, outputs = effective.overrides, effective.overrides.get("outputs", ())
    has_redirect = overrides.get("tls", {}).get("redirect") and (not outputs or HTTPROUTE in outputs)
    fields: dict[FieldPath, Any] = {(name,): getattr(effective, name) for name in ("filters", "timeouts", "retry")}
    fields["tls", "redirect"] = has_redirect
    for field in filter(fields.get, fields):
        # Namespaces differ in outputs and annotations, so the profile itself must set the ones that its fields need.
        if HTTPROUTE not in outputs:
            end = f": can affect only HTTPRoutes; set outputs to [{HTTPROUTE}] in this profile"
            raise FieldError((*path, *field), end)
        if INGRESS in outputs and "annotations" not in overrides:
            end = ": can't affect Ingresses; set this profile's annotations instead, or remove ingress from outputs"
            raise FieldError((*path, *field), end)
    _check_values(path, effective)
