"""What all that starts part by part has in common."""

import contextlib
from typing import Self


class Starting:
    """Something that starts when it is entered, and ends when it is left, or when one of its parts doesn't start."""

    _exits: contextlib.ExitStack

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as exits:
            self._start(exits)
            self._exits = exits.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()

    def _start(self, exits: contextlib.ExitStack) -> None:
        """Start all parts, one after the other; `exits` ends them."""
        raise NotImplementedError
