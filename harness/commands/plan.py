"""`harness plan`: what an evaluation would encode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.commands import arguments


@click.command("plan")
@arguments.evaluation
def command(**given: Any) -> int:
    """Show what an evaluation would encode, without encoding anything."""
    from harness.commands import output
    from harness.registry.registry import Registry
    from harness.run import evaluation
    from harness.run.settings import Settings

    settings = Settings(
        results=given["results"],
        cache=given["cache"],
        seed=given["seed"],
        overwrite=given["overwrite"],
        concept=arguments.concept_or_none(given["concept"]),
    )
    registry = Registry(include=given["include"])
    run = evaluation.Run(
        registry, settings, arguments.split(given["tasks"]), list(given["mitigators"])
    )
    plans = [_of_model(run, model, settings) for model in dict.fromkeys(given["models"])]
    if given["as_json"]:
        output.as_json(plans)
        return 0
    for plan in plans:
        output.table(
            ["task", "mitigators", "texts", "stored", "to encode"],
            [list(row.values()) for row in plan["tasks"]],
            title=plan["model"],
            shorten="mitigators",
        )
        click.echo(
            f"{output.counted(plan['texts'], 'distinct text')}, {plan['stored']} stored, "
            f"{plan['to_encode']} to encode; "
            f"{output.counted(plan['done'], 'job')} recorded already"
            f"{_cost(plan)}\n"
        )
        for line in plan["not_run"]:
            click.echo(line, err=True)
    return 0


def _cost(plan: dict[str, Any]) -> str:
    """Return a line on the tokens to encode, and what they cost where the price is known."""
    if not plan["tokens"]:
        return ""
    cost = f", US$ {plan['cost']:.4f}" if plan["cost"] is not None else ""
    return f"\nan estimate of what is to encode: {plan['tokens']:,} tokens{cost}"


def _of_model(run: Any, model: str, settings: Any) -> dict[str, Any]:
    from harness.commands.evaluate import not_run
    from harness.encode.batches import token_lengths
    from harness.results.folder import ResultsFile
    from harness.results.records import Records

    embedder = run.registry.embedder(model)
    info = embedder.info
    folder: Path = settings.results
    file = ResultsFile(folder, info.name) if folder.is_dir() else None
    plan = run.plan(embedder, file)
    with run.store(info) as store:
        lacking = set(store.missing(plan.texts))
    rows = []
    for task in dict.fromkeys(job.task.name for job in plan.jobs):
        jobs = [job for job in plan.jobs if job.task.name == task]
        texts = {text for job in jobs for text in job.needed}
        rows.append(
            {
                "task": task,
                "mitigators": ", ".join(job.part.name for job in jobs),
                "texts": len(texts),
                "stored": len(texts - lacking),
                "to_encode": len(texts & lacking),
            }
        )
    is_text = info.kind == "text"  # words are looked up
    tokens = int(token_lengths(embedder, list(lacking)).sum()) if is_text else 0
    return {
        "model": info.name,
        "tasks": rows,
        "texts": len(plan.texts),
        "stored": len(plan.texts) - len(lacking),
        "to_encode": len(lacking),
        "tokens": tokens,
        "cost": None if info.price is None else tokens * info.price / 1e6,
        "done": len(plan.done),
        "not_run": not_run(Records([], skipped=plan.skipped)),
    }
