"""`harness eval`: the main job."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments

if TYPE_CHECKING:
    from harness.results.not_run import NotRun
    from harness.results.record import Record
    from harness.results.records import Records


ONE_SIDED = ("greater", "less")
"""Values of `details.alternative` in a record whose p-value is one-sided."""


@click.command("eval")
@arguments.evaluation
@click.option(
    "--devices", default="", help="Devices, such as cuda:0,cuda:1 or cpu,cpu: one process each."
)
@click.option("--engine", help="Name of the engine that encodes.")
@click.pass_obj
def command(debug: bool, /, **options: Any) -> int:
    """Evaluate models under mitigators on tasks.

    \b
    harness eval --model all-MiniLM-L6-v2 --mitigator none --mitigator hard-debias --tasks all
    harness eval -m vectors:./my-vectors.txt -t 'weat-*' -t similarity
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import progress
    from harness.run import evaluation

    records = evaluation.evaluate(
        list(dict.fromkeys(options["models"])),
        options["tasks"],
        list(options["mitigators"]),
        results=options["results"],
        cache=options["cache"],
        concept=arguments.concept_or_none(options["concept"]),
        seed=options["seed"],
        overwrite=options["overwrite"],
        include=list(options["include"]),
        devices=options["devices"],
        engine=options["engine"],
        progress=progress.for_terminal(),
        debug=debug,
    )
    report(records, options["results"], as_json=options["as_json"])
    return 0 if len(records) and not records.failed else 1


def report(records: Records, results: Path, *, as_json: bool) -> None:
    """Print the records: a table per model, and what was not run and why."""
    from harness.commands import output

    if as_json:
        output.as_json(
            {
                "records": [record.model_dump(mode="json", by_alias=True) for record in records],
                "not_run": [vars(entry) for entry in records.not_run],
                "notices": list(records.notices),
                "encoded": records.encoded,
            }
        )
        return
    _print_tables(records)
    for line in [*void_lines(records), *not_run_lines(records.not_run), *records.notices]:
        click.echo(line, err=True)
    if len(records):
        n_records = output.counted(len(records), "record")
        n_texts = output.counted(records.encoded, "text")
        click.echo(f"{n_records} in {results}, {n_texts} encoded")


def void_lines(records: Iterable[Record]) -> list[str]:
    """Return a line for each reason that scores of the table are void."""
    mitigators: dict[tuple[str, str, str], list[str]] = {}
    for record in records:
        if record.primary and record.value is None:
            key = (record.model.name, record.task.name, record.reason or "no number")
            mitigators.setdefault(key, []).append(record.mitigator.label)
    tasks: dict[tuple[str, str, str], list[str]] = {}
    for (model, task, reason), names in mitigators.items():
        under = ", ".join(dict.fromkeys(names))
        tasks.setdefault((model, under, reason), []).append(task)
    return [
        f"void: {model} under {under} on {', '.join(names)}: {reason}"
        for (model, under, reason), names in tasks.items()
    ]


def not_run_lines(entries: Iterable[NotRun]) -> list[str]:
    """Return a line for each reason that tasks were not run."""
    tasks: dict[tuple[str, str, str, bool], list[str]] = {}
    for entry in entries:
        key = (entry.model, entry.mitigator, entry.reason, entry.failed)
        tasks.setdefault(key, []).append(entry.task)
    mitigators: dict[tuple[str, str, str, bool], list[str]] = {}
    for (model, mitigator, reason, failed), names in tasks.items():
        key = (model, ", ".join(names), reason, failed)
        mitigators.setdefault(key, []).append(mitigator)
    return [
        f"{'FAILED' if failed else 'skipped'}: {model} under {', '.join(names)} on {on}: {reason}"
        for (model, on, reason, failed), names in mitigators.items()
    ]


def _print_tables(records: Iterable[Record]) -> None:
    """Print the primary scores: a table per model, and a legend."""
    from harness.commands import output

    primary = [record for record in records if record.primary]
    for model in dict.fromkeys(record.model.name for record in primary):
        of_model = [record for record in primary if record.model.name == model]
        columns = list(dict.fromkeys(record.mitigator.label for record in of_model))
        cells = {(record.task.name, record.mitigator.label): record for record in of_model}
        rows = []
        for task in dict.fromkeys(record.task.name for record in of_model):
            row = [cells.get((task, column)) for column in columns]
            first = next(record for record in row if record)
            ideal = first.ideal if isinstance(first.ideal, str) else f"{first.ideal:g}"
            rows.append([task, first.score, ideal, *(_value(record) for record in row)])
        output.table(["task", "score", "ideal", *columns], rows, title=model, drop=("score",))
    if primary:
        click.echo("; ".join(_legend(primary)) + "\n")


def _legend(records: Iterable[Record]) -> list[str]:
    from harness.results.record import STARS

    legend = [STARS, "– was not run"]
    if any(record.value is None for record in records):
        legend.append("void: too many words were missing, or reasons below")
    one_sided = [
        record.metric
        for record in records
        if record.p_value is not None and record.details.get("alternative") in ONE_SIDED
    ]
    if one_sided:
        metrics = ", ".join(dict.fromkeys(one_sided))
        legend.append(
            f"p-values of {metrics} are one-sided: an effect in the opposite direction has no star"
        )
    return legend


def _value(record: Record | None) -> str:
    from harness.results.record import stars

    if record is None:
        return "–"
    if record.value is None:
        return "void"
    return f"{record.value:.3f}{stars(record.p_value)}"
