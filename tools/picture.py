"""The picture of the README, docs/demo.svg: this program runs `make demo`, and rich draws what it prints."""

import io
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import click
from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.terminal_theme import MONOKAI

from devcluster.build import REPOSITORY
from devcluster.console import Command, progress
from devcluster.running import run

PICTURE = REPOSITORY / "docs/demo.svg"
PROMPT = "$ make demo"
OWN_PATH = re.compile(r" \(/\S+\)")


def record() -> str:
    """Return what `make demo` prints on a terminal, with the codes of its colours; raises CommandFailed."""
    environment = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "COLORTERM"}}
    environment |= {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    # Where Metacontroller is on this machine is nobody's business.
    return OWN_PATH.sub("", run("make", "demo", "ENGINE=metacontroller", cwd=REPOSITORY, env=environment))


def draw(printed: str, prompt: str = PROMPT, name: str = "demo") -> str:
    """Return the picture of what a terminal was told, as SVG. It loads nothing: a visitor's own font will do.

    `name` is for what is inside of it.
    """
    lines = list(AnsiDecoder().decode(f"{prompt}\n{printed}"))
    for line in lines:
        line.rstrip()
    console = Console(record=True, file=io.StringIO(), width=max(line.cell_len for line in lines))
    for line in lines:
        console.print(line)
    # MONOKAI: each of its colours stands out (WCAG 2: a contrast of 4.5 or more).
    drawn = console.export_svg(title="", theme=MONOKAI, unique_id=name)
    return re.sub(r"@font-face {.*?}\s*", "", drawn, flags=re.DOTALL)


def text_of(picture: Path = PICTURE) -> str:
    """Return what a picture says, line by line; rich leaves out what is nothing but spaces."""
    lines: dict[str, str] = {}
    root = ElementTree.fromstring(picture.read_text(encoding="utf-8"))  # noqa: S314 - it is our own
    for part in root.iter("{http://www.w3.org/2000/svg}text"):
        line = part.get("clip-path", "")
        lines[line] = lines.get(line, "") + (part.text or "")
    return "\n".join(lines.values())


def comparable(printed: str) -> list[str]:
    """Return the lines of what a demo prints, without what is different each time: times, versions, spaces."""
    found = ("".join(line.split()) for line in OWN_PATH.sub("", printed).splitlines())
    # A Metacontroller that somebody has built may state no version.
    known = (re.sub(r"(?<=byMetacontroller)v[^:]+", "", line) for line in found if line)
    return [re.sub(r"\d+ms|v?\d+\.\d+\.\d+", "…", line) for line in known]


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Run the demo on Metacontroller and draw docs/demo.svg from what it prints."""
    with progress() as report:
        report("recording `make demo`")
        printed = record()
    PICTURE.write_text(draw(printed), encoding="utf-8")


if __name__ == "__main__":
    main(prog_name="python -m tools.picture")
