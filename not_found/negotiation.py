"""Which format and which language a client prefers: the headers Accept and Accept-Language (RFC 9110, section 12.5)."""

import re
from collections.abc import Collection
from enum import StrEnum

from werkzeug.http import parse_accept_header

LONGEST = 1000
"""Characters of a header that are read. A browser sends 150."""


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

    Who names no format but takes any, as curl does, reads it on a terminal: that is text. Text is also for those who
    take none of them. A range's parameters are not looked at.
    """
    weights: dict[str, float] = {}
    for name, weight in parse_accept_header(accept[:LONGEST]):
        weights.setdefault(name.partition(";")[0].lower(), weight)

    def wanted(media_type: str) -> tuple[float, bool, bool]:
        is_named = media_type in weights
        # The most precise range decides (RFC 9110, section 12.5.1).
        precise_first = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
        weight = next((weights[name] for name in precise_first if name in weights), 0)
        return weight, is_named, not is_named and media_type == "text/plain"

    best = max(MEDIA_TYPES, key=wanted)
    return MEDIA_TYPES[best] if wanted(best)[0] else Format.TEXT


def preferred_language(accept_language: str, offered: Collection[str]) -> str:
    """Return the language of those offered that the value of the header Accept-Language prefers; else the first one.

    What is behind a language, such as its country, is left out first: de-AT gets de, and zh-Hant-TW gets zh.
    """
    languages = parse_accept_header(re.sub(r"-[\w-]*", "", accept_language[:LONGEST]).lower())
    wanted = (name for name, weight in languages if weight and name in offered)
    return next(wanted, next(iter(offered)))
