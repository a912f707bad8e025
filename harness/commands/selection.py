"""Which records a command about results reads: PATHS, filters, and two rows to compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.commands import arguments

if TYPE_CHECKING:
    from harness.results.comparison import Comparison
    from harness.results.records import Records

F = TypeVar("F", bound=Callable[..., Any])


def paths(function: F) -> F:
    """Add the argument PATHS."""
    argument = click.argument("paths", nargs=-1, type=arguments.PlaceType())
    return argument(arguments.copied("paths")(function))


def results(function: F) -> F:
    """Add the option `--results`."""
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


def filters_of_rows(function: F) -> F:
    """Add the options that select models and mitigators."""
    return _options(function, {name: _NAMES[name] for name in ("model", "mitigator")})


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


def compared(a: str, b: str, results: Path, options: Mapping[str, Any]) -> Compared:
    """Compare two mitigators, models, or results folders or files.

    Raises
    ------
    UsageError
        If a name is wrong, or the two have no score in common.
    """
    from harness.errors import UsageError
    from harness.results.sides import between, between_runs

    if a == b:
        raise UsageError(f"A and B are both '{a}'; name two different ones")
    absent = [side for side in (a, b) if not Path(side).exists()]
    if len(absent) == 1 and not results.exists():
        raise UsageError(f"'{absent[0]}' is no results folder or file")
    if absent:
        records = read((results,)).select(**options)
        notices(records)
        folder = _folder(results)
        return Compared(between(records, a, b, folder=folder), folder, folder)
    sides = [read((Path(side),)).select(**options) for side in (a, b)]
    for side in sides:
        notices(side)
    folder, folder_b = _folder(a), _folder(b)
    return Compared(between_runs(*sides, folder=folder, folder_b=folder_b), folder, folder_b)


def read(paths: tuple[Path, ...]) -> Records:
    """Return the records in folders and files; those of smoke runs only if there are no others."""
    from harness.errors import UsageError
    from harness.results.folder import read_results
    from harness.results.records import Records
    from harness.results.smoke_runs import set_aside

    chosen = paths or (Path("results"),)
    records = read_results(*chosen)
    if not records:
        places = ", ".join(f"'{path}'" for path in chosen)
        if records.notices:
            raise UsageError(f"no line in {places} is a record: {records.notices[0]}")
        raise UsageError(f"no records in {places}; `harness eval` writes them")
    whole, smoke = set_aside(records)
    if not whole or not smoke:  # there is nothing that they could be mixed up with
        return records
    return Records(whole, notices=(*records.notices, smoke))


def _folder(path: Path | str) -> Path:
    """Return the results folder of a path, which may be a file in it."""
    return Path(path) if Path(path).is_dir() else Path(path).parent


def notices(records: Records) -> None:
    """Print what was noticed when the records were read."""
    for notice in records.notices:
        click.echo(notice, err=True)
