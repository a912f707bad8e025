"""Reads files of records line by line; nothing else decides whether a line is a record.

How strict it is depends on who wrote the file: `Trust`. Only one line is in memory at a time.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import itertools
import json
import math
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import (
    Annotated,
    Any,
    BinaryIO,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from harness import limits
from harness.errors import DiskError
from harness.printing import printable
from harness.results.record import (
    OWN,
    Line,
    Record,
    check_of,
    fields_by_part,
    is_as_written,
    without_check,
)

Kind = TypeVar("Kind", bound=Line)
Model = TypeVar("Model", bound=BaseModel)
Status: TypeAlias = Literal["damaged", "torn", "unknown", "doubtful", "conflict"]
"""The problem of an invalid line. `unknown`: complete, but of another version of the harness.
`doubtful`: its id is not that of its content. `conflict`: another file has another value."""

MOST_NOTICES = 5
"""Number of lines of a file with their own notice."""
_BLOCK = 1_000_000
_BUFFER = 262_144
"""Bytes that are read at once: few lines are in two of them."""


class Trust(enum.Enum):
    """Who wrote a file of records, which decides how strictly it is read."""

    OWN = enum.auto()
    """The harness, on a machine of the user. Lines may be torn, or of another version."""
    ANYBODY = enum.auto()
    """Anybody, also a later harness: unknown keys are ignored. JSON that parsers read differently
    is refused. Types of values are checked, but not the limits of their fields: the caller checks
    these."""
    SUBMITTED = enum.auto()
    """Somebody who submits to a repository: JSON and types are strict, and unknown keys are
    errors."""


@dataclass(frozen=True)
class SetAside:
    """A record, or an invalid line, that does not count.

    Parameters
    ----------
    file
        The file, as it was asked for; empty for a record that is in no file.
    line
        The line, from 1; 0 for a whole file.
    reason
        What is wrong, and what would be right.
    id
        The record's id; empty if it has none.
    status
        The kind of problem of a line; None if its reader does not decide it.
    """

    file: str
    line: int
    reason: str
    id: str = ""
    status: Status | None = None

    @property
    def place(self) -> str:
        """The file, with the line if it is about one; empty for a record that is in no file."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        """Return one line for the user."""
        return f"{self.place}: {self.reason}" if self.place else self.reason

    def to_dict(self) -> dict[str, str | int]:
        """Return what commands write as JSON."""
        return {"file": self.file, "line": self.line, "reason": self.reason, "id": self.id}


@dataclass(frozen=True)
class Entry(Generic[Kind]):
    """A line of a file that is not blank.

    Parameters
    ----------
    number
        Its number, from 1.
    start, size
        Where it is in the file, and its bytes, with the newline if it has one.
    record
        The record; None if the line is invalid.
    fault
        What is wrong with it.
    """

    number: int
    start: int
    size: int
    record: Kind | None = None
    fault: SetAside | None = None

    def bytes_in(self, file: BinaryIO) -> bytes:
        """Return the line as it is in the file."""
        file.seek(self.start)
        return file.read(self.size)


def entries(path: Path, schema: type[Kind], trust: Trust = Trust.OWN) -> Iterator[Entry[Kind]]:
    """Yield the lines of a file in order, without blank ones; one line is in memory at a time.

    Raises
    ------
    DiskError
        If the file cannot be read.
    """
    start = 0
    most = limits.OWN_LINE_BYTES if trust is Trust.OWN else limits.LINE_BYTES
    for number, raw, size in raw_lines(path, most):
        result = judged(raw, schema, trust, size)
        if isinstance(result, tuple):
            status, reason = result
            fault = SetAside(str(path), number, reason, status=status)
            yield Entry(number, start, size, fault=fault)
        elif result is not None:
            yield Entry(number, start, size, result)
        start += size


def judged(
    raw: bytes, schema: type[Kind], trust: Trust, size: int | None = None
) -> Kind | tuple[Status, str] | None:
    """Return the record of a line, or its status and problem; None if it is blank.

    Parameters
    ----------
    raw
        The line, or the beginning of one that is too long.
    schema
        The class of its record.
    trust
        Who wrote it.
    size
        Bytes of the line; by default those of `raw`.
    """
    size = len(raw) if size is None else size
    if trust is Trust.OWN:
        return _own(raw, size, schema)
    if trust is Trust.ANYBODY:
        return _anybodys(raw, size, schema)
    return _submitted(raw, size, schema)


def notices(invalid: Iterable[SetAside]) -> list[str]:
    """Return a notice for each of the first invalid lines of a file, and one for all others."""
    invalid = list(invalid)
    lines = [
        f"{line.place}: the line was left out: {line.reason}"
        + ("" if line.status == "torn" else "; see harness results verify")
        for line in invalid[:MOST_NOTICES]
    ]
    if n := len(invalid) - len(lines):
        noun = "1 more line was" if n == 1 else f"{n:,} more lines were"
        lines.append(f"{invalid[0].file}: {noun} left out; see harness results verify")
    return lines


def raw_lines(path: Path, most: int) -> Iterator[tuple[int, bytes, int]]:
    """Yield the number, bytes and size of each line; of more than `most` bytes only the beginning.

    Objects that stand on one line, as `cat` joins files without a last newline, are lines each.

    Raises
    ------
    DiskError
        If the file cannot be read.
    """
    try:
        with path.open("rb", buffering=_BUFFER) as file:
            for number in itertools.count(1):
                if not (raw := file.readline(most + 1)):
                    return
                size, rest = len(raw), raw
                while size > most and rest and not rest.endswith(b"\n"):
                    rest = file.readline(_BLOCK)
                    size += len(rest)
                *joined, last = _objects(raw) if size <= most else [raw]
                yield from ((number, part, len(part)) for part in joined)
                yield number, last, size - sum(map(len, joined))
    except OSError as error:
        raise DiskError(f"cannot read '{path}' ({error.strerror})") from None


def _objects(raw: bytes) -> list[bytes]:
    """Return the objects of JSON that follow each other on a line, and the rest; often the line."""
    if b"}{" not in raw:
        return [raw]
    text, start, parts = raw.decode("latin-1"), 0, list[bytes]()  # a character is a byte
    with contextlib.suppress(ValueError, RecursionError):
        while text.startswith("{", end := json.JSONDecoder().raw_decode(text, start)[1]):
            parts.append(raw[start:end])
            start = end
    return [*parts, raw[start:]]


# Lines of the harness itself.


def _own(raw: bytes, size: int, schema: type[Kind]) -> Kind | tuple[Status, str] | None:
    text = raw.strip(b"\0 \t\r\n")
    if size > limits.OWN_LINE_BYTES:
        return "damaged", f"a line of {limits.too_many(size, limits.OWN_LINE_BYTES)}"
    if not text:
        is_blank = b"\0" not in raw
        return (
            None
            if is_blank
            else ("torn", "it holds nothing but NUL bytes, as after a power failure")
        )
    try:
        record = schema.model_validate_json(text)
    except ValidationError as error:
        mistake = error.errors()[0]
        is_json = mistake["type"] != "json_invalid"
        if not is_json and ("EOF" in mistake["msg"] or not raw.endswith(b"\n")):
            return "torn", "the line is torn, as after a kill"
        problem = _first_mistake(error, schema) if is_json or _is_text(text) else "not UTF-8"
        is_whole = is_json and check_of(text) is not None and is_as_written(text)
        is_other = is_whole or problem.startswith("schema: version")
        return "unknown" if is_other else "damaged", f"not a record: {problem}"
    return record if is_as_written(text) else ("damaged", "its check differs from its content")


def _first_mistake(error: ValidationError, schema: type[BaseModel]) -> str:
    """Return the first mistake of an invalid line, with its key."""
    mistake = error.errors()[0]
    message, key = mistake["msg"], ".".join(str(part) for part in mistake["loc"])
    if key == "schema":
        known = schema.model_fields["schema_version"].default
        message = (
            f"version {mistake['input']!r} of the schema is unknown, version {known} is "
            "required; use the version of the harness that wrote it, or a newer one"
        )
    return f"{key}: {message}" if key else message


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


# Lines of anybody.


def _anybodys(raw: bytes, size: int, schema: type[Kind]) -> Kind | tuple[Status, str] | None:
    if size > limits.LINE_BYTES:
        return "damaged", f"a record of {limits.too_many(size, limits.LINE_BYTES)}"
    if raw.isspace():
        return None
    if not is_as_written(raw):
        return "damaged", "its check differs from its content: damaged, or changed by hand"
    loose: type[Kind] = without_limits(schema)
    try:
        record = loose.model_validate_json(raw)
    except ValidationError:
        return _looked_at_closely(raw, schema)
    values = 1 + sum(getattr(record, name, None) is not None for name in _VALUED)
    if not _is_plain(raw, values=values) or not record.id:
        return _looked_at_closely(raw, schema)
    return record


def _is_plain(text: bytes, *, values: int) -> bool:
    """Return whether a text has the key `value` so many times, and no numbers that JSON lacks.

    pydantic takes the last of equal keys, and reads NaN and infinity.
    """
    # One byte is found ten times as fast as a text.
    is_finite = not (b"N" in text and b"NaN" in text) and not (b"I" in text and b"Infinity" in text)
    return is_finite and text.count(_VALUE) == values


@functools.cache
def without_limits(schema: type[Kind]) -> type[Kind]:
    """Return the schema without limits and conversions of values, with the same fields."""
    fields: dict[str, Any] = {
        name: (_without_limits(field.annotation), _same_default(field))
        for name, field in schema.model_fields.items()
    }
    config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, populate_by_name=True)
    relaxed: type[Kind] = create_model(f"{schema.__name__}OfAnybody", __config__=config, **fields)
    return relaxed


def _same_default(field: FieldInfo) -> Any:
    if field.default_factory is None:
        return Field(default=field.default, alias=field.alias)
    return Field(default_factory=field.default_factory, alias=field.alias)


def _without_limits(annotation: Any) -> Any:
    """Return a type without pydantic's further checks. Columns hold integers of 64 bits."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is int:
        return Annotated[int, Field(ge=-(2**63), lt=2**63)]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return without_limits(annotation)
    if origin is Annotated:
        return _without_limits(parts[0])
    if origin in (Union, types.UnionType):
        return Union[tuple(map(_without_limits, parts))]  # noqa: UP007  # made of a tuple
    if origin is tuple:
        inside = tuple(part if part is ... else _without_limits(part) for part in parts)
        return types.GenericAlias(tuple, inside)
    # The caller checks the content of an object of texts or numbers.
    return Any if origin is dict and parts[1] is not Any else annotation


