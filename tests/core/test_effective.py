"""The settings: what is paused, by a word or in some namespaces alone; and what is remembered of it."""

import tracemalloc
from typing import Any

import pytest

from ingress_manager.core.effective import effective_settings
from ingress_manager.core.settings import Limits, Settings
from ingress_manager.core.settings_parser import read

PAUSED, RUNNING, SILENT = {"paused": True}, {"paused": False}, dict[str, Any]()


@pytest.mark.parametrize(
    ("paused", "namespaces", "shown", "where"),
    [
        (False, {}, "", ""),
        (True, {}, "every namespace", "abcd"),
        (False, {"a": PAUSED, "b": RUNNING, "c": SILENT, "d": PAUSED}, "a, d", "ad"),
        (True, {"a": PAUSED, "b": RUNNING, "c": SILENT}, "every namespace but b", "acd"),
        (False, {"*": PAUSED, "b": RUNNING, "c": SILENT}, "*", "ad"),
    ],
)
def test_a_namespace_may_override_the_pause(paused: bool, namespaces: dict[str, Any], shown: str, where: str) -> None:
    settings = read({"paused": paused, "namespaces": namespaces})
    assert settings.pauses == shown
    assert [name for name in "abcd" if settings.entry_of(name).paused] == list(where)
    assert settings.without_pause() == read({"namespaces": dict.fromkeys(namespaces, SILENT)})


def test_what_is_remembered_of_a_forged_namespace_or_profile_takes_no_room_however_long_they_are() -> None:
    """Whoever reaches the hook's port can send them."""
    settings = Settings(limits=Limits(hosts=("*.{namespace}.example.com",)))
    tracemalloc.start()
    try:
        for number in range(30):
            effective_settings(settings, f"{number}{'n' * 100_000}", f"{number}{'p' * 100_000}")
            effective_settings(settings, "team-a", f"{number}{'p' * 100_000}")
        remembered, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert remembered < 100_000
