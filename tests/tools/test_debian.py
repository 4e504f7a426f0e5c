"""Getting Debian's programs: what is found first, what is unpacked, and what is said where that can't be done."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from devcluster import build
from devcluster.errors import CommandFailed, MissingProgram
from tools import debian

DOWNLOADS = """
for option; do case $option in Dir::Cache=*) cache=${option#*=} ;; esac; done
/bin/mkdir -p $cache/archives
: > $cache/archives/nginx.deb
"""
EXTRACTS = """
/bin/mkdir -p $3/usr/sbin $3/usr/lib/here
: > $3/usr/lib/here/libssl.so.3
printf '#!/bin/sh\necho nginx version: nginx/1.22.1 >&2\n' > $3/usr/sbin/nginx
/bin/chmod +x $3/usr/sbin/nginx
"""
"""What an apt-get and a dpkg-deb do, as far as it is seen here."""


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Return a function that adds a program to a machine that has none of those that are looked for."""
    (tmp_path / "path").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(debian, "SUPERUSERS", str(tmp_path / "sbin"))
    monkeypatch.setattr(build, "BUILD", tmp_path / "build")

    def add(name: str, script: str) -> Path:
        path = tmp_path / "path" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return add


def ignore(_line: str) -> None: ...


def test_an_nginx_on_path_is_taken_and_nothing_is_downloaded(tool: Callable[[str, str], Path]) -> None:
    tool("apt-get", "exit 1")
    on_path = debian.Program(tool("nginx", "exit 0"))
    assert debian.get(debian.NGINX, ignore) == on_path
    assert on_path.environment() == {}


def test_debians_is_unpacked_once_with_its_libraries(tool: Callable[[str, str], Path], tmp_path: Path) -> None:
    tool("apt-get", DOWNLOADS)
    tool("dpkg-deb", EXTRACTS)
    root = tmp_path / "build/debian-nginx"
    unpacked = debian.Program(root / "usr/sbin/nginx", root)
    assert debian.get(debian.NGINX, ignore) == unpacked
    tool("apt-get", "exit 1")
    assert debian.get(debian.NGINX, ignore) == debian.find(debian.NGINX) == unpacked
    assert sorted(path.name for path in (tmp_path / "build").iterdir()) == [".gitignore", "debian-nginx", "lock"]
    assert unpacked.environment() == {
        "LD_LIBRARY_PATH": str(root / "usr/lib/here"),
        "XDG_DATA_HOME": str(root / "usr/share"),
    }
    chromium = tool("chromium", "echo Chromium 150.0")
    wrk = tool("wrk", "echo wrk 4.1.0; echo 'Usage: wrk <options> <url>'; exit 1")
    busybox = tool("busybox", "echo BusyBox v1.35.0; echo Usage")
    assert CliRunner().invoke(debian.main).output == (
        f"nginx/1.22.1 ({root}/usr/sbin/nginx)\nChromium 150.0 ({chromium})\nwrk 4.1.0 ({wrk})\n"
        f"BusyBox v1.35.0 ({busybox})\n"
    )


@pytest.mark.parametrize("folder", ["bin", "usr/bin"])
def test_a_program_is_found_where_an_older_and_where_a_newer_release_has_it(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "busybox").touch()
    assert debian.program_in(tmp_path, debian.BUSYBOX).path == tmp_path / folder / "busybox"


@pytest.mark.parametrize(
    ("apt_get", "dpkg_deb", "says"),
    [
        ("echo no such host >&2; exit 100", "", "no such host"),
        (DOWNLOADS, "echo no space >&2; exit 2", "no space"),
        (DOWNLOADS, EXTRACTS.replace("echo", "missing-library"), "no nginx that runs here"),
        ("", "", "no nginx that runs here"),
    ],
    ids=["no network", "no room", "a program that doesn't run", "a package without it"],
)
def test_a_failure_says_why_and_leaves_nothing(
    apt_get: str, dpkg_deb: str, says: str, tool: Callable[[str, str], Path]
) -> None:
    tool("apt-get", apt_get)
    tool("dpkg-deb", dpkg_deb)
    with pytest.raises(CommandFailed, match=says):
        debian.get(debian.NGINX, ignore)
    assert debian.find(debian.NGINX) is None
    ended = CliRunner().invoke(debian.main, ["--if-possible"])
    assert ended.exit_code == 1, "it could have been installed"
    assert says in ended.output


@pytest.mark.usefixtures("tool")
def test_a_machine_without_debians_tools_is_told_so() -> None:
    with pytest.raises(MissingProgram, match="without apt-get and dpkg-deb"):
        debian.get(debian.NGINX, ignore)
    assert CliRunner().invoke(debian.main).exit_code == 2
    told = CliRunner().invoke(debian.main, ["--if-possible"])
    assert told.exit_code == 0
    assert "NOT CHECKED WITH NGINX" in told.output
    assert "NOT CHECKED WITH CHROMIUM" in told.output
    assert "NOT CHECKED WITH WRK" in told.output
    assert "NOT CHECKED WITH BUSYBOX" in told.output
