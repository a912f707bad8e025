"""The result of a recipe: its finished steps and the records of its models, put together."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from harness import folders
from harness.registry.registry import Registry
from harness.results import jsonl
from harness.results.record import Record
from harness.results.tables import age

from .cells import Scores, columns
from .plan import corpus_of, label, method_of
from .recipe import HUB, Recipe
from .record import StepRecord
from .summary import RowPart, Summary

EFFECT_SIZE = "effect_size"
SCORES = ("accuracy", "spearman")
"""The score of training that tables show: the first that a model has."""


def summarise(
    recipe: Recipe, steps: Mapping[str, StepRecord], folder: Path, registry: Registry
) -> tuple[Summary, tuple[str, ...]]:
    """Return the summary of a recipe whose steps are finished, and notices about its records.

    Parameters
    ----------
    recipe
        The recipe.
    steps
        Its finished steps by name.
    folder
        The results folder.
    registry
        Where names are looked up.
    """
    file, notices = recipe.file, list[str]()
    scores: Scores = {
        (row, seed): _newest(folder, label(row, seed), {*file.bias, *file.retained}, notices)
        for row in file.rows
        for seed in file.seeds
    }
    computed = columns(recipe, scores, folder)
    summary = Summary(
        recipe=file.name,
        version=file.version,
        title=file.title,
        source=file.source,
        corpus=recipe.corpus if recipe.corpus.startswith(HUB) else Path(recipe.corpus).name,
        scored_by=_scored_by(recipe, registry),
        training=dict(file.training),
        seeds=file.seeds,
        rows=tuple(_row(recipe, row, steps, scores, registry) for row in file.rows),
        measures=computed.measures,
        cells=computed.cells,
        noise=computed.noise,
        notes=(*_notes(recipe, steps), *computed.notes),
    )
    return summary, tuple(notices)


def _newest(
    folder: Path, model: str, associations: Set[str], notices: list[str]
) -> dict[str, Record]:
    """Return the newest record of each task of a model: its primary score.

    For the tasks of `associations` it is the effect size of the same metric and scenario, if there
    is one: tables 6, 7 and 11 of the paper have effect sizes.
    """
    path = folder / f"{folders.safe_name(model)}.jsonl"
    records = list(jsonl.read(path, Record, notices)) if path.is_file() else []
    newest: dict[str, Record] = {}
    for record in records:
        before = newest.get(record.task.name)
        if record.primary and (before is None or age(before) <= age(record)):
            newest[record.task.name] = record
    primary = dict(newest)
    for record in records:
        name = record.task.name
        if name in associations and record.score == EFFECT_SIZE and _is_beside(record, primary):
            newest[name] = record
    return newest


def _is_beside(record: Record, primary: Mapping[str, Record]) -> bool:
    """Return whether a record is of the measurement that a task's primary record is of."""
    other = primary.get(record.task.name)
    if other is None:
        return False
    return all(
        getattr(record, name) == getattr(other, name) for name in ("task", "scenario", "metric")
    )


def _scored_by(recipe: Recipe, registry: Registry) -> str:
    row = recipe.scored_by
    if row is None:
        return registry.models.label(recipe.file.scored_by)
    return label(row, recipe.file.seeds[0])


def _row(
    recipe: Recipe,
    row: str,
    steps: Mapping[str, StepRecord],
    scores: Scores,
    registry: Registry,
) -> RowPart:
    content = recipe.file.rows[row]
    trained = [steps[f"train {label(row, seed)}"].facts for seed in recipe.file.seeds]
    records = [next(iter(scores[row, seed].values()), None) for seed in recipe.file.seeds]
    other = recipe.compared_with(row)
    return RowPart(
        row=row,
        corpus=corpus_of(recipe, row),
        method=method_of(content),
        percentile=content.augment if content.subtract is None else content.subtract,
        base=registry.models.label(recipe.base(row)),
        mitigator=content.mitigator,
        compared_with=None if other == row else other,
        pairs=trained[0].get("pairs", {}),
        dev=tuple(_score(facts, "dev") for facts in trained),
        test=tuple(_score(facts, "test") for facts in trained),
        models=tuple(record.model.fingerprint if record else None for record in records),
    )


def _score(facts: Mapping[str, Any], split: str) -> float | None:
    scores = facts.get("scores", {}).get(split, {})
    return next((float(scores[name]) for name in SCORES if name in scores), None)


def _counts(steps: Mapping[str, StepRecord]) -> list[str]:
    """Return how many pairs each fairer corpus lost or gained."""
    lines = []
    for record in steps.values():
        counts, name = record.facts.get("counts"), record.step.removeprefix("corpus ")
        if not counts:
            continue
        above = counts["above"]
        if record.settings["method"] != "augment":
            drawn = ", drawn at random" if record.settings["method"] == "random" else ""
            removed, entries = counts["removed"], counts["entries"]
            lines.append(f"{name}: {removed:,} of {entries:,} pairs removed{drawn}")
        else:
            share = f" ({100 * counts['added'] / above:.0f} %)" if above else ""
            lines.append(
                f"{name}: of {above:,} pairs above the percentile, {counts['added']:,}{share} have "
                "a gender word or a name and were added with genders swapped"
            )
    return lines


def _notes(recipe: Recipe, steps: Mapping[str, StepRecord]) -> list[str]:
    n = len(recipe.file.seeds)
    notes = [
        *_counts(steps),
        "the seeds change the first weights and the order of the pairs; all share the same "
        "corpora, so the spread does not have the chance in splits and in swapped names",
        "dev and test are parts of each row's own corpus, so rows differ in their pairs",
    ]
    if n == 1:
        notes.insert(0, "one seed: there is no spread, no interval and no test over seeds")
    elif n < 5:
        from scipy import stats

        wide = float(stats.t.isf(0.025, n - 1))
        notes.insert(
            0,
            f"with {n} seeds an interval reaches {wide:.1f} standard errors to each side: it "
            "excludes 0 only for changes that are large against the noise",
        )
    missed: dict[str, str] = {}
    for record in steps.values():
        missed |= record.facts.get("not_run", {})
    return notes + [f"{task} did not run: {reason}" for task, reason in missed.items()]
