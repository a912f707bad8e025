"""`harness plan`: what an evaluation would encode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from harness import labels
from harness.commands import arguments

if TYPE_CHECKING:
    from harness.embedder import Embedder
    from harness.run.run import Run


@click.command("plan")
@arguments.evaluation
@arguments.verbose
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Show what an evaluation would encode, without encoding anything.

    What models, mitigators and files would run, read elsewhere, or contact is listed, too.
    """
    from harness import names
    from harness.commands import output, report
    from harness.registry.registry import Registry
    from harness.results.not_run import NotRun
    from harness.results.outcome import Outcome
    from harness.run.run import Run
    from harness.run.same_models import distinct
    from harness.run.settings import Settings

    settings = Settings(
        results=options["results"],
        cache=options["cache"],
        seed=options["seed"],
        overwrite=options["overwrite"],
        concept=arguments.concept_or_none(options["concept"]),
        exclude=names.split(options["exclude"]),
        limit=options["limit"],
        any_language=options["any_language"],
    )
    registry = Registry(include=options["include"], trust=options["trust"])
    run = Run(registry, settings, names.split(options["tasks"]), list(options["mitigators"]))
    models, notices = distinct(
        [(model, registry.embedder(model)) for model in options["models"]], registry.embedders
    )
    asked = _asked(ctx, run)
    plans = [
        {**_of_model(run, cast("Embedder", embedder)), "asked": asked} for _, embedder in models
    ]
    if options["as_json"]:
        output.as_json(plans)
        return 0
    for plan in plans:
        if plan["tasks"]:
            output.table(
                ["task", "mitigators", "texts", "stored", "to encode"],
                [list(row.values()) for row in plan["tasks"]],
                title=plan["model"],
                shorten=["mitigators"],
            )
        click.echo(
            f"{output.counted(plan['texts'], 'distinct text')}, {plan['stored']} stored, "
            f"{plan['to_encode']} to encode; "
            f"{output.counted(plan['done'], 'job')} recorded already"
            f"{_cost(plan)}\n"
        )
    for line in asked:
        click.echo(line)
    for line in report.counts([Outcome(**plan["outcome"]) for plan in plans], "can run"):
        click.echo(line)
    not_run = [NotRun(**entry) for plan in plans for entry in plan["not_run"]]
    report.explain(not_run, verbose=options["verbose"])
    for line in notices:
        click.echo(line, err=True)
    return 0


def _asked(ctx: click.Context, run: Run) -> list[str]:
    """Return what names and files would run, read outside of a file's folder, or contact."""
    from harness.registry import trust

    gate, typed = arguments.run_file_gate(ctx), arguments.typed(ctx)
    lines = [] if gate is None else [f"{gate.document.path}: {line}" for line in gate.lines()]
    anywhere = trust.Requests(run.registry, [Path(Path.cwd().anchor)])
    for option, requests in (("models", anywhere.of_model), ("mitigators", anywhere.of_mitigator)):
        for name in ctx.params[option] if option in typed else ():
            lines += [f"{labels.without_secrets(name)}: {request}" for request in requests(name)]
    for entry in run.tasks.selected:
        if not run.registry.is_installed(entry.document.path):
            of_task = trust.of_task(entry.document, run.registry).lines()
            lines += [f"{entry.document.path}: {line}" for line in of_task]
    return list(dict.fromkeys(lines))


def _cost(plan: dict[str, Any]) -> str:
    """Return a line with the tokens to encode, and their cost if the price is known."""
    if not plan["tokens"]:
        return ""
    cost = f", US$ {plan['cost']:.4f}" if plan["cost"] is not None else ""
    return f"\nestimate for the texts to encode: {plan['tokens']:,} tokens{cost}"


def _of_model(run: Run, embedder: Embedder) -> dict[str, Any]:
    """Return the plan for a model as `--json` prints it."""
    from harness.encode import canary
    from harness.encode.batches import token_lengths
    from harness.results.folder import ResultsFile
    from harness.results.outcome import outcome

    canary.remember(embedder, run.place)  # a plan asks nobody
    info = embedder.info
    folder = run.results
    file = ResultsFile(folder, info.name, run.shared) if folder and folder.is_dir() else None
    plan = run.plan(embedder, file)
    with run.store(embedder) as store:
        missing = set(store.missing(plan.texts))
    rows = []
    for task in dict.fromkeys(job.task.name for job in plan.jobs):
        jobs = [job for job in plan.jobs if job.task.name == task]
        texts = {text for job in jobs for text in job.needed}
        rows.append(
            {
                "task": task,
                "mitigators": ", ".join(job.part.label for job in jobs),
                "texts": len(texts),
                "stored": len(texts - missing),
                "to_encode": len(texts & missing),
            }
        )
    is_text = info.kind == "text"  # words are looked up, which costs nothing
    tokens = int(token_lengths(embedder, list(missing)).sum()) if is_text else 0
    runs = dict.fromkeys(job.task.name for job in (*plan.done, *plan.jobs))
    return {
        "model": info.name,
        "tasks": rows,
        "texts": len(plan.texts),
        "stored": len(plan.texts) - len(missing),
        "to_encode": len(missing),
        "tokens": tokens,
        "cost": None if info.price is None else tokens * info.price / 1e6,
        "done": len(plan.done),
        "outcome": vars(outcome(info.name, info.kind, tuple(runs), plan.not_run)),
        "not_run": [vars(entry) for entry in plan.not_run],
    }
