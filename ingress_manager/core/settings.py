"""The settings: the policy, read from the text of one YAML file."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ingress_manager.core.annotations import parse_path_type
from ingress_manager.core.copying import (
    ANY,
    Limit,
    check_key,
    check_loss,
    check_own_key,
    check_own_label_key,
    check_prefix,
    check_value,
)
from ingress_manager.core.entrances import LONGEST_ENTRANCE, ingress_of
from ingress_manager.core.errors import Mistake, Problem, SettingsError
from ingress_manager.core.policy import (
    HTTPROUTE,
    INGRESS,
    OUTPUT_NAMES,
    TEMPLATE_FIELDS,
    Defaults,
    Limits,
    Policy,
    Profile,
    fill_in,
    in_namespace,
    overlay,
)
from ingress_manager.core.shape import LEFT_OUT, FieldPath, Found, Mismatch, fit, type_of
from ingress_manager.core.strict_yaml import Lines, YamlProblem, load_text, load_typed
from ingress_manager.core.syntax import LONGEST_LABEL, check_host, check_label_value, check_name, check_namespace
from ingress_manager.core.text import LONGEST_KEY, cut, did_you_mean, listed, one_line, quoted
from ingress_manager.core.vocabulary import OLD_CLASS

FILE_VARIABLE = "INGRESS_MANAGER_SETTINGS"
"""The environment variable that holds the path of the settings file; without it, the defaults hold."""

MOST_VALUES = 200_000
"""Keys, values, lists and mappings: more than 10,000 namespaces need, and what can be read in two seconds."""

MOST_MISTAKES = 100
"""Mistakes that are told. A person fixes them one by one, and many thousands would take long to tell."""

LONGEST_MISTAKE = 2000
"""Characters of a mistake that are shown."""

ANY_WORD = f"the word {ANY}"
LIMIT = f"a list of what is allowed, or {ANY_WORD}"


def parse(text: str) -> Policy:
    """Return the policy that a YAML text states; an empty one states the defaults.

    Raises SettingsError, with all that is wrong, up to MOST_MISTAKES.
    """
    last = text.count("\n") + 1  # to YAML, some more characters end a line than to editors
    mismatches: list[Mismatch] = []
    try:
        stated = load_typed(text, MOST_VALUES)
        fitting = fit({} if stated is None else stated, type_of(Policy), mismatches)
        written = load_text(text) if mismatches else None
    except YamlProblem as error:
        raise SettingsError(Mistake(min(error.line, last), (), one_line(error.what))) from error
    policy = msgspec.convert({} if fitting is LEFT_OUT else fitting, Policy)
    all_found = chain(
        (told(each, stated, written) for each in mismatches), find_mistakes(policy, is_whole=not mismatches)
    )
    if found := list(islice(all_found, MOST_MISTAKES)):
        lines = Lines(text)
        mistakes = [
            Mistake(min(lines.line(path), last), path, cut(f"{shown(path)}{end}", LONGEST_MISTAKE))
            for path, end in found
        ]
        mistakes.sort(key=lambda mistake: mistake.line)
        if next(all_found, None):
            mistakes.append(Mistake(mistakes[-1].line, (), f"there are more mistakes than these {MOST_MISTAKES}"))
        raise SettingsError(*mistakes)
    return policy


def shown(path: FieldPath) -> str:
    """Return a path as people write it: limits.hosts[0]."""
    steps = "".join(
        f"[{step}]" if isinstance(step, int) else f".{cut(step, LONGEST_KEY) or quoted(step)}" for step in path
    )
    return steps.removeprefix(".") or "the settings"


def told(mismatch: Mismatch, stated: Any, written: Any) -> tuple[FieldPath, str]:
    """Return the path of a mismatch, and what is wrong there, with each key and value as it stands in the file.

    `stated` are all the settings, `written` the same with every scalar as text.
    """
    path: FieldPath = ()
    key = ""
    for step in mismatch.path:
        if isinstance(stated, dict):
            key = list(written)[list(stated).index(step)]
            path, stated, written = (*path, key), stated[step], written[key]
        else:
            path, stated, written = (*path, step), stated[step], written[step]
    match mismatch.sort:
        case "unknown":
            return path, f" is not a setting{did_you_mean(key, mismatch.right) or misplaced(path, mismatch.right)}"
        case "key":
            return path, ": a key must be text; put it in quotes"
        case "missing":
            return path, f": must state {mismatch.right[0]}"
        case "empty":
            return path, ": must list at least one value, and the list is empty"
    return path, f": {wrong_type(mismatch.right, stated, written)}"


def misplaced(path: FieldPath, right: Collection[str]) -> str:
    """Return the end of a sentence about a default or a limit that stands beside them; "" where it is none."""
    for name, type_ in (("defaults", Defaults), ("limits", Limits)):
        if name in right and path[-1] in {field.encode_name for field in msgspec.structs.fields(type_)}:
            return f"; did you mean {shown((*path[:-1], name, path[-1]))}?"
    return ""


def wrong_type(right: tuple[str, ...], stated: Any, written: Any) -> str:
    """Return the end of a sentence about a value that is of none of the right types."""
    wanted = LIMIT if ANY_WORD in right else " or ".join(right)
    if isinstance(stated, list | dict):
        return f"must be {wanted}, not a {'list' if isinstance(stated, list) else 'mapping'}"
    if isinstance(stated, str):
        return f"{quoted(stated)} must be {wanted}"
    value = one_line(written[:60]) or "is empty, and"
    return f"{value} must be {wanted}{'; put it in quotes' if 'text' in right and stated is not None else ''}"


def find_mistakes(policy: Policy, *, is_whole: bool) -> Found:
    """Yield what is wrong with values of the right types; of a policy that `is_whole`, how they contradict each other.

    Nothing that follows from another mistake is among it.
    """
    wrong = set()
    for path, end in find_problems(policy):
        wrong.add(path)
        yield path, end
    if is_whole:
        yield from (each for each in find_contradictions(policy) if each[0] not in wrong)


def find_problems(policy: Policy) -> Found:
    """Yield what is wrong with a value beyond its type."""
    yield from _check_defaults(("defaults",), policy.defaults)
    yield from _check_limits(("limits",), policy.limits)
    for name, profile in policy.profiles.items():
        at = ("profiles", name)
        yield from _check_key(at, check_name)
        yield from _check_defaults(at, profile)
        for number, each in enumerate(profile.filters or ()):
            if not isinstance(each.get("type"), str):
                yield (*at, "filters", number), ": must state type, as text"
        yield from _check_losses((*at, "acceptedLosses"), profile.accepted_losses)
    for name, entry in policy.namespaces.items():
        at = ("namespaces", name)
        yield from _check_key(at, check_pattern_of_namespaces)
        yield from _check_defaults((*at, "defaults"), entry.defaults or Defaults())
        yield from _check_limits((*at, "limits"), entry.limits or Limits())
    for name, known in policy.ingress_classes.items():
        at = ("ingressClasses", name)
        yield from _check_key(at, check_name)
        for number, prefix in enumerate(known.reads):
            yield from _check((*at, "reads", number), prefix, check_prefix)


def find_contradictions(policy: Policy) -> Found:
    """Yield where settings that are right by themselves contradict each other."""
    # Hosts contradict nothing. Each namespace would fill in all of the general ones: there can be thousands of both.
    policy = msgspec.structs.replace(policy, limits=msgspec.structs.replace(policy.limits, hosts=ANY))
    general = list(_find_contradictions_in("", policy.defaults, msgspec.structs.replace(policy, namespaces={})))
    yield from general
    yield from _find_unknown_profiles((), policy.defaults, policy.limits, policy)
    for name, entry in policy.namespaces.items():
        at, defaults = ("namespaces", name), entry.defaults or Defaults()
        for path, end in _find_contradictions_in(name, defaults, policy):
            if (path, end) not in general:
                yield (*at, *path), end
        yield from _find_unknown_profiles(at, defaults, entry.limits or Limits(), policy)
    for name, profile in policy.profiles.items():
        yield from _find_contradictions_of_profile(("profiles", name), profile, policy.defaults)


def _find_contradictions_in(namespace: str, stated: Defaults, policy: Policy) -> Found:
    """Yield what contradicts itself in a namespace, which states these defaults, with the path in its entry.

    Of "", which is no namespace's name, it is what contradicts itself in general.
    """
    here, own = in_namespace(policy, namespace), overlay(stated, policy.defaults)
    if own.profile in policy.profiles and here.profile is None:
        usable = _names(here.usable_profiles())
        yield ("defaults", "profile"), f": {quoted(own.profile)} must be one of the profiles that are allowed: {usable}"
    if not here.allows_class(here.default_class):
        default = "null, the cluster's default," if here.default_class is None else quoted(here.default_class)
        of = f" of the profile {here.profile}," if here.profile else ""
        allowed = listed(here.classes or ())
        yield (
            ("defaults", "class"),
            f": the default{of} {default} must be one of the classes that are allowed: {allowed}",
        )
    if namespace and here.ingress_class is not None and OLD_CLASS in here.annotations:
        yield ("defaults", "class"), _two_classes(here.ingress_class, here.annotations)
    yield from _find_contradictions_of_outputs(("defaults",), own)


def _find_unknown_profiles(at: FieldPath, defaults: Defaults, limits: Limits, policy: Policy) -> Found:
    """Yield the profiles that are stated and that there aren't."""
    stated: dict[FieldPath, str] = {("defaults", "profile"): defaults.profile} if defaults.profile else {}
    if isinstance(limits.profiles, tuple):
        stated |= {("limits", "profiles", number): name for number, name in enumerate(limits.profiles)}
    for path, name in stated.items():
        if name not in policy.profiles and name != ANY:
            known = policy.profiles
            end = f": {quoted(name)} must be the name of a profile: {_names(known)}{did_you_mean(name, known)}"
            yield (*at, *path), end


