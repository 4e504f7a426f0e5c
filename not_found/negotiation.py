"""Which format and which language a client prefers: the headers Accept and Accept-Language (RFC 9110, section 12.5)."""

import re
from collections.abc import Collection, Iterator
from enum import StrEnum

LONGEST = 1000
"""Characters of a header that are read. A browser sends 150."""

WEIGHT = re.compile(r"0(\.\d{0,3})?|1(\.0{0,3})?", re.ASCII)
"""RFC 9110, section 12.4.2."""


class Format(StrEnum):
    """What a page can be written in, by the value of a metric's label."""

    HTML = "html"
    JSON = "json"
    TEXT = "text"


MEDIA_TYPES = {
    "text/html": Format.HTML,
    "application/json": Format.JSON,
    "application/problem+json": Format.JSON,
    "text/plain": Format.TEXT,
}
"""What a client asks for, and the format that it gets. Of formats that are named alike, it gets the first one."""


def preferred_format(accept: str) -> Format:
    """Return the format that the value of the header Accept prefers.

    The most precise range decides how much a format is wanted (RFC 9110, section 12.5.1). Who names no format but takes
    any, as curl does, reads it on a terminal: that is text. Text is also for those who take none of them.
    """
    weights: dict[str, float] = {}
    for name, weight in ranges(accept):
        weights.setdefault(name, weight)

    def wanted(media_type: str) -> tuple[float, bool, bool]:
        is_named = media_type in weights
        main = media_type.partition("/")[0]
        weight = next((weights[name] for name in (media_type, f"{main}/*", "*/*") if name in weights), 0)
        return weight, is_named, not is_named and media_type == "text/plain"

    best = max(MEDIA_TYPES, key=wanted)
    return MEDIA_TYPES[best] if wanted(best)[0] else Format.TEXT


def preferred_language(accept_language: str, offered: Collection[str]) -> str:
    """Return the language of those offered that the value of the header Accept-Language prefers; else the first one.

    This is the lookup of RFC 4647, section 3.4: de-AT gets de, and zh-Hant-TW gets zh.
    """
    for name, weight in sorted(ranges(accept_language), key=lambda pair: -pair[1]):
        tag = name if weight else ""
        while tag:
            if tag in offered:
                return tag
            tag = tag.rpartition("-")[0]
    return next(iter(offered))


def ranges(header: str) -> Iterator[tuple[str, float]]:
    """Yield each range of a header in lower case, and its weight, 1 where none is stated.

    A range whose weight is no number from 0 to 1 is left out. Parameters other than the weight are not looked at.
    """
    for part in header[:LONGEST].lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weight = next((value.removeprefix("q=") for value in parameters if value.startswith("q=")), "1")
        if WEIGHT.fullmatch(weight):
            yield name, float(weight)
