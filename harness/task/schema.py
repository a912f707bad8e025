"""The schema of a task file, as a person writes it. `harness.task.task` resolves it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from harness import limits
from harness.concept import Name, Word
from harness.embedder import Kind, Role
from harness.task.mistakes import KeyPath
from harness.task.table_schema import Cell, Strict, Table

DEFAULT_SCENARIO = "default"
"""Name of the only scenario of a task that lists none."""


NOT_REVIEWED = "no reader of the language has reviewed its texts"
"""Why the scores of such a task are not ranked."""


class VocabularyPart(Strict):
    """The first words of a word embedder's vocabulary."""

    size: int = Field(ge=1)
    """Number of words; a smaller vocabulary gives all of its words."""
    pattern: str = ".+"
    """Regular expression that a word must match as a whole."""

    @field_validator("pattern")
    @classmethod
    def _is_an_expression(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"invalid regular expression '{pattern}' ({error})") from None
        # Of (a+)+ each word may need as many steps as it has ways to be cut.
        if re.search(r"\)[*+{]", re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "", pattern)):
            raise ValueError(f"regular expression '{pattern}': a group may not be repeated")
        return pattern


class Source(Strict):
    """Where the items of an input come from: `words`, `set`, `table` or `vocabulary`."""

    words: tuple[Word, ...] | None = None
    """The words or texts themselves."""
    set: str | None = None
    """A set of the task, or `concept.NAME` for one of the concept's."""
    table: str | None = None
    """A table of the task, or of its concept: `concept.definitional_pairs` has the columns `first`
    and `second`; `concept.definitional_sets` has one column a word, up to `eighth`."""
    vocabulary: VocabularyPart | None = None
    """Words of the embedder's own vocabulary, most frequent first."""
    column: str = "text"
    """Which column of the table."""
    where: dict[str, Cell | tuple[Cell, ...]] = Field(default_factory=dict)
    """Keep only rows whose cells equal these values; a list allows any of its values."""
    template: str | None = None
    """Name of the template, or list of templates, into which each item is put."""
    number: bool = False
    """Whether the items are numbers, such as labels, not texts. With a template that is a list, a
    number counts for each of the texts that the template makes of its row."""
    probe: bool = False
    """Whether the texts define the concept, so that mitigators do not rewrite them."""
    original: bool = False
    """Whether the vectors are those of the model without any mitigator."""
    role: Role = "text"
    """`query` or `document` if the texts are those of a search: a model with prompts for these puts
    the prompt before each text. `text`, the default, is neither. No part of the task's digest, so
    raise the version with it."""

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        kinds = ("words", "set", "table", "vocabulary")
        present = [name for name in kinds if getattr(self, name) is not None]
        if len(present) != 1:
            raise ValueError(
                "expected exactly one of 'words', 'set', 'table' and 'vocabulary'"
                + (f", but this has {' and '.join(present)}" if present else "")
            )
        if self.words is not None and not self.words:
            raise ValueError("empty set; an input needs at least one text")
        if self.vocabulary is not None and (self.template or self.number):
            raise ValueError("'vocabulary' takes no 'template' and no 'number'")
        if self.number and self.role != "text":
            raise ValueError(f"numbers have no role; remove 'role: {self.role}'")
        return self


InputFile = Source | tuple[Source, ...]
"""An input is one source, or several, concatenated."""


class MetricUse(Strict):
    """How a task uses a metric."""

    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the metric."""
    inputs: dict[str, str] = Field(default_factory=dict)
    """Input of the task by parameter of the metric, if the names differ."""


class ScenarioFile(Strict):
    """A variant of a task: only what differs from the task."""

    title: str = ""
    """One line for listings."""
    templates: dict[str, Word | tuple[Word, ...]] = Field(default_factory=dict)
    """Templates by name."""
    inputs: dict[str, InputFile] = Field(default_factory=dict)
    """Inputs that this scenario replaces or adds."""
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options by metric."""


class Primary(Strict):
    """The score that stands for the task in rankings."""

    metric: str
    """One of the task's metrics."""
    score: str
    """One of that metric's scores."""
    scenario: str = DEFAULT_SCENARIO
    """One of the task's scenarios."""


