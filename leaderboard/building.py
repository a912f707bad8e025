"""From anybody's results to boards: reads records, judges them, and ranks those that count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from harness.errors import InvalidFile
from harness.names import without_options
from harness.task.reference import Reference
from harness.task.schema import BenchmarkFile

from .boards import references
from .boards.board import Board, compile_boards
from .boards.cells import in_order, of_tasks
from .claims import facts as task_facts
from .claims import reading, trust
from .claims.facts import TaskFacts
from .claims.reading import Claims
from .submissions import submission, withdrawn

if TYPE_CHECKING:
    from harness.registry.registry import Registry

MANY = 20_000
"""Number of records from which a build takes seconds and reports each step."""


@dataclass(frozen=True)
class Ranked:
    """Boards, and the claims and facts behind them.

    Parameters
    ----------
    boards
        The boards.
    claims
        The records of the boards, with those of the references, and what was set aside.
    facts
        Facts of the registered tasks.
    notices
        Lines on references that are missing, and on files that are left out.
    """

    boards: Sequence[Board]
    claims: Claims
    facts: Mapping[str, TaskFacts]
    notices: Sequence[str]


def rank(
    results: Sequence[Path],
    registry: Registry,
    *,
    include: Sequence[Path] = (),
    tasks: Sequence[str] = (),
    say: Callable[[str], object] = lambda line: None,
) -> Ranked:
    """Return the boards of the records in files and folders.

    Parameters
    ----------
    results
        Files and folders.
    registry
        Where models and benchmarks are looked up.
    include
        Further folders of tasks.
    tasks
        Names, globs or benchmarks; empty for all tasks.
    say
        Called with lines on the progress of a large board, and on tasks that are missing.

    Raises
    ------
    InvalidFile
        If a path does not exist, or a `withdrawn.yaml` has a mistake in it.
    UnknownName
        If one of `tasks` matches nothing in these records.
    """
    claims = reading.read(results)
    report = say if claims.frame.height >= MANY else _silent
    report(f"read {claims.frame.height:,} records")
    claims = withdrawn.apply(claims, withdrawn.find(results))
    facts = task_facts.known(claims.frame["task"].unique().to_list(), include)
    claims = trust.trusted(claims, facts, sources=sources_of(claims.frame, results))
    frame = _without_adverts(claims.frame, registry)
    variants = claims.variants
    report(f"ranking {frame.height:,} records that count")
    if tasks and frame["primary"].any():
        frame = of_tasks(frame, _names(tasks, frame, registry, say))
    frame, notices = references.added(frame)
    aside, columns = claims.aside, frame.get_columns()
    order = in_order(frame)
    del claims, frame  # a column at a time is in memory twice
    for i, column in enumerate(columns):
        columns[i] = column.gather(order)
    frame = pl.DataFrame(columns)
    # A benchmark also names tasks that nobody ran.
    every = {**task_facts.shipped(), **facts}
    kinds = {name: task.kinds for name, task in every.items()}
    pinned: defaultdict[str, dict[str, Reference]] = defaultdict(dict)
    for name, task in every.items():
        for kind, reference in task.references.items():
            pinned[kind][name] = reference
    boards = compile_boards(
        frame,
        _benchmarks(registry),
        kinds,
        pinned,
        variants,
    )
    return Ranked(boards, Claims(frame, aside), facts, [*notices, *registry.notices])


def sources_of(frame: pl.DataFrame, results: Sequence[Path]) -> dict[str, str]:
    """Return whose records each file has: its submitter's, or else those of a results folder.

    Nothing is read where no model was run under several prompts: nobody else asks.
    """
    if not (frame["base"].fill_null("") != "").any():
        return {}
    files = frame["file"].unique().drop_nulls().cast(pl.String).to_list()
    people = {file: f"by {run.submitted_by}" for file, run in submission.of_files(files).items()}
    folders = [path if path.is_dir() else path.parent for path in results]
    found = {
        file: next((f"in {f}" for f in folders if Path(file).is_relative_to(f)), file)
        for file in files
        if file not in people
    }
    return found | people


def _silent(line: str) -> None:
    """Print nothing."""


def _without_adverts(frame: pl.DataFrame, registry: Registry) -> pl.DataFrame:
    """Return records in which only the registry supersedes registered models."""
    names = [str(name) for name in frame["model"].unique()]
    known = [name for name in names if without_options(name) in registry.embedders]
    other = ~pl.col("model").is_in(known)
    return frame.with_columns(superseded_by=pl.when(other).then("superseded_by"))


def _benchmarks(registry: Registry) -> list[BenchmarkFile]:
    """Return the benchmarks with valid files."""
    files = []
    for name in sorted(registry.benchmark_files.owners):
        try:
            files.append(registry.benchmark_files.find(name).validate(BenchmarkFile))
        except InvalidFile as error:
            registry.leave_out(error)
    return files


def _names(
    patterns: Iterable[str],
    frame: pl.DataFrame,
    registry: Registry,
    say: Callable[[str], object],
) -> list[str]:
    """Return the patterns with the name of a benchmark replaced by its tasks in the records."""
    from fnmatch import fnmatchcase

    tasks = set(frame.filter("primary")["task"].unique())
    names = []
    for pattern in patterns:
        benchmarks = registry.benchmark_files
        if pattern not in benchmarks.owners or any(fnmatchcase(task, pattern) for task in tasks):
            names.append(pattern)
            continue
        wanted = benchmarks.find(pattern).validate(BenchmarkFile).tasks
        missing = [task for task in wanted if task not in tasks]
        if missing:
            text = f"no record of {len(missing)} of {len(wanted)} tasks of '{pattern}': "
            say(text + ", ".join(missing))
        names += [task for task in wanted if task in tasks] or [pattern]
    return names
