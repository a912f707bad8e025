"""The plan of a run: which jobs there are for a model, and the texts that they need, each once.

Made before anything is encoded, over all tasks, scenarios and mitigators together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from harness import names
from harness.arrays import Vectors
from harness.concept import Concept
from harness.digest import digest, json_like
from harness.embedder import ModelInfo
from harness.errors import HarnessError, NotApplicable, one_line
from harness.mitigator import Chain
from harness.results import record
from harness.results.record import MitigatorPart
from harness.results.records import Skipped
from harness.task.inputs import Input
from harness.task.task import Task


@dataclass(frozen=True)
class Job:
    """A task under a mitigator.

    Parameters
    ----------
    task
        The task.
    mitigator
        The mitigator, with its stages that rewrite texts fitted.
    probing
        The mitigator that probes go through: the same, or where it rewrites texts, one that is
        fitted on texts as they are written.
    concept
        Concept that it is fitted on; None if it needs none.
    part
        How records name the mitigator.
    """

    task: Task
    mitigator: Chain
    probing: Chain
    concept: Concept | None
    part: MitigatorPart

    def chain(self, given: Input) -> Chain:
        """Return the mitigator that an input goes through."""
        return self.probing if given.probe else self.mitigator

    def texts(self, given: Input) -> list[str]:
        """Return the texts to embed for an input: rewritten, unless they are to be as written.

        Raises
        ------
        HarnessError
            If the mitigator does not give a text for each.
        """
        written = given.texts or ()
        return list(written) if given.original else self.chain(given).rewrite(written)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The mitigators that the task's inputs go through, each once."""
        probes = any(given.probe for given in self.task.texts())
        splits = probes and self.probing is not self.mitigator
        return (self.mitigator, self.probing) if splits else (self.mitigator,)

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The distinct texts to embed for the task and for fitting, in order."""
        texts = [text for given in self.task.texts() for text in self.texts(given)]
        for given in self.task.texts():
            if not given.original:
                texts += self.chain(given).reads(given.texts or (), self.concept)
        for chain in self.chains:
            texts += chain.fitting_texts(self.concept)
        return tuple(dict.fromkeys(texts))

    def ids(self, info: ModelInfo, seed: int) -> dict[tuple[str, str, str], str]:
        """Return the id of every record of the job, by scenario, metric and score."""
        return {
            (scenario.name, measurement.metric.name, score): record.identity(
                model=info.fingerprint,
                mitigator=self.part.fingerprint,
                task=self.task.digest,
                scenario=scenario.name,
                metric=measurement.metric.name,
                score=score,
                seed=seed,
            )
            for scenario in self.task.scenarios
            for measurement in scenario.measurements
            for score in measurement.metric.scores
        }


@dataclass(frozen=True)
class Plan:
    """All jobs of a model.

    Parameters
    ----------
    jobs
        What is to be run.
    done
        Jobs whose records are all there.
    skipped
        What is not run, with the reason.
    """

    jobs: tuple[Job, ...]
    done: tuple[Job, ...] = ()
    skipped: tuple[Skipped, ...] = field(default=())

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The distinct texts that the jobs need, in order."""
        return tuple(dict.fromkeys(text for job in self.jobs for text in job.needed))