def _find_contradictions_of_profile(at: FieldPath, profile: Profile, general: Defaults) -> Found:
    """Yield what a profile says that its outputs can't do."""
    fields: list[FieldPath] = [("filters",)] if profile.filters else []
    fields += [("timeouts",)] if profile.timeouts else []
    if profile.ingress_class and profile.annotations is UNSET and OLD_CLASS in (general.annotations or {}):
        yield (*at, "class"), _two_classes(profile.ingress_class, general.annotations or {})
    outputs = profile.outputs or ()
    if profile.tls and profile.tls.redirect and (not outputs or HTTPROUTE in outputs):
        fields.append(("tls", "redirect"))
    for field in fields:
        if HTTPROUTE not in outputs:
            yield (*at, *field), f": only HTTPRoutes have it; state outputs: [{HTTPROUTE}] in this profile"
        elif INGRESS in outputs and profile.annotations is UNSET:
            yield (
                (*at, *field),
                ": an Ingress can't say it; state annotations that do the same, or take ingress out of outputs",
            )
    if outputs:
        yield from _find_contradictions_of_outputs(at, overlay(profile, general))


def _find_contradictions_of_outputs(at: FieldPath, defaults: Defaults) -> Found:
    """Yield what these defaults, which are whole, say that their outputs, or their Gateway, can't do."""
    redirect = defaults.tls and defaults.tls.redirect
    if HTTPROUTE not in (defaults.outputs or ()):
        if redirect:
            yield (
                (*at, "tls", "redirect"),
                f": must be false where outputs don't hold {HTTPROUTE}; an Ingress can't say it",
            )
    elif not defaults.gateway:
        yield (
            (*at, "gateway"),
            f": must be stated where outputs hold {HTTPROUTE}, as in {{name: web, namespace: infrastructure}}",
        )
    elif redirect and defaults.gateway.http in {None, defaults.gateway.https}:
        yield (
            (*at, "gateway", "http"),
            ": must name a listener of its own where tls.redirect is true: it answers with the redirect",
        )


