"""Checks a submission strictly: all that a board would set aside is an error here, and more.

`claims.trust` judges what records claim about tasks, from the registered tasks. This module has the
rules of a repository: places, sizes, who may change what, and what must not be published.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from harness import limits
from harness.errors import InvalidFile
from harness.printing import printable
from harness.registry.registry import Registry
from harness.results.reading import SetAside
from harness.results.record import SUFFIX, Record

from ..claims import evidence, facts, reading, trust
from ..claims.evidence import Catalogue, Scale
from ..claims.facts import TaskFacts
from ..claims.reading import Claims
from ..site.rendering import grouped
from . import submission, withdrawn
from .submission import Base, Tree, tree

_FACTS = (
    *("low_bound", "high_bound", "ideal", "measures", "category", "family", "concept", "language"),
    *("primary", "unranked"),
)
"""Columns of claims whose values come from the registered task: first the bounds, which some scores
widen."""


@dataclass(frozen=True)
class Checked:
    """The result of a check.

    Parameters
    ----------
    problems
        The problems, at most one a line of a file; empty for a valid submission.
    warnings
        Warnings for a maintainer to consider.
    records
        The records that are new and valid.
    known
        Number of records that the base has already, with the same value.
    """

    problems: tuple[SetAside, ...]
    warnings: tuple[SetAside, ...]
    records: tuple[Record, ...]
    known: int


def check(
    paths: Iterable[Path], base: Path | None = None, *, include: Sequence[Path] = ()
) -> Checked:
    """Check the submissions in `paths`, as additions to the results repository `base`.

    Parameters
    ----------
    paths
        Results repositories, parts of one, or files. A folder with a folder `results` and anything
        beside it is a changed copy of `base`, which must still have all that the base has.
    base
        The repository that they join. Files that it has in the same place are not checked again.
    include
        Further folders of tasks.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    trees = [tree(path) for path in paths]
    joined = Base.of(base)
    runs = [run for part in trees for run in part.runs if not joined.has(run)]
    registry = Registry(include=include)
    registered = registry.embedders.owners
    problems = [p for part in trees for p in part.problems if not joined.has_problem(p, part)]
    problems += joined.removed(trees)
    if len(runs) > limits.SUBMITTED_RUNS:
        reason = limits.too_many(len(runs), limits.SUBMITTED_RUNS, "new files of records")
        problems.append(SetAside(str(runs[limits.SUBMITTED_RUNS]), 0, reason))
        runs = runs[: limits.SUBMITTED_RUNS]
    problems += _of_submission_files(trees, joined)
    read = {run: submission.read_record_lines(run) for run in runs}
    problems += [problem for lines in read.values() for problem in lines.problems]
    records = {(str(run), line): r for run in runs for line, r in read[run].records.items()}
    n = len(records)
    if n > limits.SUBMITTED_RECORDS:
        reason = limits.too_many(n, limits.SUBMITTED_RECORDS, "records in all")
        problems.append(SetAside(str(runs[-1]), 0, reason))
    samples = [file for part in trees for file in part.samples if not joined.has(file)]
    changed = (file for part in trees if part.whole for file in (*part.runs, *part.samples))
    for file in (file for file in changed if file in read or file in samples):
        problems += joined.changed(file)
    problems += _of_samples(samples, read, Catalogue(registry))
    for run in runs:
        problems += _of_records(run, read[run].records, joined, registered)
    problems += _untrusted([run for run in runs if read[run].readable], joined, include)
    wrong = {(problem.file, problem.line) for problem in problems}
    good = [r for (file, n), r in records.items() if not {(file, n), (file, 0)} & wrong]
    return Checked(
        problems=tuple(_one_a_line(problems)),
        warnings=tuple(_warnings(records, joined, registered)),
        records=tuple(record for record in good if record.id not in joined.ids),
        known=sum(record.id in joined.ids for record in good),
    )


