"""Reads anybody's records as claims: a frame with a line a record, and the lines set aside.

`harness.results.reading` decides what a record is. `trust` judges the content of claims.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from harness import folders, limits
from harness.embedder import reads_texts
from harness.errors import DiskError
from harness.results import columns, conflicts, record
from harness.results.columns import TEXT, Collector, Column, Columns
from harness.results.conflicts import asides
from harness.results.folder import STUDY
from harness.results.reading import PartsReader, SetAside, Trust, judged, raw_lines
from harness.results.record import Record

# The frame of claims: one line a record, in flat columns, whose names are documented here.
#
# Texts that many records share are categorical: a record takes about 0.4 kB. Comparisons, filters,
# joins and sorting work as with strings; cast to `pl.String` for the functions in `str`.


def _sorted(value: dict[str, Any]) -> str | None:
    """Return settings as JSON with sorted keys, so that equal ones are equal texts.

    None for numbers that JSON does not have: pydantic reads 1e999 as infinity.
    """
    try:
        return json.dumps(value, sort_keys=True, allow_nan=False)
    except ValueError:
        return None


def _deviations(value: dict[str, Any]) -> str | None:
    """Return deviations as JSON; None without any."""
    return json.dumps(value) if value else None


def _of_details(name: str, kind: type) -> Column:
    """Return the column of a detail, which is null for a value of another type."""

    def detail(details: dict[str, Any]) -> Any:
        return details[name] if isinstance(details.get(name), kind) else None

    return "details", detail, columns.type_of(kind)


REFERENCE = (
    *("reference_gap", "reference_error", "reference_yardstick", "reference_yardstick_error"),
)
"""What the reference encoder shows on the task, with standard errors."""
_COLUMNS: dict[str, Column] = {
    **{name: name for name in ("id", "run", "created")},
    # The embedder.
    "kind": ("model", lambda part: "text" if reads_texts(part.kind) else part.kind, TEXT),
    "encoder": "model.kind",  # encoders of all kinds share a board: gaps over yardsticks compare
    "model": "model.name",
    # Of a model under another prompt: its base, and the prompt.
    "base": "model.base",
    "base_fingerprint": "model.base_fingerprint",
    "prompt": ("model", lambda part: part.prompts.get("text", "") if part.base else "", TEXT),
    **{
        name: f"model.{name}"
        for name in (
            *("aliases", "fingerprint", "revision", "url", "dimensions", "parameters"),
            *("max_tokens", "licence", "open_weights", "released", "superseded_by", "languages"),
            "published",
        )
    },
    # The mitigator.
    "mitigator": "mitigator.name",
    "label": ("mitigator", lambda part: part.label or part.name, TEXT),
    "params": ("mitigator", lambda part: _sorted(part.params), TEXT),  # JSON with sorted keys
    "fitted_on": "mitigator.concept",
    "mitigator_fingerprint": "mitigator.fingerprint",
    "method": "mitigator.method",
    "control": "mitigator.control",
    # The task and the score.
    "task": "task.name",
    **{name: f"task.{name}" for name in ("version", "digest", "title", "measures")},
    **{name: name for name in ("concept", "category")},
    "family": "task.family",  # becomes that of `Record.family`
    **{name: name for name in ("language", "scenario", "metric", "score", "primary")},
    "unranked": "task.unranked",  # why it is shown and not ranked, or empty
    "ideal": "ideal",  # a number as text, `higher` or `lower`
    **{name: conflicts.COLUMNS[name] for name in ("low_bound", "high_bound")},
    # The value that is judged, on words that the mitigator never saw.
    "unseen": conflicts.COLUMNS["unseen"],  # in which way; null for what is judged on all texts
    **{name: name for name in ("value", "reason", "p_value")},
    "alternative": _of_details("alternative", str),
    **{name: conflicts.COLUMNS[name] for name in ("reversed", "undone")},
    **{name: f"interval.{name}" for name in ("low", "high", "level")},
    "floor": "floor.mean",
    "floor_sd": "floor.sd",
    "unit": "unit",
    # The gap over the yardstick, which ranks.
    **{name: f"ratio.{name}" for name in ("gap", "gap_error", "yardstick", "yardstick_error")},
    **{name: f"ratio.{name}" for name in ("power", "of", "t")},  # t is null if it is no evidence
    **{f"ratio_{end}": f"ratio.{end}" for end in ("low", "high")},
    **{name: f"ratio.{name}" for name in REFERENCE},
    "deviations": ("deviations", _deviations, pl.String()),  # JSON; of primary scores alone
    "contrasts": ("contrasts", _sorted, TEXT),  # JSON: the gap of each contrast by name
    "n": "n",
    **{name: f"coverage.{name}" for name in ("asked", "found", "truncated")},
    "word_share": ("word_overlap", record.word_share, pl.Float64()),
    "tables": ("tables", lambda value: json.dumps(value, ensure_ascii=False), pl.String()),
    # The run.
    **{name: name for name in ("seed", "limit")},
    **{
        name: f"environment.{name}"
        for name in ("harness", "python", "platform", "device", "packages")
    },
}
SCHEMA: dict[str, Any] = {
    # Where the record is: the file and the line, from 1; null for records that are in no file.
    "file": TEXT,
    "line": pl.Int64(),
    "value_on_all": pl.Float64(),  # the value on all texts: the mean of the items of a record
    **{name: columns.type_of_column(column) for name, column in _COLUMNS.items()},
}
"""Columns of a frame of claims. Objects and lists are JSON."""
_CHUNK = 65_536


def frame_of(records: Iterable[Record]) -> pl.DataFrame:
    """Return the lines of records with the scores that are judged; nothing is set aside."""
    nowhere = {name: pl.lit(None, dtype=SCHEMA[name]) for name in ("file", "line")}
    kept = Columns.of(records)
    marks = {f"unseen_{name}": f"unseen.{name}" for name in ("reversed", "undone")}
    frame = kept.judged().flat(_COLUMNS | marks)
    is_judged = pl.col("unseen").is_not_null()
    is_reversed = pl.col("unseen_reversed").fill_null(value=False)
    is_undone = pl.col("unseen_undone").is_not_null()
    families = columns.families(frame, "family").cast(TEXT)
    deviations = pl.when("primary").then("deviations")  # they are large, and only these count
    return frame.with_columns(
        kept.flat({"value_on_all": "value"}),
        reversed=pl.when(is_judged).then(is_reversed).otherwise("reversed"),
        undone=pl.when(is_judged).then(is_undone).otherwise("undone"),
        family=families,
        deviations=deviations,
        **nowhere,
    ).select(*SCHEMA)


MOST_INVALID = 1_000
"""Number of invalid lines after which a file is not read further."""


@dataclass(frozen=True)
class Claims:
    """The claims that were read.

    Parameters
    ----------
    frame
        The records, a line each, with the columns of `SCHEMA`.
    aside
        The records and lines that do not count, with reasons.
    variants
        Claims of models under other neutral instructions, which are no rows of a board. They are
        apart from `frame` once they are trusted.
    """

    frame: pl.DataFrame
    aside: tuple[SetAside, ...] = ()
    variants: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCHEMA))


def read(paths: Iterable[Path]) -> Claims:
    """Return the records in files, and in the `*.jsonl` files of folders at any depth.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    aside: list[SetAside] = []
    frame = pl.DataFrame(schema=SCHEMA)
    collector, numbers, names = Collector(), array("I"), list[str]()
    with _without_garbage_collection():
        for name, number, claim in _claims(paths, aside):
            if isinstance(claim, list):
                collector.add_parts(claim)
            else:
                collector.add(claim)
            numbers.append(number)
            names.append(name)
            if len(names) == _CHUNK:
                frame.extend(_chunk(collector, names, numbers))
                collector, numbers, names = Collector(), array("I"), []
    frame.extend(_chunk(collector, names, numbers))
    is_stored = frame["params"].is_not_null()
    if not is_stored.all():
        reason = pl.lit("not a record: a text or a number in it cannot be stored")
        aside += asides(frame.filter(~is_stored), reason)
        frame = frame.filter(is_stored)
    aside.sort(key=lambda entry: (entry.file, entry.line))
    return Claims(frame, tuple(aside))


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector: records have no cycles, but it would traverse them often."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def _chunk(collector: Collector, files: Sequence[str], lines: array[int]) -> pl.DataFrame:
    """Return records that were collected, with their files and lines."""
    return frame_of(collector.columns()).with_columns(
        pl.Series("file", files, dtype=pl.String).cast(TEXT),
        pl.Series("line", lines, dtype=pl.Int64),
    )


