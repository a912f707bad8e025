"""Merges submissions into a results repository: adds files, lines and entries, and changes none.

A known record is not added again. A record whose id is known with another value is a conflict: both
stay, in two files, and neither counts until `withdrawn.yaml` decides. The place of a record follows
from its model, fingerprint and run, not from the name of its source file.

The entry of a run is written before its records. A merge that was killed is completed by the same
command.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from harness import folders
from harness.errors import InvalidFile, UsageError
from harness.results.conflicts import TOLERANCE
from harness.results.reading import SetAside
from harness.results.record import Record

from ..claims import evidence
from ..claims.evidence import Scale
from . import submission, withdrawn
from .submission import Submission, tree

Numbers: TypeAlias = "tuple[float | None, ...]"
"""Value, floor and unit of a record."""


@dataclass(frozen=True)
class Known:
    """A record of the repository."""

    file: Path
    numbers: Numbers
    counts: bool
    """Whether it is not withdrawn."""


@dataclass
class Merged:
    """A merge: the records of the repository, and the results so far.

    Parameters
    ----------
    into
        The repository.
    known
        Its records by id.
    added
        Number of new records by file.
    samples
        Number of records whose strongest items are new, by file.
    repeats
        Number of records that were there with the same value.
    problems
        Records that were not merged, or that now have two values, with reasons.
    entries
        Entries of each `submission.json` that was read so far, by its folder.
    """

    into: Path
    known: defaultdict[str, list[Known]]
    added: Counter[Path] = field(default_factory=Counter)
    samples: Counter[Path] = field(default_factory=Counter)
    repeats: int = 0
    problems: list[SetAside] = field(default_factory=list)
    entries: dict[Path, dict[str, Submission]] = field(default_factory=dict)

    def entries_of(self, folder: Path) -> dict[str, Submission]:
        """Return the entries of a folder of the repository, which the merge extends."""
        if folder not in self.entries:
            exists = (folder / submission.NAME).exists()
            self.entries[folder] = dict(submission.read(folder)) if exists else {}
        return self.entries[folder]

    def reason(self, record: Record, run: Path, entry: Submission) -> str:
        """Return why a record cannot be merged; empty if it can."""
        if record.id != record.identity():
            return "the id is not that of its content; not merged"
        file = self.into / _place(record)
        if file.name != run.name:
            return f"the record belongs in {file.name}; not merged"
        if self.entries_of(file.parent).get(file.stem, entry) != entry:
            return f"'{file.parent / submission.NAME}' has another entry for this run; not merged"
        return ""

    def new(self, records: Mapping[int, Record], source: Path) -> dict[Path, list[str]]:
        """Return the lines of new records by their target file."""
        lines: defaultdict[Path, list[str]] = defaultdict(list)
        for number, record in records.items():
            file, rivals = self.into / _place(record), self.known[record.id]
            same = next((rival for rival in rivals if _equal(record, rival.numbers)), None)
            others = [r for r in rivals if r.counts and not _equal(record, r.numbers)]
            if same is not None:
                self.repeats += 1
                others = others if same.counts else []  # else the maintainers have decided
            elif any(rival.file == file for rival in rivals):
                reason = f"'{file}' has another value of this record; not merged"
                self.problems.append(SetAside(str(source), number, reason, record.id))
                continue
            else:
                lines[file].append(record.line())
                rivals.append(Known(file, _numbers(record), counts=True))
            for rival in others:
                reason = f"'{rival.file.relative_to(self.into)}' has another value of this record; "
                reason += f"neither counts until {withdrawn.NAME} withdraws one of them"
                self.problems.append(SetAside(str(source), number, reason, record.id))
        return lines


def merge(submissions: Iterable[Path], into: Path) -> Merged:
    """Merge submissions into a results repository, and return the result.

    Parameters
    ----------
    submissions
        Folders as `pack` writes them, or parts of one.
    into
        The repository: a folder that has, or will have, a folder `results`.

    Raises
    ------
    InvalidFile
        If a path does not exist, or `withdrawn.yaml` has a mistake in it.
    UsageError
        If `into` is a folder of results itself.
    DiskError
        If a file cannot be written; earlier files stay merged.
    """
    if into.name == submission.ROOT and not (into / submission.ROOT).exists():
        raise UsageError(f"'{into}' holds results; name the repository, '{into.parent}'")
    merged = Merged(into, _known(into))
    for path in submissions:
        source = tree(path)
        merged.problems += source.problems
        for folder in source.folders:
            _merge_folder(merged, folder, [run for run in source.runs if run.parent == folder])
    return merged


def _merge_folder(merged: Merged, folder: Path, runs: Iterable[Path]) -> None:
    """Merge the runs of one model, each with its entry of `submission.json`."""
    try:
        entries = submission.read(folder)
    except InvalidFile as error:
        reason = f"{error.problem}; `harness results pack` writes it"
        merged.problems.append(SetAside(str(folder / submission.NAME), 0, reason))
        return
    for run in runs:
        if run.stem not in entries:
            reason = "its submission.json has no entry for this run; not merged"
            merged.problems.append(SetAside(str(run), 0, reason))
            continue
        content = submission.read_record_lines(run)
        merged.problems += content.problems
        records = {}
        for number, record in content.records.items():
            if reason := merged.reason(record, run, entries[run.stem]):
                merged.problems.append(SetAside(str(run), number, reason, record.id))
            else:
                records[number] = record
        new = merged.new(records, run)
        for file in sorted({merged.into / _place(record) for record in records.values()}):
            known = merged.entries_of(file.parent)
            if file.stem not in known and (file in new or file.exists()):
                known[file.stem] = entries[run.stem]
                submission.write(file.parent, known)
        for file, lines in new.items():
            _append(file, lines)
            merged.added[file] += len(lines)
        _merge_samples(merged, run, records.values())


def _merge_samples(merged: Merged, run: Path, records: Iterable[Record]) -> None:
    """Add the strongest items of records that the repository has beside these records.

    Those that are there stay. `check` and a board compare items with their tasks.
    """
    source = evidence.samples_file(run)
    if not source.exists():
        return
    if reason := evidence.file_problem(source):
        merged.problems.append(SetAside(str(source), 0, reason))
        return
    scales = {record.id: (record.task.name, Scale.of(record)) for record in records}
    places = {
        record.id: rival.file
        for record in records
        for rival in merged.known[record.id]
        if _equal(record, rival.numbers)
    }
    lines: defaultdict[Path, dict[str, str]] = defaultdict(dict)
    for extract in evidence.read(source, scales, None):
        if isinstance(extract, SetAside):
            merged.problems.append(extract)
        elif extract.id in places:
            lines[evidence.samples_file(places[extract.id])][extract.id] = extract.line()
    for file, by_id in lines.items():
        known = {id_ for _, _, id_ in evidence.lines_of(file)} if file.exists() else set()
        new = [line for id_, line in by_id.items() if id_ not in known]
        if new:
            _append(file, new)
            merged.samples[file] += len(new)


def _append(file: Path, lines: Iterable[str]) -> None:
    before = file.read_bytes() if file.exists() else b""
    if before and not before.endswith(b"\n"):  # keeps a torn line separate
        before += b"\n"
    folders.write_atomically(file, before + "".join(lines).encode())


def _place(record: Record) -> PurePosixPath:
    part = record.model
    return submission.place(model=part.name, fingerprint=part.fingerprint, run=record.run)


def _known(into: Path) -> defaultdict[str, list[Known]]:
    """Return the records of a repository by id."""
    from ..claims import reading

    known: defaultdict[str, list[Known]] = defaultdict(list)
    if not (into / submission.ROOT).exists():
        return known
    claims = reading.read(tree(into).runs)
    counted = withdrawn.apply(claims, withdrawn.find([into])).frame
    counts = set(counted.select("file", "line").cast({"file": str}).iter_rows())
    columns = claims.frame.select("id", "file", "line", "value", "floor", "unit")
    for id_, file, line, *numbers in columns.cast({"file": str}).iter_rows():
        known[id_].append(Known(Path(file), tuple(numbers), (file, line) in counts))
    return known


def _numbers(record: Record) -> Numbers:
    floor = None if record.floor is None else record.floor.mean
    return record.value, floor, record.unit


def _equal(record: Record, numbers: Numbers) -> bool:
    """Return whether a record has these numbers, up to differences between machines."""
    low, high = record.bounds
    span = record.unit or (high - low if low is not None and high is not None else 1.0)
    return all(
        own is other if own is None or other is None else abs(own - other) <= TOLERANCE * span
        for own, other in zip(_numbers(record), numbers, strict=True)
    )
