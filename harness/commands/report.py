"""The end of a run: tables, what ran on each model, and the reasons for what did not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from harness.commands import output

if TYPE_CHECKING:
    from harness.folders import Place
    from harness.results.not_run import NotRun
    from harness.results.outcome import Outcome, Reason
    from harness.results.records import Records

LINES = 5
"""Most reasons of a kind that are printed without --verbose."""
HINTS = {
    "data": "   (harness data status says which)",
    "language": "   (--any-language runs them)",
}
"""What a user can do about tasks that did not run, by kind of reason."""
WIDTH = 80
"""Width of the block where the output is not a terminal."""


def show(records: Records, results: Place, *, verbose: bool, quiet: bool, intervals: bool) -> None:
    """Print the tables of an evaluation, and what ran.

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
        Whether the tables show confidence intervals in place of changes.
    """
    from harness.commands import result_tables
    from harness.results.outcome import outcomes, reasons, void

    if not quiet:
        width = output.width()
        primary = [record for record in records if record.primary]
        result_tables.show(primary, intervals=intervals, width=width)
        if verbose:
            result_tables.show_other_scenarios(records, intervals=intervals, width=width)
            result_tables.show_seconds(records, width=width)
            click.echo(f"encoding took {records.seconds:.1f} s\n")
        for line in counts(outcomes(records, records.not_run)):
            click.echo(line)
        _joined(_facts(records, results), width or WIDTH)
        if records.reused:
            n_scores = output.counted(records.reused, "score")
            click.echo(f"{n_scores} from earlier records (--overwrite computes them again)")
        explain((e for e in records.skipped if e.task not in records.missed), verbose=verbose)
        _lines("void: ", void(records), verbose=verbose)
        for notice in records.notices:
            click.echo(notice, err=True)
    _lines("FAILED: ", reasons(records.failed), verbose=True)
    missed = [entry for entry in records.skipped if entry.task in records.missed]
    _lines("skipped, but asked for by name: ", reasons(missed), verbose=True)
    if not records and not records.failed and not missed:
        click.echo("no task was run", err=True)


def as_json(records: Records) -> dict[str, Any]:
    """Return what `--json` prints."""
    from harness.results.outcome import outcomes

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
        What happens with a task: `run`, or `can run`.
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
    """Print why tasks were skipped; without `verbose`, only what no other line says."""
    from harness.results.outcome import reasons

    shown = [entry for entry in skipped if verbose or _says_more(entry)]
    _lines("skipped: ", reasons(shown), verbose=verbose)


def _says_more(entry: NotRun) -> bool:
    """Return whether the reason is in no other line: a notice names all files that are missing."""
    is_file = entry.reason.startswith("missing data: ")
    return entry.kind == "mitigator" or (entry.kind == "data" and not is_file)


def _of_kind(not_run: Mapping[Any, tuple[str, ...]], kind: str) -> tuple[str, ...]:
    return not_run.get(kind, ())


def _facts(records: Records, results: Place) -> list[str]:
    n_void = sum(record.primary and record.value is None for record in records)
    facts = [
        f"failed {len(records.failed):,}",
        f"void {n_void:,}",
        f"{output.counted(len(records), 'record')} in {results}",
    ]
    if records.texts:
        cached = int(100 * (1 - records.encoded / records.texts))  # 100 only if none was encoded
        facts.append(f"{output.counted(records.texts, 'text')}, {cached} % read from the cache")
    return facts


def _joined(facts: Iterable[str], width: int) -> None:
    """Print facts, as many on a line as fit."""
    line = ""
    for fact in facts:
        longer = f"{line} · {fact}" if line else fact
        if len(longer) > width:
            click.echo(line)
            longer = fact
        line = longer
    click.echo(line)


def _lines(label: str, reasons: Sequence[Reason], *, verbose: bool) -> None:
    shown = reasons if verbose else reasons[:LINES]
    for reason in shown:
        click.echo(f"{label}{reason.line(verbose=verbose)}", err=True)
    if len(reasons) > len(shown):
        more = output.counted(len(reasons) - len(shown), "more reason")
        click.echo(f"{label}{more} (--verbose lists them)", err=True)