def make(
    info: ModelInfo,
    tasks: Sequence[Task],
    mitigators: Mapping[str, Chain],
    *,
    unavailable: Iterable[Skipped] = (),
    fallback: Concept | None = None,
    words: Callable[[], Sequence[str]] = tuple,
    recorded: Callable[[str], bool] = lambda _: False,
    seed: int = 0,
    advance: Callable[[int], None] = lambda _: None,
) -> Plan:
    """Return the plan for a model.

    Parameters
    ----------
    info
        What the model is.
    tasks
        The tasks asked for.
    mitigators
        Unfitted mitigators by the name that users type.
    unavailable
        Tasks that could not be had at all.
    fallback
        Concept to fit a mitigator on where the task's own lacks what it needs.
    words
        Gives the model's vocabulary; asked only if something that is to be run needs it.
    recorded
        Whether a record of that id is there already.
    seed
        Seed of the run.
    advance
        Called with 1 after each task under each mitigator: rewriting texts may take long.
    """
    from sklearn.base import clone

    jobs: list[Job] = []
    done: list[Job] = []
    skipped = list(unavailable)
    filled: dict[str, Task] = {}
    fitted: dict[tuple[str, str | None], tuple[Chain, Chain]] = {}
    for task in tasks:
        seen: set[str] = set()
        for name, unfitted in mitigators.items():
            try:
                if unfit := task.file.unfit_for(info.kind):
                    raise NotApplicable(unfit)
                concept = concept_for(unfitted, name, task, info, fallback)
                key = (name, concept.name if concept else None)
                part = mitigator_part(name, unfitted, concept)
                if part.fingerprint in seen:
                    continue  # the same under another spelling
                seen.add(part.fingerprint)
                if key not in fitted:
                    chain = clone(unfitted).fit_rewriters(NotYetEncoding(info), concept)
                    bare = clone(unfitted).set_params(rewriting=False) if chain.rewrites else chain
                    fitted[key] = chain, bare
                job = Job(task, *fitted[key], concept, part)
                whole = all(recorded(one) for one in job.ids(info, seed).values())
                if not whole:
                    if task.needs_vocabulary:
                        if task.name not in filled:
                            filled[task.name] = task.of_words(words())
                        job = dataclasses.replace(job, task=filled[task.name])
                    _ = job.needed  # rewrites the texts, which may fail
            except NotApplicable as error:
                skipped.append(Skipped(info.name, name, task.name, str(error)))
            except Exception as error:  # a plugin may raise anything
                skipped.append(Skipped(info.name, name, task.name, one_line(error), failed=True))
            else:
                (done if whole else jobs).append(job)
            finally:
                advance(1)
    return Plan(tuple(jobs), tuple(done), tuple(skipped))


def concept_for(
    mitigator: Chain, name: str, task: Task, info: ModelInfo, fallback: Concept | None
) -> Concept | None:
    """Return the concept to fit a mitigator on for a task: the task's, else the fallback.

    Raises
    ------
    NotApplicable
        If neither has what it needs, or it is not made for the kind of embedder.
    """
    if info.kind not in mitigator.all_kinds:
        raise NotApplicable(f"'{name}' does not work on {info.kind} embedders")
    needs = mitigator.all_needs
    if not needs:
        return None
    for concept in (task.concept, fallback):
        if concept is not None and concept.has(needs):
            return concept
    own = f"its concept '{task.concept.name}' lacks them" if task.concept else "it has no concept"
    other = f", and '{fallback.name}' lacks them" if fallback else ""
    raise NotApplicable(f"'{name}' needs {' and '.join(needs)} of a concept; {own}{other}")


def mitigator_part(name: str, mitigator: Chain, concept: Concept | None) -> MitigatorPart:
    """Return how records name a mitigator."""
    params: dict[str, Any] = {}
    for stage, made in zip(names.mitigators(name), mitigator.mitigators, strict=True):
        key = stage.name
        while key in params:
            key += "'"
        params[key] = json_like(made.get_params(deep=False))
    plain = names.plain(name)
    about = digest(concept.model_dump(exclude={"title", "source"})) if concept else None
    return MitigatorPart(
        name=plain,
        params=params[plain] if list(params) == [plain] else params,
        concept=concept.name if concept else None,
        fingerprint=digest([plain, params, about, *mitigator.depends_on]),
    )


class NotYetEncoding:
    """The embedder that mitigators see while the plan is made: it has info, and encodes nothing."""

    def __init__(self, info: ModelInfo) -> None:
        self.info = info

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Refuse."""
        raise HarnessError(
            "a mitigator that rewrites texts is fitted before anything is encoded, "
            "so its fit cannot ask for vectors"
        )
