"""The picture of the README, docs/demo.svg: `make pages` runs `make demo` and draws what it prints.

It has the colours of a light page and of a dark one, and its own background. Its lines appear one after the other,
unless the visitor's system asks for less motion.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import click
from rich.ansi import AnsiDecoder
from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from devcluster.build import REPOSITORY
from devcluster.console import Command, progress
from devcluster.errors import DevClusterError

PICTURE = REPOSITORY / "docs/demo.svg"
PROMPT = "$ make demo"

FONT, WIDTH, HEIGHT, MARGIN = 13, 7.83, 17, 20
"""Pixels: the size of the font, what a character takes, and what there is around the text."""

COLOURS = {
    "text": ("#1f2328", "#e6edf3"),
    "card": ("#f6f8fa", "#0d1117"),
    "edge": ("#d0d7de", "#30363d"),
    "green": ("#116329", "#56d364"),
    "cyan": ("#0a5c75", "#56d4dd"),
    "blue": ("#0550ae", "#79c0ff"),
    "dim": ("#57606a", "#9198a1"),
}
"""The colours of each class, on a light page and on a dark one. All are readable on the card."""

CLASSES = {2: "green", 6: "cyan", 12: "blue"}
"""The class of each colour of the terminal that the demo uses, by its number."""

OWN_PATH = re.compile(r" \(/\S+\)")

NEXT_STEP, NEXT_LINE = 0.45, 0.03
"""Seconds until a line appears, after the one before."""


def record() -> str:
    """Return what `make demo` prints on a terminal, with the codes of its colours; raises DevClusterError."""
    environment = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "COLORTERM"}}
    ended = subprocess.run(
        ["make", "demo", "ENGINE=metacontroller"],
        cwd=REPOSITORY,
        env=environment | {"FORCE_COLOR": "1", "TERM": "xterm-256color"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        raise DevClusterError(f"`make demo` has failed: {ended.stdout}{ended.stderr}")
    # Where Metacontroller is on this machine is nobody's business.
    return OWN_PATH.sub("", ended.stdout)


def draw(printed: str) -> str:
    """Return the picture of what a terminal was told, as SVG."""
    lines = [Text(PROMPT, "bold"), *AnsiDecoder().decode(printed.rstrip("\n"))]
    for line in lines:
        line.rstrip()
    width = round(max(line.cell_len for line in lines) * WIDTH + 2 * MARGIN)
    height = len(lines) * HEIGHT + 2 * MARGIN
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"
  role="img" aria-labelledby="t">
  <title id="t">What `make demo` prints</title>
  <style>
{style()}
  </style>
  <rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" class="card"/>
{chr(10).join(drawn(lines))}
</svg>
"""


def style() -> str:
    """Return the style sheet."""
    light, dark = (
        "\n".join(f"    .{name} {{ fill: {colours[scheme]} }}" for name, colours in COLOURS.items() if name != "edge")
        + f"\n    .card {{ stroke: {COLOURS['edge'][scheme]} }}"
        for scheme in (0, 1)
    )
    return f"""\
    text {{ font: {FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace }}
    .bold {{ font-weight: 600 }}
{light}
    @media (prefers-color-scheme: dark) {{
{dark}
    }}
    @media (prefers-reduced-motion: no-preference) {{
    @keyframes appear {{ from {{ opacity: 0 }} }}
    text {{ animation: appear .2s both }}
    }}"""


def drawn(lines: list[Text]) -> Iterator[str]:
    """Yield each line as an element of SVG. A part of it stands where it would on a terminal, whatever the font."""
    at = 0.0
    for number, line in enumerate(lines, start=1):
        at += NEXT_STEP if line.plain.startswith("✔") else NEXT_LINE
        parts, column = [], 0
        for text, look, _ in line.render(Console(width=1000)):
            # Spaces stand alone: a browser may take several for one.
            for piece in re.findall(r" +|\S+(?: \S+)*", text):
                parts.append(part(piece, look, MARGIN + column * WIDTH))
                column += cell_len(piece)
        y = MARGIN + number * HEIGHT - 5
        yield f'  <text y="{y}" style="animation-delay:{at:.2f}s">{"".join(parts)}</text>'


def part(text: str, look: Style | None, x: float) -> str:
    """Return a part of a line that has one style."""
    if text.isspace():
        return f"<tspan>{text}</tspan>"
    classes = ["text"]
    if look and look.color and not look.color.is_default:
        classes = [CLASSES[look.color.number or 0]]
    if look and look.dim:
        classes = ["dim"]
    if look and look.bold:
        classes.append("bold")
    return f'<tspan x="{x:.1f}" class="{" ".join(classes)}">{escape(text)}</tspan>'


def text_of(picture: Path = PICTURE) -> str:
    """Return what a picture says, as the terminal would."""
    root = ElementTree.fromstring(picture.read_text(encoding="utf-8"))  # noqa: S314 - it is our own
    return "".join("".join(line.itertext()) + "\n" for line in root.iter("{http://www.w3.org/2000/svg}text"))


def comparable(printed: str) -> list[str]:
    """Return the lines of what a demo prints, without what is different each time: times and versions."""
    # A Metacontroller that somebody has built may state no version.
    printed = re.sub(r"(?<=by Metacontroller) v[^\s:]+", "", OWN_PATH.sub("", printed))
    masked = re.sub(r"[ \d]+ ms\b|v?\d+\.\d+\.\d+\b", "…", printed)
    return [line.rstrip() for line in masked.rstrip().splitlines()]


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Run the demo on Metacontroller and draw docs/demo.svg from what it prints."""
    with progress() as report:
        report("recording `make demo`")
        printed = record()
    PICTURE.write_text(draw(printed), encoding="utf-8")


if __name__ == "__main__":
    main(prog_name="python -m tools.picture")