class PartsReader:
    """Reads lines of anybody by the parts of a record: a part that lines share is validated once.

    A line is cut before the first key of each part. If each part, in braces, is an object of JSON
    with the fields of the part and no others, then the line is the object of them all. `read`
    returns None for any other line, and for those that `judged` looks at closely: `judged` decides
    about them.
    """

    def __init__(self) -> None:
        fields = without_limits(Record).model_fields
        parts = fields_by_part()
        keys = [f'"{fields[first].alias or first}":'.encode() for first in parts]
        ends = [b"," + key for key in keys[1:]] + [b""]
        self._parts = [
            _PartReader(
                b"{" if i == 0 else b"{" + key,  # the cut took the other keys
                end,
                _validator({name: fields[name] for name in names}),
                None if first in OWN else {},
            )
            for i, ((first, names), key, end) in enumerate(
                zip(parts.items(), keys, ends, strict=True)
            )
        ]

    def read(self, line: bytes) -> list[dict[str, Any]] | None:
        """Return the values of the fields of each part; a shared part is the same object again."""
        if not (line.startswith(b"{") and line.endswith(b"}\n")) or len(line) > limits.LINE_BYTES:
            return None
        content = without_check(line)
        if content is None:
            return None
        rest, own, values = content[1:-1], list[bytes](), list[dict[str, Any]]()
        try:
            for start, end, validate, known in self._parts:
                if end:
                    text, cut, rest = rest.partition(end)
                    if not cut:
                        return None
                else:
                    text = rest
                if known is None:
                    own.append(text)
                    values.append(validate(start + text + b"}"))
                    continue
                part = known.get(text)
                if part is None:
                    if not _is_plain(text, values=0):
                        return None
                    part = validate(start + text + b"}")
                    if len(known) == _MOST_KNOWN:
                        known.clear()
                    known[text] = part
                values.append(part)
        except ValidationError:
            return None
        # The key of the first value is cut off.
        n = sum(values[_P_VALUE][name] is not None for name in _VALUED)
        return values if values[0]["id"] and _is_plain(b"".join(own), values=n) else None