def _two_classes(ingress_class: str, annotations: Mapping[str, str]) -> str:
    return (
        f": {quoted(ingress_class)} can't stand beside the annotation that names the class "
        f"{quoted(annotations[OLD_CLASS])} by default; state annotations here, which take the place of those"
    )


def _names(profiles: Iterable[str]) -> str:
    return listed(list(profiles)) or "there is none"


def _check_defaults(at: FieldPath, stated: Defaults | Profile) -> Found:
    """Yield what is wrong with the values of defaults or of a profile."""
    yield from _check((*at, "host"), stated.host, check_template)
    yield from _check((*at, "class"), stated.ingress_class, check_name)
    if stated.tls is not UNSET:
        yield from _check((*at, "tls", "secret"), stated.tls.secret, check_secret)
        yield from _check_keys((*at, "tls", "annotations"), stated.tls.annotations, check_own_key)
        if OLD_CLASS in (stated.tls.annotations or {}):
            end = ": can't depend on TLS; state it in annotations, with class: null beside them"
            yield (*at, "tls", "annotations", OLD_CLASS), end
    yield from _check_keys((*at, "annotations"), stated.annotations, check_own_key)
    if OLD_CLASS in (stated.annotations or {}) and stated.ingress_class is not None:
        yield (*at, "annotations", OLD_CLASS), ": can't stand beside an IngressClass; state class: null beside it"
    yield from _check_keys((*at, "labels"), stated.labels, check_own_label_key)
    for key, value in (stated.labels or {}).items():
        yield from _check((*at, "labels", key), value, check_label_value)
    if stated.outputs is not UNSET:
        yield from _check_outputs((*at, "outputs"), stated.outputs)
    if stated.gateway:
        gateway = (*at, "gateway")
        yield from _check((*gateway, "name"), stated.gateway.name, check_name)
        yield from _check((*gateway, "namespace"), stated.gateway.namespace, check_namespace)
        yield from _check((*gateway, "http"), stated.gateway.http, check_name)
        yield from _check((*gateway, "https"), stated.gateway.https, check_name)
    elif stated.gateway is None and at != ("defaults",):
        yield (*at, "gateway"), ": must name a Gateway, or be left out; only the general defaults can have none"


