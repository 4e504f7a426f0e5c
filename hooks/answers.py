"""An answer: what the hook says to Metacontroller.

| status | when                                           | what Metacontroller does                               |
|--------|------------------------------------------------|--------------------------------------------------------|
| 200    | the desired state                              | makes it so                                            |
| 400    | the body is not the contract                   | changes nothing, Event on the Service, retries         |
| 422    | the Service's annotations or ports are refused | the same                                               |
| 429    | paused                                         | changes nothing, no Event, retries after `retry_after` |

The core raises `Refused` with the status that the shell will answer with. Anything else raised is a bug.
"""

from typing import Any

import msgspec

LONGEST_REFUSAL = 500
"""Characters. The reason becomes part of an Event's message, which kubectl shows in one line."""


class Answer(msgspec.Struct, frozen=True):
    """An HTTP response: JSON when the status is 200, otherwise one line of text."""

    status: int
    body: bytes
    retry_after: int | None = None
    """Seconds, for the Retry-After header (RFC 9110, section 10.2.3)."""


class Refused(Exception):  # noqa: N818 - a Service is refused; that is no error of the hook
    """Why nothing is changed, for the Service's owner, the most important first; and the status that says so."""

    def __init__(self, status: int, *problems: str, retry_after: int | None = None) -> None:
        super().__init__("; ".join(problems))
        self.status = status
        self.problems = problems
        self.retry_after = retry_after


def desired(response: dict[str, Any]) -> Answer:
    """Return the 200 answer that carries `response` as JSON."""
    return Answer(200, msgspec.json.encode(response))


def refusal(refused: Refused) -> Answer:
    """Return the answer that says why, in one line of at most 500 characters, as many problems as fit."""
    told = [one_line(problem) for problem in refused.problems[:LONGEST_REFUSAL]]  # what follows can't fit
    line = " · ".join(told)
    while len(line) > LONGEST_REFUSAL and len(told) > 1:
        told.pop()
        line = " · ".join([*told, f"and {len(refused.problems) - len(told)} more"])
    if len(line) > LONGEST_REFUSAL:
        line = line[: LONGEST_REFUSAL - 1] + "…"
    return Answer(refused.status, f"{line}\n".encode(), refused.retry_after)


def one_line(text: str) -> str:
    """Return `text` with every character that could break or disguise a line written as a Python escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def quoted(value: str) -> str:
    """Return `value` as a person would see it in YAML: double-quoted, on one line, cut after 60 characters."""
    shown = one_line(value.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{shown}"' if len(shown) <= 60 else f'"{shown[:60]}…"'
