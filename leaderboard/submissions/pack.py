"""Packs a results folder for a results repository: the records that count, and who ran them.

Tables and studies cannot be checked, so they are left out. Of samples, the strongest items
of each primary score are kept, which a check compares with the task. Records that a check would set
aside are left out with a reason. An existing file is not replaced.
"""

from __future__ import annotations

import shlex
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness import folders, limits
from harness.errors import HarnessError, UsageError
from harness.names import NONE
from harness.registry.registry import Registry
from harness.results.folder import of_files
from harness.results.record import Record, samples_exist, samples_path
from harness.run import settings

from ..claims import evidence
from ..claims.evidence import Catalogue, Extract, Scale
from . import submission
from .submission import Submission

LICENCE = "CC0-1.0"
"""Results of many people under many licences are hard to use; a public-domain dedication is
simplest."""
LONGEST_COMMAND = 4_000
DEFAULT_CONCEPT = "gender"
"""Concept of a run that states none: the default of `harness eval`."""


@dataclass(frozen=True)
class Packed:
    """The result of packing.

    Parameters
    ----------
    written
        Number of records by new file, of records and of strongest items.
    kept
        Files that existed with the same content.
    left_out
        Number of records by the reason why they were left out.
    without_items
        Number of primary scores with samples by the reason why their items were left out.
    warnings
        What a maintainer of a board may hold against the rest.
    """

    written: Mapping[Path, int]
    kept: tuple[Path, ...]
    left_out: Mapping[str, int]
    without_items: Mapping[str, int]
    warnings: tuple[str, ...]


def pack(
    results: Path,
    out: Path,
    *,
    by: str,
    licence: str = LICENCE,
    contact: str | None = None,
    include: Sequence[Path] = (),
) -> Packed:
    """Write the records of a results folder as a submission into the folder `out`.

    Parameters
    ----------
    results
        A results folder.
    out
        The folder for `results/MODEL/FINGERPRINT/RUN.jsonl`, with a `submission.json`.
    by
        Who submits.
    licence
        Licence of the results, an SPDX expression.
    contact
        Address or page for questions.
    include
        Further folders of tasks.

    Raises
    ------
    UsageError
        If nothing can be packed, or a file exists with other content; nothing is written then.
    """
    records, in_conflict = _records(results)
    if not records:
        raise UsageError(f"no record in '{results}'; `harness eval` writes them")
    by_place: defaultdict[Path, list[Record]] = defaultdict(list)
    for record in records:
        part = record.model
        own = submission.place(model=part.name, fingerprint=part.fingerprint, run=record.run)
        by_place[Path(own)].append(record)
    entries = {
        place: _entry(lines, results, by=by, licence=licence, contact=contact)
        for place, lines in by_place.items()
    }
    left_out, warnings = _refused(by_place, entries, include)
    left_out += in_conflict
    contents = {
        out / place: "".join(record.line() for record in lines).encode()
        for place, lines in by_place.items()
        if lines
    }
    if not contents:
        raise UsageError(f"no record in '{results}' can be submitted: {next(iter(left_out))}")
    extracts, without_items = _extracts(by_place, results, include)
    samples = {
        evidence.samples_file(out / place): "".join(map(Extract.line, lines)).encode()
        for place, lines in extracts.items()
    }
    numbers = {out / place: len(lines) for place, lines in by_place.items()} | {
        evidence.samples_file(out / place): len(lines) for place, lines in extracts.items()
    }
    known = _entries({path.parent for path in contents})
    changed = []
    for path, content in contents.items():
        entry = entries[path.relative_to(out)]
        before = path.read_bytes() if path.exists() else None
        has = known[path.parent].get(path.stem)
        if before == content and has == entry:
            continue
        if before not in (None, content):
            raise UsageError(f"'{path}' is there with other records; choose another --out")
        if has not in (None, entry):
            place = path.parent / submission.NAME
            raise UsageError(f"{place}: says something else of this run; choose another --out")
        changed.append(path)
        known[path.parent][path.stem] = entry
    for path, content in samples.items():
        before = path.read_bytes() if path.exists() else content
        if before != content:
            raise UsageError(f"'{path}' is there with other items; choose another --out")
        if not path.exists():
            changed.append(path)
    for path in changed:
        folders.write_atomically(path, (contents | samples)[path])
    for folder in dict.fromkeys(path.parent for path in changed):
        folders.write_atomically(folder / submission.NAME, submission.text(known[folder]).encode())
    return Packed(
        {path: numbers[path] for path in changed},
        tuple(path for path in contents | samples if path not in changed),
        left_out,
        without_items,
        warnings,
    )


