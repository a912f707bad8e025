"""Reads records of anybody: what is no record is set aside with its reason, the rest counts.

Lines are parsed many at once. Where that fails, they are halved until the lines that are no records
stand alone; `single.py` then says what is wrong with each. Keys that no record has are ignored.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl
from pydantic import BaseModel, ValidationError

from harness import folders, limits
from harness.results import record
from harness.results.folder import STUDY
from harness.results.record import SCHEMA as SCHEMA_VERSION
from harness.results.record import Record, is_as_written

# The frame of claims: one line a record, in flat columns, whose names are documented here.
#
# Texts that many records share are categorical: a record takes about 0.5 kB. Comparisons, filters,
# joins and sorting work as with strings; cast to `pl.String` for the functions in `str`.


TEXT = pl.Categorical()

SCHEMA: dict[str, Any] = {
    # Where the record is: the file and the line, from 1; null for records that are in no file.
    "file": TEXT,
    "line": pl.Int64,
    "id": pl.String,
    "run": TEXT,
    "created": TEXT,
    # The embedder.
    "kind": TEXT,
    "model": TEXT,
    "aliases": TEXT,  # JSON
    "fingerprint": TEXT,
    "revision": TEXT,
    "url": TEXT,
    "dimensions": pl.Int64,
    "parameters": pl.Int64,
    "max_tokens": pl.Int64,
    "licence": TEXT,
    "open_weights": pl.Boolean,
    "released": TEXT,
    "superseded_by": TEXT,
    "languages": TEXT,  # JSON
    "published": TEXT,  # JSON: published scores by name
    # The mitigator.
    "mitigator": TEXT,
    "label": TEXT,
    "params": TEXT,  # JSON with sorted keys
    "fitted_on": TEXT,
    "mitigator_fingerprint": TEXT,
    "method": TEXT,
    # The task and the score.
    "task": TEXT,
    "version": pl.Int64,
    "digest": TEXT,
    "title": TEXT,
    "measures": TEXT,
    "concept": TEXT,
    "category": TEXT,
    "family": TEXT,  # category/family: one vote
    "language": TEXT,
    "scenario": TEXT,
    "metric": TEXT,
    "score": TEXT,
    "primary": pl.Boolean,
    "unranked": TEXT,  # why it is shown and not ranked, or empty
    "required": pl.Boolean,
    "ideal": TEXT,  # a number as text, `higher` or `lower`
    "low_bound": pl.Float64,
    "high_bound": pl.Float64,
    # The value.
    "value": pl.Float64,
    "reason": TEXT,
    "p_value": pl.Float64,
    "alternative": TEXT,
    "reversed": pl.Boolean,
    "undone": pl.Boolean,
    "low": pl.Float64,
    "high": pl.Float64,
    "level": pl.Float64,
    "floor": pl.Float64,
    "floor_sd": pl.Float64,
    "unit": pl.Float64,
    "n": pl.Int64,
    "asked": pl.Int64,
    "found": pl.Int64,
    "truncated": pl.Int64,
    "missing": pl.List(TEXT),
    "overlap": pl.List(TEXT),
    "tables": pl.String,  # JSON: paths by name
    # The run.
    "seed": pl.Int64,
    "limit": pl.Int64,
    "harness": TEXT,
    "python": TEXT,
    "platform": TEXT,
    "device": TEXT,
    "packages": TEXT,  # JSON: versions by name
}
"""Columns of a frame of claims. What is JSON is a text, of which there are few different ones."""


def frame_of(records: Iterable[Record]) -> pl.DataFrame:
    """Return the lines of records that are in memory, in their order; nothing is set aside."""
    return parsed("".join(line_of(record) for record in records).encode()).frame


# Lines of JSON to a frame of claims, all at once: the only place that knows both forms.
#
# The reader of polars ignores keys that it does not know, takes the first of equal keys, writes a
# number as a text where a text is expected, and refuses everything else: text for a number,
# integers beyond int64, NaN, bytes that are not UTF-8, and JSON nested more than 1,000 deep.


_T, _F, _I, _B = pl.String(), pl.Float64(), pl.Int64(), pl.Boolean()
_LIST = pl.List(_T)
# What is an object of any keys in a record is read as a text that holds its JSON.
_RECORD: dict[str, Any] = {
    **dict.fromkeys(("id", "run", "created", "concept", "category", "language", "scenario"), _T),
    **dict.fromkeys(("metric", "score", "reason", "ideal", "tables"), _T),
    **dict.fromkeys(("value", "p_value", "unit"), _F),
    **dict.fromkeys(("schema", "n", "seed", "limit"), _I),
    "primary": _B,
    "bounds": pl.List(_F),
    "overlap": _LIST,
    "model": pl.Struct(
        {
            **dict.fromkeys(("name", "fingerprint", "kind", "revision", "url", "licence"), _T),
            **dict.fromkeys(("released", "superseded_by", "published"), _T),
            **dict.fromkeys(("dimensions", "parameters", "max_tokens"), _I),
            **dict.fromkeys(("aliases", "languages"), _T),
            "open_weights": _B,
        }
    ),
    "mitigator": pl.Struct(
        dict.fromkeys(("name", "label", "params", "concept", "fingerprint", "method"), _T)
    ),
    "task": pl.Struct(
        {
            **dict.fromkeys(("name", "digest", "title", "measures", "family", "unranked"), _T),
            "version": _I,
            "required": _B,
        }
    ),
    "details": pl.Struct({"alternative": _T, "reversed": _B, "undone": _T}),
    "interval": pl.Struct(dict.fromkeys(("low", "high", "level"), _F)),
    "floor": pl.Struct(dict.fromkeys(("mean", "sd"), _F)),
    "coverage": pl.Struct({"asked": _I, "found": _I, "truncated": _I, "missing": _LIST}),
    "environment": pl.Struct(
        dict.fromkeys(("harness", "python", "platform", "device", "packages"), _T)
    ),
}
_PARTS = {  # column: part and field
    **{
        name: ("model", name)
        for name in _RECORD["model"].to_schema()
        if name not in ("name", "kind")
    },
    "kind": ("model", "kind"),
    "model": ("model", "name"),
    "mitigator": ("mitigator", "name"),
    "label": ("mitigator", "label"),
    "params": ("mitigator", "params"),
    "fitted_on": ("mitigator", "concept"),
    "mitigator_fingerprint": ("mitigator", "fingerprint"),
    "method": ("mitigator", "method"),
    **{name: ("task", name) for name in _RECORD["task"].to_schema() if name != "name"},
    "task": ("task", "name"),
    **{name: ("details", name) for name in ("alternative", "reversed", "undone")},
    **{name: ("interval", name) for name in ("low", "high", "level")},
    "floor": ("floor", "mean"),
    "floor_sd": ("floor", "sd"),
    **{name: ("coverage", name) for name in _RECORD["coverage"].to_schema()},
    **{name: ("environment", name) for name in _RECORD["environment"].to_schema()},
}
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("aliases", "languages"), "[]"),
    **dict.fromkeys(("published", "params", "packages", "tables"), "{}"),
    **dict.fromkeys(("title", "unranked", "method"), ""),
    "required": False,
    "reversed": False,
}
_REQUIRED = (
    *("id", "run", "created", "model", "fingerprint", "kind", "mitigator", "task", "version"),
    *("mitigator_fingerprint", "digest", "measures", "category", "language", "scenario", "metric"),
    *("score", "primary", "ideal", "asked", "found", "seed", "harness", "python", "platform"),
    "device",
)
_OBJECTS = ("aliases", "languages", "published", "params", "packages", "tables")
"""Columns of JSON."""
_VALUE = b'"value":'
"""A key that stands in a line once. Of another repeated key the first one counts."""
_AMBIGUOUS = r"[\\\x00-\x1f]"
"""Polars writes an object as a text without escaping backslashes and some control characters."""


@dataclass(frozen=True)
class Parsed:
    """Lines that are JSON.

    Parameters
    ----------
    frame
        A frame of claims, whose columns `file` and `line` are null.
    is_plain
        (n,) whether a line has every field of a record, and one value. Other lines have to be
        looked at one by one: not all of them are records.
    """

    frame: pl.DataFrame
    is_plain: np.ndarray[Any, np.dtype[np.bool_]]


def parsed(content: bytes) -> Parsed:
    """Parse the lines of a file of records; none may be blank.

    Raises
    ------
    polars.exceptions.PolarsError
        If a line is no JSON object, or has a number or text where a record has something else. It
        is not said which line.
    """
    if not content:
        return Parsed(pl.DataFrame(schema=SCHEMA), np.zeros(0, dtype=bool))
    if not content.lstrip().startswith(b"{"):  # polars would decompress what looks like gzip
        raise pl.exceptions.ComputeError("the first line is no JSON object")
    raw = pl.read_ndjson(io.BytesIO(content), schema=_RECORD)
    frame = raw.select(_is_whole().alias("is_whole"), **{name: _column(name) for name in SCHEMA})
    is_plain = frame["is_whole"].to_numpy()
    if content.count(_VALUE) != raw.height:
        is_plain = is_plain & _has_one_value(content)
    params = _sorted(frame["params"])
    is_plain = is_plain & params.is_not_null().to_numpy()
    return Parsed(frame.drop("is_whole").with_columns(params), is_plain)


def line_of(record: Record) -> str:
    """Return a record as a line that is parsed exactly: objects of any keys are texts in it."""
    content = record.model_dump(mode="json", by_alias=True)
    content["details"] = {
        name: value
        for name, value in content["details"].items()
        if name == "undone" or (name, type(value)) in (("alternative", str), ("reversed", bool))
    }
    for name in _OBJECTS:
        part, field = _PARTS.get(name, (name, ""))
        holder = content[part] if field else content
        holder[field or name] = json.dumps(holder[field or name], ensure_ascii=False)
    return json.dumps(content, ensure_ascii=False) + "\n"


def _has_one_value(content: bytes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.array([line.count(_VALUE) == 1 for line in content.split(b"\n") if line])


def _is_whole() -> pl.Expr:
    """Return whether a line has every field of a record, and no other words than a record."""
    required = [
        pl.col(part).struct.field(field).is_not_null() if field else pl.col(part).is_not_null()
        for part, field in (_PARTS.get(name, (name, "")) for name in _REQUIRED)
    ]
    complete = [
        pl.col(part).is_null() | pl.all_horizontal(pl.col(part).struct.unnest().is_not_null())
        for part in ("interval", "floor")
    ]
    exact = [
        ~(pl.col(part).struct.field(field) if field else pl.col(part))
        .fill_null("")
        .str.contains(_AMBIGUOUS)
        for part, field in (_PARTS.get(name, (name, "")) for name in _OBJECTS)
    ]
    ideal = pl.col("ideal")
    number = ideal.cast(pl.Float64, strict=False)
    return pl.all_horizontal(
        *required,
        *complete,
        *exact,
        pl.col("id") != "",
        pl.col("schema") == SCHEMA_VERSION,
        pl.col("bounds").list.len() == 2,
        ideal.is_in(["higher", "lower"]) | number.is_finite().fill_null(value=False),
        pl.col("model").struct.field("kind").is_in(["word", "text"]),
        pl.col("task").struct.field("measures").is_in(["bias", "usefulness", "control"]),
    ).fill_null(value=False)


def _column(name: str) -> pl.Expr:
    kind = SCHEMA[name]
    if name in ("file", "line"):
        return pl.lit(None, dtype=kind)
    if name in ("low_bound", "high_bound"):
        return pl.col("bounds").list.get(0 if name == "low_bound" else 1, null_on_oob=True)
    if name == "family":
        own = pl.col("task").struct.field("family").fill_null("")
        method = pl.when(own == "").then("metric").otherwise(own)
        return pl.concat_str("category", method, separator="/").cast(kind)
    part, field = _PARTS.get(name, (name, ""))
    value = pl.col(part).struct.field(field) if field else pl.col(name)
    if name == "undone":
        return value.is_not_null()
    if name == "label":
        own = pl.col("mitigator").struct.field("name")
        return pl.when(value.fill_null("") == "").then(own).otherwise(value).cast(kind)
    if name in ("missing", "overlap"):
        value = value.fill_null(pl.lit([], dtype=_LIST))
    elif name in _DEFAULTS:
        value = value.fill_null(_DEFAULTS[name])
    return value.cast(kind)


def _sorted(params: pl.Series) -> pl.Series:
    """Return settings as JSON with sorted keys, so that equal ones are equal texts; else null."""
    texts = params.unique().cast(pl.String).to_list()
    canonical = [_canonical(text) for text in texts]
    return params.cast(pl.String).replace(texts, canonical).cast(TEXT)


def _canonical(text: str) -> str | None:
    with contextlib.suppress(ValueError, RecursionError):
        return json.dumps(json.loads(text), sort_keys=True)
    return None


# Strict JSON: one meaning for every reader, or an error with one line.
#
# Refuses what parsers read differently or not at all: a byte order mark, other encodings, keys that
# occur twice, NaN and infinity, integers of thousands of digits, and deep nesting.


Model = TypeVar("Model", bound=BaseModel)
_DIGITS = 4_000
"""Python itself reads no integers of more than 4,300 digits."""
LONGEST_REASON = 300
"""Most characters of a message that quotes somebody else."""
_LONGEST = 60
"""Characters of a text of somebody else that a message repeats."""


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
    """Return JSON as a model, or None and its mistakes: the key of each, and what is wrong.

    Types are strict: no text and no boolean counts as a number.
    """
    try:
        parsed_strictly(content)
        return schema.model_validate_json(content, strict=True), []
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        return None, [(_key(mistake["loc"]), in_one_line(mistake["msg"])) for mistake in errors]
    except ValueError as error:
        return None, [("", in_one_line(str(error)))]


def _key(parts: tuple[int | str, ...]) -> str:
    return in_one_line(".".join(map(str, parts)))


def in_one_line(text: str) -> str:
    """Return a text that quotes a stranger, without control characters, and cut if it is long."""
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 1] + "…"


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


# One line of a file of records, looked at closely: what is wrong with it, or its frame.


def frame_of_line(line: bytes) -> pl.DataFrame | str:
    """Return the frame of a line that is a record; else what is wrong, and what would be right."""
    try:
        content = parsed_strictly(line)
    except ValueError as error:
        return in_one_line(str(error))
    return _frame_of(content)


def _frame_of(content: Any) -> pl.DataFrame | str:
    try:
        return frame_of([_validated(content)])
    except ValidationError as error:
        return in_one_line(f"not a record: {record.first_mistake(error, Record)}")
    except (ValueError, RecursionError, pl.exceptions.PolarsError):
        return "not a record: a text or a number in it cannot be stored"


def _validated(content: Any) -> Record:
    """Return the record, without keys that no record has: a later harness may write them."""
    try:
        return Record.model_validate(content)
    except ValidationError as error:
        unknown = [e["loc"] for e in error.errors() if e["type"] == "extra_forbidden"]
        if not unknown:
            raise
    for *path, key in unknown:
        part = content
        for step in path:
            part = part[step]
        del part[key]
    return Record.model_validate(content)


MOST_TOLD = 1_000
"""Lines of a file that are told one by one if they are no records."""
MOST_SHORT = 100_000
"""Lines of a file that are too short for a record; what has more is not read further."""
_BATCH = 16_000_000
_CHUNK = 4_000_000
_SHORTEST = 300
"""Bytes; what is shorter is no record, and may be blank."""
_CHANGED = "its check differs from its content: damaged, or changed by hand"
_FEW = 16
"""Lines that are looked at alone if one of them is no record."""


@dataclass(frozen=True)
class Aside:
    """A record, or a line that is none, that does not count.

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
    """

    file: str
    line: int
    reason: str
    id: str = ""

    @property
    def place(self) -> str:
        """The file, with the line if it is about one; empty for a record that is in no file."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        """Return one line for the user."""
        return f"{self.place}: {self.reason}" if self.place else self.reason


@dataclass(frozen=True)
class Claims:
    """What was read.

    Parameters
    ----------
    frame
        The records, a line each, with the columns of `frame.SCHEMA`.
    aside
        What does not count, and why.
    """

    frame: pl.DataFrame
    aside: tuple[Aside, ...] = ()


def read(paths: Iterable[Path]) -> Claims:
    """Return the records in files, and in the `*.jsonl` files of folders at any depth.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    aside: list[Aside] = []
    frames = [pl.DataFrame(schema=SCHEMA)]
    for batch in _batches(_files(paths), aside):
        frames += _frames(batch.lines, np.arange(len(batch.lines)), batch, aside)
    aside = _told(aside)
    aside.sort(key=lambda entry: (entry.file, entry.line))
    return Claims(pl.concat(frames), tuple(aside))


