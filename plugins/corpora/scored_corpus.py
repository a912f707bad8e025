"""A file of scores with only the scores in memory: which entries are most biased, and their rows.

An entry above a percentile is one of the stated share with the highest scores. The share is exact:
among equal scores at the threshold, the seed chooses. The entries above a percentile are also above
each lower one. Entries without a score come last.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.digest import file_sha256
from harness.errors import InvalidFile, InvalidOption, unreadable
from harness.plugins.corpora import scored_rows
from harness.plugins.corpora.lines import count_lines
from harness.plugins.corpora.resumable_file import read_about
from harness.progress import Progress
from harness.run.scoring import random_generator

Places = npt.NDArray[np.int64]
"""Numbers of entries, from 0."""
STEP = 10_000
"""Entries between two steps of progress."""


class ScoredCorpus:
    """A file that `harness corpus score` wrote.

    Parameters
    ----------
    path
        The file.
    progress
        Where to report progress.

    Attributes
    ----------
    scores
        (n,) absolute score of each entry; NaN if the model knew none of its words.
    sha256
        Identifies the content of the file.
    about
        How the file was made, if that is known.

    Raises
    ------
    InvalidFile
        If it cannot be read, is empty, or is no file of scores.
    """

    def __init__(self, path: Path, progress: Progress) -> None:
        if not path.exists():
            raise unreadable(path)
        if not path.is_file():
            raise InvalidFile("expected a file that harness corpus score wrote", path=path)
        self.path = path
        self.sha256 = file_sha256(path)
        self.about = read_about(path)
        scores: list[float] = []
        offsets: list[int] = []
        with progress.stage("reading", count_lines(str(path)) or 0, "entries") as advance:
            for offset, row in self._checked():
                score = row["abs"]
                scores.append(np.nan if score is None else float(score))
                offsets.append(offset)
                if len(scores) % STEP == 0:
                    advance(STEP)
            advance(len(scores) % STEP)
        if not scores:
            raise InvalidFile("has no entries", path=path)
        self.scores = np.array(scores)
        self._offsets = np.array(offsets)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.scores)

    def rows(self, places: Iterable[int]) -> Iterator[dict[str, Any]]:
        """Yield rows by their places, in any order."""
        return rows_at(self.path, self._offsets[list(places)])

    def above(self, percentile: Fraction, seed: int) -> Places:
        """Return the places of the entries above a percentile, in their order in the corpus.

        Raises
        ------
        InvalidOption
            If fewer entries have a score.
        """
        number = round(len(self) * (1 - percentile / 100))
        scored = int(np.isfinite(self.scores).sum())
        if number > scored:
            raise InvalidOption(
                f"--percentile {float(percentile):g}: {number:,} of {len(self):,} entries are "
                f"above it, but only {scored:,} have a score"
            )
        drawn = random_generator(seed, "corpus", "ties").permutation(len(self))
        order = np.lexsort((drawn, -np.nan_to_num(self.scores, nan=-1.0)))
        return np.sort(order[:number])

    def _checked(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        offset = 0
        with self.path.open("rb") as file:
            for i, line in enumerate(file, start=1):
                if line.strip():
                    yield offset, scored_rows.parsed(line, self.path, i)
                offset += len(line)


def rows_at(path: Path, offsets: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON-lines file that begin at the offsets, in that order."""
    with path.open("rb") as file:
        for offset in offsets:
            file.seek(int(offset))
            yield json.loads(file.readline())
