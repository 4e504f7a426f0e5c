"""The archives of images that are made of programs of this machine."""

import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from devcluster import archive

NAME = "registry.example.com/two:1"
CONFIG = {"Entrypoint": ["/bin/first"], "Env": ["A=b"]}


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, Path]:
    """Return two programs, by their paths in the image."""
    for name in ("first", "second"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name}\n")
    return {"/bin/second": tmp_path / "second", "/bin/first": tmp_path / "first"}


def test_an_archive_names_the_image_and_holds_what_its_digests_say(tmp_path: Path, programs: dict[str, Path]) -> None:
    archive.write(tmp_path / "two.tar", NAME, programs, CONFIG)
    with tarfile.open(tmp_path / "two.tar") as tar:
        held = {name: opened.read() for name in tar.getnames() if (opened := tar.extractfile(name))}
    [manifest] = json.loads(held.pop("manifest.json"))
    layer = held.pop("layer.tar")
    [[named, image]] = held.items()
    assert manifest == {"Config": named, "RepoTags": [NAME], "Layers": ["layer.tar"]}
    assert named == f"{hashlib.sha256(image).hexdigest()}.json"
    stated = json.loads(image)
    assert stated["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    assert (stated["os"], stated["config"]) == ("linux", CONFIG)


def test_the_programs_are_roots_and_anybody_can_run_them(tmp_path: Path, programs: dict[str, Path]) -> None:
    with (tmp_path / "layer.tar").open("wb+") as layer:
        archive.write_layer(layer, programs)
    with tarfile.open(tmp_path / "layer.tar") as tar:
        members = [(member.name, member.mode, member.uid, member.gid) for member in tar]
        tar.extractall(tmp_path / "root", filter="data")
    assert members == [("bin/first", 0o755, 0, 0), ("bin/second", 0o755, 0, 0)]
    for path, program in programs.items():
        assert Path(f"{tmp_path}/root{path}").read_bytes() == program.read_bytes()


def test_the_same_programs_make_the_same_archive_whenever_and_by_whomever(
    tmp_path: Path, programs: dict[str, Path]
) -> None:
    archive.write(tmp_path / "one.tar", NAME, programs, CONFIG)
    for program in programs.values():
        program.chmod(0o700)
        program.touch()
    archive.write(tmp_path / "again.tar", NAME, dict(sorted(programs.items())), dict(reversed(CONFIG.items())))
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "again.tar").read_bytes()