class _PartReader(NamedTuple):
    """How a part is read.

    Parameters
    ----------
    start
        What is put before its text.
    end
        The bytes after it: the comma and the key of the next part; empty for the last part.
    validate
        Returns the values of its fields.
    known
        The values of the texts that were read; None for a part that records do not share.
    """

    start: bytes
    end: bytes
    validate: Callable[[bytes], dict[str, Any]]
    known: dict[bytes, dict[str, Any]] | None


_MOST_KNOWN = 4096
"""Most texts of a part that are kept."""
_VALUED = ("ratio", "unseen")
"""Parts with a key `value` of their own."""
_DICTIONARIES = (*_VALUED, "interval", "floor", "unseen_interval", "unseen_floor")
"""Fields whose parts are read as dictionaries."""
_P_VALUE = list(fields_by_part()).index("p_value")
"""The part with these."""


def _validator(fields: Mapping[str, FieldInfo]) -> Callable[[bytes], dict[str, Any]]:
    """Return a function that reads an object of JSON with these fields and no others.

    It checks values as the schema of the fields does. Parts that records do not share are read as
    dictionaries, which pydantic makes in half the time of models.
    """
    validate: Callable[[bytes], dict[str, Any]] = TypeAdapter(
        _dictionary(fields, extra="forbid")
    ).validator.validate_json
    return validate


