"""`harness eval`: the main job."""

from __future__ import annotations

import warnings
from typing import Any

import click

from harness.commands import arguments


@click.command("eval")
@arguments.evaluation
@click.option(
    "--devices", default="", help="Devices, such as cuda:0,cuda:1 or cpu,cpu: one process each."
)
@click.option("--name", help="Label of the model; for a single --model. The same as ?name=.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="A further metric for each task that has all its inputs, with its default options; "
    "repeatable.",
    shell_complete=arguments.complete("metric"),
)
@click.option("--engine", help="Name of the engine that encodes: local, devices, or ray?actors=4.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="End a process that takes longer for a batch, and try its texts once more.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Number of processes that score; no number depends on it.  [default: the cores, if "
    "there is enough to do]",
)
@click.option("--intervals", is_flag=True, help="Show confidence intervals, not changes.")
@arguments.verbose
@click.option("--quiet", is_flag=True, help="Print failures only.")
@click.option(
    "--samples",
    is_flag=True,
    help="Write what each word, pair or text contributes to a score, beside the records.",
)
@click.pass_obj
def command(debug: bool, /, **options: Any) -> int:
    """Evaluate models under mitigators on tasks.

    \b
    harness eval --model all-MiniLM-L6-v2 --mitigator none --mitigator hard-debias --tasks all
    harness eval -m ./my-vectors.txt -t 'weat-*' -t similarity
    harness eval -m all-MiniLM-L6-v2 -t quick
    harness eval -c results/runs/ID.yaml

    Exit code 1: something failed, no task was run, or one that was asked for by its own name was
    not.
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import names, progress
    from harness.commands import output, report
    from harness.errors import UsageError
    from harness.results.not_run import NotRunWarning
    from harness.run import evaluation

    models = list(dict.fromkeys(options["models"]))
    if options["name"] is not None:
        if len(models) > 1:
            raise UsageError(
                "--name is for a single --model; write --model 'MODEL?name=…' for each"
            )
        models = [names.with_option(models[0], "name", options["name"])]
    quiet = options["quiet"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotRunWarning)  # the report says it
        records = evaluation.evaluate(
            models,
            options["tasks"],
            list(options["mitigators"]),
            metrics=list(options["metrics"]),
            results=options["results"],
            cache=options["cache"],
            concept=arguments.concept_or_none(options["concept"]),
            seed=options["seed"],
            overwrite=options["overwrite"],
            samples=options["samples"],
            include=list(options["include"]),
            trust=list(options["trust"]),
            exclude=options["exclude"],
            limit=options["limit"],
            any_language=options["any_language"],
            devices=options["devices"],
            engine=options["engine"],
            timeout=options["timeout"],
            workers=options["workers"],
            progress=progress.Silent() if quiet else progress.for_terminal(),
            debug=debug,
        )
    if options["as_json"]:
        output.as_json(report.as_json(records))
    else:
        report.show(
            records,
            options["results"],
            verbose=options["verbose"],
            quiet=quiet,
            intervals=options["intervals"],
        )
    return 0 if len(records) and not records.failed and not records.missed else 1
