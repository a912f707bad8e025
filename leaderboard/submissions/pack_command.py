"""`harness results pack`: the command line of a submission's first step."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import arguments


@click.command("pack")
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), required=True, help="Folder to write into."
)
@click.option("--by", required=True, help="Who submits: a person or organisation; public.")
@click.option(
    "--licence",
    default="CC0-1.0",
    show_default=True,
    help="Licence of the results, an SPDX expression.",
)
@click.option("--contact", help="Address or page for questions; public.")
@click.option("--overwrite", is_flag=True, help="Replace files that differ.")
@arguments.include
def pack(
    results: Path,
    out: Path,
    by: str,
    licence: str,
    contact: str | None,
    overwrite: bool,
    include: tuple[Path, ...],
) -> None:
    """Pack the records in RESULTS for a results repository.

    Writes results/MODEL/FINGERPRINT/RUN.jsonl into OUT, and a submission.json beside it. Leaves out
    what a check would refuse, such as smoke runs and tasks that are not registered, and says so.
    Tables, figures and samples stay where they are.

    \b
    harness results pack results --out submission --by "Ada Example"
    """  # noqa: D301  # click keeps the lines after a backspace
    import shlex

    from harness.commands.output import counted
    from harness.leaderboard.submissions import pack as packing

    packed = packing.pack(
        results,
        out,
        by=by,
        licence=licence,
        contact=contact,
        overwrite=overwrite,
        include=include,
    )
    for reason, n in packed.left_out.items():
        click.echo(f"{counted(n, 'record')} left out: {reason}", err=True)
    for path, n in packed.written.items():
        click.echo(f"{path}: {counted(n, 'record')}")
    for path in packed.kept:
        click.echo(f"{path}: is there, unchanged")
    click.echo(f"\nlicence of the results: {licence}")
    folders = [word for folder in include for word in ("--include", str(folder))]
    click.echo(f"next: {shlex.join(['harness', 'results', 'check', str(out), *folders])}")
