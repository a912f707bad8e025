"""Options that several commands share, and shell completion of names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from harness import folders
from harness.embedder import MOST_PROMPTS

if TYPE_CHECKING:
    from harness.registry.registry import Registry


# The kinds of names that users type, and the names of each kind.


SHOWN = ("model", "mitigator", "metric", "task", "concept", "study", "benchmark")
"""Kinds that `harness show` shows."""
SELECTION = "selection"
"""What `--tasks` takes: tasks, benchmarks, tags, categories and `all`."""


def names_of_kind(registry: Registry, kind: str) -> Iterable[str]:
    """Return the names of a kind: one of `SHOWN`, or `SELECTION`."""
    by_kind: dict[str, Callable[[], Iterable[str]]] = {
        "model": lambda: registry.embedders,
        "mitigator": lambda: ["none", *registry.mitigators],
        "metric": lambda: registry.metrics,
        "task": lambda: registry.task_files,
        "concept": lambda: registry.concept_files,
        "study": lambda: registry.study_files,
        "benchmark": lambda: registry.benchmark_files,
        SELECTION: lambda: _selection(registry),
    }
    return by_kind[kind]()


def commands_for(registry: Registry, name: str) -> list[str]:
    """Return the commands that show the objects of a name."""
    from harness.run.tasks import list_tasks

    commands = [
        f"harness show {kind} {name}" for kind in SHOWN if name in names_of_kind(registry, kind)
    ]
    heads = [entry.file for entry in list_tasks(registry)]
    if any(name in head.tags for head in heads):
        commands.append(f"harness list tasks --tag {name}")
    if any(name in (head.category, head.measures) for head in heads):
        commands.append(f"harness list tasks --category {name}")
    return commands


def _selection(registry: Registry) -> Iterable[str]:
    from harness.run.tasks import known_names, list_tasks

    return known_names(registry, list_tasks(registry))


F = TypeVar("F", bound=Callable[..., Any])


class PlaceType(click.Path):
    """A folder: a path, or an address such as `s3://bucket/folder`."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a Path or a Url."""
        place = folders.place(value)
        return place if isinstance(place, folders.Url) else super().convert(value, param, ctx)


class LocalType(PlaceType):
    """A folder on this machine."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a Path."""
        place = super().convert(value, param, ctx)
        if isinstance(place, folders.Url):
            self.fail(f"'{place}' is in a bucket, but this must be a folder of this machine")
        return place


