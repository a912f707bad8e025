"""Checks a submission strictly: all that a board would set aside is an error here, and more.

`claims.trust` judges what records claim about tasks, from the registered tasks. This module has the
rules of a repository: places, sizes, who may change what, and what must not be published.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from harness import errors, limits
from harness.errors import InvalidFile
from harness.printing import printable
from harness.registry.registry import Registry
from harness.results.formats import Sentences, Table, Value, markdown_grid
from harness.results.reading import SetAside
from harness.results.record import LEAK, LEAK_MEANS, SUFFIX, Record

from ..boards.findings import LANGUAGES
from ..claims import evidence, facts, reading, trust
from ..claims.evidence import Catalogue, Scale
from ..claims.facts import TaskFacts
from ..claims.reading import Claims
from . import submission, withdrawn
from .additions import Addition, measure
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
    base
        The repository that the submission joins.
    """

    problems: tuple[SetAside, ...]
    warnings: tuple[SetAside, ...]
    records: tuple[Record, ...]
    known: int
    base: Base


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
        warnings=(*joined.outside(trees), *_warnings(records, joined, registered)),
        records=tuple(record for record in good if record.id not in joined.ids),
        known=sum(record.id in joined.ids for record in good),
        base=joined,
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
    if model.name not in (known, *base.former_names.get(model.fingerprint, ())):
        return f"this fingerprint is that of the model '{known}'; submit it under that name"
    if model.kind not in base.kinds.get(model.fingerprint, (model.kind,)):
        return f"the base has no {model.kind} embedder of this fingerprint, but one of another kind"
    mitigator = record.mitigator
    labels = base.labels.get(mitigator.fingerprint, (mitigator.label,))
    if mitigator.label not in labels:
        return f"this fingerprint is that of the mitigator '{min(labels)}'; keep its label"
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
    yield from _joining(records, base)


def _joining(records: dict[tuple[str, int], Record], base: Base) -> Iterator[SetAside]:
    """Yield changes of rows of the base: other seeds, which are averaged, methods and tasks."""
    tasks: dict[str, tuple[str, str]] = {}
    seeds: Counter[tuple[str, str, str]] = Counter()
    methods: dict[str, str] = {}
    for (file, _), record in records.items():
        mitigator = record.mitigator
        score = (record.model.fingerprint, mitigator.fingerprint, record.task.digest)
        known = base.scores.get((*score, record.scenario, record.metric, record.score))
        if known is not None and record.seed not in known:
            seeds[file, record.model.name, mitigator.label] += 1
        task = record.task
        is_ranked = record.primary and task.measures != "control" and not task.unranked
        if is_ranked and task.name not in base.tasks.get(record.model.kind, (task.name,)):
            tasks.setdefault(task.name, (file, record.language))
        others = base.methods.get(mitigator.label, frozenset()) - {""}
        if mitigator.method and others and mitigator.method not in others:
            methods.setdefault(mitigator.label, file)
    for (file, model, label), n in seeds.items():
        reason = f"{n:,} scores of the base get another seed, and a board shows their mean"
        yield SetAside(file, 0, f"model '{model}', mitigator '{label}': {reason}")
    for name, (file, language) in tasks.items():
        among = f"all tasks in {LANGUAGES.get(language, language)}"
        reason = f"the base has no record of it; who lacks it has no rank over {among}"
        yield SetAside(file, 0, f"task '{name}': {reason}")
    for label, file in methods.items():
        yield SetAside(
            file, 0, f"mitigator '{label}': the base has other settings under this label"
        )


def _one_a_line(problems: Iterable[SetAside]) -> Iterator[SetAside]:
    """Yield the first problem of each line, and all problems of whole files."""
    seen: Counter[tuple[str, int]] = Counter()
    for problem in problems:
        place = problem.file, problem.line
        seen[place] += 1
        if not problem.line or seen[place] == 1:
            yield problem


def means_table(additions: Sequence[Addition], shown: Callable[[str], str]) -> Table:
    """Return the means of rows; `shown` turns an untrusted text into a cell."""
    rows = [
        [
            shown(addition.row.label),
            *(mean.measures, mean.value, f"{mean.tasks} of {mean.of}"),
            shown(mean.reference),
            f"{mean.difference:+z.3f}",
            mean.shared,
        ]
        for addition in additions
        for mean in addition.means
    ]
    columns = ("new", "mean of", "value", "tasks", "reference", "difference", "tasks of both")
    return Table("What is new", columns, rows, shorten=("new", "reference"))


MEANS_HELP = (
    "bias: 0 is fair, 1 is as biased as the reference encoder; usefulness: 1 is the ideal. A "
    "mitigated row has the mean of its model and its change."
)
TASKS_HELP = (
    "bias: the gap over that of the task's yardstick, 0 is fair; usefulness: 1 is the ideal; "
    "control: the score itself."
)
"""The units of the tables, which are those of a board."""


def tasks_table(addition: Addition, shown: Callable[[str], str]) -> Table:
    """Return what a board shows of each task of a row and of its references."""
    labels = [shown(row.label) for row in (addition.row, *addition.references)]
    rows = [
        [shown(task), addition.row.primary[task].task.measures, *map(_cell, records)]
        for task, _, records in addition.lines()
    ]
    return Table("Each task", ("task", "measures", *labels), rows, shorten=("task",))