def _check_limits(at: FieldPath, limits: Limits) -> Found:
    """Yield what is wrong with the values of limits."""
    yield from _check_limit((*at, "hosts"), limits.hosts, check_pattern)
    yield from _check_limit((*at, "classes"), limits.classes, check_name)
    yield from _check_limit((*at, "pathTypes"), limits.path_types, parse_path_type)
    if limits.path_types is not UNSET and "Prefix" not in limits.path_types:
        yield (*at, "pathTypes"), ": must hold Prefix, which is the default"
    for key, limit in (limits.copy_annotations or {}).items():
        yield from _check_key((*at, "copyAnnotations", key), check_key)
        yield from _check_limit((*at, "copyAnnotations", key), limit, partial(check_value, key))
    yield from _check_limit((*at, "profiles"), limits.profiles, check_name)
    yield from _check_losses((*at, "acceptedLosses"), limits.accepted_losses)


def check_output(name: str) -> str:
    """Return the name of an output. Raises Problem."""
    if name not in OUTPUT_NAMES:
        raise Problem(f"must be {' or '.join(OUTPUT_NAMES)}{did_you_mean(name, OUTPUT_NAMES)}")
    return name


def check_template(template: str) -> str:
    """Return a host template that makes a valid host for short names. Raises Problem."""
    return _check_filled_in(template, fill_in(template, "a", "a"), TEMPLATE_FIELDS, check_host)


def check_secret(template: str) -> str:
    """Return a template that makes the name of a Secret for the longest names, too. Raises Problem."""
    longest = "a" * LONGEST_LABEL
    ingress = ingress_of("a" * LONGEST_ENTRANCE, longest)
    return _check_filled_in(template, fill_in(template, ingress, longest), TEMPLATE_FIELDS, check_name)


def check_pattern(pattern: str) -> str:
    """Return a pattern of hosts, in which {namespace} may stand. Raises Problem."""
    service, namespace = TEMPLATE_FIELDS
    return _check_filled_in(pattern, fill_in(pattern, service, "a"), [namespace], check_host)


def check_pattern_of_namespaces(pattern: str) -> str:
    """Return the name of a namespace, or a pattern that some name fits. Raises Problem."""
    if pattern.count("*") > 1:
        raise Problem("must be a namespace's name, or a pattern with one *")
    check_namespace(pattern.replace("*", "a"))
    return pattern


def _check_filled_in(template: str, filled_in: str, placeholders: Sequence[str], check: Callable[[str], str]) -> str:
    """Return `template` if `check` returns what it makes. Raises Problem, which names the placeholders."""
    try:
        check(filled_in)
    except Problem:
        if "{" in filled_in:
            raise Problem(f"may hold only {' and '.join(placeholders)} in braces") from None
        raise
    return template


def _check(path: FieldPath, value: str | UnsetType | None, check: Callable[[str], str]) -> Found:
    """Yield the problem that `check` has with a value that is stated."""
    if isinstance(value, str):
        try:
            check(value)
        except Problem as problem:
            yield path, f": {quoted(value)} {problem.sentence}"


def _check_limit(path: FieldPath, limit: Limit | UnsetType, check: Callable[[str], str]) -> Found:
    """Yield the problems that `check` has with the values that a limit lists."""
    for number, value in enumerate(limit if isinstance(limit, tuple) else ()):
        if value == ANY:
            yield path, f": the word {ANY} must stand alone, not in a list"
        else:
            yield from _check((*path, number), value, check)


def _check_losses(path: FieldPath, keys: Sequence[str] | UnsetType) -> Found:
    """Yield what is wrong with a list of annotations that may be lost."""
    for number, key in enumerate(keys or ()):
        yield from _check((*path, number), key, check_loss)


def _check_outputs(path: FieldPath, outputs: Sequence[str]) -> Found:
    """Yield what is wrong with a list of outputs."""
    seen: set[str] = set()
    for number, name in enumerate(outputs):
        yield from _check((*path, number), name, check_output)
        if name in seen:
            yield path, f": lists {one_line(name)} twice"
        seen.add(name)


def _check_keys(path: FieldPath, stated: Mapping[str, str] | UnsetType, check: Callable[[str], str]) -> Found:
    """Yield what is wrong with the keys of a mapping."""
    for key in stated or ():
        yield from _check_key((*path, key), check)


def _check_key(path: FieldPath, check: Callable[[str], str]) -> Found:
    """Yield the problem that `check` has with the last key of a path."""
    try:
        check(path[-1])
    except Problem as problem:
        yield path, f": {problem.sentence}"
