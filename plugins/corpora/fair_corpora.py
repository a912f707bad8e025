"""Fairer corpora by subtraction or augmentation (Dolci et al. 2023, section 4.2).

For each percentile one folder with `train.jsonl`, `dev.jsonl`, `test.jsonl`, and `corpus.json`,
which says how it was made. A folder appears when it is complete; a complete one is not made again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import folders
from harness.errors import DiskError, InvalidOption
from harness.plugins.corpora import scored_rows, swaps
from harness.plugins.corpora.entries import Kind, entries
from harness.plugins.corpora.scored_corpus import STEP, Places, ScoredCorpus
from harness.plugins.corpora.splits import PARTS, Splits
from harness.plugins.corpora.swaps import Swaps
from harness.plugins.texts.swapping import Tagger
from harness.progress import Advance, Progress

Method: TypeAlias = Literal["subtract", "augment"]
ABOUT = "corpus.json"
SWAPS = "swaps.jsonl"
_NAMES: Mapping[Method, str] = {"subtract": "sub", "augment": "aug"}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is made from a file of scores.

    Parameters
    ----------
    method
        `subtract` removes the entries above the percentile; `augment` adds their swapped versions.
    percentiles
        From 0 to 100; one corpus for each. 100 leaves the corpus as it is.
    splits
        How each corpus is split.
    tagger
        Tells pronouns apart when genders are swapped.
    kind
        Format of the files of the user; None: by their extensions.

    Raises
    ------
    InvalidOption
        If a percentile is none.
    """

    method: Method
    percentiles: Sequence[Fraction]
    splits: Splits
    tagger: Tagger = "spacy"
    kind: Kind | None = None

    def __post_init__(self) -> None:
        for percentile in self.percentiles:
            if not 0 < percentile <= 100:
                raise InvalidOption(
                    f"--percentile {float(percentile):g}: expected more than 0, at most 100"
                )

    def name(self, percentile: Fraction) -> str:
        """Return the name of a corpus, such as `sub90`."""
        return f"{_NAMES[self.method]}{float(percentile):g}"

    def about(self, corpus: ScoredCorpus, percentile: Fraction) -> dict[str, Any]:
        """Return what determines a corpus."""
        swapping = {"swapping": swaps.identity(self.tagger)} if self.method == "augment" else {}
        return {
            "method": self.method,
            "percentile": float(percentile),
            "splits": self.splits.about(),
            **swapping,
            "scores": {"name": corpus.path.name, "sha256": corpus.sha256},
        }


@dataclass(frozen=True, kw_only=True)
class FairCorpus:
    """A corpus that was made, or was there.

    Parameters
    ----------
    path
        Its folder.
    about
        The content of its `corpus.json`.
    new
        Whether this run made it.
    """

    path: Path
    about: Mapping[str, Any]
    new: bool


def make(
    corpus: ScoredCorpus, recipe: Recipe, out: Path, *, overwrite: bool, progress: Progress
) -> list[FairCorpus]:
    """Make the corpora of a recipe in a folder, those that are not there.

    Raises
    ------
    InvalidOption
        If a folder holds another corpus, or the corpus is too small for the splits.
    InvalidFile
        If a file of the user cannot be read.
    Unavailable
        If the tagger is not installed.
    DiskError
        If the folder cannot be written.
    """
    folders.make(out)
    there = {p: _existing(corpus, recipe, p, out, overwrite) for p in recipe.percentiles}
    missing = [percentile for percentile, fair in there.items() if fair is None]
    swapped = None
    if recipe.method == "augment" and missing:
        # The entries above a percentile are above each lower one, too.
        places = corpus.above(min(recipe.percentiles), recipe.splits.seed)
        swapped = swaps.write(out / SWAPS, corpus, places, recipe.tagger, progress)
    for percentile in missing:
        there[percentile] = _make(corpus, recipe, percentile, out, swapped, progress)
    return [fair for fair in there.values() if fair is not None]


