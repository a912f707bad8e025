"""Records as columns. Shared values are stored once, so that a million records take some 0.5 GB.

The columns follow from the fields of `Record`:

- Numbers and texts are a column each, and so are those of `interval`, `floor` and `ratio`, which
  hardly two records share.
- Of all other fields, such as models, tasks and options, each different object is kept once, and
  the column has its place among them.

A record is rebuilt when it is accessed, and equals the record that was read.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    overload,
)

import polars as pl
from pydantic import BaseModel

from harness.metrics import ROUNDING
from harness.results.record import (
    CONTROL,
    NO_REFERENCE,
    NO_SCALE,
    NO_YARDSTICK,
    NOT_STATED,
    OUTSIDE,
    OWN,
    UNRANKED,
    VOID,
    FloorPart,
    IntervalPart,
    RatioPart,
    Record,
    UnseenPart,
    family_of,
    fields_by_part,
)

TEXT = pl.Categorical()
"""Type of texts that many records share. Comparing, joining and sorting work as with strings."""
Column: TypeAlias = str | tuple[str, Callable[[Any], Any], Any]
"""What a flat frame has in a column: a field of a record, such as `value`, `interval.low` or
`model.name`; or such a field, a function of its value, and the type of what it returns."""

_FLAT: dict[str, type[BaseModel]] = {
    "interval": IntervalPart,
    "floor": FloorPart,
    "unseen": UnseenPart,
    "unseen_interval": IntervalPart,
    "unseen_floor": FloorPart,
    "ratio": RatioPart,
}
"""Parts with a column for each field. Each has the field that tells it from no part."""
_ALWAYS = {
    "interval": "level", "floor": "mean", "ratio": "gap",
    "unseen": "kind", "unseen_interval": "level", "unseen_floor": "mean",
}  # fmt: skip
_JUDGED = (
    *("value", "reason", "p_value", "n"),
    *(f"{part}.{key}" for part in ("interval", "floor") for key in _FLAT[part].model_fields),
)
"""Columns of which a judged record has those of its score on unseen words."""
_CONSTANT: dict[str, Any] = {"schema_version": 1, "check": ""}
"""Fields that are equal in all records."""
_TYPES = {str: TEXT, float: pl.Float64(), int: pl.Int64(), bool: pl.Boolean()}
_HINTS = {
    "model": "fingerprint", "task": "digest", "coverage": "asked", "environment": "platform",
}  # fmt: skip
"""For each shared part a field that is compared first with the part before. Parts with values of
any type have none, since 1, 1.0 and true are equal in Python."""
_CHUNK = 8_192
"""Records that are in memory as objects at once."""
_BLOCK = 4_096


def type_of(annotation: Any) -> Any:
    """Return the type of a column for the values of a field; None for what is no text or number."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return type_of(get_args(annotation)[0])
    if origin is Literal:
        return _TYPES.get(type(get_args(annotation)[0]))
    if origin in (Union, types.UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not types.NoneType]
        return type_of(kinds[0]) if len(kinds) == 1 else None
    return _TYPES.get(annotation)


def type_of_column(column: Column) -> Any:
    """Return the type of a column of a flat frame."""
    if isinstance(column, tuple):
        return column[2]
    if column in _COLUMNS:
        return _COLUMNS[column]
    name, _, key = column.partition(".")
    annotation = _SHARED[name].model_fields[key].annotation if key else _SHARED[name]
    return type_of(annotation) or TEXT


