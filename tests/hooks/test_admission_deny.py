"""What `admission.deny` denies: a change that makes a Service wrong. What was wrong before is never in the way.

The judge is the tables below. They say by the docs which values are right where the settings here hold, so it knows
without the core which parts of a Service a change makes wrong.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest

from devcluster.sync_requests import Object, service
from ingress_manager.core import settings
from ingress_manager.core.policy import Admission, NamespaceSettings
from tests.hooks.test_admission import APP_ROOT, is_allowed

POLICY = settings.parse("""
admission: {deny: true}
defaults: {host: "{service}.{namespace}.example.com"}
limits:
  hosts: ["*.{namespace}.example.com"]
  classes: [nginx, internal, office]
  profiles: [fast]
profiles:
  fast: {annotations: {example.com/fast: "true"}}
  slow: {annotations: {example.com/fast: "false"}}
""")
PAUSED = msgspec.structs.replace(POLICY, namespaces={"team-a": NamespaceSettings(paused=True)})
WARNING = msgspec.structs.replace(POLICY, admission=Admission())

State = dict[str, str | None]
"""What a Service says: its annotations, its labels by `label KEY`, its `type`, and the name of its `ports`."""


class Values(NamedTuple):
    """What may be stated of one thing. To state nothing is right, too."""

    right: tuple[str, ...] = ()
    not_allowed: tuple[str, ...] = ()
    """What the settings don't allow, the Service doesn't have, or a path of its type can't be."""

    unreadable: tuple[str, ...] = ()
    """What is wrong on any Service."""


WORDS = {
    "ingress/profile": Values(("fast",), ("slow", "none-such"), ("Not A Profile",)),
    "ingress/host": Values(
        ("a.team-a.example.com", "b.team-a.example.com, *.team-a.example.com"),
        ("example.org", "example.com", "*"),
        ("A",),
    ),
    "ingress/path": Values(("/shop", "/a/b"), ("//shop",), ("shop", "a")),
    "ingress/path-type": Values(("Exact",), ("ImplementationSpecific",), ("exact",)),
    "ingress/port": Values(("80", "metrics"), ("nope", "other"), ("",)),
    "ingress/class": Values(("internal",), ("others", "more-others"), ("Not_A_Class",)),
    "ingress/tls": Values(("true", "false"), (), ("maybe", "yes")),
    "ingress/tls-secret": Values(("certificate",), (), ("Not A Secret",)),
    "ingress/tls-redirect": Values((), ("true", "false"), ("maybe",)),
    "ingress/routes": Values(
        ("- {}\n- host: c.team-a.example.com\n",),
        ("- {}\n- host: example.org\n", "- {}\n- path: /a\n  port: none\n"),
        ("- path: [\n",),
    ),
    "ingress/hots": Values((), (), ("x", "y")),
}
"""What an entrance states, but for whether it is on."""

COPIED = "nginx.ingress.kubernetes.io/proxy-read-timeout"
OF_ALL = {
    COPIED: Values(("30",), (), ("-1", "x")),
    APP_ROOT: Values(("a", "b")),
    "label app": Values(("shop", "cart")),
    "type": Values(("ClusterIP", "NodePort"), ("ExternalName",)),
    "ports": Values(("two", "three"), ("none",)),
}
"""What holds for all entrances of a Service: annotations, labels, the type, and the ports by a name of theirs."""

PORTS: dict[str | None, list[Object]] = {
    None: [{"port": 80}],
    "two": [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}],
    "three": [{"name": "metrics", "port": 9090}, {"name": "a", "port": 1}, {"name": "b", "port": 2}],
    "none": [{"port": 53, "protocol": "UDP"}],
}
RIGHT_PORTS: dict[str | None, set[str | None]] = {
    None: {None, "80"},
    "two": {None, "80", "metrics"},
    "three": {"metrics"},
    "none": {None},
}
"""What ingress/port may state where these are the ports. It is no fault of it that there are none."""

ENTRANCES = ("", "in.")
NOTHING = (None,)
CHANGES = {
    **{f"{entrance}{key}": values for entrance in ENTRANCES for key, values in WORDS.items()},
    **{f"{entrance}ingress/http": Values(("true", "true", "false"), (), ("yes",)) for entrance in ENTRANCES},
    **OF_ALL,
}


def entrances_on(state: State) -> list[str]:
    """Return the entrances that are on, perhaps by a mistake."""
    return [entrance for entrance in ENTRANCES if state.get(f"{entrance}ingress/http") not in {None, "false"}]


def wrong(state: State) -> set[str]:
    """Return the parts that are wrong of a Service; none if it is off."""
    on = entrances_on(state)
    found = {f"{entrance}{part}" for entrance in on for part in wrong_of(entrance, state)}
    if on:
        found |= {part for part, values in OF_ALL.items() if is_wrong(state.get(part), values)}
    return found


def is_wrong(value: str | None, values: Values) -> bool:
    """Return whether a thing has one of its wrong values."""
    return value in values.not_allowed + values.unreadable