def _told(aside: list[Aside]) -> list[Aside]:
    """Return the entries of each file, no more than are told, and the number of the others."""
    counts = Counter(entry.file for entry in aside)
    if max(counts.values(), default=0) <= MOST_TOLD:
        return aside
    told: Counter[str] = Counter()
    kept = []
    for entry in sorted(aside, key=lambda entry: (entry.file, entry.line)):
        told[entry.file] += 1
        if told[entry.file] <= MOST_TOLD:
            kept.append(entry)
    return kept + [
        Aside(file, 0, f"further lines that are no records: {n - MOST_TOLD}")
        for file, n in counts.items()
        if n > MOST_TOLD
    ]


def asides(frame: pl.DataFrame, reason: pl.Expr) -> list[Aside]:
    """Return an entry for each line of a frame of claims, with its reason."""
    return [
        Aside(file or "", line or 0, text, id_)
        for file, line, text, id_ in frame.select(
            pl.col("file").cast(pl.String),
            "line",
            reason.alias("reason"),
            pl.col("id").str.head(64),
        ).iter_rows()
    ]


@dataclass
class _Batch:
    """Lines of one or several files, without blank ones, and where they are.

    `short` is the number of lines of each file that are too short, earlier batches included.
    """

    short: Counter[str]
    lines: list[bytes] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    size: int = 0

    def add(self, chunk: list[bytes], file: str, before: int, aside: list[Aside]) -> None:
        """Add lines of a file, of which it has some number before these."""
        sizes = list(map(len, chunk))
        places: Sequence[int] = range(len(chunk))
        if min(sizes) < _SHORTEST or max(sizes) > limits.LINE_BYTES:
            places = [
                i for i in places
                if not chunk[i].isspace() and self._is_taken(chunk[i], file, before + i + 1, aside)
            ]  # fmt: skip
        if changed := {i for i in places if not is_as_written(chunk[i])}:
            aside += [Aside(file, before + i + 1, _CHANGED) for i in changed]
            places = [i for i in places if i not in changed]
        self.lines += [chunk[i] for i in places]
        self.files += [file] * len(places)
        self.numbers += [before + i + 1 for i in places]
        self.size += sum(sizes[i] for i in places)

    def _is_taken(self, line: bytes, file: str, number: int, aside: list[Aside]) -> bool:
        """Return whether a line is to be looked at; tell why it is not."""
        if len(line) < _SHORTEST:
            self.short[file] += 1
            return self.short[file] <= MOST_TOLD
        if len(line) <= limits.LINE_BYTES:
            return True
        reason = f"a record of {limits.too_many(len(line), limits.LINE_BYTES)}"
        aside.append(Aside(file, number, reason))
        return False


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        folders.check(path)
        files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        yield from (file for file in files if not file.name.endswith((STUDY, record.SUFFIX)))


