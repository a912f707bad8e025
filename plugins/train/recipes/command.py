"""`harness train --recipe`: runs a recipe and shows its result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from harness.errors import InvalidFile, UsageError

from .recipe import OPTIONS, Overrides, Recipe


def run(
    name: str,
    options: Mapping[str, Any],
    *,
    include: Iterable[Path] = (),
    trust: Iterable[Path] = (),
    dry_run: bool = False,
    as_json: bool = False,
) -> int:
    """Run a recipe by its name or file, show its result, and return the exit code.

    Parameters
    ----------
    name
        Name of an installed recipe, or path of a file.
    options
        Options of `harness train` that were typed: `out` is the folder of the recipe, by default
        one of its name; the others replace what the file says.
    include
        Further folders of recipes, tasks and concepts.
    trust
        Files that may run code, and name keys, addresses and paths anywhere.
    dry_run
        Whether only to list the steps.
    as_json
        Whether to print JSON.

    Returns
    -------
    int
        1 if a task did not run on some model, 2 if the file has mistakes, else 0.

    Raises
    ------
    UsageError
        If an option is about a single model.
    """
    from harness import folders, progress
    from harness.commands import output
    from harness.registry import discovery
    from harness.registry.registry import Registry

    from . import recipe, report
    from .run import run_recipe

    shown = progress.for_terminal()
    registry = Registry(include=tuple(include), trust=tuple(trust))
    registry.data.progress = shown
    try:
        resolved = recipe.resolve(
            discovery.find_file(registry.recipe_files, name), registry, _overrides(options)
        )
    except InvalidFile as error:
        for mistake in error.mistakes:
            click.echo(f"harness: {mistake}", err=True)
        return error.exit_code
    folder = options.get("out") or Path(folders.safe_name(resolved.file.name))
    if dry_run:
        _list(resolved, folder, as_json=as_json)
        return 0
    result = run_recipe(resolved, folder, registry=registry, progress=shown)
    report.write(result.summary, folder)
    if as_json:
        output.as_json(report.as_json(result.summary))
    else:
        report.show(result.summary)
        steps = output.counted(result.steps, "step")
        click.echo(f"{steps}, {result.new} of them new; tables and records in {folder}")
    for line in result.notices:
        click.echo(line, err=True)
    return int(bool(result.missed))


def _overrides(options: Mapping[str, Any]) -> Overrides:
    own = {key: options[key] for key in ("corpus", "format", "base", "limit") if key in options}
    training = {key: value for key, value in options.items() if key in OPTIONS}
    for key in options:
        if key not in own and key not in training and key != "out":
            option = key.replace("_", "-")
            raise UsageError(f"--{option} cannot be combined with --recipe")
    return Overrides(**own, training=training)


def _list(recipe: Recipe, folder: Path, *, as_json: bool) -> None:
    from harness.commands import output
    from harness.results import jsonl

    from .plan import plan
    from .record import StepRecord
    from .run import STEPS, unfinished

    steps = plan(recipe)
    path = folder / STEPS
    records = {r.id: r for r in jsonl.read(path, StepRecord, [])} if path.exists() else {}
    left = {step.name for step in unfinished(steps, records, folder)}
    rows = [
        {
            "step": i,
            "name": step.name,
            "needs": list(step.needs),
            "result": step.folder,
            "state": "to do" if step.name in left else "done",
        }
        for i, step in enumerate(steps, start=1)
    ]
    if as_json:
        output.as_json({"corpus": recipe.corpus, "folder": str(folder), "steps": rows})
        return
    output.table(list(rows[0]), [list(row.values()) for row in rows], drop=("needs", "result"))
    click.echo(f"{len(left)} of {len(steps)} steps to do; corpus {recipe.corpus}")