def _of_submission_files(trees: Sequence[Tree], base: Base) -> Iterator[SetAside]:
    """Yield the problems of each new or changed `submission.json`."""
    for folder, whole in ((folder, part.whole) for part in trees for folder in part.folders):
        path = folder / submission.NAME
        files = [f for f in folder.glob("*.jsonl") if f.is_file() and not f.name.endswith(SUFFIX)]
        if path.is_symlink() or (path.exists() and not path.is_file()):
            continue  # reported as a file that does not belong there
        if path.is_file() and all(map(base.has, (path, *files))):
            continue
        try:
            entries = submission.read(folder)
        except InvalidFile as error:
            for mistake in error.mistakes:
                key = f"{mistake.key}: " if mistake.key else ""
                yield SetAside(str(path), 0, f"{key}{mistake.problem}")
            continue
        runs = {file.stem for file in files}
        for run in sorted(runs - entries.keys()):
            yield SetAside(
                str(path), 0, f"runs: no entry for {run}.jsonl; add who ran it, and when"
            )
        for run in sorted(entries.keys() - runs):
            yield SetAside(str(path), 0, f"runs.{run}: no file {run}.jsonl beside it; remove it")
        for run, entry in entries.items():
            for key, reason in submission.problems(entry.model_dump(mode="json")):
                yield SetAside(str(path), 0, f"runs.{run}.{key}: {reason}")
        yield from base.changed_entries(path, entries, whole=whole)


def _of_records(
    path: Path, records: dict[int, Record], base: Base, registered: Mapping[str, str]
) -> Iterator[SetAside]:
    """Yield the problems of the records of a file in this place, at most one each.

    A model that is refused is one problem of the file, which has no other model.
    """
    place = path.absolute().parts[-3:]
    refused = {(r.model.name, submission.refusal(r.model, registered)) for r in records.values()}
    for name, reason in sorted(refused):
        if reason:
            yield SetAside(str(path), 0, f"model '{name}': {reason}")
    for line, record in records.items():
        if reason := _reason(record, place, base):
            yield SetAside(str(path), line, reason, record.id)


def _reason(record: Record, place: tuple[str, ...], base: Base) -> str:
    """Return the problem of a record; empty if there is none."""
    model = record.model
    for key, reason in submission.problems(record.model_dump(mode="json", by_alias=True)):
        return f"{key}: {reason}"
    own = submission.place(model=model.name, fingerprint=model.fingerprint, run=record.run)
    if own.parts[1:] != place:
        return f"the record belongs in {own}"
    if record.value is None and not record.reason:
        return "neither a value nor the reason why there is none"
    if record.limit is not None:
        return f"a record of a smoke run (--limit {record.limit}); run the whole task"
    if model.base:
        return "a run under another prompt (--prompts); submit the model under its own"
    if record.tables or record.samples is not None:
        return "tables and samples are not taken; `harness results pack` leaves them out"
    known = base.names.get(model.fingerprint, model.name)
    if model.name != known:
        return f"this fingerprint is that of the model '{known}'; submit it under that name"
    return ""


def _of_samples(
    files: Iterable[Path], read: Mapping[Path, submission.Lines], catalogue: Catalogue
) -> Iterator[SetAside]:
    """Yield the problems of the lines of new files with strongest items.

    The records beside a file may be in the base already; they are read again then.
    """
    for file in files:
        run = file.with_name(file.name.removesuffix(SUFFIX) + ".jsonl")
        if not run.is_file():
            yield SetAside(str(file), 0, f"no file {run.name} beside it; remove it")
        elif reason := evidence.file_problem(file):
            yield SetAside(str(file), 0, reason)
        else:
            of_run = read[run] if run in read else submission.read_record_lines(run)
            scales = {r.id: (r.task.name, Scale.of(r)) for r in of_run.records.values()}
            for line in evidence.read(file, scales, catalogue):
                if isinstance(line, SetAside):
                    yield line


def _untrusted(runs: Sequence[Path], base: Base, include: Sequence[Path]) -> Iterator[SetAside]:
    """Yield the records that a board of the base with these files would set aside or correct."""
    files = list(map(str, runs))
    claims = reading.read(runs)
    together = Claims(pl.concat([base.claims.frame, claims.frame]), claims.aside)
    together = withdrawn.apply(together, base.withdrawn)
    tasks = facts.known(together.frame["task"].unique().to_list(), include)
    counted = trust.trusted(together, tasks)
    yield from (entry for entry in counted.aside if entry.file in files)
    yield from _overruled(claims.frame, counted.frame, tasks)


