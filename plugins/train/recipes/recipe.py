"""A recipe: the schema of its file, the names in it looked up, and its steps in their order.

A recipe says which encoders are trained on which corpora, and how they are judged. A step has a key
that says what its result depends on.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import Field, model_validator

from harness import folders
from harness.concept import Name
from harness.digest import digest, file_sha256
from harness.errors import InvalidOption, UsageError, suggestion
from harness.registry import trust
from harness.registry.registry import Registry
from harness.results.record import Environment, Finite, Line
from harness.task import yaml_files
from harness.task.schema import Strict
from harness.task.yaml_files import Collector

from ...corpora.entries import Kind
from ..settings import TrainSettings

Method = Literal["original", "subtract", "augment", "random"]
"""How the corpus of a row is made; `random` is a control of `subtract`."""
Group = Literal["bias", "retained", "usefulness"]
"""Keys of the recipe with names of tasks."""


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

    @property
    def method(self) -> Method:
        """How its corpus is made."""
        if self.subtract is not None:
            return "random" if self.at_random else "subtract"
        return "original" if self.augment is None else "augment"

    @property
    def needs_scores(self) -> bool:
        """Whether its corpus is made by the bias scores of the pairs."""
        return self.method in ("subtract", "augment")

    @property
    def percentile(self) -> float | None:
        """The percentile; None for the original corpus."""
        return self.augment if self.subtract is None else self.subtract

    @property
    def corpus(self) -> str:
        """Name of its corpus, such as `sub90`."""
        short = {"subtract": "sub", "augment": "aug"}.get(self.method, self.method)
        return short if self.percentile is None else f"{short}{self.percentile:g}"


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


HUB = "hf://"
DATA = "HARNESS_DATA"
TASKS: tuple[Group, ...] = get_args(Group)
"""Keys of the recipe with names of tasks."""
OPTIONS = ("hidden", "words", "epochs", "batch_size", "lr", "device", "precision")
"""Options of training that a recipe may set; the others are its own business."""


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """What the command line says in place of the file.

    Parameters
    ----------
    corpus, format, base, limit
        As in the file; None keeps what the file says.
    training
        Options of training that replace those of the file.
    """

    corpus: str | None = None
    format: Kind | None = None
    base: str | None = None
    limit: int | None = None
    training: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recipe:
    """A recipe that can be run.

    Parameters
    ----------
    file
        Its file, with the overrides in it.
    corpus
        The corpus that is used: the path of a file, or `hf://owner/name`.
    """

    file: RecipeFile
    corpus: str

    @property
    def baseline(self) -> str:
        """The first row."""
        return next(iter(self.file.rows))

    @property
    def scored_by(self) -> str | None:
        """The row whose first seed scores the corpus; None if another model does."""
        name = self.file.scored_by or self.baseline
        return name if name in self.file.rows else None

    @property
    def tasks(self) -> tuple[str, ...]:
        """All tasks, each once."""
        return tuple(dict.fromkeys(task for key in TASKS for task in getattr(self.file, key)))

    def compared_with(self, row: str) -> str:
        """Return the row that a row is compared with; itself if it is a baseline."""
        own = self.file.rows[row].compared_with
        return own or self.baseline

    def has_base_of_first(self, row: str) -> bool:
        """Return whether a row differs from the first one in its corpus alone."""
        first, content = self.file.rows[self.baseline], self.file.rows[row]
        return (self.base(row), content.mitigator) == (self.base(self.baseline), first.mitigator)

    def base(self, row: str) -> str:
        """Return the name of the model under a row's encoder."""
        return self.file.rows[row].base or self.file.base


def resolve(
    document: yaml_files.Document, registry: Registry, overrides: Overrides | None = None
) -> Recipe:
    """Return the recipe of a parsed file, with every name in it looked up.

    Raises
    ------
    InvalidFile
        With file, line and key of each mistake.
    UsageError
        If an override is wrong.
    """
    file = document.validate(RecipeFile)
    overrides = overrides or Overrides()
    gate = trust.Gate(document, registry)
    if overrides.base is None:
        gate.model(file.base, ("base",))
    if file.scored_by and file.scored_by not in file.rows:
        gate.model(file.scored_by, ("scored_by",))
    for label, row in file.rows.items():
        if row.base:
            gate.model(row.base, ("rows", label, "base"))
        if row.mitigator:
            gate.mitigator(row.mitigator, ("rows", label, "mitigator"))
    gate.check()
    _check(document, file, registry)
    _check_overrides(overrides, registry)
    update = {
        key: value
        for key in ("format", "base", "limit")
        if (value := getattr(overrides, key)) is not None
    }
    if overrides.corpus is not None:  # the limit of the file is about the corpora of the file
        update |= {"corpus": (overrides.corpus,), "limit": overrides.limit}
    update["training"] = {**file.training, **overrides.training}
    file = file.model_copy(update=update)
    corpus = overrides.corpus or _corpus(document, file)
    return Recipe(file, corpus)


