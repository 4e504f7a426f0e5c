"""The shape: the first place where plain values differ from a type, in words for people.

msgspec says what is wrong, but not under which key of a mapping: so each value is tried by itself.
"""

import re
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from ingress_manager.core.strict_yaml import FieldPath
from ingress_manager.core.text import LONGEST_KEY, cut, nearest, quoted

LONGEST_MISTAKE = 2000
"""Characters of a mistake that are shown."""

LIMIT = "a list of what is allowed, or the word any"
WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "a mapping",
}
"""What people call the types that msgspec expects."""


class FieldError(Exception):
    """One thing that is wrong with a field: its path, and a sentence that begins with it."""

    def __init__(self, path: FieldPath, end: str) -> None:
        self.path = path
        self.sentence = cut(f"{shown(path)}{end}".removeprefix(": "), LONGEST_MISTAKE)


def shown(path: FieldPath) -> str:
    """Return a path as people write it: limits.hosts[0]."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{cut(step, LONGEST_KEY) or quoted(step)}" for step in path]
    return "".join(steps).removeprefix(".")


def converted(stated: Any, type_: Any, path: FieldPath = ()) -> Any:
    """Return plain values as a type. Raises FieldError for the first that is wrong."""
    try:
        return msgspec.convert(stated, type_)
    except msgspec.ValidationError as error:
        for key, value, inner in inside(stated, type_):
            converted(value, inner, (*path, key))
        raise mistake(str(error), type_, path) from error


def inside(stated: Any, type_: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """Yield the key or index of each value in a value, and the type that it should be of."""
    for each in alternatives(type_):
        if isinstance(stated, dict) and (fields := fields_of(each)):
            yield from ((key, value, fields[key]) for key, value in stated.items() if key in fields)
        elif isinstance(stated, dict) and get_origin(each) is dict:
            yield from ((key, value, get_args(each)[1]) for key, value in stated.items())
        elif isinstance(stated, list) and get_origin(each) in {list, tuple}:
            yield from ((number, value, get_args(each)[0]) for number, value in enumerate(stated))


def alternatives(type_: Any) -> list[Any]:
    """Return the types that a value may have, one by one."""
    if get_origin(type_) is Annotated:
        return alternatives(get_args(type_)[0])
    if get_origin(type_) in {Union, UnionType}:
        return [each for inner in get_args(type_) for each in alternatives(inner)]
    return [type_]


def fields_of(type_: Any) -> dict[str, Any]:
    """Return the types of the fields of a struct, if a value of this type may be one."""
    structs = [each for each in alternatives(type_) if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    return {field.encode_name: field.type for each in structs for field in msgspec.structs.fields(each)}


def mistake(said: str, type_: Any, path: FieldPath) -> FieldError:
    """Return what msgspec has said of a value, but not of one in it, in words for people."""
    if found := re.match(r"Object contains unknown field `(.*)`", said, re.DOTALL):
        return FieldError((*path, found[1]), f" is not a setting{meant(found[1], type_, path)}")
    if found := re.match(r"Object missing required field `(.*)`", said):
        return FieldError(path, f": must state {found[1]}")
    if said.startswith("Expected `array` of length"):
        return FieldError(path, ": must list at least one value, and the list is empty")
    if "`str | array`" in said or said.startswith("Invalid enum"):
        return FieldError(path, f": must be {LIMIT}")
    expected, got = (
        [WORDS[word] for word in re.findall("|".join(WORDS), part)] for part in said.partition(", got ")[::2]
    )
    is_unquoted = "text" in expected and got and got[0] in {WORDS["int"], WORDS["float"], WORDS["bool"]}
    end = f", not {got[0]}{'; put it in quotes' if is_unquoted else ''}" if got else ""
    return FieldError(path, f": must be {' or '.join(expected)}{end}")


def meant(key: str, type_: Any, path: FieldPath) -> str:
    """Return the end of a sentence about an unknown field: the one that is like it, or of its name a level deeper."""
    fields = fields_of(type_)
    deeper = [(name, key) for name, inner in fields.items() if key in fields_of(inner)]
    near = shown((*path, *deeper[0])) if deeper else nearest(key, fields)
    return f"; did you mean {near}?" if near else ""