def _schema() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the types of the plain columns, and the annotations of the shared fields."""
    plain: dict[str, Any] = {}
    shared: dict[str, Any] = {}
    for name, field in Record.model_fields.items():
        if name in _FLAT:
            parts = _FLAT[name].model_fields.items()
            plain |= {f"{name}.{key}": type_of(part.annotation) for key, part in parts}
        elif name not in _CONSTANT:
            kind = type_of(field.annotation)
            if kind is None:
                shared[name] = field.annotation
            else:
                plain[name] = kind
    return plain | {"id": pl.String()}, shared


_COLUMNS, _SHARED = _schema()
_FIELDS = {name: tuple(part.model_fields) for name, part in _FLAT.items()}


class Columns(Sequence[Record]):
    """Records, kept as columns.

    Parameters
    ----------
    frame
        A line a record: its texts and numbers, and the places of what it shares.
    shared
        The different objects of each field that records share, in the order of their places.
    """

    def __init__(self, frame: pl.DataFrame, shared: Mapping[str, Sequence[Any]]) -> None:
        self.frame, self.shared = frame, shared

    @classmethod
    def of(cls, records: Iterable[Record]) -> Columns:
        """Return records as columns, of which one at a time is in memory.

        Columns stay as they are, and so do `Records` that are kept as columns.
        """
        if isinstance(records, Columns):
            return records
        if (as_columns := getattr(records, "as_columns", None)) is not None:
            columns: Columns = as_columns()
            return columns
        collector = Collector()
        for record in records:
            collector.add(record)
        return collector.columns()

    def __len__(self) -> int:
        return self.frame.height

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Columns: ...
    def __getitem__(self, index: int | slice) -> Record | Columns:
        if isinstance(index, slice):
            return self.at(range(len(self))[index])
        return next(iter(self.at([range(len(self))[index]])))

    def __iter__(self) -> Iterator[Record]:
        for start in range(0, len(self), _BLOCK):
            yield from self._records(self.frame[start : start + _BLOCK])

    def at(self, places: Sequence[int] | pl.Series) -> Columns:
        """Return the records at some places."""
        indices = pl.Series(places, dtype=pl.UInt32)
        return Columns(self.frame[indices], self.shared)

    def filtered(self, is_kept: pl.Series) -> Columns:
        """Return the records of which `is_kept` is true."""
        return Columns(self.frame.filter(is_kept), self.shared)

    def sharing(self, name: str, objects: Sequence[Any]) -> Columns:
        """Return the records with other objects in the places of a shared field."""
        return Columns(self.frame, {**self.shared, name: objects})

    def uses(self, name: str) -> list[Use]:
        """Return how the records use the objects of a shared field, in the order of first use."""
        rows = self.frame.select(place=name).with_row_index("row")
        uses = rows.group_by("place", maintain_order=True).agg(n=pl.len(), last=pl.last("row"))
        return [Use(*row) for row in uses.iter_rows()]

    def void(self, reasons: pl.Series) -> Columns:
        """Return the records; where a reason is not null, it stands in place of all numbers."""
        if reasons.null_count() == len(reasons):
            return self
        parts = (f"{part}.{key}" for part, keys in _FIELDS.items() for key in keys)
        kept = pl.when(pl.lit(reasons).is_null())
        numbers = (kept.then(pl.col(name)).alias(name) for name in ("value", "p_value", *parts))
        reason = kept.then(pl.col("reason")).otherwise(pl.lit(reasons).cast(TEXT))
        return Columns(self.frame.with_columns(*numbers, reason=reason), self.shared)

    def judged(self) -> Columns:
        """Return the records with the scores that are judged, as `Record.judged` does.

        Marks in `details` stay; `unseen.reversed` and `unseen.undone` have those that count.
        """
        is_judged = pl.col("unseen.kind").is_not_null()
        judged = (
            pl.when(is_judged).then(f"unseen_{name}" if "." in name else f"unseen.{name}")
            .otherwise(name).alias(name)
            for name in _JUDGED
        )  # fmt: skip
        return Columns(self.frame.with_columns(*judged), self.shared)

    def places_by_model(self) -> dict[tuple[str, str], pl.Series]:
        """Return where the records of each model are, by its name and fingerprint."""
        names = self.flat({"name": "model.name", "fingerprint": "model.fingerprint"})
        places = (
            names.cast(pl.String)
            .with_row_index("row")
            .group_by("name", "fingerprint", maintain_order=True)
            .agg("row")
        )
        return dict(
            zip(zip(places["name"], places["fingerprint"], strict=True), places["row"], strict=True)
        )

    def flat(self, columns: Mapping[str, Column]) -> pl.DataFrame:
        """Return a frame with a line a record and these columns, by name.

        An object or a list is a text of JSON, and an ideal a text.
        """
        return pl.DataFrame({name: self._series(column) for name, column in columns.items()})

    def _series(self, column: Column) -> pl.Series:
        path, function, kind = column if isinstance(column, tuple) else (column, _plain, None)
        if path in _COLUMNS:
            return self.frame[path]
        name, _, key = path.partition(".")
        values = [function(getattr(part, key) if key else part) for part in self.shared[name]]
        return _typed(path, values, kind or type_of_column(column)).gather(self.frame[name])

    def _records(self, frame: pl.DataFrame) -> Iterator[Record]:
        """Yield the records of a part of the frame."""
        n = frame.height
        columns: dict[str, Sequence[Any]] = {}
        for name in Record.model_fields:
            if name in _CONSTANT:
                columns[name] = (_CONSTANT[name],) * n
            elif name in _FLAT:
                columns[name] = _parts(name, frame)
            elif name in self.shared:
                objects = self.shared[name]
                columns[name] = [objects[place] for place in frame[name]]
            else:
                columns[name] = frame[name].to_list()
        for values in zip(*columns.values(), strict=True):
            yield _valid(Record, dict(zip(columns, values, strict=True)))


class Use(NamedTuple):
    """How records use a shared object: its place, how many do, and the place of the last one."""

    place: int
    n: int
    last: int


class Collector:
    """Makes columns of records that are added one by one."""

    def __init__(self) -> None:
        self._shared = {name: _Shared(name) for name in _SHARED}
        self._parts = [
            _Part(names, self._shared, is_own=first in OWN)
            for first, names in fields_by_part().items()
        ]
        self._records: list[Sequence[Mapping[str, Any]]] = []
        """Of each record the values of each part."""
        self._chunks: list[pl.DataFrame] = []

    def add(self, record: Record) -> None:
        """Add a record."""
        self.add_parts([record.__dict__] * len(self._parts))

    def add_parts(self, parts: Sequence[Mapping[str, Any]]) -> None:
        """Add a record by the values of its parts, as `reading.PartsReader` returns them."""
        self._records.append(parts)
        if len(self._records) == _CHUNK:
            self._flush()

    def columns(self) -> Columns:
        """Return what was added."""
        self._flush()
        shared = {name: shared.objects for name, shared in self._shared.items()}
        return Columns(pl.concat(self._chunks), shared)

    def _flush(self) -> None:
        by_part = list(zip(*self._records, strict=True)) or [()] * len(self._parts)
        self._records.clear()
        columns = [
            column
            for part, values in zip(self._parts, by_part, strict=True)
            for column in part.columns(values)
        ]
        self._chunks.append(pl.DataFrame(columns).select(*_COLUMNS, *_SHARED))


class _Part:
    """Makes columns of the fields of a part of records."""

    def __init__(
        self, names: Sequence[str], shared: Mapping[str, _Shared], *, is_own: bool
    ) -> None:
        self._plain = [name for name in names if name in _COLUMNS]
        self._flat = [name for name in names if name in _FLAT]
        self._shared = {name: shared[name] for name in names if name in shared}
        self._is_own = is_own

    def columns(self, values: Sequence[Mapping[str, Any]]) -> list[pl.Series]:
        """Return a column for each field."""
        if self._is_own:
            return self._columns(values)
        # Of values in the same object, and of those in equal ones, a line is made once.
        objects = {id(part): part for part in values}
        names = (*self._plain, *self._shared)
        lines: dict[tuple[Any, ...], int] = {}
        place_of = {
            key: lines.setdefault(self._line(part), len(lines)) for key, part in objects.items()
        }
        places = pl.Series([place_of[id(part)] for part in values], dtype=pl.UInt32)
        columns = zip(*lines, strict=True) if lines else [()] * len(names)
        kinds = {**_COLUMNS, **dict.fromkeys(self._shared, pl.UInt32())}
        return [
            _typed(name, column, kinds[name]).gather(places)
            for name, column in zip(names, columns, strict=True)
        ]

    def _line(self, part: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the plain values, and the places of the others."""
        return (
            *(part[name] for name in self._plain),
            *(shared.place(part[name]) for name, shared in self._shared.items()),
        )

    def _columns(self, values: Sequence[Mapping[str, Any]]) -> list[pl.Series]:
        columns = [
            _typed(name, [part[name] for part in values], _COLUMNS[name]) for name in self._plain
        ]
        for name in self._flat:
            parts = [part[name] for part in values]
            parts = [part.__dict__ if isinstance(part, BaseModel) else part for part in parts]
            for key in _FIELDS[name]:
                path = f"{name}.{key}"
                column = [None if part is None else part[key] for part in parts]
                columns.append(_typed(path, column, _COLUMNS[path]))
        return columns


