"""The archives of the images that a node for tests runs."""

import json
import tarfile
from pathlib import Path

import pytest

from devcluster import build, programs
from devcluster.errors import MissingProgram
from devcluster.manifests import find
from tools import node_images
from tools.node_images import Image


def silent(_: str) -> None:
    pass


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the archives in a folder of the test's own."""
    monkeypatch.setattr(build, "BUILD", tmp_path / "build")
    monkeypatch.setattr(node_images, "IMAGES", tmp_path / "build" / "images")
    return tmp_path / "build" / "images"


def image(tmp_path: Path, content: str) -> Image:
    """Return an image of a program with this content."""
    program = tmp_path / "program"
    program.write_text(content)
    return Image("registry.example.com/program:1", "/bin/program", program, {"Cmd": ["/bin/program"]})


def test_an_archive_is_written_once_and_again_in_its_place_when_the_program_has_changed(
    tmp_path: Path, folder: Path
) -> None:
    told: list[str] = []
    first = node_images.program_archive(image(tmp_path, "first"), told.append)
    assert node_images.program_archive(image(tmp_path, "first"), told.append) == first
    assert told == ["writing the image registry.example.com/program:1"]
    second = node_images.program_archive(image(tmp_path, "second"), told.append)
    assert list(folder.glob("*.tar")) == [second]
    with tarfile.open(second) as tar:
        stated = tar.extractfile("manifest.json")
        assert stated is not None
        [manifest] = json.load(stated)
    assert manifest["RepoTags"] == ["registry.example.com/program:1"]


def test_what_a_killed_process_has_left_half_written_is_not_taken_for_an_archive(folder: Path) -> None:
    def killed(new: Path) -> None:
        new.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        node_images.kept("a:1", "0" * 64, killed, silent)
    assert list(folder.glob("*.tar")) == []
    written = node_images.kept("a:1", "0" * 64, Path.touch, silent)
    assert list(folder.glob("*.tar")) == [written]


def test_each_deployment_finds_the_program_that_it_runs_in_the_image_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.golang.get", lambda name, _: tmp_path / name)
    monkeypatch.setattr(
        node_images, "find_metacontroller", lambda: programs.Program("", tmp_path / "metacontroller", "", "")
    )
    made = {image.name: image for image in node_images.program_images(silent)}
    for folder, name in (("metacontroller", "metacontroller"), ("gateway", "ingress-manager-gateway")):
        [container] = find(folder, "Deployment", name)["spec"]["template"]["spec"]["containers"]
        found = made[container["image"]]
        assert found.path == container.get("command", found.config.get("Entrypoint"))[0]


def test_a_machine_without_metacontroller_is_told_that_it_has_to_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.golang.get", lambda name, _: tmp_path / name)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingProgram, match="put `metacontroller` on PATH"):
        list(node_images.program_images(silent))