class TaskFile(Strict):
    """A task: which texts, under which concept, scored by which metrics."""

    name: Name
    """Name that users type."""
    version: int = Field(ge=1, le=limits.INTEGER)
    """Raised with every change that changes scores."""
    title: str
    """One line for listings."""
    description: str = ""
    """What the task asks and how to read its scores."""
    source: str = ""
    """Paper, table and data set that the task was taken from."""
    licence: str = ""
    """Licence of the task's texts."""
    measures: Literal["bias", "usefulness", "control"] = "bias"
    """What its scores measure. Bias and usefulness are ranked separately. A control is shown but
    not ranked: an association that everybody shares, such as flowers and pleasantness, or
    another form of a test that is ranked."""
    category: Name
    """Column group of the leaderboard, such as `gender` or `similarity`."""
    family: Name | None = None
    """Family of methods, such as `association`. A leaderboard gives one vote to each category and
    family, however many tasks they have. By default the name of the primary metric."""
    unranked: str = ""
    """Why the score is shown but not ranked, such as that it does not move with planted bias."""
    superseded_by: Name | None = None
    """Name of the task that replaces this one. Its scores are shown and no longer ranked."""
    reviewed: bool = True
    """False if no reader of the language has read the texts: its scores are shown, not ranked."""
    required: bool = False
    """Whether the score is a control that every usable model passes: a value above its ideal, and
    p < .05. A row without it is not ranked."""
    concept: Name | None = None
    """Concept that mitigators are fitted on."""
    language: str = Field(default="en", pattern="^[a-z]{2,3}$")
    """ISO 639-1 code, such as `de`; of three letters where there is none of two. The task is not
    run on a model whose card lacks the language."""
    kinds: tuple[Kind, ...] = ("word", "text")
    """Kinds of embedder that the task is made for."""
    tags: tuple[str, ...] = ()
    """Tags, by which `--tasks` selects tasks. Leaderboards quote no text of a task with the tag
    `stereotyped-texts`."""
    large: bool = False
    """Whether it takes hours or a large download. Then only its own name and benchmarks select it:
    `all`, globs, tags and categories leave it out."""
    sets: dict[str, tuple[Word, ...]] = Field(default_factory=dict)
    """Word sets by name."""
    tables: dict[str, Table] = Field(default_factory=dict)
    """Tables by name."""
    templates: dict[str, Word | tuple[Word, ...]] = Field(default_factory=dict)
    """Templates by name. `{text}` and `{column}` are replaced by the item and by a cell of its
    row, `{Text}` with a capital letter, `{context.debiasing}` by a context of the concept."""
    inputs: dict[str, InputFile]
    """Inputs of the metrics by name."""
    scenarios: dict[str, ScenarioFile] = Field(default_factory=dict)
    """Variants of the task by name; if there are none, one is called `default`."""
    metrics: dict[str, MetricUse] = Field(min_length=1)
    """Metrics by name."""
    primary: Primary
    """The score that stands for the task in rankings."""
    max_missing: float = Field(default=0.2, ge=0, le=1)
    """Largest share of an input's words that a vocabulary may lack; above it there is no score."""

    @property
    def not_ranked(self) -> str:
        """Why the scores are shown and not ranked; empty if they are ranked."""
        if self.unranked:
            return self.unranked
        if self.superseded_by is not None:
            return f"superseded by {self.superseded_by}"
        return "" if self.reviewed else NOT_REVIEWED

    def inputs_by_key(self) -> dict[KeyPath, InputFile]:
        """Return the inputs of the task and of its scenarios by key."""
        by_key: dict[KeyPath, InputFile] = {
            ("inputs", name): input_ for name, input_ in self.inputs.items()
        }
        for scenario, part in self.scenarios.items():
            for name, input_ in part.inputs.items():
                by_key["scenarios", scenario, "inputs", name] = input_
        return by_key

    def sources(self) -> Iterator[tuple[KeyPath, Source]]:
        """Yield the sources of all inputs, with their keys."""
        for key, input_ in self.inputs_by_key().items():
            if isinstance(input_, Source):
                yield key, input_
            else:
                yield from (((*key, i), source) for i, source in enumerate(input_))

    def unfit_for(self, kind: Kind) -> str | None:
        """Return why the task does not fit a kind of embedder; None if it does."""
        if kind in self.kinds:
            return None
        return f"made for {' and '.join(self.kinds)} embedders"

    def foreign_to(self, languages: Collection[str]) -> str | None:
        """Return why the task does not fit the languages of a model's card; None if it does.

        A card without languages, or with `multilingual`, fits every task.
        """
        if not languages or self.language in languages or "multilingual" in languages:
            return None
        return f"in the language {self.language}, the model is for {' and '.join(languages)}"