def _existing(
    corpus: ScoredCorpus, recipe: Recipe, percentile: Fraction, out: Path, overwrite: bool
) -> FairCorpus | None:
    """Return a corpus that is there; None if it is to be made."""
    path = out / recipe.name(percentile)
    if not path.exists():
        return None
    if not (path / ABOUT).is_file():
        raise InvalidOption(f"'{path}' has other files; choose another folder with --out")
    if overwrite:
        return None
    try:
        about = json.loads((path / ABOUT).read_text("utf-8"))
    except (OSError, ValueError):
        about = {}
    if about.get("made_from") != recipe.about(corpus, percentile):
        raise InvalidOption(
            f"'{path}' is there already, made from other scores or options; --overwrite replaces it"
        )
    return FairCorpus(path=path, about=about, new=False)


def _make(
    corpus: ScoredCorpus,
    recipe: Recipe,
    percentile: Fraction,
    out: Path,
    swapped: Swaps | None,
    progress: Progress,
) -> FairCorpus:
    name = recipe.name(percentile)
    above = corpus.above(percentile, recipe.splits.seed)
    every = np.arange(len(corpus))
    kept = every if swapped else np.setdiff1d(every, above, assume_unique=True)
    added = swapped.among(above) if swapped else above[:0]
    drawn = recipe.splits.draw(len(kept) + len(added), name)
    folder = out / f".{name}.part"
    shutil.rmtree(folder, ignore_errors=True)
    sizes = {}
    try:
        folder.mkdir()
        with progress.stage(f"writing {name}", len(kept) + len(added), "entries") as advance:
            for part, order in drawn.items():
                chosen = _chosen(corpus, swapped, kept, added, order)
                sizes[part] = _write(folder / f"{part}.jsonl", chosen, advance)
        for part, path in recipe.splits.files().items():
            rows = (dict(entry.row) for entry in entries(str(path), recipe.kind))
            sizes[part] = _write(folder / f"{part}.jsonl", rows, lambda _: None)
        about = _about(corpus, recipe, percentile, above, added, sizes)
        folders.write_json(folder / ABOUT, about)
        path = out / name
        shutil.rmtree(path, ignore_errors=True)
        folder.rename(path)
    except OSError as error:
        raise DiskError(f"cannot write '{folder}' ({error.strerror})") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return FairCorpus(path=path, about=about, new=True)


def _chosen(
    corpus: ScoredCorpus, swapped: Swaps | None, kept: Places, added: Places, order: Places
) -> Iterator[dict[str, Any]]:
    """Yield entries in an order: a number counts the entries that are kept, then those added."""
    is_kept = order < len(kept)
    originals = corpus.rows(kept[order[is_kept]])
    duplicates = swapped.rows(added[order[~is_kept] - len(kept)]) if swapped else iter(())
    for original in is_kept:
        if original:
            yield scored_rows.entry_of(next(originals))
        else:
            row = next(duplicates)
            yield {**row["swapped"], "swapped_from": row["line"]}


def _write(path: Path, rows: Iterator[Mapping[str, Any]], advance: Advance) -> int:
    number = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            number += 1
            if number % STEP == 0:
                advance(STEP)
        advance(number % STEP)
        file.flush()
        os.fsync(file.fileno())
    return number


def _about(
    corpus: ScoredCorpus,
    recipe: Recipe,
    percentile: Fraction,
    above: Places,
    added: Places,
    sizes: Mapping[str, int],
) -> dict[str, Any]:
    """Return how a corpus was made, and its counts."""
    from harness import __version__

    scores = corpus.scores
    left = np.delete(scores, above)
    counts = {
        "entries": len(corpus),
        "without_score": int(np.isnan(scores).sum()),
        "above": len(above),
        "removed": len(above) if recipe.method == "subtract" else 0,
        "added": len(added),
    }
    return {
        "name": recipe.name(percentile),
        "made_from": recipe.about(corpus, percentile),
        "corpus": corpus.about.get("corpus"),
        "scored_by": {k: corpus.about.get(k) for k in ("model", "fingerprint", "importance")},
        "threshold": float(scores[above].min()) if len(above) else None,
        "highest": {"before": _highest(scores), "below": _highest(left)},
        "counts": counts | {part: sizes[part] for part in PARTS},
        "harness": __version__,
    }


def _highest(scores: npt.NDArray[np.float64]) -> float | None:
    """Return the highest score; None if there is none."""
    known = scores[np.isfinite(scores)]
    return float(known.max()) if len(known) else None
