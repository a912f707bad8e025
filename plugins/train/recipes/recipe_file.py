"""The schema of recipe files: which encoders are trained on which corpora, and how they are judged.

`recipe` makes a recipe of one.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from harness.concept import Name
from harness.task.schema import Strict

from ...corpora.entries import Kind


class RowFile(Strict):
    """A row of the tables: a corpus and what the encoder is built on."""

    subtract: float | None = Field(default=None, gt=0, lt=100)
    """Percentile: pairs with a bias score above it are taken out of the corpus."""
    augment: float | None = Field(default=None, gt=0, lt=100)
    """Percentile: pairs with a bias score above it are added with genders swapped."""
    at_random: bool = False
    """Whether as many pairs are taken out at random: a control of `subtract`, which shows what the
    bias scores add to a smaller corpus."""
    base: str = ""
    """Word model under the encoder, or text encoder to fine-tune; by default the recipe's."""
    mitigator: str = ""
    """Mitigator of the word vectors, or a chain, as users type it."""
    concept: Name = "gender"
    """Concept that the mitigator is fitted on."""
    compared_with: str = ""
    """Row that it is compared with; by default the first."""


class RecipeFile(Strict):
    """Encoders on original and fairer corpora, several seeds of each, and the tasks they run on."""

    name: Name
    """Name that users type."""
    version: int = Field(ge=1)
    """Raise it with every change that changes numbers."""
    title: str
    """One line for listings."""
    description: str = ""
    """The question, and how to read the answer."""
    source: str = ""
    """Paper that the set-up is from."""
    corpus: tuple[str, ...] = Field(min_length=1)
    """Where the pairs are: a path under HARNESS_DATA or beside this file, or `hf://owner/name`.
    The first that is there counts, and `--corpus` comes before all."""
    format: Kind | None = None
    """Format of the corpus, such as `snli`, `multinli` or `stsb`; by default by its extension."""
    limit: int | None = Field(default=None, ge=10)
    """Number of pairs to take, the first ones; by default all. It does not hold for `--corpus`."""
    holdout: int = Field(default=10_000, ge=1)
    """Number of pairs to develop and to test on, each, but at most a twentieth of the corpus."""
    seed: int = Field(default=0, ge=0)
    """Seed of the splits and of the swapped names. All seeds of training share these corpora."""
    base: str
    """Word model under the encoders, or text encoder to fine-tune."""
    rows: dict[Name, RowFile] = Field(min_length=1)
    """The rows by label. The first is what others are compared with."""
    seeds: tuple[int, ...] = Field(min_length=1)
    """Seeds of training: weights at the start, and the order of the pairs."""
    training: dict[str, Any] = Field(default_factory=dict)
    """Options of `harness train`, such as `hidden`."""
    scored_by: str = ""
    """Which model gives the bias scores of the pairs: a row, whose first seed counts, or the name
    of any model; by default the first row."""
    bias: tuple[str, ...] = Field(min_length=1)
    """Tasks whose effect sizes are averaged, such as SEAT's on gender."""
    retained: tuple[str, ...] = ()
    """Tasks of associations that should stay, such as flowers and pleasant."""
    usefulness: tuple[str, ...] = ()
    """Tasks whose primary scores are averaged, such as SentEval's."""
    claimed_change: float | None = Field(default=None, gt=0)
    """Change of the mean of the bias tasks in percent that the source claims. The tables say how
    often the seeds' noise alone gives one as large."""
