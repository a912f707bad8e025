"""`harness results rerun`: runs random cells of a submission again."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import arguments
from harness.folders import Place


@click.command("rerun")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--base",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Results repository that they join: what it has is not run.",
)
@click.option(
    "--cells",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of random cells: a model under a mitigator on a task.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the choice."
)
@click.option(
    "--trust-models",
    is_flag=True,
    help="Also run models that are not registered, with downloads, models' own code and your keys.",
)
@arguments.include
@arguments.cache
@arguments.as_json
def rerun(
    paths: tuple[Path, ...],
    base: Path | None,
    cells: int,
    seed: int,
    trust_models: bool,
    include: tuple[Path, ...],
    cache: Place | None,
    as_json: bool,
) -> None:
    """Run random cells of a submission again.

    A cell is a model under a mitigator on a task.

    Without --trust-models, only registered models are run, under mitigators whose options are
    numbers, and nothing is downloaded but data of registered tasks. Values count as the same if
    they differ by at most 1e-4 of the score's unit or range, as they do between machines. Exits
    with 1 if one differs.

    \b
    harness results rerun ../submission --base . --cells 3
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import labels
    from harness.commands import output
    from harness.leaderboard.submissions import rerun as running
    from harness.leaderboard.submissions.comment import printable
    from harness.registry.registry import Registry

    verdicts = running.rerun(
        paths,
        cells,
        base=base,
        seed=seed,
        cache=cache,
        trusting=trust_models,
        registry=Registry(include=include),
    )
    if as_json:
        output.as_json([vars(verdict) for verdict in verdicts])
    else:
        rows = [
            [printable(labels.without_secrets(text), 200) for text in vars(verdict).values()]
            for verdict in verdicts
        ]
        output.table(("model", "mitigator", "task", "outcome", "reason"), rows, shorten=("reason",))
    if any(verdict.outcome == running.DIFFERS for verdict in verdicts):
        click.get_current_context().exit(1)
