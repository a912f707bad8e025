"""A study ready to run: its rows, its columns, and what they are judged by.

Made of a study file and its concept; errors point into the file. Knows no model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from harness.concept import Concept
from harness.digest import digest
from harness.errors import suggestion
from harness.registry.registry import Registry
from harness.study import candidates, measures
from harness.study.candidates import Candidate
from harness.study.measures import Measure
from harness.study.study_file import StudyFile
from harness.task import yaml_files

RAW, UNIT = "none", "normalize"
"""Rows that every study has: vectors as they come, and vectors at length 1."""


@dataclass(frozen=True)
class Study:
    """A study ready to run.

    Parameters
    ----------
    file
        What the study file says.
    concept
        Its concept.
    candidates
        The rows, `none` and `normalize` among them.
    measures
        The columns.
    """

    file: StudyFile
    concept: Concept
    candidates: tuple[Candidate, ...]
    measures: tuple[Measure, ...]

    @property
    def items(self) -> tuple[tuple[str, ...], ...]:
        """The pairs, or sets, that are dealt out."""
        dealt: tuple[tuple[str, ...], ...] = getattr(self.concept, self.file.folded)
        return dealt

    @property
    def baseline(self) -> str:
        """The row that others are tested against."""
        return self.file.baseline or next(iter(self.file.mitigators))

    @property
    def criteria(self) -> tuple[str, ...]:
        """The measures that hyper-parameters are chosen by."""
        return self.file.criteria or tuple(self.file.measures)

    @cached_property
    def digest(self) -> str:
        """Names what all rows share; what a row is besides, its own fingerprint names."""
        file = self.file
        return digest(
            {
                "name": file.name,
                "version": file.version,
                "concept": self.concept.model_dump(exclude={"title", "source"}),
                "folded": file.folded,
                "folds": [file.folds, file.inner_folds, file.repeats, file.seed, file.protocol],
                "normalize": file.normalize,
                "criteria": list(self.criteria),
                "max_missing": file.max_missing,
                "measures": {one.name: [one.task.digest, one.score] for one in self.measures},
            }
        )


def resolve(document: yaml_files.Document, registry: Registry) -> Study:
    """Return the study that a file describes, with its data read and all of it checked.

    Raises
    ------
    InvalidFile
        If anything in it does not fit.
    Unavailable
        If its data cannot be had.
    """
    file = document.validate(StudyFile)
    with document.pointing_at(("concept",)):
        concept = registry.concept(file.concept)
    items = getattr(concept, file.folded)
    _check_folds(document, file, len(items))
    rows = [
        candidates.candidate(document, registry, concept, label, use)
        for label, use in file.mitigators.items()
    ]
    besides = [
        Candidate(name, name, ({},), (registry.mitigator(name),))
        for name in (RAW, UNIT)
        if name not in file.mitigators
    ]
    columns = tuple(
        measures.measure(document, registry, file, label, use)
        for label, use in file.measures.items()
    )
    study = Study(file, concept, (*besides, *rows), columns)
    labels = [row.label for row in study.candidates]
    for key, chosen, known in (
        ("baseline", (study.baseline,), labels),
        ("criteria", study.criteria, list(file.measures)),
    ):
        for name in chosen:
            if name not in known:
                what = "row" if key == "baseline" else "measure"
                raise document.error(
                    f"there is no {what} '{name}'{suggestion(name, known)}", (key,)
                )
    return study


def _check_folds(document: yaml_files.Document, file: StudyFile, n: int) -> None:
    what = file.folded.replace("_", " ")
    if not n:
        raise document.error(f"concept '{file.concept}' has no {what}", ("concept",))
    if file.folds > n:
        raise document.error(
            f"{file.folds} folds of {n} {what}: at most one fold for each", ("folds",)
        )
    left = n - -(-n // file.folds)
    if file.inner_folds > left and file.protocol == "nested":
        raise document.error(
            f"{file.inner_folds} folds of the {left} {what} that an outer fold leaves: "
            "at most one fold for each",
            ("inner_folds",),
        )
