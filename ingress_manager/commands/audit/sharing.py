"""What objects share: who of them was there first."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ingress_manager.commands.view.objects import ObjectView

T = TypeVar("T")
Sharing = tuple[ObjectView, T]
"""An object, with what it shares with others."""


def pairs(
    sharing: Sequence[Sharing[T]], meet: Callable[[Sharing[T], Sharing[T]], bool]
) -> Iterator[tuple[Sharing[T], Sharing[T]]]:
    """Yield each object that meets an older one, behind the oldest such: each with what it shares.

    They are sorted by their age. One of the two is ingress-manager's. Where only some of the objects are known, there
    are fewer younger ones in it, and never another.
    """
    ours = [number for number, (each, _) in enumerate(sharing) if each.looks_ours]
    for number, younger in enumerate(sharing) if ours else ():
        for other in range(number) if younger[0].looks_ours else ours:
            if other >= number:
                break
            if meet(sharing[other], younger):
                yield sharing[other], younger
                break
