"""A study on one model: its folds, each row in each of them, and how records name them."""

from __future__ import annotations

from datetime import UTC, datetime

from harness.embedder import Embedder
from harness.run import recording
from harness.study import bench as benches
from harness.study.candidates import Candidate
from harness.study.folds import Fold, deal
from harness.study.judging import Result, Unit
from harness.study.study import Study
from harness.study.study_record import MeasurePart, StudyPart, StudyRecord, identity


class OnModel:
    """A study on one model: its folds, and each row in each of them.

    Parameters
    ----------
    study
        The study.
    embedder
        The model.
    run
        Identifies the run.

    Raises
    ------
    UsageError
        If it would judge what it fits on.
    NotApplicable
        If the model lacks too much, or a row does not work on its kind.
    """

    def __init__(self, study: Study, embedder: Embedder, run: str) -> None:
        self.study, self.info, self.run = study, embedder.info, run
        file = study.file
        self.bench = benches.prepare(study, embedder)
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
            benches.refuse_overlap(self.bench, list(dict.fromkeys(splits)))
        self.units = {
            self._id(candidate, fold): Unit(candidate, fold)
            for fold in self.folds
            for candidate in study.candidates
        }

    @property
    def part(self) -> StudyPart:
        """How records name the study."""
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
            alpha=file.alpha,
            rope=file.rope,
            baseline=study.baseline,
            rows=tuple(candidate.label for candidate in study.candidates),
            measures={
                one.name: MeasurePart(
                    metric=one.metric.name,
                    score=one.score,
                    ideal=one.ideal,
                    rises=one.rises,
                    scenarios=tuple(scenario.name for scenario in one.task.scenarios),
                )
                for one in study.measures
            },
            criteria=study.criteria,
        )

    def texts(self) -> list[str]:
        """Return all texts to encode before anything is judged, each once."""
        needed: dict[str, None] = {}
        for unit in self.units.values():
            for chain in unit.candidate.chains:
                for split in (unit.fold.outer, *unit.fold.inner):
                    fresh = benches.unfitted(chain)
                    needed |= dict.fromkeys(self.bench.needed(fresh, split, self.info))
        return [*needed, *self.bench.texts["probe"], *self.bench.texts["original"]]

    def record(self, unit: Unit, result: Result) -> StudyRecord:
        """Return the record of what a unit gave."""
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