class _Shared:
    """The different objects of a field, each once."""

    def __init__(self, name: str) -> None:
        self.objects: list[Any] = []
        self._places: dict[Any, int] = {}
        self._hint = _HINTS.get(name)
        self._recent: dict[Any, int] = {}

    def place(self, value: Any) -> int:
        """Return the place of an object that is equal in all of its values and their types."""
        hint = None if self._hint is None else value.__dict__[self._hint]
        if hint is not None:
            recent = self._recent.get(hint)
            if recent is not None and self.objects[recent].__dict__ == value.__dict__:
                return recent
        key = _key(value)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.objects)
            self.objects.append(value)
        if hint is not None:
            self._recent[hint] = place
        return place


def _key(value: Any) -> Any:
    """Return a key that is equal only for objects with equal values of equal types."""
    if isinstance(value, BaseModel):
        return tuple(map(_key, value.__dict__.values()))
    if isinstance(value, dict | list):
        return repr(value) if value else type(value)
    return value


def _typed(name: str, values: Sequence[Any], kind: Any) -> pl.Series:
    """Return a column of values; texts become categories only in a second step, which is faster."""
    if kind == TEXT:
        texts = [value if value is None else str(value) for value in values]
        return pl.Series(name, texts, dtype=pl.String).cast(TEXT)
    if kind == pl.List(TEXT):
        return pl.Series(name, values, dtype=pl.List(pl.String)).cast(kind)
    return pl.Series(name, values, dtype=kind)


