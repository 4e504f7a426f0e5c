"""The benchmark: it measures what users experience, and shows each figure beside its bound.

Times have no bounds themselves: only the ratio of two times from the same run has one, because a slower machine slows
both. Figures without a bound are for information. Each bound is documented beside the code that measures the figure.
"""

Figure = tuple[str, str, str]
"""A measurement's name, its value, and its bound with a mark for whether it is met, or "" if there is no bound."""

Section = tuple[str, list[Figure]]
"""A title, and the figures that were measured together."""


def at_most(name: str, value: float, limit: float, shown: str = "{:.2f}") -> Figure:
    """Return a figure with an upper bound. `shown` formats both `value` and `limit`; the default suits ratios."""
    return name, shown.format(value), f"at most {shown.format(limit)} {'✔' if value <= limit else '✘'}"
