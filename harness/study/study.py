"""A study that is ready to run: its rows, its columns, and how they are judged.

Made from a study file and its concept; errors point into the file. Knows no model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from harness.concept import Concept
from harness.digest import digest
from harness.errors import suggestion
from harness.registry.registry import Registry
from harness.registry.trust import Gate
from harness.study import candidates, measures
from harness.study.candidates import Candidate
from harness.study.measures import Measure
from harness.study.reference_rows import RAW, unit_length_mitigator
from harness.study.study_document import StudyDocument
from harness.study.study_file import Judging, StudyFile
from harness.task import yaml_files
from harness.task.yaml_files import Collector


@dataclass(frozen=True)
class Study:
    """A study that is ready to run.

    Parameters
    ----------
    file
        The contents of the study file.
    concept
        Its concept.
    candidates
        The rows, those of `none` and of unit length among them.
    measures
        The columns.
    unit_row
        Label of the row of unit length; None if no plugin has such a mitigator.
    """

    file: StudyFile
    concept: Concept
    candidates: tuple[Candidate, ...]
    measures: tuple[Measure, ...]
    unit_row: str | None

    @property
    def items(self) -> tuple[tuple[str, ...], ...]:
        """The pairs (or sets) that are divided into folds."""
        items: tuple[tuple[str, ...], ...] = getattr(self.concept, self.file.folded)
        return items

    @property
    def baseline(self) -> str:
        """The row that others are tested against."""
        return self.file.baseline or next(iter(self.file.mitigators))

    @property
    def criteria(self) -> tuple[str, ...]:
        """The measures by which hyper-parameters are chosen."""
        return self.file.criteria or tuple(self.file.measures)

    @property
    def judging(self) -> Judging:
        """How rows are compared: by the distances of each fold as published, or pooled."""
        return "distances" if self.file.protocol == "published" else "pooled"

    @cached_property
    def digest(self) -> str:
        """Names what all rows share. What else makes a row is in its own fingerprint."""
        file = self.file
        # A study that judges as published keeps the digest of earlier versions.
        judging = {} if self.judging == "distances" else {"judging": self.judging}
        return digest(
            {
                "name": file.name,
                "version": file.version,
                "concept": self.concept.content(),
                "folded": file.folded,
                "folds": [file.folds, file.inner_folds, file.repeats, file.seed, file.protocol],
                "normalize": file.normalize,
                "criteria": list(self.criteria),
                "max_missing": file.max_missing,
                "measures": {m.name: [m.task.digest, m.score] for m in self.measures},
                **judging,
            }
        )

    def starts_at_unit_length(self, candidate: Candidate) -> bool:
        """Return whether a row's mitigator works on vectors that were set to length 1."""
        if candidate.normalize is not None:
            return candidate.normalize
        if candidate.label == self.unit_row:
            return True
        return self.file.normalize and candidate.label != RAW


def resolve(document: yaml_files.Document, registry: Registry) -> Study:
    """Return the study that a file describes, with its data read and everything checked.

    Raises
    ------
    InvalidFile
        If the file is invalid.
    Unavailable
        If its data is missing.
    """
    file = document.validate(StudyFile)
    asked(document, file, registry).check()
    with document.pointing_at(("concept",)):
        concept = registry.concept(file.concept)
    _check_folds(document, file, len(getattr(concept, file.folded)))
    unit_row = unit_length_mitigator(registry)
    if unit_row is None and file.normalize:
        raise document.error(
            "no installed plugin has a mitigator of unit length (`unit_length` in its spec), from "
            "which changes are counted; set 'normalize: false'",
            ("normalize",),
        )
    source = StudyDocument(document, file, concept, registry)
    mistakes = Collector()
    own_rows = []
    for label in file.mitigators:
        with mistakes.collecting():
            own_rows.append(candidates.candidate(source, label))
    added_rows = [
        Candidate(name, name, ({},), (registry.mitigator(name),))
        for name in (RAW, unit_row)
        if name is not None and name not in file.mitigators
    ]
    columns = []
    for label in file.measures:
        with mistakes.collecting():
            columns.append(measures.measure(source, label))
    mistakes.check()
    study = Study(file, concept, (*added_rows, *own_rows), tuple(columns), unit_row)
    _check_names(document, study)
    return study


def asked(document: yaml_files.Document, file: StudyFile, registry: Registry) -> Gate:
    """Return what a study asks for: code, keys, addresses, paths, downloads."""
    gate = Gate(document, registry)
    for i, model in enumerate(file.models):
        gate.model(model, ("models", i))
    for label, use in file.mitigators.items():
        grids = [use.grid] if isinstance(use.grid, dict) else use.grid
        gate.mitigator(use.mitigator or label, ("mitigators", label), grids)
    for label, measure in file.measures.items():
        metric = registry.metrics.get(measure.metric)
        gate.options(metric, measure.options, ("measures", label, "options"))
    gate.tables(file.tables)
    return gate


def _check_names(document: yaml_files.Document, study: Study) -> None:
    rows = [row.label for row in study.candidates]
    if study.baseline not in rows:
        problem = f"unknown row '{study.baseline}'{suggestion(study.baseline, rows)}"
        raise document.error(problem, ("baseline",))
    for name in study.criteria:
        if name not in study.file.measures:
            problem = f"unknown measure '{name}'{suggestion(name, study.file.measures)}"
            raise document.error(problem, ("criteria",))


def _check_folds(document: yaml_files.Document, file: StudyFile, n: int) -> None:
    items = file.folded.replace("_", " ")
    if not n:
        raise document.error(f"concept '{file.concept}' has no {items}", ("concept",))
    if file.folds > n:
        raise document.error(f"{file.folds} folds are too many for {n} {items}", ("folds",))
    left = n - -(-n // file.folds)
    if file.inner_folds > left and file.protocol == "nested":
        raise document.error(
            f"{file.inner_folds} inner folds are too many for the {left} {items} that an outer "
            "fold leaves",
            ("inner_folds",),
        )