def wrong_of(entrance: str, state: State) -> Iterator[str]:
    """Yield which words of an entrance are wrong."""
    stated = {key: state.get(f"{entrance}{key}") for key in (*WORDS, "ingress/http")}
    for key, values in WORDS.items():
        if is_wrong(stated[key], values):
            yield key
    if stated["ingress/http"] == "yes":
        yield "ingress/http"
    if stated["ingress/port"] not in RIGHT_PORTS[state.get("ports")]:
        yield "ingress/port"
    if stated["ingress/tls"] == "false" and stated["ingress/tls-secret"] == "certificate":
        yield "ingress/tls"


def made(state: State, **metadata: Any) -> Object:
    """Return the Service that says this."""
    stated = {key: value for key, value in state.items() if value is not None}
    if stated.get("in.ingress/class", "internal") == "internal":
        stated["in.ingress/class"] = "office"  # so that no two entrances claim one host and path of a class
    type_, ports = stated.pop("type", "ClusterIP"), PORTS[stated.pop("ports", None)]
    labels = {key.removeprefix("label "): stated.pop(key) for key in list(stated) if key.startswith("label ")}
    found = service(stated, type=type_, ports=ports)
    found["metadata"] |= {"labels": labels} | metadata
    return found


def must_be_allowed(old: State, new: State) -> bool | None:
    """Return whether a change must be allowed; False: it must be denied.

    None: it makes something wrong of a Service that was wrong before, and that can't be read off one annotation.
    """
    if not wrong(new):
        return True
    if not wrong(old):
        return False
    for entrance in {*entrances_on(old)} & {*entrances_on(new)}:
        were_wrong = set(wrong_of(entrance, old))
        for key, values in WORDS.items():
            if new.get(f"{entrance}{key}") in values.unreadable and key not in were_wrong:
                return False
    switched_on = [entrance for entrance in entrances_on(new) if entrance not in entrances_on(old)]
    if any(set(wrong_of(entrance, new)) for entrance in switched_on):
        return None
    return True if wrong(new) <= wrong(old) else None


def drawn(random: Random, parts: Sequence[str]) -> State:
    """Return a change of some of the parts, each to nothing, to what is right or to what is wrong."""
    kinds = {part: [kind for kind in (NOTHING, *CHANGES[part]) if kind] for part in parts if random.random() < 0.5}
    return {part: random.choice(random.choice(of_part)) for part, of_part in kinds.items()}


def histories(count: int) -> Iterator[tuple[State, list[State], Random]]:
    """Yield what a Service says, and how it is changed again and again, each time the same."""
    for seed in range(count):
        random = Random(seed)  # noqa: S311 - it keeps no secret
        # Few parts, so that they meet. A profile and routes hide other mistakes while they are wrong.
        words = random.choices([*WORDS, *OF_ALL, "ingress/profile", "ingress/routes"], k=4)
        parts = [word for word in words if word in OF_ALL]
        parts += [f"{entrance}{word}" for word in {*words, "ingress/http"} - {*OF_ALL} for entrance in ENTRANCES]
        first = {"ingress/http": "true", **drawn(random, sorted(parts))}
        yield first, [drawn(random, sorted(parts)) for _ in range(20)], random


def test_in_any_history_what_makes_nothing_worse_is_allowed_and_what_makes_a_service_wrong_is_denied(
    pytestconfig: pytest.Config,
) -> None:
    for state, changes, random in histories(150 if pytestconfig.getoption("--thorough") else 30):
        now = state
        assert is_allowed(made(now), None, POLICY) == (not wrong(now)), now
        for change in changes:
            new = now | change
            allowed = is_allowed(made(new), made(now), POLICY)
            assert must_be_allowed(now, new) in {allowed, None}, (now, change)
            # Some are written before mistakes are denied, or before the settings forbid them.
            if allowed or random.random() < 0.5:
                now = new


def test_any_change_of_what_is_being_deleted_and_any_while_paused_or_without_deny_is_allowed() -> None:
    for old, changes, _ in histories(30):
        new = old | changes[0]
        assert is_allowed(made(new, deletionTimestamp="2026-11-23T00:00:00Z"), made(old), POLICY)
        for policy in (PAUSED, WARNING):
            assert is_allowed(made(new), made(old), policy)
            assert is_allowed(made(new), None, policy)


ON, NO_PROFILE = {"ingress/http": "true"}, {"ingress/profile": "none-such"}
TWICE = {"ingress/host": "a.team-a.example.com", "ingress/routes": "- {}\n- host: a.team-a.example.com\n"}
MANY_PATHS = {
    "ingress/host": ",".join(f"{'h' * 50}{number}.team-a.example.com" for number in range(90)),
    "ingress/routes": "".join(f"- path: /{'p' * 50}{number}\n" for number in range(10)),
}


@pytest.mark.parametrize(
    ("reason", "old", "change"),
    [
        ("a key that isn't copied", ON | {"ingress/path": "shop"}, {APP_ROOT: "a", "label app": "cart"}),
        ("routes that contradict a host", ON | NO_PROFILE | TWICE, {"ingress/profile": None, "label app": "a"}),
        ("more paths than an object takes", ON | NO_PROFILE | MANY_PATHS, {"ingress/profile": None}),
    ],
)
def test_what_comes_to_light_by_a_change_of_something_else_is_not_denied(
    reason: str, old: State, change: State
) -> None:
    assert is_allowed(made(old | change), made(old), POLICY), reason
