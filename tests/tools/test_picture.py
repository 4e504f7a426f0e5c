"""The picture of the README tells the story that is tested, and is all in one file."""

import re
from pathlib import Path

import pytest

from devcluster.story import STORY
from tools import picture


def test_it_tells_every_step_of_the_story() -> None:
    told = re.findall(r"^✔ +(\d+)\. +\d+ ms  (.*)$", picture.text_of(), re.MULTILINE)
    assert told == [(str(number), f"{step.done} → {step.happens}") for number, step in enumerate(STORY, start=1)]


def test_it_begins_with_the_command_that_makes_it() -> None:
    assert picture.text_of().startswith(f"{picture.PROMPT}\n")


def test_it_loads_nothing_and_runs_nothing() -> None:
    drawn = picture.PICTURE.read_text(encoding="utf-8")
    assert re.findall(r"href|src=|@import|url\(|<script|\bon\w+=", drawn) == []


def contrast(colour: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, from 1 to 21."""

    def luminance(code: str) -> float:
        channels = [int(code[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((luminance(colour), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_a_metacontroller_that_states_no_version_tells_the_same() -> None:
    told = picture.comparable("On Kubernetes v1.36.3, driven by Metacontroller v4.17.2 (/usr/bin/metacontroller):\n")
    assert picture.comparable("On Kubernetes v1.36.4, driven by Metacontroller (/opt/metacontroller):\n") == told


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("name", sorted(picture.COLOURS.keys() - {"card", "edge"}))
def test_each_colour_can_be_read_on_the_card(name: str, scheme: int) -> None:
    assert contrast(picture.COLOURS[name][scheme], picture.COLOURS["card"][scheme]) >= 4.5
    assert picture.COLOURS[name][scheme] in picture.style()


def test_what_is_drawn_can_be_read_again(tmp_path: Path) -> None:
    printed = (
        "\x1b[32m✔\x1b[0m  1. \x1b[36m      5 ms\x1b[0m  \x1b[1m<a> & b\x1b[0m → c\n\x1b[2m    two  spaces\x1b[0m\n"
    )
    file = tmp_path / "picture.svg"
    file.write_text(picture.draw(printed), encoding="utf-8")
    assert picture.text_of(file) == f"{picture.PROMPT}\n✔  1.       5 ms  <a> & b → c\n    two  spaces\n"
