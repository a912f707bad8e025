"""Runs a recipe: the steps that are not finished yet, in their order.

Each step calls one part of the harness and leaves a file or a folder. A step that was stopped is
begun again with the same arguments. Scoring, training and evaluation then go on where they stopped.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from harness import folders
from harness.digest import json_like
from harness.errors import InvalidFile, Unavailable, UsageError
from harness.progress import Progress
from harness.registry.registry import Registry
from harness.results import jsonl
from harness.run import steps as resumable
from harness.run.recording import environment

from ..settings import TrainSettings
from ..training import check_installed
from .recipe import Recipe, Step, StepKind, StepRecord, plan

if TYPE_CHECKING:
    from ...corpora.fair_corpora import Splits

STEPS = "steps.jsonl"
"""The file of finished steps in the folder of a recipe."""
RESULTS, STORE = "results", "embeddings"
"""Folders of the records, and of the vectors while a model is evaluated."""
PAIRS = "pairs.jsonl"
"""The pairs of the recipe, in one file beside the folders of the corpora."""
CONCEPT = "gender"
"""Concept of the bias scores."""
LARGEST_SHARE = 20
"""The parts to develop and to test have at most one in so many pairs."""

Facts: TypeAlias = dict[str, Any]
"""What a step reports."""


def do_steps(
    recipe: Recipe, folder: Path, registry: Registry, progress: Progress
) -> tuple[dict[str, StepRecord], int, tuple[str, ...]]:
    """Do what is left of a recipe; return its steps by name, how many are new, and notices."""
    steps = plan(recipe)
    _claim(folder)
    file = jsonl.RecordsFile(folder / STEPS, StepRecord)
    left = unfinished(steps, file.records, folder)
    if any(step.kind == "train" for step in left):
        check_installed()
    if left:  # training may take hours: the data of all tasks is fetched before
        for task in recipe.tasks:
            try:
                registry.task(task)
            except Unavailable as error:
                progress.say(f"{task} will not run: {error}")
    doer = _Doer(recipe, steps, folder, registry, progress, file)
    resumable.run(left, doer.do, _record, file)
    return {step.name: file.records[step.name] for step in steps}, len(left), file.notices


def unfinished(
    steps: Sequence[Step], records: Mapping[str, StepRecord], folder: Path
) -> list[Step]:
    """Return the steps that are to be done.

    Raises
    ------
    UsageError
        If a step was done with other settings.
    """
    left = resumable.unfinished(steps, records)
    for step in left:
        record = records.get(step.name)
        # An evaluation keeps its records: only new tasks are run.
        if record is not None and step.kind != "evaluate":
            raise UsageError(
                f"'{folder}' has '{step.name}' with other settings{_difference(record, step)}; "
                "choose another folder with --out"
            )
    return left


@dataclass(frozen=True)
class _Doer:
    """Does the steps of a recipe in a folder, which has the file of the finished ones."""

    recipe: Recipe
    steps: Sequence[Step]
    folder: Path
    registry: Registry
    progress: Progress
    file: jsonl.RecordsFile[StepRecord]

    def do(self, step: Step) -> Facts:
        """Do a step, and return what it reports."""
        left = resumable.unfinished(self.steps, self.file.records)
        time_left = _time_left(left, self.file.records.values())
        number = len(self.steps) - len(left) + 1
        self.progress.say(f"step {number} of {len(self.steps)}: {step.name}{time_left}")
        actions: dict[StepKind, Callable[[Step], Facts]] = {
            "split": self._split,
            "score": self._score,
            "correct": self._correct,
            "words": self._words,
            "train": self._train,
            "evaluate": self._evaluate,
        }
        return actions[step.kind](step)

    def _path(self, name: str) -> Path:
        """Return the file or folder of a step by the step's name."""
        return self.folder / next(step.folder for step in self.steps if step.name == name)

    def _split(self, step: Step) -> Facts:
        return split(self.recipe.corpus, self.folder / step.folder, step.settings)

    def _score(self, step: Step) -> Facts:
        """Write the bias scores of all pairs; the larger one of a pair's sentences counts."""
        from ...bias_score.method import Method
        from ...corpora.commands import score_once
        from ...corpora.scoring import Corpus

        _, *trained = step.needs
        name = f"sentence-transformers:{self._path(trained[0])}" if trained else None
        embedder = self.registry.embedder(name or step.settings["model"])
        words = self.registry.embedder(step.settings["words"]) if step.settings["words"] else None
        # Word vectors have the direction of gender; without them, token states have it.
        method = Method(vectors=words if words is not None and words.info.kind == "word" else None)
        out = self.folder / step.folder
        corpus = Corpus(name=str(out.parent / PAIRS))
        concept = self.registry.concept(CONCEPT)
        try:
            score_once(
                embedder, concept, corpus, out, method, overwrite=False, progress=self.progress
            )
        finally:
            getattr(embedder, "close", lambda: None)()
        return {}

    def _correct(self, step: Step) -> Facts:
        """Make a fairer corpus of the scored pairs, or one without pairs drawn at random."""
        from ...corpora import fair_corpora
        from ...corpora.scoring import ScoredCorpus

        _, *scores = step.needs
        folder, settings = self.folder / step.folder, step.settings
        if not scores:
            return _thin_out(folder, settings)
        source = self._path(scores[0])
        corpus = ScoredCorpus(source, self.progress)
        recipe = fair_corpora.Recipe(
            method=settings["method"],
            percentiles=[Fraction(str(settings["percentile"]))],
            splits=_splits(len(corpus), settings, str(source)),
        )
        place = folder.parent / f".{folder.name}"
        (fair,) = fair_corpora.make(corpus, recipe, place, overwrite=True, progress=self.progress)
        shutil.rmtree(folder, ignore_errors=True)
        fair.path.rename(folder)
        shutil.rmtree(place, ignore_errors=True)
        return {"counts": dict(fair.about["counts"]), "threshold": fair.about["threshold"]}

    def _words(self, step: Step) -> Facts:
        from harness.run.debiasing import Debiased, debias

        written = debias(
            step.settings["base"],
            step.settings["mitigator"],
            self.folder / step.folder,
            concept=step.settings["concept"],
            overwrite=True,  # of a file that no finished step has written
            registry=self.registry,
            progress=self.progress,
        )
        debiased = cast("Debiased", written)  # a recipe's file has the suffix of word vectors
        return {"words": debiased.words, "missing": list(debiased.missing)}

    def _train(self, step: Step) -> Facts:
        from ..training import train

        corpus, *words = step.needs
        base = f"vectors:{self._path(words[0])}" if words else step.settings["base"]
        settings = TrainSettings(
            corpus=str(self._path(corpus)),
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

    def _evaluate(self, step: Step) -> Facts:
        from harness.run.evaluation import evaluate

        (trained,) = step.needs
        model = Path(step.folder).stem
        store = self.folder / STORE / model
        records = evaluate(
            f"sentence-transformers:{self._path(trained)}?name={model}",
            step.settings["tasks"],
            results=self.folder / RESULTS,
            cache=store,
            samples=True,
            prompts=1,  # trainings are compared under the prompt that they were trained with
            registry=self.registry,
            progress=self.progress,
        )
        shutil.rmtree(store, ignore_errors=True)  # the records are written
        return {
            "records": len(records),
            "not_run": {entry.task: entry.reason for entry in records.not_run},
        }


def split(source: str, folder: Path, settings: Mapping[str, Any]) -> Facts:
    """Write the pairs of a corpus that have a label, as one file and in three parts.

    Raises
    ------
    InvalidFile
        If there are too few pairs.
    """
    from ...corpora.entries import entries

    dropped = Counter[str]()
    chosen = itertools.islice(
        entries(source, settings["format"], dropped=dropped), settings["limit"]
    )
    rows = [dict(entry.row) for entry in chosen]
    folders.write_atomically(folder.parent / PAIRS, _lines(rows))
    parts = _write_parts(rows, folder, settings, source)
    return {"pairs": len(rows), "dropped": dict(dropped), "parts": parts}


def _thin_out(folder: Path, settings: Mapping[str, Any]) -> Facts:
    """Write the pairs of a recipe without a share of them that is drawn at random: a control."""
    from harness.run.scoring import random_generator

    path = folder.parent / PAIRS
    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    removed = round(len(rows) * (1 - Fraction(str(settings["percentile"])) / 100))
    order = random_generator(settings["seed"], "recipe", "random").permutation(len(rows))
    kept = [rows[place] for place in sorted(order[removed:].tolist())]
    parts = _write_parts(kept, folder, settings, str(path))
    counts = {"entries": len(rows), "above": removed, "removed": removed, "added": 0}
    return {"counts": counts, "parts": parts}


def _write_parts(
    rows: list[dict[str, Any]], folder: Path, settings: Mapping[str, Any], source: str
) -> dict[str, int]:
    """Write a corpus in three parts, and return the number of pairs of each."""
    splits = _splits(len(rows), settings, source)
    parts = splits.draw(len(rows), folder.name)
    for part, places in parts.items():
        content = _lines([rows[place] for place in places.tolist()])
        folders.write_atomically(folder / f"{part}.jsonl", content)
    counts = {part: len(places) for part, places in parts.items()}
    about = {"name": folder.name, "splits": splits.about(), "counts": counts}
    folders.write_json(folder / "corpus.json", about)
    return counts


def _splits(n: int, settings: Mapping[str, Any], source: str) -> Splits:
    """Return how a corpus of n pairs is split."""
    from ...corpora.fair_corpora import Splits

    held = min(settings["holdout"], n // LARGEST_SHARE)
    if held < 1:
        problem = f"has {n} pairs with a label; a recipe needs {LARGEST_SHARE} or more"
        raise InvalidFile(problem, path=source)
    return Splits(holdout=Fraction(held), seed=settings["seed"])


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _claim(folder: Path) -> None:
    """Mark a new folder as that of a recipe by an empty file of steps; refuse any other folder."""
    path = folder / STEPS
    if path.exists():
        return
    if folder.is_dir() and any(folder.glob("[!.]*")):
        raise UsageError(f"'{folder}' has other files; choose a new folder with --out")
    folders.make(folder)
    path.touch()


def _difference(record: StepRecord, step: Step) -> str:
    """Return what a finished step and a planned one differ in."""
    old, new = record.settings, json_like(step.settings)
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    parts = [f"{name} was {old.get(name)}, is {new.get(name)}" for name in names]
    return f" ({'; '.join(parts)})" if parts else ""


def _record(step: Step, facts: Facts, seconds: float) -> StepRecord:
    return StepRecord(
        step=step.name,
        kind=step.kind,
        key=step.key,
        settings=json_like(step.settings),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=seconds,
        facts=facts,
        environment=environment(str(step.settings.get("device") or "default")),
    )


def _time_left(steps: Sequence[Step], records: Iterable[StepRecord]) -> str:
    """Return about how long some steps take, from finished steps of their kinds."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for record in records:
        seconds[record.kind].append(record.seconds)
    known = [fmean(seconds[step.kind]) for step in steps if step.kind in seconds]
    if not known:
        return ""
    minutes = sum(known) / 60
    at_least = "about" if len(known) == len(steps) else "more than"
    return f" ({at_least} {minutes:.0f} min left)" if minutes >= 1 else ""
