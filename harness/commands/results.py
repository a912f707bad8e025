"""`harness results`: show, export and check recorded scores, without the models."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.commands import arguments, output, result_tables
from harness.printing import echo
from harness.results.ratios import SMALLEST

if TYPE_CHECKING:
    from harness.results.comparison import Comparison
    from harness.results.reading import SetAside
    from harness.results.record import Line, Record
    from harness.results.records import Records


# The records that a command reads: PATHS, filters, and two rows to compare.


F = TypeVar("F", bound=Callable[..., Any])


def paths(function: F) -> F:
    """Add the argument PATHS."""
    argument = click.argument("paths", nargs=-1, type=arguments.PlaceType())
    return argument(arguments.copied("paths")(function))


def results_option(function: F) -> F:
    """Add the option `--results`, the folder that A and B are names in."""
    option = click.option(
        "--results",
        "-r",
        type=arguments.PlaceType(),
        default=Path("results"),
        show_default=True,
        help="Results folder that A and B are names in.",
    )
    return option(arguments.copied("results")(function))


def _split(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[str]:
    from harness import names

    return names.split(values)


_NAMES = {
    "model": "Only these models, names or globs; repeatable.",
    "mitigator": "Only these mitigators, labels or globs; repeatable.",
    "task": "Only these tasks, names or globs; comma-separated or repeated.",
}
_PRIMARY = {
    "scenario": "These scenarios, names or globs, instead of the primary one; repeatable.",
    "metric": "All scores of these metrics instead of the primary one; repeatable.",
}
_ANY = {
    "scenario": "Only these scenarios, names or globs; repeatable.",
    "metric": "Only these metrics, names or globs; repeatable.",
}


def filters(function: F) -> F:
    """Add the options that select records: by default the primary score of each task."""
    all_scores = click.option("--all-scores", is_flag=True, help="All scores of all scenarios.")
    return _options(all_scores(function), _NAMES | _PRIMARY)


def filters_of_all(function: F) -> F:
    """Add the options that select records: by default all."""
    return _options(function, _NAMES | _ANY)


def _options(function: F, helps: Mapping[str, str]) -> F:
    spellings = {
        "model": ["-m"], "mitigator": ["-M"], "task": ["--tasks", "-t"],
    }  # fmt: skip
    for name, text in reversed(list(helps.items())):
        option = click.option(
            f"--{name}",
            *spellings.get(name, ()),
            multiple=True,
            help=text,
            callback=_split if name == "task" else None,
        )
        function = option(function)
    return function


@dataclass(frozen=True)
class Compared:
    """Comparisons of two rows by what both share, and the results folder of each row."""

    comparisons: Mapping[str, Comparison]
    folder: Path
    folder_b: Path


def read_comparison(
    a: str, b: str, results: Path, options: Mapping[str, Any], *, smallest: float = SMALLEST
) -> Compared:
    """Compare two mitigators, models, or results folders or files.

    Raises
    ------
    UsageError
        If a name is wrong, or the two have no score in common.
    """
    from harness.errors import UsageError
    from harness.results.comparison import between, between_runs

    if a == b:
        raise UsageError(f"A and B are both '{a}'; name two different ones")
    absent = [side for side in (a, b) if not Path(side).exists()]
    if len(absent) == 1 and not results.exists():
        raise UsageError(f"'{absent[0]}' is no results folder or file")
    if absent:
        records = read_selected((results,)).select(**options)
        notices(records)
        folder = _folder(results)
        return Compared(between(records, a, b, folder=folder, smallest=smallest), folder, folder)
    sides = [read_selected((Path(side),)).select(**options) for side in (a, b)]
    for side in sides:
        notices(side)
    folder, folder_b = _folder(a), _folder(b)
    found = between_runs(*sides, folder=folder, folder_b=folder_b, smallest=smallest)
    return Compared(found, folder, folder_b)


def read_selected(paths: tuple[Path, ...]) -> Records:
    """Return the records in folders and files; those of smoke runs only if there are no others."""
    from harness.errors import UsageError
    from harness.results.folder import read_results
    from harness.results.records import set_aside

    # Records have no cycles, but Python's garbage collector would traverse millions of them often.
    if gc.isenabled():
        gc.disable()
        click.get_current_context().call_on_close(gc.enable)
    chosen = paths or (Path("results"),)
    records = read_results(*chosen)
    if not records:
        places = ", ".join(f"'{path}'" for path in chosen)
        if records.notices:
            raise UsageError(f"no line in {places} is a record: {records.notices[0]}")
        raise UsageError(f"no records in {places}; `harness eval` writes them")
    whole, smoke = set_aside(records)
    if not whole or not smoke:  # nothing to mix them up with
        return records
    whole.notices = (*records.notices, smoke)
    return whole


def _folder(path: Path | str) -> Path:
    """Return the results folder of a path, which may be a file in it."""
    return Path(path) if Path(path).is_dir() else Path(path).parent


def notices(records: Records) -> None:
    """Print the notices from reading the records."""
    for notice in records.notices:
        echo(notice, err=True)


# `harness results verify`: the files themselves, line by line.


COLUMNS = ("file", "line", "state", "problem")


@click.command("verify")
@paths
@arguments.as_json
def verify(paths: tuple[Path, ...], as_json: bool) -> int:
    """Check results files line by line.

    Exits with 1 if a line does not count:

    \b
    damaged   no record, or changed since it was written
    torn      the last line of a run that was killed, or NUL bytes
    doubtful  its id is not that of its content
    unknown   of another version of the harness
    conflict  another file has another value for its id
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.results import jsonl
    from harness.results.folder import of_files

    chosen = paths or (Path("results"),)
    checked = [jsonl.verify(file, schema) for file, schema in _files(chosen)]
    ids = [id_ for part in checked for id_ in part.ids]
    faults = of_files(chosen)[1] if len(set(ids)) < len(ids) else []
    differing = [line for line in faults if line.status == "conflict"]
    rows = [
        _row(line) for line in (*(line for part in checked for line in part.faults), *differing)
    ]
    records = sum(len(set(part.ids)) for part in checked) - len(differing)
    if as_json:
        output.as_json({"files": len(checked), "records": records, "problems": rows})
    else:
        if rows:
            output.lines(rows, shorten=("problem",))
        facts = f"{output.counted(len(checked), 'file')}, {output.counted(records, 'record')}"
        echo(f"{facts}, {output.counted(len(rows), 'problem')}")
    return int(bool(rows))


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, type[Line]]]:
    """Yield the files of records in `paths`, each with the schema of its lines."""
    from harness.results import jsonl, record
    from harness.results.folder import STUDY
    from harness.results.record import Record
    from harness.study.study_record import StudyRecord

    for file in jsonl.files(paths, "*.jsonl"):
        if file.is_file() and not file.name.endswith(record.SUFFIX):
            yield file, StudyRecord if file.name.endswith(STUDY) else Record