def _check(document: yaml_files.Document, file: RecipeFile, registry: Registry) -> None:
    """Raise `InvalidFile` with all mistakes that the schema cannot see, if there are any."""
    collector = Collector()

    def find(key: yaml_files.KeyPath, look_up: Callable[[str], object], name: str) -> None:
        with collector.collecting(), document.pointing_at(key):
            look_up(name)

    def mistake(key: yaml_files.KeyPath, problem: str) -> None:
        with collector.collecting():
            raise document.error(problem, key)

    find(("base",), registry.models.find, file.base)
    for i, (name, row) in enumerate(file.rows.items()):
        key = ("rows", name)
        if row.subtract is not None and row.augment is not None:
            mistake(key, "'subtract' and 'augment' exclude each other")
        if row.at_random and row.subtract is None:
            mistake((*key, "at_random"), "requires 'subtract'")
        if row.base:
            find((*key, "base"), registry.models.find, row.base)
        if row.mitigator:
            find((*key, "mitigator"), registry.mitigator, row.mitigator)
            find((*key, "concept"), registry.concept_files.find, row.concept)
        other = row.compared_with
        if other and other not in file.rows:
            mistake((*key, "compared_with"), f"unknown row '{other}'{suggestion(other, file.rows)}")
        for before, same in itertools.islice(file.rows.items(), i):
            if _content(same, file) == _content(row, file):
                mistake(key, f"is the same as '{before}'")
    if file.scored_by and file.scored_by not in file.rows:
        find(("scored_by",), registry.models.find, file.scored_by)
    scorer = file.rows.get(file.scored_by or next(iter(file.rows)), RowFile())
    if scorer.needs_scores:
        mistake(("scored_by",), "its corpus needs the scores that it should give")
    for group in TASKS:
        for i, task in enumerate(getattr(file, group)):
            find((group, i), registry.task_files.find, task)
    for i, seed in enumerate(file.seeds):
        if seed in file.seeds[:i]:
            mistake(("seeds", i), f"seed {seed} occurs twice")
    for name in file.training:
        if name not in OPTIONS:
            mistake(("training", name), f"unknown option of training{suggestion(name, OPTIONS)}")
    collector.check()
    with document.pointing_at(("training",)):
        _settings(file.training)


def _content(row: RowFile, file: RecipeFile) -> dict[str, Any]:
    """Return what a row's encoder depends on."""
    content = row.model_dump(exclude={"compared_with"}) | {"base": row.base or file.base}
    return content if row.mitigator else content | {"concept": ""}


def _settings(training: Mapping[str, Any]) -> TrainSettings:
    for name, value in training.items():
        if isinstance(value, bool | list | dict):
            raise InvalidOption(f"{name}={value}: expected a number or a text")
        if name not in ("device", "precision", "lr") and not isinstance(value, int | None):
            raise InvalidOption(f"{name}={value}: expected a whole number")
    return TrainSettings(base="", corpus="", out=Path(), **training)


def _check_overrides(overrides: Overrides, registry: Registry) -> None:
    if overrides.base is not None:
        registry.models.find(overrides.base)
    _settings(overrides.training)
    corpus = overrides.corpus
    if corpus is not None and not corpus.startswith(HUB) and not Path(corpus).is_file():
        raise UsageError(
            f"--corpus: '{corpus}' is no file; a recipe takes one file, or hf://owner/name, and "
            "splits it"
        )


def _corpus(document: yaml_files.Document, file: RecipeFile) -> str:
    """Return the first corpus of the file that is on this machine or has an address."""
    root = os.environ.get(DATA)
    for i, source in enumerate(file.corpus):
        if source.startswith(HUB):
            return source
        data = Path(root) / source if root else None
        if data and folders.is_file(data) and folders.is_inside(data, Path(root or "")):
            return str(data)
        path = document.locate(source, ("corpus", i))
        if folders.is_file(path):
            return str(path)
    names = ", ".join(f"'{source}'" for source in file.corpus)
    raise document.error(
        f"there is no {names} beside this file or in the folder that {DATA} names; "
        "name a corpus with --corpus",
        ("corpus",),
    )


StepKind = Literal["split", "score", "correct", "words", "train", "evaluate"]
"""What is done: the corpus is split, scored or corrected, word vectors are debiased, a model is
trained or evaluated."""
VERSION = 1
"""Raise it with every change of this package that changes what a finished step would give."""
DEVICE = "device"
"""Option of training that no key has: a recipe may go on elsewhere."""


