"""Lines of results files: records with a check, and what is wrong with the other lines.

A line ends with `"check":"…"`, a hash of the bytes before it. A changed byte is found when the line
is read, also where it leaves valid JSON with another number. Lines without a check are read as they
are: older files, files that people write, and files that another program wrote again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from harness import limits
from harness.errors import DiskError

if TYPE_CHECKING:
    from harness.results.record_parts import Line

Kind = TypeVar("Kind", bound="Line")
Fate: TypeAlias = Literal["damaged", "torn", "unknown", "repeated", "doubtful"]
"""What a line is that does not count. `unknown` lines are whole, and of another version of the
harness; of `repeated` ones a later line has the same id; the id of a `doubtful` one is not that of
its content."""

MOST_NOTICES = 5
"""Lines of a file that have a notice each."""
_SIZE = 8
"""Bytes of a check: of 1.8e19 damaged lines, one is not found."""
_KEY = b',"check":"'
_END = b'"}'
_LENGTH = len(_KEY) + 2 * _SIZE + len(_END)
_BLOCK = 1_000_000


@dataclass(frozen=True)
class Fault:
    """A line that does not count.

    Parameters
    ----------
    path, line
        The file, and the line from 1.
    fate
        What it is.
    problem
        What is wrong with it.
    """

    path: Path
    line: int
    fate: Fate
    problem: str

    def __str__(self) -> str:
        """Return one line for the user."""
        hint = "" if self.fate == "torn" else "; see harness results verify"
        return f"{self.path}:{self.line}: the line was left out: {self.problem}{hint}"


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
        The record; None if it is none.
    fault
        What is wrong with it.
    """

    number: int
    start: int
    size: int
    record: Kind | None = None
    fault: Fault | None = None

    def bytes_in(self, file: BinaryIO) -> bytes:
        """Return the line as it is in the file."""
        file.seek(self.start)
        return file.read(self.size)


def with_check(content: str) -> str:
    """Return a JSON object on one line, with its check as the last key."""
    return f'{content[:-1]},"check":"{_hash(content.encode())}"}}'


def is_as_written(line: bytes) -> bool:
    """Return whether a line agrees with its check; a line without one does."""
    text = line.strip()
    check = _check_of(text)
    return check is None or check == _hash(text[:-_LENGTH] + b"}").encode()


def entries(path: Path, schema: type[Kind]) -> Iterator[Entry[Kind]]:
    """Yield the lines of a file in order, without blank ones; one line is in memory at a time.

    Raises
    ------
    DiskError
        If the file cannot be read.
    """
    start = 0
    for number, (raw, size) in enumerate(_raw(path), start=1):
        text = raw.strip(b"\0 \t\r\n")
        if text or b"\0" in raw:
            result = _parsed(raw, size, text, schema)
            if isinstance(result, tuple):
                yield Entry(number, start, size, fault=Fault(path, number, *result))
            else:
                yield Entry(number, start, size, result)
        start += size


def notices(faults: Iterable[Fault]) -> list[str]:
    """Return a notice for each of the first faulty lines of a file, and one for all others."""
    faults = list(faults)
    lines = [str(fault) for fault in faults[:MOST_NOTICES]]
    if n := len(faults) - len(lines):
        noun = "1 more line was" if n == 1 else f"{n:,} more lines were"
        lines.append(f"{faults[0].path}: {noun} left out; see harness results verify")
    return lines


def first_mistake(error: ValidationError, schema: type[BaseModel]) -> str:
    """Return the first mistake of a line that is no record, with its key."""
    mistake = error.errors()[0]
    message, key = mistake["msg"], ".".join(str(part) for part in mistake["loc"])
    if key == "schema":
        known = schema.model_fields["schema_version"].default
        message = (
            f"version {mistake['input']!r} of the schema is unknown, version {known} is "
            "required; use the version of the harness that wrote it, or a newer one"
        )
    return f"{key}: {message}" if key else message


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_SIZE).hexdigest()


def _raw(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield each line and its size; of one that is too long, the beginning."""
    try:
        with path.open("rb") as file:
            while raw := file.readline(limits.OWN_LINE_BYTES + 1):
                size, rest = len(raw), raw
                while size > limits.OWN_LINE_BYTES and rest and not rest.endswith(b"\n"):
                    rest = file.readline(_BLOCK)
                    size += len(rest)
                yield raw, size
    except OSError as error:
        raise DiskError(f"cannot read '{path}' ({error.strerror})") from None


def _parsed(raw: bytes, size: int, text: bytes, schema: type[Kind]) -> Kind | tuple[Fate, str]:
    """Return the record of a line, or what the line is and what is wrong with it."""
    if size > limits.OWN_LINE_BYTES:
        return "damaged", f"a line of {limits.too_many(size, limits.OWN_LINE_BYTES)}"
    if not text:
        return "torn", "it holds nothing but NUL bytes, as after a power failure"
    try:
        record = schema.model_validate_json(text)
    except ValidationError as error:
        is_json = error.errors()[0]["type"] != "json_invalid"
        if not is_json and not raw.endswith(b"\n"):
            return "torn", "the last line is torn, as after a kill"
        problem = first_mistake(error, schema) if is_json or _is_text(text) else "not UTF-8"
        is_whole = is_json and _check_of(text) is not None and is_as_written(text)
        is_other = is_whole or problem.startswith("schema: version")
        return "unknown" if is_other else "damaged", f"not a record: {problem}"
    return record if is_as_written(text) else ("damaged", "its check differs from its content")


def _check_of(text: bytes) -> bytes | None:
    """Return the check at the end of a line; None if there is none."""
    key, end = len(text) - _LENGTH, len(text) - len(_END)
    if text[key : key + len(_KEY)] != _KEY or not text.endswith(_END):
        return None
    return text[key + len(_KEY) : end]


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
