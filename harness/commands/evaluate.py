"""`harness eval`: the main job."""

from __future__ import annotations

import functools
import shlex
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from harness import names
from harness.commands import arguments, output
from harness.printing import echo

if TYPE_CHECKING:
    from harness.embedder import Embedder, ModelInfo
    from harness.folders import Place
    from harness.results.records import NotRun, Outcome, Reason, Records
    from harness.run.evaluation import Run


@click.command("eval")
@arguments.evaluation
@click.option(
    "--devices",
    default="",
    help="Devices, such as cuda:0,cuda:1 or cpu,cpu: one process each. Default: the GPUs.",
)
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
    from harness.progress import Silent, for_terminal
    from harness.results.records import NotRunWarning
    from harness.run import evaluation

    models = list(dict.fromkeys(options["models"]))
    quiet = options["quiet"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotRunWarning)  # the report has these lines
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
            trust=options["trust"],
            exclude=options["exclude"],
            limit=options["limit"],
            any_language=options["any_language"],
            prompts=options["prompts"],
            devices=options["devices"],
            engine=options["engine"],
            workers=options["workers"],
            progress=Silent() if quiet else for_terminal(),
            debug=debug,
        )
    if options["as_json"]:
        output.as_json(report_as_json(records))
    else:
        show_report(
            records,
            options["results"],
            verbose=options["verbose"],
            quiet=quiet,
            intervals=options["intervals"],
        )
    return 0 if len(records) and not records.failed and not records.missed else 1


# `harness plan`: what an evaluation would encode.


@click.command("plan")
@arguments.evaluation
@arguments.verbose
def plan_command(**options: Any) -> int:
    """Show what an evaluation would encode, and how long it takes, without encoding anything.

    The time is a rough one, of the CPUs of this machine.
    """
    from harness.registry.registry import Registry
    from harness.results.records import NotRun, Outcome
    from harness.run.evaluation import Run, distinct, under_prompts
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
        prompts=options["prompts"],
    )
    registry = Registry(include=options["include"], trust=options["trust"])
    run = Run(registry, settings, names.split(options["tasks"]), list(options["mitigators"]))
    entries, own_only = under_prompts(
        [(model, registry.embedder(model)) for model in options["models"]], run
    )
    models, same = distinct(entries, registry)
    plans = [_of_model(run, cast("Embedder", embedder)) for _, embedder in models]
    if options["as_json"]:
        output.as_json(plans)
        return 0
    for plan in plans if options["verbose"] else ():
        if plan["tasks"]:
            output.table(
                ["task", "mitigators", f"{plan['unit']}s", "stored", "to encode"],
                [list(row.values()) for row in plan["tasks"]],
                title=plan["model"],
                shorten=["mitigators"],
            )
    for line in counts([Outcome(**plan["outcome"]) for plan in plans], "can run"):
        echo(line)
    not_run = [NotRun(**entry) for plan in plans for entry in plan["not_run"]]
    explain(not_run, verbose=options["verbose"])
    bases = {cast("Embedder", embedder).info.base for _, embedder in models}
    if n := len(bases - {""}):
        echo(
            f"{run.tasks.prompts} prompts: {output.counted(n, 'model')} first under the own one, "
            "then under other neutral instructions (--prompts 1: the own prompt alone)"
        )
    for line in (*own_only, *same):
        echo(line, err=True)
    echo()
    _show_totals(plans)
    return 0


# The time of a plan is estimated from two measurements, on two cores.


SCORING = 0.5
"""CPU seconds of a task under a mitigator: 124 of `glove-6b-50d` take 68."""
SHARE = 0.5
"""Operations a second of an encoder, over those of a matrix product: .53 of `all-MiniLM-L6-v2`."""


def _seconds(info: ModelInfo, tokens: int, jobs: int) -> float | None:
    """Return how long a plan takes on the CPUs of this machine; None if that is not known."""
    from harness import parallel

    encoding = 0.0
    if tokens:
        if info.hosted or info.n_parameters is None:
            return None
        encoding = 2 * info.n_parameters * tokens / (SHARE * _operations())
    return encoding + SCORING * jobs / parallel.cores()


@functools.cache
def _operations() -> float:
    """Return how many operations a second this machine does in a product of two matrices."""
    import numpy as np

    n = 1024
    matrix = np.ones((n, n), dtype=np.float32)
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        matrix @ matrix
        seconds.append(time.perf_counter() - started)
    return 2 * n**3 / min(seconds)


def _show_totals(plans: Sequence[dict[str, Any]]) -> None:
    """Print a line a model: what is to do and how long it takes; and their sum."""
    rows = [_totals(plan["model"], [plan]) for plan in plans]
    foot = [_totals("all", plans)] if len(plans) > 1 else []
    empty = {key for key in rows[0] if all(row[key] is None for row in rows)}
    columns = [key for key in rows[0] if key not in empty]
    cells = [[row[key] for key in columns] for row in (*rows, *foot)]
    output.table(columns, cells[: len(rows)], foot=cells[len(rows) :], drop=["tokens", "recorded"])


