"""A study on one model: its folds, each row in each fold, and their records."""

from __future__ import annotations

from datetime import UTC, datetime

from sklearn.base import clone

from harness.embedder import Embedder
from harness.run import recording
from harness.study import leaks
from harness.study.bench import prepare
from harness.study.candidates import Candidate
from harness.study.folds import Fold, deal
from harness.study.judging import Result, Unit
from harness.study.study import Study
from harness.study.study_record import MeasurePart, StudyPart, StudyRecord, identity


class OnModel:
    """A study on one model: its folds, and each row in each fold.

    Parameters
    ----------
    study
        The study.
    embedder
        The model.
    run
        Identifier of the run.

    Raises
    ------
    UsageError
        If words would be both fitted on and judged.
    NotApplicable
        If a row does not work on the model's kind, or more words are missing than allowed.
    """

    def __init__(self, study: Study, embedder: Embedder, run: str) -> None:
        self.study, self.info, self.run = study, embedder.info, run
        file = study.file
        self.bench = prepare(study, embedder)
        self.folds = deal(
            len(self.bench.items),
            folds=file.folds,
            inner_folds=file.inner_folds,
            repeats=file.repeats,
            seed=file.seed,
            protocol=file.protocol,
        )
        if not file.allow_overlap:
            splits = [split for fold in self.folds for split in (fold.outer, *fold.inner)]
            leaks.refuse_overlap(self.bench, list(dict.fromkeys(splits)))
        self.units = {
            self._id(candidate, fold): Unit(candidate, fold)
            for fold in self.folds
            for candidate in study.candidates
        }

    @property
    def part(self) -> StudyPart:
        """The study, as its records state it."""
        study, file = self.study, self.study.file
        return StudyPart(
            name=file.name,
            version=file.version,
            digest=study.digest,
            title=file.title,
            description=file.description,
            concept=file.concept,
            items=len(self.bench.items),
            folds=file.folds,
            inner_folds=file.inner_folds,
            repeats=file.repeats,
            seed=file.seed,
            normalize=file.normalize,
            protocol=file.protocol,
            judging=study.judging,
            alpha=file.alpha,
            rope=file.rope,
            baseline=study.baseline,
            rows=tuple(candidate.label for candidate in study.candidates),
            measures={
                measure.name: MeasurePart(
                    metric=measure.metric.name,
                    score=measure.score,
                    ideal=measure.ideal,
                    rises=measure.rises,
                    scenarios=tuple(scenario.name for scenario in measure.task.scenarios),
                    signed=measure.signed,
                )
                for measure in study.measures
            },
            criteria=study.criteria,
        )

    def texts(self) -> list[str]:
        """Return the keys of all texts to encode before anything is judged, in order of use."""
        needed: dict[str, None] = {}
        for unit in self.units.values():
            for chain in unit.candidate.chains:
                for split in (unit.fold.outer, *unit.fold.inner):
                    unfitted = clone(chain)
                    needed |= dict.fromkeys(self.bench.needed(unfitted, split, self.info))
        bench, info = self.bench, self.info
        return [*needed, *bench.keys("probe", info), *bench.keys("original", info)]

    def record(self, unit: Unit, result: Result) -> StudyRecord:
        """Return the record of a unit's result."""
        candidate, fold, words = unit.candidate, unit.fold, self.bench.words
        return StudyRecord(
            id=self._id(candidate, fold),
            run=self.run,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            study=self.part,
            model=recording.model_part(self.info),
            row=candidate.label,
            mitigator=candidate.name,
            normalize=candidate.normalize,
            repeat=fold.repeat,
            fold=fold.number,
            train=len(fold.outer.train),
            held_out=tuple(words[i] for i in fold.outer.held_out),
            missing=self.bench.missing,
            inner=result.inner,
            settings=result.settings,
            judged=dict(result.judged),
            reasons=dict(result.reasons),
            overlap=result.overlap,
            seconds=result.seconds,
            environment=recording.environment("cpu"),
        )

    def _id(self, candidate: Candidate, fold: Fold) -> str:
        return identity(
            model=self.info.fingerprint,
            study=self.study.digest,
            row=candidate.label,
            mitigator=candidate.fingerprint,
            repeat=fold.repeat,
            fold=fold.number,
        )
