"""The corpora of a recipe: the original in three parts, its bias scores, and what they give."""

from __future__ import annotations

import itertools
import json
import shutil
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import folders
from harness.embedder import Embedder
from harness.errors import InvalidFile
from harness.progress import Progress

if TYPE_CHECKING:
    from ...corpora.fair_corpora import Method, Splits

CONCEPT = "gender"
PAIRS = "pairs.jsonl"
"""The pairs of the recipe, in one file beside the folders of the corpora."""
LARGEST_SHARE = 20
"""The parts to develop and to test have at most one in so many pairs."""


def split(source: str, folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
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
    counts = _write(rows, folder, settings, source)
    return {"pairs": len(rows), "dropped": dict(dropped), "parts": counts}


def thin_out(original: Path, folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Write the pairs of a recipe without a share of them that is drawn at random: a control."""
    from harness.run.scoring import random_generator

    path = original.parent / PAIRS
    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    removed = round(len(rows) * (1 - Fraction(str(settings["percentile"])) / 100))
    order = random_generator(settings["seed"], "recipe", "random").permutation(len(rows))
    kept = [rows[place] for place in sorted(order[removed:].tolist())]
    parts = _write(kept, folder, settings, str(path))
    counts = {"entries": len(rows), "above": removed, "removed": removed, "added": 0}
    return {"counts": counts, "parts": parts}


def score(
    embedder: Embedder, vectors: Embedder | None, concept: Any, out: Path, progress: Progress
) -> dict[str, Any]:
    """Write the bias scores of all pairs; the larger one of a pair's sentences counts.

    Parameters
    ----------
    embedder
        The text encoder that says how important each word is.
    vectors
        The word vectors under it, which have the direction of gender; None for token states.
    concept
        The concept.
    out
        The file to write.
    progress
        Where progress is shown.
    """
    from ...bias_score.method import Method
    from ...corpora.commands import score_once
    from ...corpora.scoring import Corpus

    corpus = Corpus(name=str(out.parent / PAIRS))
    method = Method(vectors=vectors)
    score_once(embedder, concept, corpus, out, method, overwrite=False, progress=progress)
    return {}


def correct(
    scores: Path, folder: Path, settings: Mapping[str, Any], progress: Progress
) -> dict[str, Any]:
    """Make a fairer corpus of the scored pairs, and return the counts of its pairs."""
    from ...corpora import fair_corpora
    from ...corpora.scoring import ScoredCorpus

    corpus = ScoredCorpus(scores, progress)
    method: Method = settings["method"]
    percentile = Fraction(str(settings["percentile"]))
    recipe = fair_corpora.Recipe(
        method=method,
        percentiles=[percentile],
        splits=splits_of(len(corpus), settings, str(scores)),
    )
    place = folder.parent / f".{folder.name}"
    (fair,) = fair_corpora.make(corpus, recipe, place, overwrite=True, progress=progress)
    shutil.rmtree(folder, ignore_errors=True)
    fair.path.rename(folder)
    shutil.rmtree(place, ignore_errors=True)
    return {"counts": dict(fair.about["counts"]), "threshold": fair.about["threshold"]}


def splits_of(n: int, settings: Mapping[str, Any], source: str) -> Splits:
    """Return how a corpus of n pairs is split.

    Raises
    ------
    InvalidFile
        If there are too few pairs.
    """
    from ...corpora.fair_corpora import Splits

    held = min(settings["holdout"], n // LARGEST_SHARE)
    if held < 1:
        problem = f"has {n} pairs with a label; a recipe needs {LARGEST_SHARE} or more"
        raise InvalidFile(problem, path=source)
    return Splits(holdout=Fraction(held), seed=settings["seed"])


def _write(
    rows: list[dict[str, Any]], folder: Path, settings: Mapping[str, Any], source: str
) -> dict[str, int]:
    """Write a corpus in three parts, and return the number of pairs of each."""
    splits = splits_of(len(rows), settings, source)
    parts = splits.draw(len(rows), folder.name)
    for part, places in parts.items():
        content = _lines([rows[place] for place in places.tolist()])
        folders.write_atomically(folder / f"{part}.jsonl", content)
    counts = {part: len(places) for part, places in parts.items()}
    about = {"name": folder.name, "splits": splits.about(), "counts": counts}
    folders.write_json(folder / "corpus.json", about)
    return counts


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