def _totals(name: str, plans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    from harness.results.formats import Value

    def total(key: str) -> Any:
        known = [plan[key] for plan in plans if plan[key] is not None]
        return sum(known) if known else None

    is_known = all(plan["seconds"] is not None for plan in plans)
    units = " and ".join(dict.fromkeys(f"{plan['unit']}s" for plan in plans))
    return {
        "model": name,
        "tasks": sum(len(plan["tasks"]) for plan in plans),
        "distinct": f"{total('texts'):,} {units}",
        "stored": Value(f"{total('stored'):,}"),
        "to encode": Value(f"{total('to_encode'):,}"),
        "recorded": Value(f"{total('done'):,}"),
        "tokens": Value(f"{tokens:,}") if (tokens := total("tokens")) else None,
        "US$": None if (cost := total("cost")) is None else Value(f"{cost:.4f}"),
        "time": f"about {_length(total('seconds'))}" if is_known else "not known",
    }


def _length(seconds: float) -> str:
    """Return a time in its unit: seconds, minutes or hours."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _of_model(run: Run, embedder: Embedder) -> dict[str, Any]:
    """Return the plan for a model as `--json` prints it."""
    from harness.embedder import PAIRS, reads_texts
    from harness.encode import admission
    from harness.encode.batches import token_lengths
    from harness.results.folder import ResultsFile
    from harness.results.records import outcome

    admission.remember(embedder, run.place)  # a plan sends no request
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
    is_text = reads_texts(info.kind)  # looking words up costs nothing
    tokens = int(token_lengths(embedder, list(missing)).sum()) if is_text else 0
    runs = dict.fromkeys(job.task.name for job in (*plan.done, *plan.jobs))
    return {
        "model": info.name,
        "unit": "pair" if info.kind == PAIRS else "text",  # what is counted
        "tasks": rows,
        "texts": len(plan.texts),
        "stored": len(plan.texts) - len(missing),
        "to_encode": len(missing),
        "tokens": tokens,
        "cost": None if info.price is None else tokens * info.price / 1e6,
        "seconds": _seconds(info, tokens, len(plan.jobs)),
        "done": len(plan.done),
        "outcome": vars(outcome(info.name, info.kind, tuple(runs), plan.not_run)),
        "not_run": [vars(entry) for entry in plan.not_run],
    }


# The end of a run: tables, what ran on each model, and the reasons for what did not.


LINES = 5
"""Most reasons of a kind that are printed without --verbose."""
HINTS = {
    "data": "   (harness data status says which)",
    "language": "   (--any-language runs them)",
}
"""Hints about tasks that did not run, by kind of reason."""
WIDTH = 80
"""Width of the block where the output is not a terminal."""


def show_report(
    records: Records, results: Place, *, verbose: bool, quiet: bool, intervals: bool
) -> None:
    """Print the tables of an evaluation, and the counts of tasks.

    Parameters
    ----------
    records
        The records.
    results
        Folder of the records.
    verbose
        Whether to print all reasons, scores of other scenarios, and seconds.
    quiet
        Whether to print failures only.
    intervals
        Whether the tables show confidence intervals instead of changes.
    """
    from harness.results import formats, tables
    from harness.results.records import outcomes, reasons

    if not quiet:
        width = formats.width()
        primary = [record for record in records if record.primary]
        sections = tables.sections(primary)
        formats.show(tables.report(sections, intervals=intervals, verbose=verbose), width)
        if verbose:
            from harness.commands import result_tables

            result_tables.show_other_scenarios(records, intervals=intervals, width=width)
            result_tables.show_seconds(records, width=width)
            echo(f"encoding took {records.seconds:.1f} s\n")
        for line in counts(outcomes(records, records.not_run)):
            echo(line)
        _joined(_facts(records, results), width or WIDTH)
        if records.reused:
            n_scores = output.counted(records.reused, "score")
            echo(f"{n_scores} from earlier records (--overwrite computes them again)")
        if line := _next(records, results):
            echo(f"next: {line}")
        explain((e for e in records.skipped if e.task not in records.missed), verbose=verbose)
        for notice in records.notices:
            echo(notice, err=True)
    _lines("FAILED: ", reasons(records.failed), verbose=True)
    missed = [entry for entry in records.skipped if entry.task in records.missed]
    _lines("skipped, but asked for by name: ", reasons(missed), verbose=True)
    if not records and not records.failed and not missed:
        echo("no task was run", err=True)


def report_as_json(records: Records) -> dict[str, Any]:
    """Return what `--json` prints."""
    from harness.results.records import outcomes

    return {
        "records": [record.model_dump(mode="json", by_alias=True) for record in records],
        "not_run": [vars(entry) for entry in records.not_run],
        "outcomes": [vars(outcome) for outcome in outcomes(records, records.not_run)],
        "missed": list(records.missed),
        "notices": list(records.notices),
        "texts": records.texts,
        "encoded": records.encoded,
        "reused": records.reused,
    }


def counts(outcomes: Sequence[Outcome], verb: str = "run") -> list[str]:
    """Return how many tasks ran on each model, and how many not by kind of reason.

    Parameters
    ----------
    outcomes
        The outcomes.
    verb
        The verb after the number of tasks: `run`, or `can run`.
    """
    lines = []
    column = max((len(outcome.model) for outcome in outcomes), default=0)
    hint = "   (--verbose lists them)"
    for outcome in outcomes:
        n_run, asked = len(outcome.run), outcome.asked
        if not asked:
            lines.append(f"{outcome.model:<{column}}   not available")
            continue
        lines.append(f"{outcome.model:<{column}}   {n_run:,} of {asked:,} tasks {verb}")
        if n_run == asked:
            continue
        other = {"text": "word embeddings", "word": "text encoders"}.get(outcome.embedder)
        numbers = {
            f"made for {other or 'other embedders'}": ("embedder", other is not None),
            "in other languages": ("language", False),
            "data missing": ("data", True),
            "mitigator does not apply": ("mitigator", False),
            "failed": ("failed", False),
        }
        for text, (kind, always) in numbers.items():
            n = len(_of_kind(outcome.not_run, kind))
            if n or always:
                where = HINTS.get(kind, hint)
                lines.append(f"  {text:<24}  {n:>4,}{where if n else ''}")
                hint = hint if kind in HINTS or not n else ""
    return lines


def explain(skipped: Iterable[NotRun], *, verbose: bool) -> None:
    """Print why tasks were skipped; without `verbose`, only reasons that no other line has."""
    from harness.results.records import reasons

    shown = [entry for entry in skipped if verbose or _says_more(entry)]
    _lines("skipped: ", reasons(shown), verbose=verbose)


def _says_more(entry: NotRun) -> bool:
    """Return whether the reason is in no other line; a notice names all missing files."""
    is_file = entry.reason.startswith("missing data: ")
    return entry.kind == "mitigator" or (entry.kind == "data" and not is_file)


def _of_kind(not_run: Mapping[Any, tuple[str, ...]], kind: str) -> tuple[str, ...]:
    return not_run.get(kind, ())


def _facts(records: Records, results: Place) -> list[str]:
    from harness.embedder import PAIRS

    n_void = sum(record.primary and record.judged().value is None for record in records)
    facts = [
        f"failed {len(records.failed):,}",
        f"void {n_void:,}",
        f"{output.counted(len(records), 'record')} in {results}",
    ]
    if records.texts:
        cached = int(100 * (1 - records.encoded / records.texts))  # 100 only if none was encoded
        of_pairs = {record.model.kind == PAIRS for record in records}
        counted = output.counted(records.texts, "pair" if of_pairs == {True} else "text")
        if len(of_pairs) > 1:
            counted = f"{records.texts:,} texts and pairs"
        facts.append(f"{counted}, {cached} % read from the cache")
    return facts


def _next(records: Records, results: Place) -> str:
    """Return what to do next; empty if there is no score."""
    if not any(record.value is not None for record in records):
        return ""
    if any(record.limit is not None for record in records):
        return "the same command without --limit, since a smoke run has no scores to compare"
    folder = shlex.quote(str(results))
    if len({record.model.base or record.model.name for record in records}) > 1:
        return f"harness leaderboard build {folder} --out site"
    labels = list(dict.fromkeys(record.mitigator.label for record in records))
    if len(labels) > 1:
        where = "" if str(results) == "results" else f" --results {folder}"
        return f"harness compare --recorded {shlex.join(labels[:2])}{where}"
    return "the same command with --mitigator none --mitigator hard-debias shows a mitigation"


def _joined(facts: Iterable[str], width: int) -> None:
    """Print facts, with as many on a line as fit."""
    line = ""
    for fact in facts:
        longer = f"{line} · {fact}" if line else fact
        if len(longer) > width:
            echo(line)
            longer = fact
        line = longer
    echo(line)


def _lines(label: str, reasons: Sequence[Reason], *, verbose: bool) -> None:
    shown = reasons if verbose else reasons[:LINES]
    for reason in shown:
        echo(f"{label}{reason.line(verbose=verbose)}", err=True)
    if len(reasons) > len(shown):
        more = output.counted(len(reasons) - len(shown), "more reason")
        echo(f"{label}{more} (--verbose lists them)", err=True)
