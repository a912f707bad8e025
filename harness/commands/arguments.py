"""The options that several commands share, and the completion of names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def complete(kind: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function that completes names of a kind for the shell."""

    def completions(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        from harness.registry.registry import Registry

        registry = Registry()
        known: dict[str, Iterable[str]] = {
            "model": registry.embedders,
            "mitigator": ["none", *registry.mitigators],
            "metric": registry.metrics,
            "task": ["all", *registry.task_files],
            "concept": registry.concept_files,
            "study": registry.study_files,
        }
        return sorted(name for name in known[kind] if name.startswith(incomplete))

    return completions


def model(purpose: str) -> Callable[[F], F]:
    """Return the option of one model, which must be given; `purpose` is its help."""
    return click.option(
        "--model", "-m", required=True, help=purpose, shell_complete=complete("model")
    )


def concept(purpose: str) -> Callable[[F], F]:
    """Return the option of a concept; `purpose` is its help."""
    return click.option(
        "--concept",
        default="gender",
        show_default=True,
        help=purpose,
        shell_complete=complete("concept"),
    )


def out(purpose: str) -> Callable[[F], F]:
    """Return the option of the file to write, which must be given; `purpose` is its help."""
    return click.option(
        "--out",
        "-o",
        type=click.Path(path_type=Path, dir_okay=False),
        required=True,
        help=purpose,
    )


overwrite = click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
include = click.option(
    "--include",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A further folder of tasks, concepts and studies; repeatable.",
)
results = click.option(
    "--results",
    "-r",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder of the records; what is there is not run again.",
)
cache = click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Folder of the stored embeddings.  [default: in HARNESS_CACHE]",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")


def what(function: F) -> F:
    """Add the options that say what to evaluate."""
    options = [
        click.option(
            "--model",
            "-m",
            "models",
            multiple=True,
            required=True,
            help="Model: a registered name, or provider:reference; repeatable.",
            shell_complete=complete("model"),
        ),
        click.option(
            "--mitigator",
            "-M",
            "mitigators",
            multiple=True,
            default=("none",),
            show_default=True,
            help="Mitigator, such as hard-debias?k=2; chain with +; repeatable.",
            shell_complete=complete("mitigator"),
        ),
        click.option(
            "--tasks",
            "-t",
            multiple=True,
            default=("all",),
            show_default=True,
            help="Names, globs, tags, categories, all, or files; commas or repeated.",
            shell_complete=complete("task"),
        ),
        results,
        cache,
        concept("Fits mitigators where a task's own concept lacks what they need; or none."),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
        click.option("--overwrite", is_flag=True, help="Run again what is recorded."),
        include,
        as_json,
    ]
    for option in reversed(options):
        function = option(function)
    return function


def split(values: Iterable[str]) -> list[str]:
    """Return comma-separated values of a repeatable option as one list."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def concept_or_none(name: str) -> str | None:
    """Return the name of a concept, or None for `none`."""
    return None if name == "none" else name
