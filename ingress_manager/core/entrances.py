"""Entrances: the ways to reach one Service. That of ingress/… itself is ""; any other has a name.

It is described by the same annotations behind its name, as in internal.ingress/http. What is made for it is called as
the Service, with its name behind a dot: no Service's name has one.
"""

import re
from collections.abc import Mapping

from ingress_manager.core.annotations import HTTP, PREFIX, Stated, is_on, parse
from ingress_manager.core.bounds import MOST_ENTRANCES
from ingress_manager.core.errors import Problem, Problems, Reason
from ingress_manager.core.text import listed, quoted

LONGEST_ENTRANCE = 30
"""Characters. What follows the Service's name in that of an HTTPRoute for some hosts has 32."""

_NAME = re.compile(rf"(?!redirect$)[a-z0-9]([-a-z0-9]{{0,{LONGEST_ENTRANCE - 2}}}[a-z0-9])?")
"""The name of an entrance: not what follows the Service's name in that of an HTTPRoute of another kind."""


def is_entrance_name(name: str) -> bool:
    """Return whether an entrance can have this name."""
    return _NAME.fullmatch(name) is not None


def begin_of(entrance: str) -> str:
    """Return what stands before ingress/… in the annotations of an entrance."""
    return f"{entrance}." if entrance else ""


def ingress_of(entrance: str, service: str) -> str:
    """Return the name of the Ingress of an entrance."""
    return f"{service}.{entrance}" if entrance else service


def entrance_of(service: str, name: str) -> str:
    """Return the entrance of a Service for which the object with a name was made; "" for that of ingress/… itself.

    Before the name may be its namespace, and a slash.
    """
    entrance = f"/{name}".partition(f"/{service}.")[2].partition(".")[0]
    return entrance if is_entrance_name(entrance) else ""


def by_entrance(annotations: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return those annotations that describe entrances, by the entrance's name, with the keys of ingress/… itself."""
    described: dict[str, dict[str, str]] = {}
    for key, value in annotations.items():
        begin, prefix, word = key.rpartition(PREFIX)
        if prefix and (not begin or begin[1:].endswith(".")):
            described.setdefault(begin[:-1], {})[PREFIX + word] = value
    return described


def read_entrances(annotations: Mapping[str, str]) -> dict[str, Stated]:
    """Return what the annotations ask for, by the name of the entrance; that of ingress/… itself is ""."""
    described = by_entrance(annotations)
    on = [name for name in sorted(described) if is_on(described[name])]
    if len(names := [*filter(None, on)]) > MOST_ENTRANCES:
        # There can be thousands. What else is wrong with them is not looked for.
        sentence = f"this Service has {len(names)} entrances with a name, {listed(names)}; {MOST_ENTRANCES} is the most"
        too_many = Stated(problems=Problems([Problem(sentence, annotation=HTTP)]))
        return {name: too_many if name else parse(described[name]) for name in on}
    found = {name: parse(described[name], begin_of(name)) for name in on}
    for name in names:
        if not is_entrance_name(name):
            right = f"it must be at most {LONGEST_ENTRANCE} lower-case letters, digits and -, and not redirect"
            sentence = f"{name}.{HTTP}: {quoted(name)} can't be the name of an entrance; {right}"
            found[name].problems.kept.insert(0, Problem(sentence, annotation=f"{name}.{HTTP}"))
    return found


def without_effect(annotations: Mapping[str, str]) -> list[Problem]:
    """Return a problem where annotations describe an entrance, or several, of which nothing says whether it is on."""
    described = by_entrance(annotations).items()
    off = [(name, own) for name, own in described if HTTP not in own and (not name or is_entrance_name(name))]
    if not (keys := sorted([begin_of(name) + key for name, own in off for key in own])):
        return []
    needed = dict.fromkeys(key.rpartition(PREFIX)[0] + HTTP for key in keys)
    have = "has" if len(keys) == 1 else "have"
    sentence = f'{listed(keys)} {have} no effect without {listed([*needed])}: "true"'
    return [Problem(sentence, Reason.CONTRADICTION, keys[0])]
