"""What a page shows is compared with what its commands print, but for what varies."""

import pytest

from tools import pages


@pytest.mark.parametrize(
    ("printed", "another_time"),
    [
        ("shop   web     80      5s\n", "shop   web     80      2m10s\n"),
        ("5s   Warning   SyncError\n", "2s (x7 over 3m1s)   Warning   SyncError\n"),
        ("http://127.10.2.3:41234/\n", "http://127.10.77.1:50000/\n"),
        ("ingress-manager-settings-7695tkm572.\n", "ingress-manager-settings-abc12345de.\n"),
    ],
)
def test_what_is_different_each_time_is_not_compared(printed: str, another_time: str) -> None:
    assert pages.masked(printed) == pages.masked(another_time)


@pytest.mark.parametrize(
    ("printed", "another_time"),
    [
        ("shop   web   80   5s\n", "shop   web   81   5s\n"),
        ("502\n", "200\n"),
        ("shop.example.com\n", "shops.example.com\n"),
        ("ingress-manager   0/2\n", "ingress-manager   1/2\n"),
    ],
)
def test_all_else_is_compared(printed: str, another_time: str) -> None:
    assert pages.masked(printed) != pages.masked(another_time)