def _overruled(
    claimed: pl.DataFrame, counted: pl.DataFrame, tasks: Mapping[str, TaskFacts]
) -> Iterator[SetAside]:
    """Yield the records whose statements about their task differ from the registered task."""
    widened = {
        (task.name, score.metric, score.score)
        for task in tasks.values()
        for score in task.scores
        if score.may_widen
    }
    place = ["file", "line"]
    columns = [pl.col(name).cast(pl.String) for name in (*_FACTS, "task", "metric", "score")]
    frames = (frame.select(*place, "id", *columns) for frame in (claimed, counted))
    for row in next(frames).join(next(frames), on=place, suffix=":fact").iter_rows(named=True):
        own_bounds = (row["task"], row["metric"], row["score"]) in widened
        for name in _FACTS[2 * own_bounds :]:
            claim, fact = row[name], row[f"{name}:fact"]
            if name == "unranked" and (not claim or fact):
                continue  # the same reason in other words, or a later one
            if not _is_same(claim, fact):
                reason = f"{name} '{claim}'; the registered task has '{fact}'"
                yield SetAside(row["file"], row["line"], reason, row["id"])
                break


def _is_same(claimed: str | None, fact: str | None) -> bool:
    """Return whether two texts are equal, or the same number."""
    try:
        return claimed == fact or float(claimed or "nan") == float(fact or "nan")
    except ValueError:
        return False


def _warnings(
    records: dict[tuple[str, int], Record], base: Base, registered: Mapping[str, str]
) -> Iterator[SetAside]:
    """Yield the warnings about each model for a maintainer."""
    first: dict[str, tuple[str, Record]] = {}
    for (file, _), record in records.items():
        first.setdefault(record.model.fingerprint, (file, record))
    for file, record in first.values():
        model = record.model
        if reason := submission.warning(model, registered):
            yield SetAside(file, 0, f"model '{model.name}': {reason}")
        other = base.fingerprints.get(model.name)
        if other is not None and model.fingerprint not in base.names:
            reason = f"model '{model.name}': the base has other weights or settings of this name"
            yield SetAside(file, 0, f"{reason} ({other})")


def _one_a_line(problems: Iterable[SetAside]) -> Iterator[SetAside]:
    """Yield the first problem of each line, and all problems of whole files."""
    seen: Counter[tuple[str, int]] = Counter()
    for problem in problems:
        place = problem.file, problem.line
        seen[place] += 1
        if not problem.line or seen[place] == 1:
            yield problem


# The result of a check as Markdown, for a comment on a pull request that strangers can trigger: all
# lines are in a code block, so the hosts that render such comments make no link, image, mention,
# formula or HTML of a text of a submission.


LISTED = 40
"""Number of problems that a comment or a terminal lists."""
LINE = 400
"""Characters of a problem."""


def comment_markdown(checked: Checked) -> str:
    """Return the comment on a check."""
    parts = [f"### {comment_summary(checked)}"]
    if checked.problems:
        parts.append(_block(listed(checked.problems, "problem")))
    if checked.warnings:
        lines = listed(checked.warnings, "warning")
        parts += ["For a maintainer to weigh:", _block(lines)]
    return "\n\n".join(parts) + "\n"


def comment_summary(checked: Checked) -> str:
    """Return one line on a check."""
    n, new = len(checked.problems), len(checked.records)
    found = f"{n:,} problem{'s'[: n != 1]}" if n else "valid"
    known = f", {checked.known:,} that the base has already" if checked.known else ""
    return f"{found}; {new:,} new record{'s'[: new != 1]}{known}"


def listed(entries: Iterable[SetAside], noun: str) -> list[str]:
    """Return the first lines on groups of alike entries, printable, and how many more there are."""
    every = [group.line() for group in grouped(entries)]
    shown = [printable(line, LINE) for line in every[:LISTED]]
    more = len(every) - len(shown)
    return [*shown, f"and {more:,} more {noun}{'s'[: more != 1]}"] if more else shown


def _block(lines: Sequence[str]) -> str:
    """Return lines as a code block that none of them can close."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *lines, fence])
