"""The files of a release: the same bytes each time, right sums, and the image that was asked for."""

import copy
import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from devcluster.build import REPOSITORY
from devcluster.errors import DevClusterError
from devcluster.manifests import rendered
from ingress_manager import __version__
from tools import dist
from tools.image import PUBLISHED

IMAGE = "registry.example.com:5000/team/hook:1.2.3"
DIGEST = f"sha256:{'0123456789abcdef' * 4}"


def ignore(_line: str) -> None: ...


FILES = {
    "install.yaml": ["manifests", "metacontroller/controller"],
    "metacontroller.yaml": ["metacontroller/install"],
    "gateway.yaml": ["gateway"],
    "httproute.yaml": ["metacontroller/httproute"],
}
"""What each file of manifests holds, in the order in which it is applied."""


def expected(name: str, image: str) -> list[dict[str, Any]]:
    """Return the objects of a file: those of its folders, which run that image."""
    found = copy.deepcopy([item for folder in FILES[name] for item in rendered(folder)])
    for item in found:
        if item["kind"] == "Deployment":
            for container in item["spec"]["template"]["spec"]["containers"]:
                if container["image"].startswith(f"{PUBLISHED}:"):
                    container["image"] = image
    return found


def test_another_version_than_the_present_one_is_refused() -> None:
    ended = CliRunner().invoke(dist.main, ["--version", "98.0.0"])
    assert ended.exit_code == 1
    assert f"this is version {__version__}; `bump-my-version bump --new-version 98.0.0` changes it" in ended.output


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("important")
    with pytest.raises(DevClusterError, match="holds something else than a release: it would be lost"):
        dist.write(tmp_path, image=None, report=ignore)
    assert (tmp_path / "thesis.txt").exists()


def test_the_page_on_upgrades_lists_the_files() -> None:
    page = (REPOSITORY / "docs/upgrade.md").read_text(encoding="utf-8")
    assert {*dist.MANIFESTS, dist.SUMS} <= set(re.findall(r"^\| `([^`]+)`", page, re.MULTILINE))


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of a release."""
    folder = tmp_path_factory.mktemp("release") / "dist"
    dist.write(folder, image=IMAGE, report=ignore)
    return folder


@pytest.mark.thorough
@pytest.mark.parametrize("name", FILES)
def test_a_file_holds_the_objects_of_its_folders_and_runs_the_image(name: str, release: Path) -> None:
    assert list(yaml.safe_load_all((release / name).read_text(encoding="utf-8"))) == expected(name, IMAGE)
    assert FILES.keys() == dist.MANIFESTS.keys()


@pytest.mark.thorough
def test_the_same_commit_becomes_the_same_bytes(release: Path, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        again = dist.write(tmp_path / "dist", image=IMAGE, report=ignore)
    finally:
        os.umask(before)
    assert {path.name: path.read_bytes() for path in again} == {
        path.name: path.read_bytes() for path in release.iterdir()
    }


@pytest.mark.thorough
def test_the_sums_of_a_release_are_right_and_complete(release: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--strict", dist.SUMS], cwd=release, check=True)  # noqa: S607
    summed = {line.split()[1] for line in (release / dist.SUMS).read_text().splitlines()}
    assert summed == {path.name for path in release.iterdir()} - {dist.SUMS}


@pytest.mark.thorough
def test_the_wheel_brings_the_commands_into_a_clean_environment_and_no_hook(release: Path, tmp_path: Path) -> None:
    [wheel] = release.glob("*.whl")
    assert wheel.name == f"ingress_manager-{__version__}-py3-none-any.whl"
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv/bin"
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, wheel], check=True)
    service = REPOSITORY / "manifests/sample/hello.yaml"
    rendered_here, rendered_there = (
        subprocess.run(
            [folder / "ingress-manager", "render", "-f", service],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for folder in (Path(sys.executable).parent, programs)
    )
    assert rendered_there == rendered_here
    assert "kind: Ingress" in rendered_there
    find = [str(programs / "python"), "-c", "import importlib.util; print(importlib.util.find_spec('hooks'))"]
    assert subprocess.check_output(find, cwd=tmp_path, text=True) == "None\n"
