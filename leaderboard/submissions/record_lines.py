"""The lines of a file of records, read strictly: what is wrong has its line and its key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness import limits
from harness.leaderboard.claims import strict_json
from harness.leaderboard.claims.reading import Aside
from harness.results import lines
from harness.results.record import Record

_KINDS = {
    b"\x1f\x8b": "compressed; unpack it",
    b"\xff\xfe": "UTF-16; write it as UTF-8",
    b"\xfe\xff": "UTF-16; write it as UTF-8",
    b"\xef\xbb\xbf": "it begins with a byte order mark; write it as UTF-8 without one",
}
"""What a file is that begins with these bytes."""


@dataclass(frozen=True)
class Lines:
    """What was read.

    Parameters
    ----------
    records
        The valid records by line, from 1.
    problems
        What is wrong, at most one problem a line.
    readable
        Whether the file as a whole can be read as lines of records.
    """

    records: dict[int, Record]
    problems: tuple[Aside, ...]
    readable: bool = True


def read(path: Path) -> Lines:
    """Return the records of a file, and what is wrong with its other lines."""
    size = path.stat().st_size
    if size > limits.SUBMITTED_RECORDS_BYTES:
        return _refused(path, limits.too_many(size, limits.SUBMITTED_RECORDS_BYTES))
    content = path.read_bytes()
    if not content.strip():
        return _refused(path, "no record in it")
    for start, kind in _KINDS.items():
        if content.startswith(start):
            return _refused(path, kind)
    if b"\0" in content:
        before = content.count(b"\n", 0, content.index(b"\0"))
        return _refused(path, "a NUL byte; it is no text", before + 1)
    records: dict[int, Record] = {}
    problems = []
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        record, reason = _record(line)
        if record is None:
            problems.append(Aside(str(path), number, reason))
        else:
            records[number] = record
    if not content.endswith(b"\n"):
        last = content.count(b"\n") + 1
        problems.append(Aside(str(path), last, "torn: the last line has no end; run it again"))
    return Lines(records, tuple(problems))


def _record(line: bytes) -> tuple[Record | None, str]:
    """Return the record of a line, or None and what is wrong with it."""
    if len(line) > limits.LINE_BYTES:
        return None, f"a record of {limits.too_many(len(line), limits.LINE_BYTES)}"
    if line.endswith(b"\r"):
        return None, "it ends as in Windows (CR LF); LF is required"
    if not line.strip():
        return None, "an empty line; remove it"
    record, mistakes = strict_json.mistakes(line, Record)
    if record is not None and not lines.is_as_written(line):
        return None, "its check differs from its content: damaged, or changed by hand; pack again"
    if record is not None:
        return record, ""
    key, text = mistakes[0]
    if key == "schema":
        text += "; use the version of the harness that wrote it, or a newer one"
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    return None, f"not a record: {key + ': ' if key else ''}{text}{more}"


def _refused(path: Path, reason: str, line: int = 0) -> Lines:
    return Lines({}, (Aside(str(path), line, reason),), readable=False)