def copied(name: str) -> Callable[[F], F]:
    """Let a command read results in buckets: copies the folders in the parameter `name`."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            from harness.results import folder

            value = options[name]
            is_single = isinstance(value, Path | folders.Url)
            paths = tuple(map(folder.local_copy, [value] if is_single else value))
            return function(*arguments, **options | {name: paths[0] if is_single else paths})

        return cast("F", call)

    return decorate


def complete(kind: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function that completes names of `kind` (`model`, `task` …) in a shell."""

    def completions(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        from harness.registry.registry import Registry

        names = names_of_kind(Registry(), kind)
        return sorted(name for name in names if name.startswith(incomplete))

    return completions


def model(purpose: str) -> Callable[[F], F]:
    """Return the required option `--model`; `purpose` is its help."""
    return click.option(
        "--model", "-m", required=True, help=purpose, shell_complete=complete("model")
    )


def concept(purpose: str) -> Callable[[F], F]:
    """Return the option `--concept`; `purpose` is its help."""
    return click.option(
        "--concept",
        default="gender",
        show_default=True,
        help=purpose,
        shell_complete=complete("concept"),
    )


def out(purpose: str, *, folder: bool = False) -> Callable[[F], F]:
    """Return the required option `--out`, what to write; `purpose` is its help.

    Parameters
    ----------
    purpose
        Its help.
    folder
        Whether it may be a folder.
    """
    return click.option(
        "--out",
        "-o",
        type=click.Path(path_type=Path, dir_okay=folder),
        required=True,
        help=purpose,
    )


overwrite = click.option("--overwrite", is_flag=True, help="Replace an existing file.")
include = click.option(
    "--include",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Another folder of tasks, concepts, studies and benchmarks; repeatable.",
)
trust = click.option(
    "--trust",
    is_flag=True,
    help="Let the files of others run code, and name keys and addresses.",
)


def _results(kind: PlaceType, where: str) -> Callable[[F], F]:
    return click.option(
        "--results",
        "-r",
        type=kind,
        default=Path("results"),
        show_default=True,
        help=f"Folder of the records{where}; scores recorded there are not computed again.",
    )


results = _results(LocalType(), "")
shared_results = _results(PlaceType(), ", also in a bucket, such as s3://bucket/folder")
cache = click.option(
    "--cache",
    type=PlaceType(),
    help="Folder of the cached embeddings, also in a bucket, such as s3://bucket/folder.  "
    "[default: embeddings/ in HARNESS_CACHE]",
)
verbose = click.option(
    "--verbose", is_flag=True, help="List all tasks and reasons; eval: also scenarios and seconds."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")


_RUN_FILE = "harness.run_file"


def _read_run_file(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> None:
    """Read options that the command line omits from a run file."""
    if path is not None:
        from harness.run import settings

        ctx.default_map = settings.read_run_file(path)
        ctx.meta[_RUN_FILE] = path


def typed(ctx: click.Context) -> set[str]:
    """Return the names of the options that the user typed."""
    source = click.core.ParameterSource.COMMANDLINE
    return {name for name in ctx.params if ctx.get_parameter_source(name) is source}


def _checked(function: F) -> F:
    """Check what a run file asks for, but for what the user typed, before the command runs."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        ctx = click.get_current_context()
        if _RUN_FILE in ctx.meta:
            from harness.registry.registry import Registry
            from harness.run import settings
            from harness.task import yaml_files

            document = yaml_files.load(ctx.meta[_RUN_FILE])
            registry = Registry(trust=ctx.params["trust"])
            settings.asked_in_file(document, registry, typed(ctx)).check()
        return function(*arguments, **options)

    return cast("F", call)


config = click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path),
    is_eager=True,  # before the options whose defaults it sets
    expose_value=False,
    callback=_read_run_file,
    help="YAML file of a run, such as results/runs/ID.yaml; other options override it.",
)


def evaluation(function: F) -> F:
    """Add the options that `harness eval` and `harness plan` share."""
    options = [
        config,
        click.option(
            "--model",
            "-m",
            "models",
            multiple=True,
            required=True,
            help="Registered name, hub id, folder, file or provider:reference; repeatable.",
            shell_complete=complete("model"),
        ),
        click.option(
            "--mitigator",
            "-M",
            "mitigators",
            multiple=True,
            default=("none",),
            show_default=True,
            help="Mitigator, e.g. hard-debias?k=2; + makes a chain; repeatable.",
            shell_complete=complete("mitigator"),
        ),
        click.option(
            "--tasks",
            "-t",
            multiple=True,
            default=("all",),
            show_default=True,
            help="Names, globs, benchmarks, tags, categories, files or all; comma-separated or "
            "repeated.",
            shell_complete=complete(SELECTION),
        ),
        click.option(
            "--exclude",
            "-x",
            multiple=True,
            help="Tasks to leave out, written as after --tasks.",
            shell_complete=complete(SELECTION),
        ),
        click.option(
            "--limit",
            type=click.IntRange(min=1),
            help="Smoke run: cut each set and table of a task to N items; never ranked.",
            metavar="N",
        ),
        click.option(
            "--any-language",
            is_flag=True,
            help="Also run tasks in languages that a model's card lacks, as a control.",
        ),
        click.option(
            "--prompts",
            type=click.IntRange(1, MOST_PROMPTS),
            metavar="N",
            help="Run each model under N neutral instructions: its own, none, and stated ones. "
            "By default what a benchmark asks for, for bias; 1 is its own alone.",
        ),
        shared_results,
        cache,
        concept("Concept for mitigators that need more than a task's concept has; or none."),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Seed of all random numbers.",
        ),
        click.option("--overwrite", is_flag=True, help="Compute recorded scores again."),
        include,
        trust,
        as_json,
    ]
    function = _checked(function)
    for option in reversed(options):
        function = option(function)
    return function


def refuse_to_replace(path: Path | None, *, overwrite: bool) -> None:
    """Raise UsageError if a file to write exists, unless `overwrite` allows to replace it."""
    from harness.errors import UsageError

    if path is not None and path.exists() and not overwrite:
        raise UsageError(f"'{path}' exists; --overwrite replaces it")


def concept_or_none(name: str) -> str | None:
    """Return the name of a concept; None for `none`."""
    return None if name == "none" else name
