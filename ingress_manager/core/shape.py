"""Checks plain values (as read from YAML) against types, and describes the first mistake.

msgspec doesn't report the key of a wrong value in a mapping, so on failure, each value is converted separately. It
ignores checks in types such as `Annotated[str, wrong_name]`; `check_values` runs them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import msgspec

from ingress_manager.core.strict_yaml import FieldPath
from ingress_manager.core.text import LONGEST_KEY, cut, nearest, quoted

LONGEST_MISTAKE = 2000  # characters of a message; the rest is cut

Check = Callable[[Any], str]
LIMIT = 'a list of allowed values, or the word "any"'
TYPE_NAMES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "a mapping",
}
"""msgspec's names for types, and the names in our messages."""


def must(is_right: Callable[[Any], object], end: str) -> Check:
    return lambda value: "" if is_right(value) else f"must {end}"


class FieldError(Exception):
    """A mistake in a field. `sentence` begins with the field's path."""

    def __init__(self, path: FieldPath, end: str, *key: str) -> None:
        self.path = (*path, *key)
        self.sentence = cut(f"{format_path(path)}{end}".removeprefix(": "), LONGEST_MISTAKE)


def format_path(path: FieldPath) -> str:
    """Format a field's path for messages, as in limits.hosts[0]."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{cut(step, LONGEST_KEY) or quoted(step)}" for step in path]
    return "".join(steps).removeprefix(".")


class Part(NamedTuple):
    """The part of a type that accepts values of one Python type. A union has several parts."""

    checks: Sequence[Check] = ()
    keys: Sequence[Check] = ()  # of a mapping
    fields: Mapping[str, Any] = {}  # of a struct: their types
    element: Any = None  # the type of a mapping's values, or a list's items


@cache
def parts_of(type_: Any) -> Mapping[Any, Part]:
    """Return the parts of a type, by Python type. msgspec forbids unions of two parts with the same Python type."""
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Annotated:
        checks = [check for check in arguments[1:] if callable(check)]
        parts = parts_of(arguments[0]).items()
        return {plain: part._replace(checks=[*part.checks, *checks]) for plain, part in parts}
    if origin in {Union, UnionType}:
        return {plain: part for argument in arguments for plain, part in parts_of(argument).items()}
    if origin is dict:
        return {dict: Part(keys=parts_of(arguments[0])[str].checks, element=arguments[1])}
    if origin in {list, tuple}:
        return {list: Part(element=arguments[0])}
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return {dict: Part(fields={field.encode_name: field.type for field in msgspec.structs.fields(type_)})}
    return {type_: Part()}


def convert(value: Any, type_: Any, path: FieldPath = ()) -> Any:
    """Convert a plain value to a type. Raises FieldError for the first nested value that doesn't fit."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        for key, inner, expected in children(value, parts_of(type_).get(type(value), Part())):
            convert(inner, expected, (*path, key))
        raise translate_error(str(error), type_, path) from error


def check_values(value: Any, type_: Any, path: FieldPath = ()) -> None:
    """Raise FieldError for the first nested value or key that a check in the type rejects."""
    part = parts_of(type_).get(type(value), Part())
    for end in filter(None, [check(value) for check in part.checks]):
        raise FieldError(path, f": {quoted(value)} {end}" if isinstance(value, str) else f": {end}")
    for key, inner, expected in children(value, part):
        for end in filter(None, [check(key) for check in part.keys]):
            raise FieldError(path, f": {quoted(key)} {end}", key)
        check_values(inner, expected, (*path, key))


def children(value: Any, part: Part) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (key or index, child, expected type) for each direct child of a plain mapping or list."""
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        if expected := part.fields.get(key, part.element):
            yield key, inner, expected


def translate_error(message: str, type_: Any, path: FieldPath) -> FieldError:
    """Return a readable error for msgspec's message about the value at `path`."""
    if match := re.match(r"Object contains unknown field `(.*)`", message, re.DOTALL):
        return FieldError((*path, match[1]), f" is not a setting{suggest_field(match[1], type_, path)}")
    if match := re.match(r"Object missing required field `(.*)`", message):
        return FieldError((*path, match[1]), " is missing")
    if message.startswith("Expected `array` of length"):
        return FieldError(path, ": must list at least one value")
    if "`str | array`" in message or message.startswith("Invalid enum"):
        return FieldError(path, f": must be {LIMIT}")
    halves = message.partition(", got ")[::2]
    expected, got = ([TYPE_NAMES[word] for word in re.findall("|".join(TYPE_NAMES), half)] for half in halves)
    is_unquoted = "text" in expected and got and got[0] in {TYPE_NAMES["int"], TYPE_NAMES["float"], TYPE_NAMES["bool"]}
    end = f", not {got[0]}{'; put it in quotes' if is_unquoted else ''}" if got else ""
    return FieldError(path, f": must be {' or '.join(expected)}{end}")


def suggest_field(key: str, type_: Any, path: FieldPath) -> str:
    """Suggest the same name one level deeper, or a name similar to `key`, or return ""."""
    fields = parts_of(type_)[dict].fields
    nested = [(name, key) for name, inner in fields.items() if key in parts_of(inner).get(dict, Part()).fields]
    suggestion = format_path((*path, *nested[0])) if nested else nearest(key, fields)
    return f"; did you mean {suggestion}?" if suggestion else ""
