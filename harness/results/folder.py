"""Results folders: JSONL files of records, one per model; tables, figures, samples beside them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import folders
from harness.folders import Place
from harness.results import figures, jsonl, model_names, samples, shared
from harness.results.record import Record
from harness.results.records import Records
from harness.results.shared import SharedResults

STUDY = ".study.jsonl"
"""End of the name of a file with the results of a study, which are another kind of record."""
END = ".jsonl"
SECONDS = 30  # between two times that records are put into a bucket


Reading = jsonl.Reading[Record]
"""The records that were read, and notices."""


def read(paths: Iterable[Path]) -> Reading:
    """Return the records in files, and in the `*.jsonl` files of folders at any depth.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    notices: list[str] = []
    files = jsonl.files(paths, "*.jsonl")
    own = [file for file in files if not file.name.endswith((STUDY, samples.SUFFIX))]
    records = (record for file in own for record in jsonl.read(file, Record, notices))
    unified = model_names.unified(records, notices)
    return Reading(tuple(unified), tuple(notices))


def read_results(*paths: Place | str) -> Records:
    """Read the records of results folders or files, as `harness eval` wrote them.

    Parameters
    ----------
    *paths
        Folders, whose `*.jsonl` files are read at any depth, or files; also in a bucket, such as
        `s3://bucket/results`.

    Returns
    -------
    Records
        One record for each id; `notices` names the lines that were left out.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    reading = read([shared.local(path) for path in paths])
    return Records(reading.records, notices=reading.notices)


class ResultsFile(jsonl.RecordsFile[Record]):
    """The records of one model in a results folder.

    Parameters
    ----------
    folder
        The results folder; made if it does not exist.
    model
        Name of the model.
    shared
        The folder in a bucket that `folder` is written for; None for a folder of its own.

    Raises
    ------
    DiskError
        If the folder cannot be written to.
    """

    def __init__(self, folder: Path, model: str, shared: SharedResults | None = None) -> None:
        name, self._shared = folders.safe_name(model), shared
        super().__init__(shared.file(name, END) if shared else folder / f"{name}{END}", Record)
        if shared:
            notices: list[str] = []
            earlier = [
                record
                for path in shared.earlier(name, END)
                for record in jsonl.read(path, Record, notices)
            ]
            self.records = {record.id: record for record in earlier} | self.records
            self.notices = (*notices, *self.notices)

    def ids(self, *, with_samples: bool) -> set[str]:
        """Return the ids of the records, or of those only that have samples."""
        return {
            id_
            for id_, record in self.records.items()
            if not with_samples or self._has_samples(record)
        }

    def add(self, records: Sequence[Record]) -> None:
        """Write records with what they keep; a record replaces the one with its id.

        Raises
        ------
        DiskError
            If the disk is full or a file cannot be written. The earlier records are kept.
        """
        for record in records:
            for name, rows in record.rows.items():
                folders.write_atomically(self.path.parent / record.tables[name], _table(rows))
            for name, drawing in record.drawings.items():
                title = f"{record.model.name}, {record.mitigator.label}: {name}"
                figures.write(self.path.parent / record.figures[name], drawing, title)
            record.write_samples(self.path.parent)
        super().add(records)
        if self._shared:
            self._shared.send(every=SECONDS)

    def _has_samples(self, record: Record) -> bool:
        if self._shared:
            return record.samples is not None and self._shared.has(samples.path_of(record.id))
        return samples.exist(self.path.parent, record)


def _table(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows as a tab-separated table with a header line."""
    text = io.StringIO(newline="")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(text, columns, delimiter="\t", lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
