"""The benchmark: it measures what users experience, in one run, and shows each figure beside what it has to reach."""

Figure = tuple[str, str, str]
"""What was measured, its value, and what it is to reach, with a mark that says whether it does."""

Section = tuple[str, list[Figure]]
"""Figures that were measured together, and their title."""


def at_most(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be above a limit; `shown` formats both."""
    return name, shown.format(value), f"at most {shown.format(limit)} {'✔' if value <= limit else '✘'}"