def _parts(name: str, frame: pl.DataFrame) -> list[Any]:
    """Return the intervals or floors of records, None where a record has none."""
    part, fields = _FLAT[name], _FIELDS[name]
    always = fields.index(_ALWAYS[name])
    rows = zip(*(frame[f"{name}.{key}"].to_list() for key in fields), strict=True)
    return [
        None if row[always] is None else _valid(part, dict(zip(fields, row, strict=True)))
        for row in rows
    ]


def _valid(schema: type[BaseModel], values: dict[str, Any]) -> Any:
    """Return an object from validated values, ten times as fast as pydantic does."""
    instance = schema.__new__(schema)
    _set(instance, "__dict__", values)
    _set(instance, "__pydantic_fields_set__", _EVERY_FIELD[schema])
    _set(instance, "__pydantic_extra__", None)
    private = schema.__private_attributes__.items()
    _set(
        instance,
        "__pydantic_private__",
        {name: {} if field.default_factory else field.default for name, field in private} or None,
    )
    return instance


_set = object.__setattr__
_SCHEMAS: tuple[type[BaseModel], ...] = (Record, *_FLAT.values())
_EVERY_FIELD = {schema: set(schema.model_fields) for schema in _SCHEMAS}


def _plain(value: Any) -> Any:
    """Return an object or a list as JSON, and a number or text as it is."""
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return value


# What values count: the formulas of `harness.results.record`, for the columns `value`, `ideal`,
# `low_bound` and `high_bound` of many records.


def is_within(low: pl.Expr, high: pl.Expr, value: pl.Expr | None = None) -> pl.Expr:
    """Return whether a value is within bounds, up to rounding, as `harness.metrics` has it."""
    value = pl.col("value") if value is None else value
    room = ROUNDING * pl.max_horizontal(pl.lit(1.0), low.abs(), high.abs(), value.abs())
    return (low.is_null() | (value >= low - room)) & (high.is_null() | (value <= high + room))