@dataclass(frozen=True)
class Step:
    """A step of a recipe.

    Parameters
    ----------
    name
        Its name in messages, unique in the recipe; also the id of its record.
    kind
        What is done.
    needs
        Names of the steps whose results it reads.
    folder
        Folder or file of its result, relative to the recipe's folder.
    settings
        What else its result depends on.
    key
        Digest of the settings, and of those of all steps that it needs.
    """

    name: str
    kind: StepKind
    needs: tuple[str, ...]
    folder: str
    settings: dict[str, Any] = field(repr=False)
    key: str = field(repr=False)

    @property
    def id(self) -> str:
        """Id of its record."""
        return self.name


class StepRecord(Line):
    """A finished step: one JSON line. Its id is the name of the step."""

    step: str
    """Name of the step."""
    kind: str
    """What was done."""
    key: str
    """Digest of everything that its result depends on."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """What its result depends on, beside the steps that it needs."""
    created: str
    """UTC time, ISO 8601."""
    seconds: Finite
    """Seconds that it took, without what an earlier run of it took before it was stopped."""
    facts: dict[str, Any] = Field(default_factory=dict)
    """What it reports: numbers of pairs, scores of training, tasks that did not run."""
    environment: Environment
    """Software and machine that it ran on."""

    @model_validator(mode="after")
    def _named_by_its_step(self) -> Self:
        object.__setattr__(self, "id", self.step)
        return self


def label(row: str, seed: int) -> str:
    """Return the label of a model in records: its row and its seed."""
    return f"{row}-seed{seed}"


def plan(recipe: Recipe) -> tuple[Step, ...]:
    """Return all steps of a recipe; each stands behind those that it needs.

    Cheap steps come first, because they fail first. Then it goes seed by seed, so that a recipe
    that is stopped early has rows to compare.
    """
    planned = _Plan(recipe)
    planned.split()
    for row in recipe.file.rows:
        planned.words(row)
    for seed in recipe.file.seeds:
        for row in recipe.file.rows:
            planned.evaluate(row, seed)
    return tuple(planned.steps.values())


class _Plan:
    """Adds steps; each method adds what its step needs first, and returns the step's name."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self.file = recipe, recipe.file
        self.steps: dict[str, Step] = {}

    def split(self) -> str:
        file, source = self.file, self.recipe.corpus
        settings = {
            "source": [source if source.startswith(HUB) else file_sha256(Path(source))],
            "format": file.format,
            "limit": file.limit,
            "holdout": file.holdout,
            "seed": file.seed,
        }
        return self._add("corpus original", "split", (), "corpora/original", settings)

    def scores(self) -> str:
        row, seed = self.recipe.scored_by, self.file.seeds[0]
        needs: tuple[str, ...] = (self.split(),)
        if row is None:
            settings = {"model": self.file.scored_by, "words": ""}
        else:
            needs = (*needs, self.train(row, seed))
            settings = {"model": label(row, seed), "words": self.recipe.base(row)}
        return self._add("bias scores", "score", needs, "corpora/scores.jsonl", settings)

    def corpus(self, row: str) -> str:
        content = self.file.rows[row]
        if content.method == "original":
            return self.split()
        settings = {
            "method": content.method,
            "percentile": content.percentile,
            "holdout": self.file.holdout,
            "seed": self.file.seed,
        }
        scores = () if content.method == "random" else (self.scores(),)
        name, folder = f"corpus {content.corpus}", f"corpora/{content.corpus}"
        return self._add(name, "correct", (self.split(), *scores), folder, settings)

    def words(self, row: str) -> tuple[str, ...]:
        """Add the step that debiases a row's word vectors; none if it uses them as they are."""
        content = self.file.rows[row]
        if not content.mitigator:
            return ()
        settings = {
            "base": self.recipe.base(row),
            "mitigator": content.mitigator,
            "concept": content.concept,
        }
        return (self._add(f"words {row}", "words", (), f"words/{row}.safetensors", settings),)

    def train(self, row: str, seed: int) -> str:
        corpus, words = self.corpus(row), self.words(row)
        settings = {"seed": seed, "base": None if words else self.recipe.base(row)}
        settings |= self.file.training
        name = label(row, seed)
        return self._add(f"train {name}", "train", (corpus, *words), f"models/{name}", settings)

    def evaluate(self, row: str, seed: int) -> str:
        trained, name = self.train(row, seed), label(row, seed)
        # The digests of the tasks are in the records: here their names are enough.
        settings = {"tasks": list(self.recipe.tasks)}
        file = f"results/{name}.jsonl"
        return self._add(f"evaluate {name}", "evaluate", (trained,), file, settings)

    def _add(
        self,
        name: str,
        kind: StepKind,
        needs: tuple[str, ...],
        folder: str,
        settings: dict[str, Any],
    ) -> str:
        if name not in self.steps:
            keys = [self.steps[need].key for need in needs]
            content = {option: value for option, value in settings.items() if option != DEVICE}
            key = digest([VERSION, kind, content, keys])
            self.steps[name] = Step(name, kind, needs, folder, settings, key)
        return name
