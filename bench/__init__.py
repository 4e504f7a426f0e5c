"""The benchmark: it measures what users experience, and shows each figure beside its bound.

A bound on time is a ratio of two times of the same run, taken in turns: a slower machine slows both. Seconds without a
bound are for information. Each bound stands beside the code that measures, with its reason.
"""

Figure = tuple[str, str, str]
"""What was measured, its value, and its bound with a mark that says whether it holds; "" without a bound."""

Section = tuple[str, list[Figure]]
"""Figures that were measured together, and their title."""


def at_most(name: str, value: float, limit: float, shown: str = "{:.2f}") -> Figure:
    """Return a figure with an upper bound; `shown` formats both. By default, they are ratios."""
    return name, shown.format(value), f"at most {shown.format(limit)} {'✔' if value <= limit else '✘'}"