def loss() -> pl.Expr:
    """Return how far the value is from its ideal, in the unit of the score."""
    value, low, high = pl.col("value"), pl.col("low_bound"), pl.col("high_bound")
    return (
        pl.when(pl.col("ideal") == "higher")
        .then(high.fill_null(0.0) - value)
        .when(pl.col("ideal") == "lower")
        .then(value - low.fill_null(0.0))
        .otherwise((value - _fair()).abs())
    )


def greatest_loss() -> pl.Expr:
    """Return the greatest possible loss; null for a score that lacks a bound."""
    low, high, fair = pl.col("low_bound"), pl.col("high_bound"), _fair()
    greatest = (
        pl.when(fair.is_null())
        .then(high - low)
        .otherwise(pl.max_horizontal((fair - low).abs(), (fair - high).abs()))
    )
    return pl.when(low.is_not_null() & high.is_not_null() & (greatest > 0)).then(greatest)


def _fair() -> pl.Expr:
    """Return the ideal as a number; null if it is `higher` or `lower`."""
    return pl.col("ideal").cast(pl.String).cast(pl.Float64, strict=False)


def families(frame: pl.DataFrame, method: str) -> pl.Series:
    """Return the family of each record, as `Record.family` is.

    Parameters
    ----------
    frame
        With the columns `measures`, `category` and `metric`.
    method
        Name of the column with the family of methods of the task, empty for that of its metric.
    """
    own = pl.col(method).cast(pl.String).replace("", None)
    lines = frame.select("measures", "category", pl.coalesce(own, pl.col("metric").cast(pl.String)))
    return _by_combination(family_of, lines)


def _by_combination(function: Callable[..., str], lines: pl.DataFrame) -> pl.Series:
    """Return what a function gives for each line; it is called once for each combination."""
    different = lines.unique()
    texts = pl.Series("text", [function(*line) for line in different.iter_rows()], dtype=pl.String)
    found = lines.join(
        different.with_columns(texts),
        on=lines.columns, how="left", nulls_equal=True, maintain_order="left",
    )  # fmt: skip
    return found["text"]


def with_distances(frame: pl.DataFrame) -> pl.DataFrame:
    """Add `distance`, `above_floor` and `left_out` of each record, as `Record` has them.

    Parameters
    ----------
    frame
        With the columns `measures`, `unranked`, `unseen` (how it is judged), `unseen_value`,
        `floor`, `unit`, `gap` and `reference_gap`, too.
    """
    measures = pl.col("measures")
    judged = pl.when(pl.col("unseen").is_null()).then("value").otherwise("unseen_value")
    unit = pl.coalesce("unit", "greatest")
    above = pl.when(unit > 0).then((pl.col("loss") - pl.col("floor").fill_null(0.0)) / unit)
    reason = (
        pl.when(measures == "control")
        .then(pl.lit(CONTROL))
        .when(judged.is_null())
        .then(pl.lit(VOID))
        .when(pl.col("unseen") == "fit not stated")
        .then(pl.lit(NOT_STATED))
        .when(pl.col("unranked").fill_null("") != "")
        .then(pl.lit(UNRANKED))
        .when(~is_within(pl.col("low_bound"), pl.col("high_bound"), judged))
        .then(pl.lit(OUTSIDE))
        .when((measures == "bias") & pl.col("gap").is_null())
        .then(pl.lit(NO_YARDSTICK))
        .when((measures == "bias") & pl.col("reference_gap").is_null())
        .then(pl.lit(NO_REFERENCE))
        .when((measures != "bias") & pl.col("distance").is_null())
        .then(pl.lit(NO_SCALE))
    )
    return (
        frame.with_columns(loss=loss(), greatest=greatest_loss())
        .with_columns(distance=(pl.col("loss") / pl.col("greatest")).clip(0.0, 1.0))
        .with_columns(
            above_floor=pl.when(measures == "usefulness").then("distance").otherwise(above)
        )
        .with_columns(left_out=reason)
        .drop("loss", "greatest")
    )
