"""The schema of study files. `harness.study.study` makes a study of one."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from harness import limits
from harness.concept import Name, Word
from harness.task.schema import InputFile, ScenarioFile, Strict, Table

Folded = Literal["definitional_pairs", "definitional_sets"]
Protocol = Literal["nested", "published"]


class MitigatorUse(Strict):
    """A row of the comparison: a mitigator, and the hyper-parameters to choose from."""

    mitigator: str = ""
    """Name as users type it, such as `anonymize+hard-debias?k=2`; by default the row's label."""
    grid: dict[str, tuple[Any, ...]] | tuple[dict[str, tuple[Any, ...]], ...] = Field(
        default_factory=dict
    )
    """Values by hyper-parameter, as in scikit-learn's ParameterGrid: a mapping, or a list of
    mappings. The hyper-parameters of a chain are called `STAGE.NAME`."""
    normalize: bool | None = None
    """Whether all vectors are set to length 1 before it; by default the study's setting."""


class MeasureFile(Strict):
    """A column of the comparison: a score of a metric, averaged over scenarios."""

    metric: str
    """Name of the metric."""
    score: str = ""
    """Name of its score; by default the first."""
    scenarios: tuple[str, ...] = ()
    """Scenarios over which it is averaged; by default all."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the metric. `resamples` is 0 by default, so that no intervals are computed."""


class StudyFile(Strict):
    """A comparison of mitigators by nested cross-validation, on pairs that none was fitted on."""

    name: Name
    """Name that users type."""
    version: int = Field(ge=1, le=limits.INTEGER)
    """Raise it with every change that affects results."""
    title: str
    """One line for listings."""
    description: str = ""
    """The question, and how to read the answer."""
    source: str = ""
    """Paper that the set-up is from."""
    models: tuple[str, ...] = Field(min_length=1)
    """Names of the models."""
    concept: Name
    """Name of the concept; its pairs are divided into folds."""
    folded: Folded = "definitional_pairs"
    """The items that are divided into folds: pairs, or sets of any size."""
    normalize: bool = True
    """Whether all vectors are set to length 1 first, so that mitigators differ only in what they
    remove, not in length."""
    mitigators: dict[Name, MitigatorUse] = Field(min_length=1)
    """The rows by label. `none` and the row of unit length, `normalize`, are always added."""
    baseline: str = ""
    """The row that the others are tested against; by default the first."""
    measures: dict[Name, MeasureFile] = Field(min_length=1)
    """The columns by label."""
    criteria: tuple[str, ...] = ()
    """Measures by which hyper-parameters are chosen, each in turn; by default all."""
    folds: int = Field(default=10, ge=2, le=limits.STUDY_FOLDS)
    """Number of outer folds; each is judged once in a repeat."""
    inner_folds: int = Field(default=5, ge=2, le=limits.STUDY_FOLDS)
    """Number of inner folds, which divide the other pairs and choose the hyper-parameters."""
    repeats: int = Field(default=1, ge=1, le=limits.STUDY_FOLDS)
    """Number of random divisions of the pairs into folds."""
    seed: int = Field(default=42, ge=0, le=limits.INTEGER)
    """Seed of all random choices."""
    protocol: Protocol = "nested"
    """`nested`: inner folds choose, outer folds judge. `published`: as in the published code of
    Zambrano and Bravo-Marquez, the fold that judges also chooses, among fits on a random half of
    the other pairs, and the tests use that code's variance. This favours rows with large grids."""
    alpha: float = Field(default=0.05, gt=0, lt=1)
    """Level of the tests."""
    max_missing: float = Field(default=0.2, ge=0, le=1)
    """Largest share of an input's words that the model may lack."""
    sets: dict[str, tuple[Word, ...]] = Field(default_factory=dict)
    """Word sets by name, as in a task."""
    tables: dict[str, Table] = Field(default_factory=dict)
    """Tables by name, as in a task."""
    templates: dict[str, Word | tuple[Word, ...]] = Field(default_factory=dict)
    """Templates by name, as in a task."""
    inputs: dict[str, InputFile]
    """Inputs of the metrics by name, as in a task. In each fold, inputs of the table
    `concept.definitional_pairs` (or `concept.definitional_sets`) are the held-out pairs."""
    scenarios: dict[str, ScenarioFile] = Field(default_factory=dict)
    """Scenarios by name, as in a task, such as one for each attribute set."""
