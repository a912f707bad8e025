"""The steps of a recipe in their order, each with a key that says what its result depends on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.digest import digest, file_sha256

from .recipe import HUB, Recipe
from .recipe_file import RowFile
from .summary import Method

Kind = Literal["split", "score", "correct", "words", "train", "evaluate"]
VERSION = 1
"""Raise it with every change of this package that changes what a finished step would give."""
DEVICE = "device"
"""Option of training that no key has: a recipe may go on elsewhere."""
ORIGINAL = "original"
"""Name of the corpus as it is, split in three."""


@dataclass(frozen=True)
class Step:
    """A step of a recipe.

    Parameters
    ----------
    name
        Its name in messages, unique in the recipe.
    kind
        What is done: the corpus is split, scored or corrected, word vectors are debiased, a model
        is trained or evaluated.
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
    kind: Kind
    needs: tuple[str, ...]
    folder: str
    settings: dict[str, Any] = field(repr=False)
    key: str = field(repr=False)


def label(row: str, seed: int) -> str:
    """Return the label of a model in records: its row and its seed."""
    return f"{row}-seed{seed}"


def method_of(row: RowFile) -> Method:
    """Return how the corpus of a row is made."""
    if row.subtract is not None:
        return "random" if row.at_random else "subtract"
    return "original" if row.augment is None else "augment"


def corpus_of(recipe: Recipe, row: str) -> str:
    """Return the name of the corpus of a row."""
    content = recipe.file.rows[row]
    if content.subtract is not None:
        return f"{'random' if content.at_random else 'sub'}{content.subtract:g}"
    return ORIGINAL if content.augment is None else f"aug{content.augment:g}"


def plan(recipe: Recipe) -> tuple[Step, ...]:
    """Return all steps of a recipe; each stands behind those that it needs.

    Cheap steps come first, because they fail first. Then it goes seed by seed, so that a recipe
    that is stopped early has rows to compare.
    """
    return tuple(_Plan(recipe).steps.values())


class _Plan:
    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.steps: dict[str, Step] = {}
        file = recipe.file
        self._split()
        for row in file.rows:
            self._words(row)
        for seed in file.seeds:
            for row in file.rows:
                self._evaluate(row, seed)

    def _split(self) -> str:
        file = self.recipe.file
        settings = {
            "source": _identity(self.recipe.corpus),
            "format": file.format,
            "limit": file.limit,
            "holdout": file.holdout,
            "seed": file.seed,
        }
        return self._add(f"corpus {ORIGINAL}", "split", (), f"corpora/{ORIGINAL}", settings)

    def _scores(self) -> str:
        name = "bias scores"
        if name in self.steps:
            return name
        row, file = self.recipe.scored_by, self.recipe.file
        needs: tuple[str, ...]
        if row is None:
            needs, settings = (self._split(),), {"model": file.scored_by, "words": ""}
        else:
            trained = self._train(row, file.seeds[0])
            needs, settings = (self._split(), trained), {"model": label(row, file.seeds[0])}
            settings["words"] = self._word_base(row)
        return self._add(name, "score", needs, "corpora/scores.jsonl", settings)

    def _corpus(self, row: str) -> str:
        corpus = corpus_of(self.recipe, row)
        if corpus == ORIGINAL:
            return self._split()
        content, file = self.recipe.file.rows[row], self.recipe.file
        method = method_of(content)
        settings = {
            "method": method,
            "percentile": content.augment if content.subtract is None else content.subtract,
            "holdout": file.holdout,
            "seed": file.seed,
        }
        scores = () if method == "random" else (self._scores(),)
        needs = (self._split(), *scores)
        return self._add(f"corpus {corpus}", "correct", needs, f"corpora/{corpus}", settings)

    def _words(self, row: str) -> str | None:
        """Add the step that debiases a row's word vectors; None if it uses them as they are."""
        content = self.recipe.file.rows[row]
        if not content.mitigator:
            return None
        settings = {
            "base": self.recipe.base(row),
            "mitigator": content.mitigator,
            "concept": content.concept,
        }
        return self._add(f"words {row}", "words", (), f"words/{row}.safetensors", settings)

    def _train(self, row: str, seed: int) -> str:
        corpus, words = self._corpus(row), self._words(row)
        needs = (corpus, words) if words else (corpus,)
        settings = {"seed": seed, "base": None if words else self.recipe.base(row)}
        settings |= self.recipe.file.training
        name = label(row, seed)
        return self._add(f"train {name}", "train", needs, f"models/{name}", settings)

    def _evaluate(self, row: str, seed: int) -> str:
        trained, name = self._train(row, seed), label(row, seed)
        # The digests of the tasks are in the records: here their names are enough.
        settings = {"tasks": list(self.recipe.tasks)}
        file = f"results/{name}.jsonl"
        return self._add(f"evaluate {name}", "evaluate", (trained,), file, settings)

    def _word_base(self, row: str) -> str:
        """Return the word model under a row's encoder, for the gender direction; empty if none."""
        return self.recipe.base(row)

    def _add(
        self, name: str, kind: Kind, needs: tuple[str, ...], folder: str, settings: dict[str, Any]
    ) -> str:
        if name not in self.steps:
            keys = [self.steps[need].key for need in needs]
            content = {name: value for name, value in settings.items() if name != DEVICE}
            key = digest([VERSION, kind, content, keys])
            self.steps[name] = Step(name, kind, needs, folder, settings, key)
        return name


def _identity(corpus: str) -> list[str]:
    """Return what identifies the content of a corpus: the hash of its file, or its address."""
    return [corpus if corpus.startswith(HUB) else file_sha256(Path(corpus))]
