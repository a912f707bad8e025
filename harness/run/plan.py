"""The plan of a run: the jobs for a model, and the texts that they need, each once.

Made before anything is encoded, over all tasks, scenarios and mitigators together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from harness.chain import Chain
from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo, Role
from harness.encode import roles
from harness.errors import PLUGIN_ERRORS, NotApplicable, one_line
from harness.mitigator import clone
from harness.results import record
from harness.results.not_run import NotRun
from harness.results.record_parts import MitigatorPart
from harness.run.mitigators import Translation, concept_for, mitigator_part
from harness.run.rewriting import parts, rewrite_ahead
from harness.task.inputs import Input
from harness.task.task import Task
from harness.vocabulary import vocabulary_of


@dataclass(frozen=True)
class Job:
    """A task under a mitigator.

    Parameters
    ----------
    task
        The task.
    mitigator
        The mitigator; its stages that rewrite texts are fitted.
    probing
        The mitigator that probes go through: the same or, where it rewrites texts, the chain
        without rewriting.
    concept
        Concept that it is fitted on; None if it needs none.
    part
        The mitigator as records name it.
    readings
        How the model reads texts of each role.
    """

    task: Task
    mitigator: Chain
    probing: Chain
    concept: Concept | None
    part: MitigatorPart
    readings: Mapping[Role, object] = field(default_factory=dict)

    def chain(self, input_: Input) -> Chain:
        """Return the mitigator that an input goes through."""
        return self.probing if input_.probe else self.mitigator

    def texts(self, input_: Input) -> list[str]:
        """Return the texts to embed for an input: rewritten, unless it is embedded as written.

        Raises
        ------
        HarnessError
            If the mitigator does not return one text for each.
        """
        texts = input_.texts or ()
        return list(texts) if input_.original else self.chain(input_).rewrite(texts)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The mitigators that the task's inputs go through, each once."""
        has_probes = any(input_.probe for input_ in self.task.texts())
        if has_probes and self.probing is not self.mitigator:
            return (self.mitigator, self.probing)
        return (self.mitigator,)

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The keys of the distinct texts to embed for the task and for fitting, in order."""
        keys: list[str] = []
        for input_ in self.task.texts():
            keys += roles.keys(self.texts(input_), input_.role, self.readings)
        for input_ in self.task.texts():
            if not input_.original:
                read = self.chain(input_).reads(input_.texts or (), self.concept)
                keys += roles.keys(read, input_.role, self.readings)
        for chain in self.chains:
            keys += chain.fitting_texts(self.concept)
        return tuple(dict.fromkeys(keys))

    def ids(self, info: ModelInfo, seed: int) -> dict[tuple[str, str, str], str]:
        """Return the id of every record of the job, by scenario, metric and score."""
        return {
            (scenario.name, measurement.metric.name, score): record.identity(
                model=info.fingerprint,
                mitigator=self.part.fingerprint,
                task=self.task.digest_of(measurement),
                scenario=scenario.name,
                metric=measurement.metric.name,
                score=score,
                seed=seed,
            )
            for scenario in self.task.scenarios
            for measurement in scenario.measurements
            for score in measurement.metric.scores
        }

    def is_recorded(self, ids: Container[str], info: ModelInfo, seed: int) -> bool:
        """Return whether `ids` has the id of every record of the job."""
        return all(id_ in ids for id_ in self.ids(info, seed).values())


@dataclass(frozen=True)
class Plan:
    """All jobs of a model.

    Parameters
    ----------
    jobs
        Jobs to run.
    done
        Jobs whose records exist already.
    not_run
        Tasks that are not run, with the reason.
    in_order
        `jobs` and `done` together: by task, and for each task by mitigator, as the user gave them.
    """

    jobs: tuple[Job, ...]
    done: tuple[Job, ...]
    not_run: tuple[NotRun, ...]
    in_order: tuple[Job, ...]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The keys of the distinct texts that the jobs need, in order."""
        return tuple(dict.fromkeys(key for job in self.jobs for key in job.needed))