def _batches(files: Iterable[Path], aside: list[Aside]) -> Iterator[_Batch]:
    short: Counter[str] = Counter()
    batch = _Batch(short)
    for file in files:
        name = os.fsencode(file).decode(errors="replace")  # names of files may be no UTF-8
        try:
            size = file.stat().st_size
            if not file.is_file():
                continue
            if size > limits.RECORDS_BYTES:
                reason = f"a file of {limits.too_many(size, limits.RECORDS_BYTES)}"
                aside.append(Aside(name, 0, reason))
                continue
            with file.open("rb") as stream:
                number = 0
                while chunk := stream.readlines(_CHUNK):
                    batch.add(chunk, name, number, aside)
                    number += len(chunk)
                    if short[name] > MOST_SHORT:
                        reason = "most lines are too short for a record; the rest is not read"
                        aside.append(Aside(name, 0, reason))
                        break
                    if batch.size >= _BATCH:
                        yield batch
                        batch = _Batch(short)
        except OSError as error:
            aside.append(Aside(name, 0, f"cannot be read ({error.strerror})"))
    yield batch


def _frames(
    lines: list[bytes], places: np.ndarray, batch: _Batch, aside: list[Aside]
) -> Iterator[pl.DataFrame]:
    """Yield frames of the lines at some places of a batch."""
    if not lines:
        return
    content = b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)
    try:
        result = parsed(content)
    except pl.exceptions.PolarsError:
        result = None
    if result is not None and result.frame.height == len(lines):
        yield _placed(result.frame.filter(result.is_plain), places[result.is_plain], batch)
        for i in np.flatnonzero(~result.is_plain):
            yield from _alone(lines[i], int(places[i]), batch, aside)
    elif len(lines) > _FEW:
        half = len(lines) // 2
        yield from _frames(lines[:half], places[:half], batch, aside)
        yield from _frames(lines[half:], places[half:], batch, aside)
    else:
        for line, place in zip(lines, places, strict=True):
            yield from _alone(line, int(place), batch, aside)


def _alone(line: bytes, place: int, batch: _Batch, aside: list[Aside]) -> Iterator[pl.DataFrame]:
    file = batch.files[place]
    result = frame_of_line(line)
    if isinstance(result, str):
        aside.append(Aside(file, batch.numbers[place], result))
    else:
        yield _placed(result, np.array([place]), batch)


def _placed(frame: pl.DataFrame, places: np.ndarray, batch: _Batch) -> pl.DataFrame:
    files = pl.Series("file", [batch.files[i] for i in places], dtype=pl.String).cast(TEXT)
    numbers = pl.Series("line", [batch.numbers[i] for i in places], dtype=pl.Int64)
    return frame.with_columns(files, numbers)
