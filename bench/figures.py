"""What the benchmark prints: figures, each with what it is to reach."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from tools.markdown import table


@dataclass(frozen=True)
class Figure:
    """One measured value; `reached` is None where nothing is to be reached."""

    name: str
    value: str
    to_reach: str = ""
    reached: bool | None = None


@dataclass(frozen=True)
class Section:
    """Figures that were measured together."""

    title: str
    figures: list[Figure]


def show(sections: Iterable[Section], out: Console) -> None:
    """Print a table for each section."""
    for section in sections:
        table = Table("", "measured", "to reach", "", title=section.title, title_justify="left", title_style="bold")
        for figure in section.figures:
            mark = {None: "", True: "[green]✔[/]", False: "[red]✘[/]"}[figure.reached]
            table.add_row(figure.name, figure.value, figure.to_reach, mark)
        out.print(table)


def markdown(sections: Iterable[Section]) -> str:
    """Return a Markdown table for each section, below its title. What isn't reached is marked."""
    marks = {None: "", True: "✔", False: "✘"}
    return "\n\n".join(
        f"**{section.title}**\n\n"
        + table(
            ("", "measured", "to reach"),
            (
                (figure.name, figure.value, f"{figure.to_reach} {marks[figure.reached]}".strip())
                for figure in section.figures
            ),
        )
        for section in sections
    )


def at_most(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be above a limit; `shown` formats both."""
    return Figure(name, shown.format(value), f"at most {shown.format(limit)}", value <= limit)


def at_least(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be below a limit; `shown` formats both."""
    return Figure(name, shown.format(value), f"at least {shown.format(limit)}", value >= limit)


def exactly(name: str, value: str, wanted: str) -> Figure:
    """Return a figure that is to be one value."""
    return Figure(name, value, wanted, value == wanted)