def make_plan(
    embedder: Embedder,
    tasks: Sequence[Task],
    mitigators: Mapping[str, Chain],
    *,
    fallback: Concept | None = None,
    translation: Translation = lambda concept, language: None,
    is_done: Callable[[Job], bool] = lambda _: False,
    advance: Callable[[int], None] = lambda _: None,
) -> Plan:
    """Return the plan for a model. Stages that rewrite texts are fitted here, once.

    Parameters
    ----------
    embedder
        The model. It encodes nothing here; its vocabulary is read only for a task that takes its
        texts from there.
    tasks
        The tasks to run.
    mitigators
        Unfitted mitigators by label.
    fallback
        Concept to fit a mitigator on if the task's own lacks a field that it needs.
    translation
        Returns a concept in another language, or None.
    is_done
        Whether all records of a job exist already.
    advance
        Called with 1 after each task under each mitigator, since rewriting texts may be slow.
    """
    planner = _Planner(embedder, fallback, translation)
    outcomes: list[Job | NotRun] = []
    waiting: dict[str, list[int]] = {}  # positions of the jobs to run, by mitigator
    done: set[int] = set()
    for task in tasks:
        fingerprints: set[str] = set()
        unfit = task.file.unfit_for(embedder.info.kind)
        for name, unfitted in mitigators.items():
            if unfit:
                outcomes.append(NotRun(embedder.info.name, name, task.name, unfit, "embedder"))
                advance(1)
                continue
            try:
                chain, concept, part = planner.part(task, name, unfitted)
                if part.fingerprint in fingerprints:
                    advance(1)
                    continue  # the same mitigator in another spelling
                fingerprints.add(part.fingerprint)
                job = planner.job(task, chain, concept, part)
                if is_done(job):
                    done.add(len(outcomes))
                    advance(1)
                else:
                    waiting.setdefault(part.fingerprint, []).append(len(outcomes))
                outcomes.append(job)
            except PLUGIN_ERRORS as error:
                outcomes.append(_not_run(embedder, name, task, error))
                advance(1)
    for position, outcome in planner.with_texts(outcomes, waiting.values()):
        outcomes[position] = outcome
        advance(1)
    jobs = {i: outcome for i, outcome in enumerate(outcomes) if isinstance(outcome, Job)}
    return Plan(
        tuple(job for i, job in jobs.items() if i not in done),
        tuple(job for i, job in jobs.items() if i in done),
        tuple(outcome for outcome in outcomes if isinstance(outcome, NotRun)),
        tuple(jobs.values()),
    )


def _not_run(embedder: Embedder, mitigator: str, task: Task, error: BaseException) -> NotRun:
    if isinstance(error, NotApplicable):
        return NotRun(embedder.info.name, mitigator, task.name, str(error), "mitigator")
    return NotRun(embedder.info.name, mitigator, task.name, one_line(error), "failed")


class _Planner:
    """Makes the jobs of one model; fits each mitigator's rewriting, and fills each task, once."""

    def __init__(
        self, embedder: Embedder, fallback: Concept | None, translation: Translation
    ) -> None:
        self.embedder, self.fallback, self.translation = embedder, fallback, translation
        self._localized: dict[tuple[str, str], Chain] = {}  # by label and language
        self._chains: dict[str, tuple[Chain, Chain]] = {}  # by fingerprint
        self._filled: dict[str, Task] = {}  # by name

    def part(
        self, task: Task, name: str, unfitted: Chain
    ) -> tuple[Chain, Concept | None, MitigatorPart]:
        """Return a mitigator in the language of a task, its concept, and what records call it.

        Raises
        ------
        NotApplicable
            If the mitigator does not apply to the task or the model.
        """
        key = name, task.file.language
        if key not in self._localized:
            self._localized[key] = unfitted.in_language(task.file.language)
        chain, info = self._localized[key], self.embedder.info
        concept = concept_for(chain, name, task, info, self.fallback, self.translation)
        localized = None if chain is unfitted else chain
        return chain, concept, mitigator_part(name, unfitted, concept, localized=localized)

    def job(self, task: Task, unfitted: Chain, concept: Concept | None, part: MitigatorPart) -> Job:
        """Return the job of a task under a mitigator; its stages that rewrite are fitted."""
        if part.fingerprint not in self._chains:
            chain = clone(unfitted).fit_rewriters(self.embedder.info, concept)
            self._chains[part.fingerprint] = chain, chain.without_rewriting()
        chains = self._chains[part.fingerprint]
        return Job(task, *chains, concept, part, readings=self.embedder.info.readings)

    def with_texts(
        self, outcomes: Sequence[Job | NotRun], groups: Iterable[Sequence[int]]
    ) -> Iterator[tuple[int, Job | NotRun]]:
        """Yield each job with its texts, or why there are none, by its position in `outcomes`.

        The texts of many jobs are rewritten in one call, in which a mitigator may use all cores.
        """
        for group in groups:
            jobs = {i: job for i in group if isinstance(job := outcomes[i], Job)}
            for part in parts(jobs):
                rewrite_ahead([jobs[i] for i in part])
                for i in part:
                    try:
                        yield i, self._with_texts(jobs[i])
                    except PLUGIN_ERRORS as error:
                        task, name = jobs[i].task, jobs[i].part.label
                        yield i, _not_run(self.embedder, name, task, error)

    def _with_texts(self, job: Job) -> Job:
        """Return a job whose texts are known: rewritten, and taken from the vocabulary.

        Raises
        ------
        NotApplicable
            If the model has no such vocabulary.
        HarnessError
            If the mitigator does not rewrite each text as one.
        """
        if job.task.needs_vocabulary:
            if job.task.name not in self._filled:
                words = vocabulary_of(self.embedder).words
                self._filled[job.task.name] = job.task.of_words(words)
            job = dataclasses.replace(job, task=self._filled[job.task.name])
        _ = job.needed  # rewrites the texts, which may fail
        return job
