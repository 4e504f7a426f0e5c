"""The shape: the first place where plain values differ from a type, in words for people.

msgspec finds it, too, but doesn't know the whole path, and names it in words for programmers.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import inspect
from msgspec.inspect import Type

from ingress_manager.core.strict_yaml import FieldPath
from ingress_manager.core.text import LONGEST_KEY, cut, did_you_mean, one_line, quoted

LONGEST_MISTAKE = 2000
"""Characters of a mistake that are shown."""

ANY_WORD = "the word any"
LIMIT = f"a list of what is allowed, or {ANY_WORD}"

TYPES: dict[type[Type], tuple[str, Any]] = {
    inspect.StrType: ("text", str),
    inspect.IntType: ("a whole number", int),
    inspect.BoolType: ("true or false", bool),
    inspect.NoneType: ("null", None),
    inspect.DateTimeType: ("a time", Annotated[datetime, msgspec.Meta(tz=True)]),
    inspect.ListType: ("a list", list),
    inspect.VarTupleType: ("a list", list),
    inspect.DictType: ("a mapping", dict),
    inspect.StructType: ("a mapping", dict),
    inspect.AnyType: ("anything", Any),
}
"""What people call a type, and the type of its values."""

Check = Callable[[str], str]
"""Returns the end of a sentence about a text that is wrong; "" if it is right."""


class FieldError(Exception):
    """One thing that is wrong with a field: its path, and a sentence that begins with it."""

    def __init__(self, path: FieldPath, end: str) -> None:
        self.path = path
        self.sentence = cut(f"{shown(path)}{end}".removeprefix(": "), LONGEST_MISTAKE)


def shown(path: FieldPath) -> str:
    """Return a path as people write it: limits.hosts[0]."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{cut(step, LONGEST_KEY) or quoted(step)}" for step in path]
    return "".join(steps).removeprefix(".")


def check_text(text: str, check: Check | None, path: FieldPath, subject: str = "") -> None:
    """Raise FieldError for what a check, if there is one, has against a text. The sentence begins with `subject`."""
    if check and (end := check(text)):
        raise FieldError(path, f": {subject}{end}")


class Shape(NamedTuple):
    """What plain values are held against, beside a type."""

    places: Mapping[FieldPath, tuple[int, str]] = MappingProxyType({})
    """Where they stand in a text, if there is one."""
    checks: Mapping[str, Check] = MappingProxyType({})
    """What checks a text, by the name of the field that it is in."""
    checks_of_keys: Mapping[str, Check] = MappingProxyType({})
    """What checks a key of a mapping, by the name of the field that the mapping is in."""

    def check(self, stated: Any, type_: Type, path: FieldPath = (), field: str = "") -> None:
        """Raise FieldError unless a value, in a field of this name, is of a type."""
        types = alternatives(type_)
        fitting = next((each for each in types if is_of(stated, each)), None)
        if fitting is None:
            raise FieldError(path, f": {self._wrong_type(stated, types, path)}")
        if isinstance(fitting, inspect.StructType):
            self._check_fields(stated, fitting, path)
        elif isinstance(fitting, inspect.DictType):
            for key, value in stated.items():
                check_text(key, self.checks_of_keys.get(field), (*path, key))
                self.check(value, fitting.value_type, (*path, key), field)
        elif isinstance(fitting, inspect.ListType | inspect.VarTupleType):
            if len(stated) < (fitting.min_length or 0):
                raise FieldError(path, ": must list at least one value, and the list is empty")
            if "any" in stated and isinstance(types[0], inspect.LiteralType):
                raise FieldError(path, f": {ANY_WORD} must stand alone, not in a list")
            for number, value in enumerate(stated):
                self.check(value, fitting.item_type, (*path, number), field)
        elif isinstance(fitting, inspect.StrType):
            check_text(stated, self.checks.get(field), path, f"{quoted(stated)} ")

    def _check_fields(self, stated: dict[str, Any], type_: inspect.StructType, path: FieldPath) -> None:
        fields = {field.encode_name: field for field in type_.fields}
        for key, value in stated.items():
            if key not in fields and type_.forbid_unknown_fields:
                raise FieldError((*path, key), f" is not a setting{meant(key, type_, path)}")
            self.check(value, fields[key].type if key in fields else inspect.AnyType(), (*path, key), key)
        for name, field in fields.items():
            if field.required and name not in stated:
                raise FieldError(path, f": must state {name}")

    def _wrong_type(self, stated: Any, types: list[Type], path: FieldPath) -> str:
        literal = inspect.LiteralType
        words = [f"the word {each.values[0]}" if isinstance(each, literal) else TYPES[type(each)][0] for each in types]
        wanted = LIMIT if ANY_WORD in words else " or ".join(words)
        if isinstance(stated, list | dict):
            return f"must be {wanted}, not a {'list' if isinstance(stated, list) else 'mapping'}"
        if isinstance(stated, str):
            return f"{quoted(stated)} must be {wanted}"
        written = self.places[path][1] if path in self.places else msgspec.json.encode(stated).decode()
        in_quotes = "; put it in quotes" if "text" in words and stated is not None else ""
        return f"{one_line(written[:60]) or 'is empty, and'} must be {wanted}{in_quotes}"


def alternatives(type_: Type) -> list[Type]:
    """Return the types that a value may have, one by one."""
    if isinstance(type_, inspect.Metadata):
        return alternatives(type_.type)
    return list(type_.types) if isinstance(type_, inspect.UnionType) else [type_]


def is_of(stated: Any, type_: Type) -> bool:
    """Return whether a value is of a type, but for what is in it."""
    if isinstance(type_, inspect.LiteralType):
        return stated in type_.values
    try:
        msgspec.convert(stated, TYPES[type(type_)][1])
    except msgspec.ValidationError:
        return False
    return True


def meant(key: str, type_: inspect.StructType, path: FieldPath) -> str:
    """Return the end of a sentence about an unknown field: the one that is like it, or of its name a level deeper."""
    near = did_you_mean(key, [field.encode_name for field in type_.fields])
    for field in type_.fields:
        for each in alternatives(field.type):
            if isinstance(each, inspect.StructType) and key in {inner.encode_name for inner in each.fields}:
                near = near or f"; did you mean {shown((*path, field.encode_name, key))}?"
    return near
