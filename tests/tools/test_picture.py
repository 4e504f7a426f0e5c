"""The picture of the README tells the story that is tested, and is all in one file."""

import re

from devcluster.story import STORY
from tools import picture


def test_it_tells_every_step_of_the_story() -> None:
    told = [line for line in picture.comparable(picture.text_of()) if line.startswith("✔")]
    steps = [f"✔ {number}. 5 ms {step.done} → {step.happens}" for number, step in enumerate(STORY, start=1)]
    assert told == picture.comparable("\n".join(steps))


def test_a_metacontroller_that_states_no_version_tells_the_same() -> None:
    told = picture.comparable("On Kubernetes v1.36.3, driven by Metacontroller v4.17.2 (/usr/bin/metacontroller):\n")
    assert picture.comparable("On Kubernetes v1.36.4, driven by Metacontroller (/opt/metacontroller):\n") == told


def test_it_loads_nothing_and_runs_nothing() -> None:
    drawn = picture.PICTURE.read_text(encoding="utf-8")
    assert re.findall(r"href|src|@import|url\((?!#)|<script|\bon\w+=", drawn) == []
