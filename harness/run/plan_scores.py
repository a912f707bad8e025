"""Scores the jobs of a plan: records are written as they are ready, and returned in plan order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness import parallel
from harness.encode.stored_embedder import StoredEmbedder
from harness.results.folder import ResultsFile
from harness.results.not_run import NotRun
from harness.results.record import Record
from harness.run import frequency, recording
from harness.run.job_pool import JobPool
from harness.run.job_runner import JobRunner, Scored
from harness.run.model_facts import ModelFacts
from harness.run.plan import Job
from harness.run.settings import Settings


@dataclass(frozen=True)
class PlanScores:
    """The scores of a plan, in its order.

    Parameters
    ----------
    records
        Records by id.
    not_run
        Jobs without records, and why.
    notices
        What the user should know, a line each.
    """

    records: Mapping[str, Record]
    not_run: tuple[NotRun, ...]
    notices: tuple[str, ...]


def score(
    jobs: Sequence[Job],
    vectors: StoredEmbedder,
    settings: Settings,
    *,
    run: str,
    file: ResultsFile | None,
) -> PlanScores:
    """Return the scores of the jobs of one model.

    Parameters
    ----------
    jobs
        The jobs in the order of the plan.
    vectors
        The model; the vectors of the plan's texts are in its store.
    settings
        The settings of the run.
    run
        Identifies the run.
    file
        Where records are written, in the order in which they are ready.

    Raises
    ------
    DiskError
        If the disk is full or cannot be read. What was scored before is written.
    """
    info, engine = vectors.info, vectors.engine
    provenance = recording.Provenance(
        run=run,
        model=recording.model_part(info),
        seed=settings.seed,
        environment=recording.environment(",".join(engine.devices) or "default"),
    )
    runner = JobRunner(vectors, provenance, samples=settings.samples, debug=settings.debug)
    workers = 1 if settings.debug and settings.workers is None else settings.workers
    # Other machines cannot map the words of a vocabulary, which are written for this one.
    cluster = engine if info.kind == "text" and isinstance(engine, parallel.Cluster) else None
    pool = JobPool(jobs, vectors, runner, workers=workers, cluster=cluster)
    facts = ModelFacts(vectors)
    records: dict[int, list[Record]] = {}
    scored: dict[int, Scored] = {}
    not_run: dict[int, NotRun] = {}
    stage = settings.progress.stage(f"{info.name}: scoring", len(jobs), "tasks")
    with stage as advance, contextlib.closing(pool.outcomes()) as outcomes:
        for position, outcome in outcomes:
            if isinstance(outcome, NotRun):
                not_run[position] = outcome
            else:
                scored[position] = outcome
                records[position] = facts.added(jobs[position], outcome.records)
                if file:
                    file.add(records[position])
            advance(1)
    ordered = [record for i in sorted(records) for record in records[i]]
    without_samples = dict.fromkeys(
        metric for i in sorted(scored) for metric in scored[i].without_samples
    )
    return PlanScores(
        records={record.id: record for record in ordered},
        not_run=tuple(not_run[i] for i in sorted(not_run)),
        notices=(
            *pool.notices,
            *(f"{metric} gives no samples" for metric in without_samples),
            *frequency.notices(ordered, info.name),
            *missing_words(jobs, info.name),
            *unlike(ordered, vectors),
            *notes(jobs, pool.notes),
        ),
    )


def notes(jobs: Sequence[Job], elsewhere: Mapping[int, tuple[str, ...]]) -> list[str]:
    """Return the notes of the mitigators of jobs, a line each.

    Parameters
    ----------
    jobs
        The jobs.
    elsewhere
        By position of a job, the notes of its mitigators in the process that ran it.
    """
    return [
        f"'{job.part.label}': {note}"
        for i, job in enumerate(jobs)
        for note in (
            *elsewhere.get(i, ()),
            *(note for chain in job.chains for note in chain.notes),
        )
    ]


def unlike(records: Iterable[Record], vectors: StoredEmbedder) -> list[str]:
    """Return the likely reason why a model lacks half of the words of some tasks, in one line."""
    missing: dict[str, None] = {}
    tasks: dict[str, None] = {}
    for record in records:
        coverage = record.coverage
        if coverage.asked and coverage.asked >= 2 * coverage.found:
            missing |= dict.fromkeys(coverage.missing)
            tasks[record.task.name] = None
    reason = vectors.unlike(list(missing)) if missing else None
    if reason is None:
        return []
    listed = ", ".join(list(tasks)[: frequency.SHOWN])
    more = f" and {len(tasks) - frequency.SHOWN} more" if len(tasks) > frequency.SHOWN else ""
    return [
        f"{vectors.info.name}: half of the words of {listed}{more} or more have no vector; {reason}"
    ]


def missing_words(jobs: Iterable[Job], model: str) -> list[str]:
    """Return a line for each list of words of a fit that the model does not have."""
    mitigators: dict[tuple[str, ...], list[str]] = {}
    for job in jobs:
        for stage in job.mitigator.mitigators:
            if stage.missing_words:
                on = f" on {job.concept.name}" if job.concept else ""
                mitigators.setdefault(stage.missing_words, []).append(f"'{job.part.label}'{on}")
    lines = []
    for words, names in mitigators.items():
        more = f" and {len(words) - 5} more" if len(words) > 5 else ""
        under = ", ".join(dict.fromkeys(names))
        lines.append(f"{under}: fitted without {', '.join(words[:5])}{more}, which {model} lacks")
    return lines