_Claim: TypeAlias = Record | list[dict[str, Any]]
"""A record, or the values of its parts."""


def _claims(paths: Iterable[Path], aside: list[SetAside]) -> Iterator[tuple[str, int, _Claim]]:
    """Yield the records of all files, each with its file and line, and tell what is none."""
    reader = PartsReader()
    for file in files(paths):
        name = os.fsencode(file).decode(errors="replace")  # names may be no UTF-8
        for number, claim in _claims_in(file, name, reader, aside):
            yield name, number, claim


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files of records in files and folders.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    for path in paths:
        folders.check(path)
        found = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        yield from (file for file in found if not file.name.endswith((STUDY, record.SUFFIX)))


def _claims_in(
    file: Path, name: str, reader: PartsReader, aside: list[SetAside]
) -> Iterator[tuple[int, _Claim]]:
    """Yield the records of a file with the numbers of their lines; invalid lines go to `aside`."""
    invalid = 0
    try:
        size = file.stat().st_size
        if not file.is_file():
            return
        if size > limits.RECORDS_BYTES:
            aside.append(
                SetAside(name, 0, f"a file of {limits.too_many(size, limits.RECORDS_BYTES)}")
            )
            return
        for number, line, size in raw_lines(file, limits.LINE_BYTES):
            parts = reader.read(line)
            if parts is not None:
                yield number, parts
                continue
            claim = judged(line, Record, Trust.ANYBODY, size)
            if claim is None:
                continue
            if not isinstance(claim, tuple):
                yield number, claim
                continue
            aside.append(SetAside(name, number, claim[1]))
            invalid += 1
            if invalid == MOST_INVALID:
                reason = f"{invalid:,} lines are no records; the rest of the file is not read"
                aside.append(SetAside(name, 0, reason))
                return
    except OSError as error:
        aside.append(SetAside(name, 0, f"cannot be read ({error.strerror})"))
    except DiskError as error:
        aside.append(SetAside(name, 0, str(error)))