def _dictionary(fields: Mapping[str, FieldInfo], *, extra: Literal["forbid", "ignore"]) -> Any:
    make: Any = TypedDict
    hints = {}
    for name, field in fields.items():
        annotation: Any = field.annotation
        if name in _DICTIONARIES:
            part, _ = get_args(annotation)  # or None
            annotation = _dictionary(part.model_fields, extra="ignore") | None
        # pydantic keeps limits, such as those of integers, apart from the type.
        hints[name] = Annotated[(annotation, *field.metadata, _same_default(field))]
    dictionary = make("Part", hints)
    dictionary.__pydantic_config__ = ConfigDict(extra=extra, allow_inf_nan=False)
    return dictionary


def _looked_at_closely(raw: bytes, schema: type[Kind]) -> Kind | tuple[Status, str]:
    """Return the record of a line without unknown keys, or its status and problem."""
    try:
        content = parsed_strictly(raw)
    except ValueError as error:
        return "damaged", _reason(str(error))
    try:
        return _without_unknown_keys(content, schema)
    except ValidationError as error:
        return "damaged", _reason(f"not a record: {_first_mistake(error, schema)}")
    except (ValueError, RecursionError):
        return "damaged", "not a record: a text or a number in it cannot be stored"


def _without_unknown_keys(content: Any, schema: type[Kind]) -> Kind:
    try:
        return schema.model_validate(content)
    except ValidationError as error:
        unknown = [e["loc"] for e in error.errors() if e["type"] == "extra_forbidden"]
        if not unknown:
            raise
    for *path, key in unknown:
        part = content
        for step in path:
            part = part[step]
        del part[key]
    return schema.model_validate(content)


# Submitted lines.


def _submitted(raw: bytes, size: int, schema: type[Kind]) -> Kind | tuple[Status, str]:
    line = raw.removesuffix(b"\n")
    if size > limits.LINE_BYTES:
        return "damaged", f"a record of {limits.too_many(size, limits.LINE_BYTES)}"
    if line.endswith(b"\r"):
        return "damaged", "it ends as in Windows (CR LF); LF is required"
    if not line.strip():
        return "damaged", "an empty line; remove it"
    record, problems = mistakes(line, schema)
    if record is not None:
        if is_as_written(line):
            return record
        problem = "its check differs from its content: damaged, or changed by hand; pack again"
        return "damaged", problem
    key, text = problems[0]
    if key == "schema":
        text += "; use the version of the harness that wrote it, or a newer one"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return "damaged", f"not a record: {key + ': ' if key else ''}{text}{more}"


# Strict JSON: one meaning for every reader, or an error with one line.
#
# Refuses what parsers read differently or not at all: a byte order mark, other encodings, keys that
# occur twice, NaN and infinity, integers of thousands of digits, and deep nesting.


_VALUE = b'"value":'
"""A key that occurs once in a line. Other repeated keys do no harm: the last value is used."""
_DIGITS = 4_000
"""Python itself reads no integers of more than 4,300 digits."""
LONGEST_REASON = 300
"""Most characters of a message that quotes a file."""
_LONGEST = 60
"""Most characters of a quoted text in a message."""


def parsed_strictly(content: bytes) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        If it is not strict JSON; the message has one line.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("UTF-16; write it as UTF-8")
    if content.startswith(b"\xef\xbb\xbf"):
        raise ValueError("a byte order mark; write it as UTF-8 without one")
    try:
        return json.loads(
            content.decode(),
            object_pairs_hook=_without_repeats,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"not JSON ({error.msg.removesuffix(' at')} at character {error.pos + 1})"
        ) from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def mistakes(content: bytes, schema: type[Model]) -> tuple[Model | None, list[tuple[str, str]]]:
    """Return JSON as a model, or None and its mistakes: pairs of key and problem.

    Types are strict: no text and no boolean counts as a number.
    """
    try:
        parsed_strictly(content)
        return schema.model_validate_json(content, strict=True), []
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        return None, [(_key(mistake["loc"]), _reason(mistake["msg"])) for mistake in errors]
    except ValueError as error:
        return None, [("", _reason(str(error)))]


def _reason(text: str) -> str:
    return printable(text, LONGEST_REASON)


def _key(parts: tuple[int | str, ...]) -> str:
    return _reason(".".join(map(str, parts)))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key '{repeated[:_LONGEST]}' stands twice in one object")
    return content


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON; null stands for no value")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        shown = text[:_LONGEST]
        raise ValueError(f"not JSON that every reader takes: the number {shown} is too large")
    return number


def _integer(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"not JSON that every reader takes: an integer of {len(text):,} digits")
    return int(text)
