"""Entrances: the ways to reach one Service. That of ingress/… itself is ""; any other has a name.

It is described by the same annotations behind its name, as in internal.ingress/http. What is made for it is called as
the Service, with its name behind a dot: no Service's name has one.
"""

import re
from collections.abc import Mapping, Sequence

from ingress_manager.core.annotations import HTTP, PREFIX, Stated, is_on, parse
from ingress_manager.core.errors import Problem, Problems
from ingress_manager.core.kubernetes import Key, Service
from ingress_manager.core.text import listed, quoted

MOST_ENTRANCES = 8
LONGEST_ENTRANCE = 30
"""Characters. What follows the Service's name in that of an HTTPRoute for some hosts has 32."""

ENTRANCE = re.compile(rf"[a-z0-9]([-a-z0-9]{{0,{LONGEST_ENTRANCE - 2}}}[a-z0-9])?")
RESERVED_ENTRANCES = ("redirect",)
"""What follows the Service's name in that of an HTTPRoute of another kind."""

HTTP_OF_ENTRANCE = f".{HTTP.key}"


def begin_of(entrance: str) -> str:
    """Return what stands before ingress/… in the annotations of an entrance."""
    return f"{entrance}." if entrance else ""


def ingress_of(entrance: str, service: str) -> str:
    """Return the name of the Ingress of an entrance."""
    return f"{service}.{entrance}" if entrance else service


def entrance_of(service: str, name: str) -> str:
    """Return the entrance of a Service for which the object with a name was made; "" for that of ingress/… itself."""
    _, _, behind = f"/{name}".partition(f"/{service}.")
    entrance = behind.partition(".")[0]
    return "" if entrance in RESERVED_ENTRANCES or len(entrance) > LONGEST_ENTRANCE else entrance


def entrance_for(service: Service, key: Key) -> str:
    """Return the entrance for which an object of a Service was made."""
    return entrance_of(service.metadata.name, key[1].partition("/")[2])


def read_entrances(annotations: Mapping[str, str]) -> dict[str, Stated]:
    """Return what the annotations ask for, by the name of the entrance; that of ingress/… itself is ""."""
    found = {"": parse(annotations)} if is_on(annotations) else {}
    # Nearly no Service has another entrance, and to look at each key would take longer.
    if HTTP_OF_ENTRANCE not in "".join(annotations):
        return found
    described: dict[str, dict[str, str]] = {}
    for key, value in annotations.items():
        name, _, word = key.rpartition(f".{PREFIX}")
        if name:
            described.setdefault(name, {})[PREFIX + word] = value
    names = sorted([name for name, own in described.items() if is_on(own)])
    if len(names) > MOST_ENTRANCES:
        # There can be thousands. What else is wrong with them is not looked for.
        sentence = f"this Service has {len(names)} entrances with a name, {listed(names)}; {MOST_ENTRANCES} is the most"
        return found | dict.fromkeys(names, Stated(problems=Problems([Problem(sentence, annotation=HTTP.key)])))
    for name in names:
        found[name] = parse(described[name], begin_of(name))
        if not is_entrance_name(name):
            found[name].problems.kept.insert(0, wrong_name(name))
    return found


def without_http(annotations: Mapping[str, str]) -> list[str]:
    """Return the annotations without effect: they describe an entrance of which nothing says whether it is on."""
    found = []
    for key in annotations:
        begin, _, _ = key.rpartition(PREFIX)
        is_ours = key.startswith(PREFIX) or (begin.endswith(".") and is_entrance_name(begin[:-1]))
        if is_ours and f"{begin}{HTTP.key}" not in annotations:
            found.append(key)
    return sorted(found)


def no_effect(keys: Sequence[str]) -> str:
    """Return a sentence about annotations of one entrance, or of several, which are without ingress/http."""
    needed = dict.fromkeys(key.rpartition(PREFIX)[0] + HTTP.key for key in keys)
    have = "has" if len(keys) == 1 else "have"
    return f'{listed(keys)} {have} no effect without {listed([*needed])}: "true"'


def is_entrance_name(name: str) -> bool:
    """Return whether an entrance can have this name."""
    return bool(ENTRANCE.fullmatch(name)) and name not in RESERVED_ENTRANCES


def wrong_name(name: str) -> Problem:
    """Return the problem of an entrance with a name that none can have."""
    key = f"{name}.{HTTP.key}"
    sentence = (
        f"{key}: {quoted(name)} can't be the name of an entrance; it must be at most {LONGEST_ENTRANCE} "
        f"lower-case letters, digits and -, and not {' or '.join(RESERVED_ENTRANCES)}"
    )
    return Problem(sentence, annotation=key)
