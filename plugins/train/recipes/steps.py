"""Does the steps of a recipe: each calls one part of the harness and leaves a file or a folder.

A step that was stopped is begun again with the same arguments. Scoring, training and evaluation
then go on where they stopped.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.progress import Progress
from harness.registry.registry import Registry

from ..settings import TrainSettings
from . import corpora
from .plan import Kind, Step
from .recipe import Recipe

RESULTS, STORE = "results", "embeddings"
"""Folders of the records, and of the vectors while a model is evaluated."""


@dataclass(frozen=True)
class Steps:
    """Does the steps of a recipe in a folder.

    Parameters
    ----------
    recipe
        The recipe.
    steps
        Its steps by name.
    folder
        The folder of the recipe.
    registry
        Where names are looked up.
    progress
        Where progress is shown.
    """

    recipe: Recipe
    steps: dict[str, Step]
    folder: Path
    registry: Registry
    progress: Progress

    def do(self, step: Step) -> dict[str, Any]:
        """Do a step, and return what it reports."""
        actions: dict[Kind, Callable[[Step], dict[str, Any]]] = {
            "split": self._split,
            "score": self._score,
            "correct": self._correct,
            "words": self._words,
            "train": self._train,
            "evaluate": self._evaluate,
        }
        return actions[step.kind](step)

    def path(self, name: str) -> Path:
        """Return the file or folder of a step by the step's name."""
        return self.folder / self.steps[name].folder

    def _split(self, step: Step) -> dict[str, Any]:
        return corpora.split(self.recipe.corpus, self.folder / step.folder, step.settings)

    def _score(self, step: Step) -> dict[str, Any]:
        _, *trained = step.needs
        name = f"sentence-transformers:{self.path(trained[0])}" if trained else None
        embedder = self.registry.embedder(name or step.settings["model"])
        words = self.registry.embedder(step.settings["words"]) if step.settings["words"] else None
        vectors = words if words is not None and words.info.kind == "word" else None
        concept = self.registry.concept(corpora.CONCEPT)
        try:
            return corpora.score(
                embedder, vectors, concept, self.folder / step.folder, self.progress
            )
        finally:
            getattr(embedder, "close", lambda: None)()

    def _correct(self, step: Step) -> dict[str, Any]:
        original, *scored = step.needs
        folder = self.folder / step.folder
        if not scored:
            return corpora.thin_out(self.path(original), folder, step.settings)
        (scores,) = scored
        return corpora.correct(self.path(scores), folder, step.settings, self.progress)

    def _words(self, step: Step) -> dict[str, Any]:
        from harness.run.debiasing import debias

        debiased = debias(
            step.settings["base"],
            step.settings["mitigator"],
            self.folder / step.folder,
            concept=step.settings["concept"],
            overwrite=True,  # of a file that no finished step has written
            registry=self.registry,
            progress=self.progress,
        )
        return {"words": debiased.words, "missing": list(debiased.missing)}

    def _train(self, step: Step) -> dict[str, Any]:
        from ..training import train

        corpus, *words = step.needs
        base = f"vectors:{self.path(words[0])}" if words else step.settings["base"]
        settings = TrainSettings(
            corpus=str(self.path(corpus)),
            out=self.folder / step.folder,
            **{**step.settings, "base": base},
        )
        trained = train(settings, registry=self.registry, progress=self.progress)
        return {
            "scores": {split: dict(scores) for split, scores in trained.scores.items()},
            "pairs": dict(trained.pairs),
            "epochs": trained.epochs,
            "best_epoch": trained.best_epoch,
            "seconds": trained.seconds,
        }

    def _evaluate(self, step: Step) -> dict[str, Any]:
        from harness.run.evaluation import evaluate

        (trained,) = step.needs
        store = self.folder / STORE / Path(step.folder).stem
        records = evaluate(
            f"sentence-transformers:{self.path(trained)}?name={Path(step.folder).stem}",
            step.settings["tasks"],
            results=self.folder / RESULTS,
            cache=store,
            samples=True,
            registry=self.registry,
            progress=self.progress,
        )
        shutil.rmtree(store, ignore_errors=True)  # the records are written
        return {
            "records": len(records),
            "not_run": {entry.task: entry.reason for entry in records.not_run},
        }
