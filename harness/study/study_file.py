"""The schema of a study file: what a person writes. `harness.study.study` makes a study of it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from harness.concept import Name, Word
from harness.task.schema import InputFile, ScenarioFile, Strict, Table

Folded = Literal["definitional_pairs", "definitional_sets"]
Protocol = Literal["nested", "published"]


class MitigatorUse(Strict):
    """A row of the comparison: a mitigator, and the hyper-parameters to choose from."""

    mitigator: str = ""
    """Name as users type it, such as `anonymize+hard-debias?k=2`; by default the row's own."""
    grid: dict[str, tuple[Any, ...]] | tuple[dict[str, tuple[Any, ...]], ...] = Field(
        default_factory=dict
    )
    """Values by hyper-parameter, as scikit-learn's ParameterGrid takes them: a mapping, or a list
    of mappings. Of a chain, `STAGE.NAME`."""
    normalize: bool | None = None
    """Whether all vectors come to length 1 before it, in place of what the study says for all."""


class MeasureFile(Strict):
    """A column of the comparison: a score of a metric, averaged over scenarios."""

    metric: str
    """Name of the metric."""
    score: str = ""
    """Which of its scores; may be left out if it has one."""
    scenarios: tuple[str, ...] = ()
    """Scenarios that it is averaged over; by default all."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the metric. Its own intervals are not computed: `resamples` is 0 by default."""


class StudyFile(Strict):
    """A study: which mitigators, judged by what, on pairs that none of them was fitted on."""

    name: Name
    """Name that users type."""
    version: int = Field(ge=1)
    """To be raised with every change that changes numbers."""
    title: str
    """One line for listings."""
    description: str = ""
    """What is asked and how to read the answer."""
    source: str = ""
    """Paper that the set-up was taken from."""
    models: tuple[str, ...] = Field(min_length=1)
    """Names of the models."""
    concept: Name
    """The concept; its pairs are dealt out into folds."""
    folded: Folded = "definitional_pairs"
    """What is dealt out: pairs, or sets of any size."""
    normalize: bool = True
    """Whether all vectors come to length 1 before anything else, so that mitigators differ by what
    they remove and not by length."""
    mitigators: dict[Name, MitigatorUse] = Field(min_length=1)
    """The rows by label. `none` and `normalize` are always rows besides."""
    baseline: str = ""
    """The row that others are tested against; by default the first."""
    measures: dict[Name, MeasureFile] = Field(min_length=1)
    """The columns by label."""
    criteria: tuple[str, ...] = ()
    """Measures that hyper-parameters are chosen by, each in turn; by default all."""
    folds: int = Field(default=10, ge=2)
    """Outer folds, each judged once in a repeat."""
    inner_folds: int = Field(default=5, ge=2)
    """Inner folds, on the pairs that the outer fold is not judged on, which choose."""
    repeats: int = Field(default=1, ge=1)
    """How often the pairs are dealt out anew."""
    seed: int = Field(default=42, ge=0)
    """Of all that is random."""
    protocol: Protocol = "nested"
    """`nested`: inner folds choose, outer folds judge. `published`: as the published code of
    Zambrano and Bravo-Marquez does, the fold that judges also chooses, among fits on a random half
    of the other pairs; and the tests have its variance. It flatters whoever has most to choose."""
    alpha: float = Field(default=0.05, gt=0, lt=1)
    """Level of the tests."""
    rope: float | None = Field(default=None, gt=0)
    """Half the width of the region of practical equivalence, in the measures' unit: also gives the
    probabilities of the Bayesian correlated t-test."""
    allow_overlap: bool = False
    """Whether words that are judged may be among those that a mitigator was fitted on."""
    max_missing: float = Field(default=0.2, ge=0, le=1)
    """Largest share of an input's words that a vocabulary may lack."""
    sets: dict[str, tuple[Word, ...]] = Field(default_factory=dict)
    """Word sets by name, as in a task."""
    tables: dict[str, Table] = Field(default_factory=dict)
    """Tables by name, as in a task."""
    templates: dict[str, Word | tuple[Word, ...]] = Field(default_factory=dict)
    """Templates by name, as in a task."""
    inputs: dict[str, InputFile]
    """Inputs of the metrics by name, as in a task. Those of the table `concept.definitional_pairs`
    (or `concept.definitional_sets`) are, in each fold, the pairs held out."""
    scenarios: dict[str, ScenarioFile] = Field(default_factory=dict)
    """Readings by name, as in a task: which attribute sets."""
