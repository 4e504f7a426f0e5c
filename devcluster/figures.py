"""What a benchmark prints: figures, each with what it is to reach."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """One measured value; `reached` is None where nothing is to be reached."""

    name: str
    value: str
    to_reach: str = ""
    reached: bool | None = None


def show(title: str, figures: Iterable[Figure], out: Console) -> None:
    """Print the figures as a table."""
    table = Table("", "measured", "to reach", "", title=title, title_justify="left", title_style="bold")
    for figure in figures:
        mark = {None: "", True: "[green]✔[/]", False: "[red]✘[/]"}[figure.reached]
        table.add_row(figure.name, figure.value, figure.to_reach, mark)
    out.print(table)


def at_most(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be above a limit; `shown` formats both."""
    return Figure(name, shown.format(value), f"at most {shown.format(limit)}", value <= limit)


def at_least(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be below a limit; `shown` formats both."""
    return Figure(name, shown.format(value), f"at least {shown.format(limit)}", value >= limit)