def _extracts(
    by_place: Mapping[Path, Sequence[Record]], results: Path, include: Sequence[Path]
) -> tuple[dict[Path, list[Extract]], Counter[str]]:
    """Return the strongest items of the primary scores that have samples, by the run's place.

    The second value is the number of scores without them, by the reason. Scores without a mitigator
    come first, if a file would be too large.
    """
    folder = results if results.is_dir() else results.parent
    having = [
        (place, whole)
        for place, records in by_place.items()
        for record in records
        if record.primary and samples_exist(folder, whole := _with_samples(record))
    ]
    having.sort(key=lambda pair: (pair[1].mitigator.name != NONE, pair[1].task.name))
    extracts: defaultdict[Path, list[Extract]] = defaultdict(list)
    sizes: Counter[Path] = Counter()
    reasons: Counter[str] = Counter()
    catalogue = Catalogue(Registry(include=include))
    for place, record in having:
        scale, task = Scale.of(record), catalogue.task(record.task.name)
        extract = evidence.extract_of(record.id, record.read_samples(folder), scale, task)
        reason = extract if isinstance(extract, str) else evidence.mistake(extract, scale, task)
        size = 0 if isinstance(extract, str) else len(extract.line().encode())
        if not reason and sizes[place] + size > limits.SUBMITTED_SAMPLES_BYTES:
            reason = "the file of the items of a run is full"
        if isinstance(extract, str) or reason:
            reasons[reason] += 1
            continue
        sizes[place] += size
        extracts[place].append(extract)
    return extracts, reasons


def _with_samples(record: Record) -> Record:
    """Return a record that says where its samples are in a results folder, if it has any."""
    return record.model_copy(update={"samples": samples_path(record.id)})


def _records(results: Path) -> tuple[list[Record], Counter[str]]:
    """Return the records of a results folder, one for each id, without their attached files.

    The second value is the number of records that are left out, by the reason.
    """
    records, faults = of_files([results])
    differing = {fault.id for fault in faults if fault.status == "conflict"}
    update: dict[str, Any] = {"tables": {}, "samples": None}
    kept = [record.model_copy(update=update) for record in records if record.id not in differing]
    reason = "another file has another value (harness results verify)"
    return kept, Counter({reason: len(differing)} if differing else {})


def _refused(
    by_place: Mapping[Path, list[Record]],
    entries: Mapping[Path, Submission],
    include: Sequence[Path],
) -> tuple[Counter[str], tuple[str, ...]]:
    """Remove the records that a check would refuse; return their number by the reason.

    The second value are the warnings of the check.
    """
    from .check import check

    reasons: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for place, records in by_place.items():
            lines = "".join(record.line() for record in records)
            folders.write_atomically(Path(folder, place), lines.encode())
            of_folder = {p.stem: entry for p, entry in entries.items() if p.parent == place.parent}
            submission.write(Path(folder, place.parent), of_folder)
        checked = check([Path(folder)], include=include)
        problems = (problem for problem in checked.problems if problem.file)
        wrong = {(Path(p.file).relative_to(folder), p.line): p.reason for p in problems}
    for place, reason in ((p, r) for (p, _), r in wrong.items() if p.name == submission.NAME):
        raise UsageError(f"{place.name}: {reason}")
    for place, records in by_place.items():
        kept = []
        for number, record in enumerate(records, start=1):
            why = wrong.get((place, number)) or wrong.get((place, 0))
            if why:
                reasons[why] += 1
            else:
                kept.append(record)
        records[:] = kept
    return reasons, tuple(dict.fromkeys(warning.reason for warning in checked.warnings))


def _entry(
    records: Sequence[Record], results: Path, *, by: str, licence: str, contact: str | None
) -> Submission:
    last = max(records, key=lambda record: record.created)
    try:
        return Submission(
            submitted_by=by,
            created=last.created,
            command=_command(records, results),
            harness=last.environment.harness,
            licence=licence,
            contact=contact,
        )
    except ValidationError as error:
        mistake = error.errors(include_url=False)[0]
        key = str(mistake["loc"][0])
        option = {"submitted_by": "--by", "licence": "--licence", "contact": "--contact"}
        raise UsageError(
            f"{option.get(key, key)}: {mistake['msg'].removeprefix('Value error, ')}"
        ) from None


def _command(records: Sequence[Record], results: Path) -> str:
    """Return the command that repeats a run, without folders of this machine."""
    first = records[0]
    typed = _as_typed(results, first.run)
    words = ["harness", "eval", "--model", first.model.name]
    for label in dict.fromkeys(record.mitigator.label for record in records):
        words += ["--mitigator", label]
    tasks = typed.get("tasks") or [",".join(sorted({record.task.name for record in records}))]
    for option, values in {"--tasks": tasks, "--exclude": typed.get("exclude", [])}.items():
        words += [option, ",".join(values)] if values else []
    concept = typed.get("concept", [DEFAULT_CONCEPT])
    words += ["--concept", *concept] if concept != [DEFAULT_CONCEPT] else []
    words += ["--seed", str(first.seed)] if first.seed else []
    command = shlex.join(words)
    return (
        command if len(command) <= LONGEST_COMMAND else shlex.join([*words[:4], "--tasks", "all"])
    )


def _as_typed(results: Path, run: str) -> dict[str, list[str]]:
    """Return the tasks and the concept in the file of a run, unless it names a path."""
    folder = results if results.is_dir() else results.parent
    try:
        options = settings.read_run_file(
            folder / settings.FOLDER / f"{folders.safe_name(run)}.yaml"
        )
    except HarnessError:
        return {}
    typed = {
        key: [value] if isinstance(value, str) else list(map(str, value))
        for key in ("tasks", "exclude", "concept")
        if (value := options.get(key))
    }
    has_path = any("/" in value or "\\" in value for values in typed.values() for value in values)
    return {} if has_path else typed


def _entries(parents: Iterable[Path]) -> dict[Path, dict[str, Submission]]:
    return {
        folder: dict(submission.read(folder)) if (folder / submission.NAME).exists() else {}
        for folder in parents
    }
