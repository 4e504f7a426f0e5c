"""`make image`: by which program, and under which name. What is in the image: tests/node."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tools import image

DIGEST = f"sha256:{'0123456789abcdef' * 4}"


def test_a_docker_without_its_daemon_is_passed_over_and_where_nothing_can_build_it_is_said_what_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    def put_on_path(name: str, script: str) -> None:
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    put_on_path("docker", "echo 'Client: 28'; echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    ended = CliRunner().invoke(image.main, [image.EXAMPLE])
    assert ended.exit_code == 2
    assert ended.output == (
        "Error: docker or podman or buildah is needed. docker doesn't work: Cannot connect to the Docker daemon; "
        "podman is not on PATH; buildah is not on PATH\n"
    )
    put_on_path("podman", "exit 0")
    assert image.find(image.BUILDERS) == "podman"


@pytest.mark.parametrize(
    ("reference", "entry"),
    [
        ("localhost:5000/team/hook:1.2.3", {"newName": "localhost:5000/team/hook", "newTag": "1.2.3"}),
        (f"localhost:5000/hook@{DIGEST}", {"newName": "localhost:5000/hook", "digest": DIGEST}),
        (f"hook:1.2.3@{DIGEST}", {"newName": "hook", "newTag": "1.2.3", "digest": DIGEST}),
    ],
)
def test_an_image_has_a_name_a_tag_and_a_digest(reference: str, entry: dict[str, str]) -> None:
    assert image.replacement(reference) == {"name": image.PUBLISHED} | entry


@pytest.mark.parametrize("reference", ["", "localhost:5000/ingress-manager", ":1", "a/:1"])
def test_an_image_without_a_tag_is_refused_because_nobody_would_know_which_it_is(reference: str) -> None:
    with pytest.raises(image.WrongReferenceError, match="must be an image with a tag or a digest"):
        image.split(reference)