def leaks_line(addition: Addition) -> Sentences:
    """Return what the mark of a leak means; no line if none is in the table of tasks."""
    records = [record for *_, of_rows in addition.lines() for record in of_rows]
    is_there = any(record is not None and record.is_leak for record in records)
    return Sentences("", [f"{LEAK} {LEAK_MEANS}"] if is_there else [])


def _cell(record: Record | None) -> Value | None:
    """Return what a board shows of a score, with the mark of a leak."""
    number = None if record is None else measure(record)
    if record is None or number is None:
        return None
    return Value(f"{number:z.3f}", sign=LEAK if record.is_leak else "")


# The result of a check as Markdown, for a comment on a pull request that strangers can trigger.
#
# Every text of a submission is inert: in a table it is in `<code>`, with each character other than
# letters and digits as an HTML entity, and problems are in a code block. So the hosts that render
# such comments make no link, image, mention, formula or HTML of it.


LISTED = 40
"""Number of problems that a comment or a terminal lists."""
LINE = 400
"""Characters of a problem."""
NAMED = 3
"""Number of names, and of lines, that one line on many problems lists."""
_ROWS, _TASKS, SHOWN = 20, 100, 60
_LONGEST = 60_000
"""Characters of a comment; a usual host takes 65,536."""


def comment_markdown(checked: Checked, additions: Sequence[Addition]) -> str:
    """Return the comment on a check."""
    parts = [f"### {comment_summary(checked)}"]
    if checked.problems:
        parts.append(_block(listed(folded(checked.problems), "problem")))
    if checked.warnings:
        parts += [
            "For a maintainer to weigh:",
            _block(listed(folded(checked.warnings), "warning")),
        ]
    if additions:
        parts.append("What is new, beside two reference models:")
        parts += [_means_markdown(additions), MEANS_HELP]
    for addition in additions[:2]:
        parts.append(_tasks_markdown(addition))
    text = ""
    for part in parts:
        if len(text) + len(part) > _LONGEST:
            text += "The rest is left out, since a comment must be short.\n"
            break
        text += part + "\n\n"
    return text.rstrip("\n") + "\n"


def comment_summary(checked: Checked) -> str:
    """Return one line on a check."""
    n, new = len(checked.problems), len(checked.records)
    found = f"{n:,} problem{'s'[: n != 1]}" if n else "valid"
    known = f", {checked.known:,} that the base has already" if checked.known else ""
    return f"{found}; {new:,} new record{'s'[: new != 1]}{known}"


_QUOTED = re.compile(r"'[^']*'")
_ABOUT = re.compile(r"(\w+) '([^']*)': (.*)", re.DOTALL)
"""A reason that names what it is about, such as a task, before what is wrong."""


def folded(entries: Iterable[SetAside]) -> list[str]:
    """Return a line for each problem, and one for all of a file that differ in a name or line."""
    groups: dict[tuple[str, str], list[SetAside]] = {}
    for entry in entries:
        groups.setdefault((entry.file, _QUOTED.sub("''", entry.reason)), []).append(entry)
    return [str(group[0]) if len(group) == 1 else _together(group) for group in groups.values()]


def _together(group: Sequence[SetAside]) -> str:
    """Return one line for problems of a file that differ in a name or in their lines."""
    lines = list(dict.fromkeys(str(entry.line) for entry in group if entry.line))
    place = group[0].file + (f":{errors.listed(lines, NAMED)}" if lines else "")
    parts = [_ABOUT.fullmatch(entry.reason) for entry in group]
    names = list(dict.fromkeys(part[2] for part in parts if part))
    first = parts[0]
    if first is None or len({part[3] for part in parts if part}) > 1 or len(names) < 2:
        return f"{place}: {group[0].reason} ({len(group):,} alike)"
    of_names = f"{len(names):,} {first[1]}s ({errors.listed(names, NAMED)})"
    return f"{place}: {of_names}: {first[3]}"


def listed(lines: Iterable[str], noun: str) -> list[str]:
    """Return the first lines, printable and not too long, and how many more there are."""
    every = list(lines)
    shown = [printable(line, LINE) for line in every[:LISTED]]
    more = len(every) - len(shown)
    return [*shown, f"and {more:,} more {noun}{'s'[: more != 1]}"] if more else shown


def inert(text: str) -> str:
    """Return an untrusted text for a cell of a table in Markdown."""
    parts = [
        character if character.isalnum() else f"&#{ord(character)};"
        for character in printable(text, SHOWN)
    ]
    return f"<code>{''.join(parts)}</code>"


def _block(lines: Sequence[str]) -> str:
    """Return lines as a code block that none of them can close."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *lines, fence])


def _means_markdown(additions: Sequence[Addition]) -> str:
    table = means_table(additions[:_ROWS], inert)
    more = len(additions) - _ROWS
    rest = f"\n\nand {more:,} more rows" if more > 0 else ""
    return markdown_grid(table.columns, table.rows) + rest


def _tasks_markdown(addition: Addition) -> str:
    table = tasks_table(addition, inert)
    more = len(table.rows) - _TASKS
    rest = f"\n\nand {more:,} more tasks" if more > 0 else ""
    rest += "".join(f"\n\n{line}" for line in (TASKS_HELP, *leaks_line(addition).lines))
    title = f"Each task of {inert(addition.row.label)}"
    grid = markdown_grid(table.columns, table.rows[:_TASKS])
    return f"<details><summary>{title}</summary>\n\n{grid}{rest}\n\n</details>"