def _row(invalid: SetAside) -> dict[str, str | int | None]:
    values = (invalid.file, invalid.line, invalid.status, invalid.reason)
    return dict(zip(COLUMNS, values, strict=True))


# `harness results items` and `figures`: samples and figures of scores.


def _out(purpose: str) -> Callable[[F], F]:
    path = click.Path(path_type=Path, dir_okay=False)
    return click.option("--out", "-o", type=path, help=purpose)


width = click.option(
    "--width",
    type=click.FloatRange(min=1, max=40),
    help="Width of the picture in inches, such as 3.3 for a column of a paper; letters keep their "
    "size.  [default: 6.3]",
)


@click.command("items")
@click.argument("a")
@click.argument("b")
@results_option
@click.option(
    "--column",
    default="contribution",
    show_default=True,
    help="Column of the samples to compare, such as projection.",
)
@filters
@arguments.as_json
def items_command(
    a: str,
    b: str,
    results: Path,
    column: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare A with B item by item: how their samples correlate.

    A and B are two mitigators, two models, or two results folders or files. Both need samples
    (`harness eval --samples`).

    \b
    harness results items glove-6b-50d en-core-web-md --tasks direct-bias --column cosine
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.results.comparison import items_of

    compared = read_comparison(a, b, results, options)
    pairs = items_of(compared.comparisons, column, compared.folder, compared.folder_b)
    rows = [
        {
            "context": part.context,
            "task": part.pair.a.task.name,
            "scenario": part.pair.a.scenario,
            "score": part.pair.a.score,
            "n": len(part.texts),
            "spearman": part.spearman,
        }
        for part in pairs
    ]
    if as_json:
        parts = zip(rows, pairs, strict=True)
        output.as_json([row | {"column": column, "items": part.rows()} for row, part in parts])
        return
    output.lines(rows, title=f"{column} of the items: {a} and {b}")


def _check_out(out: Path | None, *, overwrite: bool) -> None:
    """Raise `UsageError` if a figure cannot be written to a file, before anything is read."""
    from harness.results.figures import check_suffix

    if out is not None:
        check_suffix(out)
    arguments.refuse_to_replace(out, overwrite=overwrite)


def _place(record: Record) -> dict[str, str]:
    """Return which score a record is, as it is listed."""
    return {
        "model": record.model.name,
        "mitigator": record.mitigator.label,
        "task": record.task.name,
        "scenario": record.scenario,
    }


@click.command("figures")
@paths
@filters_of_all
@click.option("--name", "-n", multiple=True, help="Only figures of this name; repeatable.")
@_out("Figure to write, with the listed ones of one name in one: .svg, .pdf or .png.")
@width
@arguments.overwrite
@arguments.as_json
def figures_command(
    paths: tuple[Path, ...],
    name: tuple[str, ...],
    out: Path | None,
    width: float | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """List what can be drawn of the scores in PATHS, and draw that of one name.

    The figure `items` is made of the samples: the items of a task by side, before and after each
    mitigator. Any other is made of the table of its name that lies beside a score. A picture is of
    the primary scenario of a task, unless --scenario names others. Needs the extra `figures`.

    \b
    harness results figures results --tasks pair-accuracy
    harness results figures results --tasks weat-6 --name items --out weat-6.pdf
    harness results figures results --tasks pair-accuracy --name pairs --out pairs.svg
    """  # noqa: D301  # click keeps the lines after a backspace
    _check_out(out, overwrite=overwrite)
    chosen = paths or (Path("results"),)
    records = read_selected(chosen).select(**options, all_scores=True)
    files = result_tables.drawable(chosen, [record.id for record in records], name)
    if out is not None:
        primary = {(record.task.name, record.scenario) for record in records if record.primary}
        if not options["scenario"]:
            of_primary = [f for f in files if (f[1].task.name, f[1].scenario) in primary]
            files = of_primary or files
        _write_together(out, files, width)
    rows = [_place(record) | {"figure": figure} for _, record, figure in files]
    if as_json:
        output.as_json(rows)
    elif rows:
        output.lines(rows, drop=("scenario", "model", "mitigator"))
        drawn = {row["task"] for row in rows}
        without = dict.fromkeys(r.task.name for r in records if r.task.name not in drawn)
        if without and not name:
            advice = "`harness eval --samples` keeps the items that one is made of"
            echo(f"no figure: {', '.join(without)}; {advice}", err=True)
    else:
        echo("no figure can be made of these scores")
    notices(records)


def _write_together(
    out: Path, files: Sequence[tuple[Path, Record, str]], width: float | None
) -> None:
    """Write figures of one name as one, labelled by their differences."""
    from harness.errors import UsageError
    from harness.results import figures

    names = dict.fromkeys(name for *_, name in files)
    if len(names) != 1:
        shown = f"here are {', '.join(names)}: choose with --name" if names else "here are none"
        raise UsageError(f"--out draws figures of one name, {shown}")
    places = [
        _place(of) | {"metric": of.metric, "score": of.score, "seed": f"seed {of.seed}"}
        for _, of, _ in files
    ]
    differ = [key for key in places[0] if len({place[key] for place in places}) > 1]
    labels = [", ".join(place[key] for key in differ) for place in places]
    record = files[0][1]
    shared = {"task": record.task.title or record.task.name, "model": record.model.name}
    title = ", ".join(shown for key, shown in shared.items() if key not in differ)
    if [*names] == [result_tables.ITEMS]:
        for key in ("task", "metric"):
            if key in differ:
                found = ", ".join(dict.fromkeys(place[key] for place in places))
                raise UsageError(f"--out draws the items of one {key}, here are {found}")
        samples = {
            label: own.read_samples(path.parent.parent)
            for label, (path, own, _) in zip(labels, files, strict=True)
        }
        figures.write_items(out, samples, title, width=width)
    else:
        tables = {
            label: result_tables.rows_of(path)
            for label, (path, *_) in zip(labels, files, strict=True)
        }
        figures.write_tables(out, tables, f"{title}: {next(iter(names))}", width=width)
    echo(f"wrote {out}", err=True)


intervals = click.option(
    "--intervals", is_flag=True, help="Show confidence intervals, not changes."
)

over_seeds = click.option(
    "--over-seeds",
    is_flag=True,
    help="Show the mean ± standard error of runs that differ only in a seed.",
)


@click.group("results")
def command() -> None:
    """Show, export and check recorded scores, with their items and tables, and draw them.

    PATHS are results folders, read at any depth, or their files.  [default: results]
    """


command.add_command(items_command)
command.add_command(figures_command)
command.add_command(verify)


@command.command("show")
@paths
@filters
@intervals
@over_seeds
@click.option(
    "--average",
    is_flag=True,
    help="Show the mean of each model and mitigator over tasks.",
)
@click.option(
    "--tables",
    "names",
    multiple=True,
    metavar="NAME",
    help="Show the tables of this name beside the scores, such as pairs of texts; '*' shows all; "
    "repeatable. All scores count.",
)
@arguments.verbose
@arguments.as_json
def show(
    paths: tuple[Path, ...],
    intervals: bool,
    over_seeds: bool,
    average: bool,
    names: tuple[str, ...],
    verbose: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show the scores in PATHS as tables, by default the primary ones.

    \b
    harness results show
    harness results show results --mitigator none --scenario debiasing
    harness results show --average -t seat-c6,seat-c6b,seat-c7,seat-c7b,seat-c8,seat-c8b
    harness results show --tables pairs -t name-triplets --scenario original
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.errors import UsageError

    if average and names:
        raise UsageError("--average and --tables cannot be used together")
    if names:
        options["all_scores"] = True
    records = _selected(paths, over_seeds, options)
    if names:
        _show_attached(paths, records, names, as_json=as_json)
    elif average and as_json:
        output.as_json(records.means())
    elif average:
        result_tables.show_means(records.means())
    elif as_json:
        output.as_json(records.rows())
    else:
        _show_scores(records, intervals=intervals, verbose=verbose)
    notices(records)


def _show_scores(records: Records, *, intervals: bool, verbose: bool) -> None:
    from harness.results import tables

    sections = tables.sections(records, _installed_versions())
    output.report(tables.report(sections, intervals=intervals, verbose=verbose))


def _show_attached(
    paths: Sequence[Path], records: Records, names: Sequence[str], *, as_json: bool
) -> None:
    """Show the tables that metrics write beside the records."""
    ids = [record.id for record in records]
    shown = result_tables.read_attached(
        paths or (Path("results"),), ids, () if "*" in names else names
    )
    if as_json:
        output.as_json(result_tables.attached_as_json(shown))
    elif not result_tables.show_attached(shown):
        echo("no tables lie beside these scores")


def _installed_versions() -> dict[str, int]:
    """Return the version of each installed task."""
    from harness.registry.registry import Registry
    from harness.run.tasks import list_tasks

    return {entry.file.name: entry.file.version for entry in list_tasks(Registry())}


@command.command("export")
@paths
@filters
@intervals
@over_seeds
@click.option(
    "--format",
    "kind",
    type=click.Choice(result_tables.FORMATS),
    help="csv and parquet have one row for each score, the others are tables.  "
    "[default: by the suffix of --out; without --out, csv]",
)
@_out("File to write.  [default: standard output]")
@arguments.overwrite
def export(
    paths: tuple[Path, ...],
    intervals: bool,
    over_seeds: bool,
    kind: str | None,
    out: Path | None,
    overwrite: bool,
    **options: Any,
) -> None:
    """Write the scores in PATHS in a format of other programs.

    \b
    harness results export --out table.tex
    harness results export results --all-scores --out scores.parquet
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import folders
    from harness.errors import UsageError

    kind = kind or result_tables.of_file(out)
    if out is None and kind == "parquet":
        raise UsageError("a Parquet file needs --out")
    arguments.refuse_to_replace(out, overwrite=overwrite)
    records = _selected(paths, over_seeds, options)
    content = result_tables.written(records, kind, intervals=intervals)
    if out is None:
        echo(content.decode(), nl=False)
    else:
        folders.write_atomically(out, content)
    notices(records)


def _selected(paths: tuple[Path, ...], over_seeds: bool, options: Mapping[str, Any]) -> Records:
    records = read_selected(paths)
    return (records.over_seeds() if over_seeds else records).select(**options)
