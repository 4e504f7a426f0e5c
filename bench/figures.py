"""What the benchmark prints: figures, each with what it is to reach."""

from dataclasses import dataclass

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


def markdown(section: Section) -> str:
    """Return a Markdown table of a section, below its title. What isn't reached is marked."""
    marks = {None: "", True: "✔", False: "✘"}
    rows = [(each.name, each.value, f"{each.to_reach} {marks[each.reached]}".strip()) for each in section.figures]
    return f"**{section.title}**\n\n{table(('', 'measured', 'to reach'), rows)}\n"


def at_most(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be above a limit; `shown` formats both."""
    return Figure(name, shown.format(value), f"at most {shown.format(limit)}", value <= limit)


def at_least(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be below a limit; `shown` formats both."""
    return Figure(name, shown.format(value), f"at least {shown.format(limit)}", value >= limit)


def exactly(name: str, value: str, wanted: str) -> Figure:
    """Return a figure that is to be one value."""
    return Figure(name, value, wanted, value == wanted)
