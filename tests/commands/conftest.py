"""No test of a command takes the settings of whoever runs it."""

import pytest


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INGRESS_MANAGER_SETTINGS", raising=False)
