"""The annotations of entrances, as they stand on a Service, whether an entrance is on or off."""

from collections.abc import Iterable, Iterator, Mapping

from ingress_manager.core.annotations import PREFIX, is_on
from ingress_manager.core.entrances import HTTP_OF_ENTRANCE, begin_of


def entrances_in(keys: Iterable[str]) -> Iterator[str]:
    """Yield the entrances that annotations with these keys describe, whether they are on or off."""
    found = list(keys)
    if any(key.startswith(PREFIX) for key in found):
        yield ""
    yield from (key.removesuffix(HTTP_OF_ENTRANCE) for key in found if key.endswith(HTTP_OF_ENTRANCE))


def entrances_on(annotations: Mapping[str, str]) -> list[str]:
    """Return the names that `read_entrances` has, sorted, without a look at what is asked for."""
    return sorted(each for each in entrances_in(annotations) if is_on(annotations_of(each, annotations)))


def keys_of(entrance: str, keys: Iterable[str]) -> list[str]:
    """Return those of the keys that are annotations of an entrance."""
    return [key for key in keys if key.startswith(f"{begin_of(entrance)}{PREFIX}")]


def annotations_of(entrance: str, annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the annotations of an entrance, as they would be without its name."""
    begin = begin_of(entrance)
    return {key.removeprefix(begin): annotations[key] for key in keys_of(entrance, annotations)}
