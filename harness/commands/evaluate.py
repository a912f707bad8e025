"""`harness eval`: the main job."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments

if TYPE_CHECKING:
    from harness.results.record import MitigatorPart, Record
    from harness.results.records import Records


@click.command("eval")
@arguments.evaluation
@click.option(
    "--devices", default="", help="Devices, such as cuda:0,cuda:1 or cpu,cpu: one process each."
)
@click.option("--engine", help="Name of the engine that encodes.")
@click.pass_obj
def command(debug: bool, /, **given: Any) -> int:
    """Evaluate models under mitigators on tasks.

    \b
    harness eval --model all-MiniLM-L6-v2 --mitigator none --mitigator hard-debias --tasks all
    harness eval -m vectors:./my-vectors.txt -t 'weat-*' -t similarity
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import progress
    from harness.run import evaluation

    records = evaluation.evaluate(
        list(dict.fromkeys(given["models"])),
        arguments.split(given["tasks"]),
        list(given["mitigators"]),
        results=given["results"],
        cache=given["cache"],
        concept=arguments.concept_or_none(given["concept"]),
        seed=given["seed"],
        overwrite=given["overwrite"],
        include=list(given["include"]),
        devices=arguments.split([given["devices"]]),
        engine=given["engine"],
        progress=progress.for_terminal(),
        debug=debug,
    )
    report(records, given["results"], as_json=given["as_json"])
    return 0 if len(records) and not records.failed else 1


def report(records: Records, results: Path, *, as_json: bool) -> None:
    """Print what an evaluation gave: a table a model, and what was not run and why."""
    from harness.commands import output

    if as_json:
        output.as_json(
            {
                "records": [record.model_dump(mode="json", by_alias=True) for record in records],
                "not_run": [vars(skipped) for skipped in records.skipped],
                "notices": list(records.notices),
                "encoded": records.encoded,
            }
        )
        return
    _scores(records)
    for line in [*void(records), *not_run(records)]:
        click.echo(line, err=True)
    for notice in records.notices:
        click.echo(notice, err=True)
    if len(records):
        made, encoded = (
            output.counted(len(records), "record"),
            output.counted(records.encoded, "text"),
        )
        click.echo(f"{made} in {results}, {encoded} encoded")


def _scores(records: Records) -> None:
    from harness.commands import output
    from harness.results.record import STARS

    shown = [record for record in records if record.primary]
    for model in dict.fromkeys(record.model.name for record in shown):
        own = [record for record in shown if record.model.name == model]
        settings = _settings(own)
        columns = list(dict.fromkeys(_column(record.mitigator, settings) for record in own))
        cells = {(record.task.name, _column(record.mitigator, settings)): record for record in own}
        rows = []
        for task in dict.fromkeys(record.task.name for record in own):
            found = [cells.get((task, column)) for column in columns]
            first = next(record for record in found if record)
            ideal = first.ideal if isinstance(first.ideal, str) else f"{first.ideal:g}"
            rows.append([task, first.score, ideal, *(_value(record) for record in found)])
        output.table(["task", "score", "ideal", *columns], rows, title=model, drop=("score",))
    if shown:
        legend = [STARS, "– was not run"]
        if any(record.value is None for record in shown):
            legend.append("void: too many words were missing, or what is told below")
        if any(record.metric == "weat" and _one_sided(record) for record in shown):
            legend.append(
                "p-values of WEAT tasks are one-sided, as published: "
                "a reversed association has no star"
            )
        click.echo("; ".join(legend) + "\n")


def _settings(records: Iterable[Record]) -> dict[str, list[dict[str, Any]]]:
    """Return the distinct parameters that each mitigator was run with."""
    settings: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        known = settings.setdefault(record.mitigator.name, [])
        if record.mitigator.params not in known:
            known.append(record.mitigator.params)
    return settings


def _column(mitigator: MitigatorPart, settings: dict[str, list[dict[str, Any]]]) -> str:
    """Return a mitigator's name, with those parameters that tell it from its like."""
    alike = settings[mitigator.name]
    telling = [
        f"{key}={value}"
        for key, value in mitigator.params.items()
        if any(params.get(key) != value for params in alike)
    ]
    return mitigator.name + ("?" + "&".join(telling) if telling else "")


def _value(record: Record | None) -> str:
    from harness.results.record import stars

    if record is None:
        return "–"
    if record.value is None:
        return "void"
    return f"{record.value:.3f}{stars(record.p_value)}"


def _one_sided(record: Record) -> bool:
    return record.p_value is not None and record.details.get("alternative") == "greater"


def void(records: Records) -> list[str]:
    """Return a line for each reason that scores of the table are void."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for record in records:
        if record.primary and record.value is None:
            key = (record.model.name, record.task.name, record.reason or "no number")
            grouped.setdefault(key, []).append(record.mitigator.name)
    merged: dict[tuple[str, str, str], list[str]] = {}
    for (model, task, reason), mitigators in grouped.items():
        key = (model, ", ".join(dict.fromkeys(mitigators)), reason)
        merged.setdefault(key, []).append(task)
    return [
        f"void: {model} under {mitigators} on {', '.join(tasks)}: {reason}"
        for (model, mitigators, reason), tasks in merged.items()
    ]


def not_run(records: Records) -> list[str]:
    """Return a line for each reason that tasks were not run."""
    grouped: dict[tuple[str, str, str, bool], list[str]] = {}
    for skipped in records.skipped:
        key = (skipped.model, skipped.mitigator, skipped.reason, skipped.failed)
        grouped.setdefault(key, []).append(skipped.task)
    merged: dict[tuple[str, str, str, bool], list[str]] = {}
    for (model, mitigator, reason, failed), tasks in grouped.items():
        key = (model, ", ".join(tasks), reason, failed)
        merged.setdefault(key, []).append(mitigator)
    return [
        f"{'FAILED' if failed else 'not run'}: {model} under {', '.join(mitigators)} "
        f"on {tasks}: {reason}"
        for (model, tasks, reason, failed), mitigators in merged.items()
    ]
