"""The image built by buildah alone: what pip is told while it is built."""

import configparser

from tools import buildah


def test_pip_is_told_what_this_machines_is_and_a_variable_goes_before_a_file() -> None:
    listed = (
        ":env:.cert='/etc/ssl/own.pem'\n"
        ":env:.find-links='/opt/wheels https://wheels.example.com/%2F'\n"
        "global.cert='/etc/ssl/other.pem'\n"
        "install.no-deps='1'\n"
    )
    written, paths = buildah.pip_settings(listed)
    read = configparser.RawConfigParser()
    read.read_string(written)
    assert {section: dict(read[section]) for section in read.sections()} == {
        "global": {"cert": "/etc/ssl/own.pem", "find-links": "/opt/wheels https://wheels.example.com/%2F"},
        "install": {"no-deps": "1"},
    }
    assert {"/etc/ssl/own.pem", "/opt/wheels"} <= set(paths)


def test_a_pip_that_was_told_nothing_tells_nothing() -> None:
    assert buildah.pip_settings("") == ("", [])
