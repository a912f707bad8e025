"""A recipe: its file with everything looked up, and the options that override it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from harness import folders
from harness.errors import InvalidOption, UsageError, suggestion
from harness.registry import trust
from harness.registry.registry import Registry
from harness.task import yaml_files
from harness.task.yaml_files import Collector

from ...corpora.entries import Kind
from ..settings import TrainSettings
from .recipe_file import RecipeFile, RowFile
from .summary import Group

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
    trust.of_recipe(document, registry, vars(overrides)).check()
    _Checks(document, file, registry).all()
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


@dataclass
class _Checks:
    """Looks for mistakes that the schema cannot see; collects all of them."""

    document: yaml_files.Document
    file: RecipeFile
    registry: Registry
    collector: Collector = field(default_factory=Collector)

    def all(self) -> None:
        """Raise `InvalidFile` with all mistakes, if there are any."""
        file, registry = self.file, self.registry
        self._check(("base",), lambda: registry.models.find(file.base))
        for name, row in file.rows.items():
            self._row(name, row)
        if file.scored_by and file.scored_by not in file.rows:
            self._check(("scored_by",), lambda: registry.models.find(file.scored_by))
        if self._is_scored and self._needs_scores(self._scorer):
            self._mistake(("scored_by",), "its corpus needs the scores that it should give")
        for key in TASKS:
            for i, task in enumerate(getattr(file, key)):
                self._check((key, i), lambda task=task: registry.task_files.find(task))  # type: ignore[misc]
        for i, seed in enumerate(file.seeds):
            if seed in file.seeds[:i]:
                self._mistake(("seeds", i), f"seed {seed} occurs twice")
        for name in file.training:
            if name not in OPTIONS:
                near = suggestion(name, OPTIONS)
                self._mistake(("training", name), f"unknown option of training{near}")
        self.collector.check()
        self._check(("training",), lambda: _settings(file.training))
        self.collector.check()

    @staticmethod
    def _needs_scores(row: RowFile) -> bool:
        return row.augment is not None or (row.subtract is not None and not row.at_random)

    @property
    def _is_scored(self) -> bool:
        return any(map(self._needs_scores, self.file.rows.values()))

    @property
    def _scorer(self) -> RowFile:
        rows = self.file.rows
        return rows.get(self.file.scored_by or next(iter(rows)), RowFile())

    def _row(self, name: str, row: RowFile) -> None:
        file, registry, key = self.file, self.registry, ("rows", name)
        if row.subtract is not None and row.augment is not None:
            self._mistake(key, "'subtract' and 'augment' exclude each other")
        if row.at_random and row.subtract is None:
            self._mistake((*key, "at_random"), "requires 'subtract'")
        if row.base:
            self._check((*key, "base"), lambda: registry.models.find(row.base))
        if row.mitigator:
            self._check((*key, "mitigator"), lambda: registry.mitigator(row.mitigator))
            self._check((*key, "concept"), lambda: registry.concept_files.find(row.concept))
        other = row.compared_with
        if other and other not in file.rows:
            near = suggestion(other, file.rows)
            self._mistake((*key, "compared_with"), f"unknown row '{other}'{near}")
        for before, same in file.rows.items():
            if before == name:
                break
            if _content(same, file) == _content(row, file):
                self._mistake(key, f"is the same as '{before}'")

    def _check(self, key: yaml_files.KeyPath, look_up: Callable[[], object]) -> None:
        with self.collector.collecting(), self.document.pointing_at(key):
            look_up()

    def _mistake(self, key: yaml_files.KeyPath, problem: str) -> None:
        with self.collector.collecting():
            raise self.document.error(problem, key)


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
        beside = document.beside(source, ("corpus", i))
        if folders.is_file(beside):
            return str(beside)
    names = ", ".join(f"'{source}'" for source in file.corpus)
    raise document.error(
        f"there is no {names} beside this file or in the folder that {DATA} names; "
        "name a corpus with --corpus",
        ("corpus",),
    )
