"""`withdrawn.yaml`: what the maintainers of a repository withdrew, and why.

Claims of different people may contradict each other. Only this file decides: strict YAML in the
folder of the results or in the folder above it, which only the maintainers change. A submission
cannot contain one: a file deeper in the results is never read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, model_validator

from harness import folders
from harness.errors import suggestion
from harness.task import yaml_files
from harness.task.schema import Strict
from harness.task.yaml_files import KeyPath

if TYPE_CHECKING:
    import polars as pl

    from harness.results.reading import SetAside

    from ..claims.reading import Claims

NAME = "withdrawn.yaml"
_COLUMNS = ("id", "file", "model", "fingerprint", "task")
"""Columns of claims that an entry may name."""
Text = Annotated[str, Field(min_length=1)]


class WithdrawnRecord(Strict):
    """A record that does not count, or all records of a file."""

    id: Text | None = None
    """Id of the record; by default all records of `file`."""
    file: Text | None = None
    """File of the record, relative to the folder of withdrawn.yaml. A record with this id in
    another file then counts. By default no record with this id counts."""
    reason: Text
    """Why."""

    @model_validator(mode="after")
    def _names_a_record(self) -> Self:
        if self.id is None and self.file is None:
            raise ValueError("expected 'id' or 'file', or both")
        return self


class WithdrawnModel(Strict):
    """A model, by its name or by its fingerprint."""

    name: Text | None = None
    """Name of the model; the entry covers all its fingerprints."""
    fingerprint: Text | None = None
    """Fingerprint of the model."""
    reason: Text
    """Why."""

    @model_validator(mode="after")
    def _names_one_model(self) -> Self:
        if (self.name is None) == (self.fingerprint is None):
            raise ValueError("expected either 'name' or 'fingerprint'")
        return self


class WithdrawnTask(Strict):
    """A task."""

    name: Text
    """Name of the task."""
    reason: Text
    """Why."""


class Withdrawn(Strict):
    """The file."""

    records: tuple[WithdrawnRecord, ...] = ()
    """Records that do not count. This decides conflicts of two records."""
    models: tuple[WithdrawnModel, ...] = ()
    """Models whose records do not count."""
    tasks: tuple[WithdrawnTask, ...] = ()
    """Tasks whose records do not count."""


def find(paths: Iterable[Path], name: str = NAME) -> list[Path]:
    """Return each file `name` in the folders `paths`, and in the folder above each path.

    Deeper folders have other people's files, and are not searched.
    """
    files = [
        folder / name
        for path in paths
        for folder in (*([path] if folders.is_folder(path) else []), _above(path))
        if folders.is_file(folder / name)
    ]
    return list({file.resolve(): file for file in files}.values())


def _above(path: Path) -> Path:
    """Return the folder above a path, in the same spelling, since the page shows it."""
    return path.parent if path.name not in ("", "..") else path / ".."


def read(file: Path) -> Withdrawn:
    """Return a `withdrawn.yaml`.

    Raises
    ------
    InvalidFile
        If it has a mistake; the message has the line, the key, and what would be right.
    """
    return yaml_files.load(file).validate(Withdrawn)


def apply(claims: Claims, files: Sequence[Path]) -> Claims:
    """Set aside what is withdrawn: records, models and tasks.

    Call it before `claims.trust` looks for conflicts, since it decides them.

    Parameters
    ----------
    claims
        Records as they were read.
    files
        Each `withdrawn.yaml`, from `find`.

    Returns
    -------
    Claims
        The other records. `aside` has a line for each withdrawn record, and for each entry that
        matches nothing, which may be misspelt.

    Raises
    ------
    InvalidFile
        If a file has a mistake in it.
    """
    import polars as pl

    from harness.results.reading import SetAside

    from ..claims.reading import Claims

    entries = [entry for file in files for entry in _entries(file)]
    if not entries:
        return claims
    texts = claims.frame.select(pl.col(*_COLUMNS).cast(pl.String), "line")
    frame = texts.with_columns(
        shown=pl.col("file").fill_null(""), file=_resolved(texts["file"], entries)
    ).with_row_index("place")
    lines = {}
    for row in frame.filter(_named(entries)).iter_rows(named=True):
        reason = next((entry.reason for entry in entries if entry.names(row)), None)
        if reason is not None:
            line = SetAside(row["shown"], row["line"] or 0, f"withdrawn: {reason}", row["id"])
            lines[row["place"]] = line
    kept = claims.frame.filter(~pl.int_range(pl.len()).is_in(list(lines)))
    return Claims(kept, (*claims.aside, *lines.values(), *_naming_nothing(entries, frame)))


@dataclass(frozen=True)
class _Entry:
    """An entry of a file, and its place in the file."""

    column: str
    name: str
    reason: str
    place: tuple[Path, int]
    file: str | None = None
    """The whole path of the file, if the entry names one."""

    def names(self, row: Mapping[str, Any]) -> bool:
        """Return whether the entry matches a record."""
        is_named: bool = row[self.column] == self.name
        return is_named and self.file in (None, row["file"])


def _entries(file: Path) -> Iterator[_Entry]:
    document = yaml_files.load(file)
    content = document.validate(Withdrawn)

    def place(key: KeyPath) -> tuple[Path, int]:
        return document.places.get(key, (file, 1))

    for i, record in enumerate(content.records):
        path = None if record.file is None else str((file.parent / record.file).resolve())
        column, name = ("id", record.id) if record.id else ("file", path or "")
        yield _Entry(column, name, record.reason, place(("records", i)), file=path)
    for i, model in enumerate(content.models):
        column = "model" if model.name else "fingerprint"
        name = model.name or model.fingerprint or ""
        yield _Entry(column, name, model.reason, place(("models", i)))
    for i, task in enumerate(content.tasks):
        yield _Entry("task", task.name, task.reason, place(("tasks", i)))


def _resolved(files: pl.Series, entries: Sequence[_Entry]) -> pl.Series:
    """Return the whole paths of files, if an entry names a file."""
    if all(entry.file is None for entry in entries):
        return files
    names = files.drop_nulls().unique().to_list()
    return files.replace(names, [str(Path(name).resolve()) for name in names])


def _named(entries: Sequence[_Entry]) -> pl.Expr:
    """Return whether one of the entries may match a record."""
    import polars as pl

    return pl.any_horizontal(
        pl.col(column).is_in([entry.name for entry in entries if entry.column == column])
        for column in _COLUMNS
    )


def _naming_nothing(entries: Sequence[_Entry], frame: pl.DataFrame) -> Iterator[SetAside]:
    """Yield a line on each entry that matches no record, model or task."""
    from harness.results.reading import SetAside

    for column in _COLUMNS:
        wanted = [entry for entry in entries if entry.column == column]
        known = set(frame[column].drop_nulls()) if wanted else set()
        for entry in wanted:
            if entry.name not in known:
                near = suggestion(entry.name, known) if column in ("model", "task") else ""
                reason = f"no record has the {column} '{entry.name}'{near}"
                yield SetAside(str(entry.place[0]), entry.place[1], reason)
