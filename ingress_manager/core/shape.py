"""The shape: every place at which a value that somebody wrote differs from a type.

msgspec stops at the first one, and tells of it in words for programmers. The types are msgspec's; scalars are judged by
it, too.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import inspect
from msgspec.inspect import Type

FieldPath = tuple[Any, ...]
"""The keys and the indexes that lead to a value."""

Found = Iterator[tuple[FieldPath, str]]
"""What is wrong: the path of a field, and the rest of a sentence that begins with it."""

LEFT_OUT: Any = object()
"""In the place of a value that differs so that nothing of it is left."""

WORDS: dict[type[Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "a whole number",
    inspect.BoolType: "true or false",
    inspect.NoneType: "null",
    inspect.DateTimeType: "a time",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
    inspect.DictType: "a mapping",
    inspect.StructType: "a mapping",
}
"""What people call a type."""


SCALARS: dict[type[Type], Any] = {
    inspect.StrType: str,
    inspect.IntType: int,
    inspect.BoolType: bool,
    inspect.NoneType: None,
    inspect.DateTimeType: Annotated[datetime, msgspec.Meta(tz=True)],
}


VALUES: dict[type, str] = {
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
}
"""What people call a value of a type; any other is null."""


class Mismatch(NamedTuple):
    """A place at which a value differs from its type."""

    path: FieldPath
    sort: Literal["type", "unknown", "key", "missing", "empty"]
    """A value of another type; a field that the type doesn't have; a key that is no text; a field that is missing; a
    list without an item."""

    right: tuple[str, ...] = ()
    """What would be right: words for the types, or the names of the fields; of one that is missing: its name."""

    stated: Any = None
    """The value that is of another type."""


@cache
def type_of(type_: type[msgspec.Struct]) -> Type:
    """Return what msgspec knows about a type."""
    return inspect.type_info(type_)


def fit(stated: Any, type_: Type, found: list[Mismatch], path: FieldPath = ()) -> Any:
    """Return the value without what differs, which msgspec can convert, or LEFT_OUT; add each mismatch to `found`.

    So {"host": 1, "hosts": ["a", 2], "class": "b"} becomes {"class": "b"}, with two mismatches. A list in which
    anything differs is left out as a whole: what is said of lists later has the numbers of their items, and doesn't
    follow from a mismatch.
    """
    types = list(alternatives(type_))
    for each in types:
        if isinstance(stated, dict) and isinstance(each, inspect.StructType):
            return _fit_fields(stated, each, found, path)
        if isinstance(stated, dict) and isinstance(each, inspect.DictType):
            return _fit_entries(stated, each, found, path)
        if isinstance(stated, list) and isinstance(each, inspect.ListType | inspect.VarTupleType):
            return _fit_items(stated, each, found, path)
        if isinstance(each, inspect.AnyType) or _is_scalar(stated, each):
            return stated
    found.append(Mismatch(path, "type", tuple([_word(each) for each in types]), stated))
    return LEFT_OUT


def alternatives(type_: Type) -> Iterator[Type]:
    """Yield the types that a value may have, one by one."""
    if isinstance(type_, inspect.Metadata):
        yield from alternatives(type_.type)
    elif isinstance(type_, inspect.UnionType):
        for each in type_.types:
            yield from alternatives(each)
    else:
        yield type_


def _word(type_: Type) -> str:
    """Return what people call a type."""
    return f"the word {type_.values[0]}" if isinstance(type_, inspect.LiteralType) else WORDS[type(type_)]


def _is_scalar(stated: Any, type_: Type) -> bool:
    """Return whether a value is a text, a number, a boolean or null of this type."""
    if isinstance(type_, inspect.LiteralType):
        return stated in type_.values
    if type(type_) not in SCALARS:
        return False
    try:
        msgspec.convert(stated, SCALARS[type(type_)])
    except msgspec.ValidationError:
        return False
    return True


def _fit_fields(stated: dict[Any, Any], type_: inspect.StructType, found: list[Mismatch], path: FieldPath) -> Any:
    fields = {field.encode_name: field for field in type_.fields}
    kept = {}
    for key, value in stated.items():
        if key in fields:
            fitting = fit(value, fields[key].type, found, (*path, key))
            if fitting is not LEFT_OUT:
                kept[key] = fitting
        elif type_.forbid_unknown_fields:
            found.append(Mismatch((*path, key), "unknown", tuple(fields)))
        elif not isinstance(key, str):
            found.append(Mismatch((*path, key), "key"))
    required = [name for name, field in fields.items() if field.required]
    found += [Mismatch(path, "missing", (name,)) for name in required if name not in stated]
    return kept if kept.keys() >= set(required) else LEFT_OUT


def _fit_entries(stated: dict[Any, Any], type_: inspect.DictType, found: list[Mismatch], path: FieldPath) -> Any:
    kept = {}
    for key, value in stated.items():
        if not isinstance(key, str):
            found.append(Mismatch((*path, key), "key"))
            continue
        fitting = fit(value, type_.value_type, found, (*path, key))
        if fitting is not LEFT_OUT:
            kept[key] = fitting
    return kept


def _fit_items(
    stated: list[Any], type_: inspect.ListType | inspect.VarTupleType, found: list[Mismatch], path: FieldPath
) -> Any:
    if len(stated) < (type_.min_length or 0):
        found.append(Mismatch(path, "empty"))
        return LEFT_OUT
    before = len(found)
    kept = [fit(value, type_.item_type, found, (*path, number)) for number, value in enumerate(stated)]
    return kept if len(found) == before else LEFT_OUT
