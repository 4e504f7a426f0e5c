"""What `admission.deny` denies: a change that makes a Service wrong, or more wrong."""

from collections.abc import Iterator
from random import Random

import msgspec
import pytest

from devcluster.sync_requests import Object, service
from ingress_manager.core import settings
from ingress_manager.core.policy import Admission, NamespaceSettings
from tests.hooks.test_admission import APP_ROOT, MORE, is_allowed, warnings_of

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
"""The annotations of a Service, and its `type`."""

VALUES: dict[str, tuple[str | None, ...]] = {
    "ingress/http": ("true", "true", "true", "false", None),
    "internal.ingress/http": ("true", "yes", None),
    "internal.ingress/class": ("office",),
    "ingress/profile": ("fast", "slow", "none-such", None),
    "ingress/host": ("a.team-a.example.com", "example.org", "A", None),
    "ingress/path": ("/shop", "shop", None),
    "ingress/port": ("80", "nope", None),
    "internal.ingress/tls": ("true", "maybe", None),
    "ingress/routes": ("- {}\n- host: example.org\n", "- path: [\n", None, None),
    "ingress/hots": ("x", None, None),
    APP_ROOT: ("/a", None),
    "type": ("ClusterIP", "ExternalName", "ClusterIP"),
}


def made(state: State) -> Object:
    """Return the Service that says this."""
    stated = {key: value for key, value in state.items() if value is not None}
    return service(stated, type=stated.pop("type", "ClusterIP"))


def histories(count: int) -> Iterator[list[State]]:
    """Yield what a Service says, one after the other: each time some of it is another."""
    for seed in range(count):
        random, state = Random(seed), State()  # noqa: S311 - it keeps no secret
        states = [
            state := state | {key: random.choice(VALUES[key]) for key in random.sample([*VALUES], 3)} for _ in "x" * 20
        ]
        yield states


def mistakes(state: State) -> int:
    """Return how many there are, by what is warned of: the Event counts the same (test_admission.py)."""
    told = [each for each in warnings_of(made(state), WARNING) if "no effect" not in each and "not copied" not in each]
    return sum(int(more[1]) if (more := MORE.fullmatch(each)) else 1 for each in told)


def test_in_any_history_a_change_is_denied_if_and_only_if_it_brings_more_mistakes(pytestconfig: pytest.Config) -> None:
    for before, *states in histories(150 if pytestconfig.getoption("--thorough") else 30):
        old = before
        assert is_allowed(made(old), None, POLICY) == (not mistakes(old)), old
        for new in states:
            for policy in (POLICY, PAUSED):
                assert is_allowed(made(new), made(old), policy) == (mistakes(new) <= mistakes(old)), (old, new)
            assert is_allowed(made(new), made(old), WARNING)
            old = new
