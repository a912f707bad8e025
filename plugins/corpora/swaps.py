"""The file of swaps: biased entries beside the same entries with genders swapped.

Dolci et al. (2023), section 4.2.2. It has only entries with a gender word or a name, in the
order of the corpus. It grows as entries are swapped; an interrupted run continues it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from harness.digest import digest
from harness.plugins.corpora import gender_words, resumable_file, scored_rows
from harness.plugins.corpora.resumable_file import ResumableFile
from harness.plugins.corpora.scored_corpus import Places, ScoredCorpus, rows_at
from harness.plugins.texts.swapping import Swapper, Tagger
from harness.plugins.texts.taggers import spacy_pipeline
from harness.progress import Progress
from harness.run.scoring import random_generator

BUFFER = 1_024
"""Entries in memory at a time."""


class Swaps:
    """A complete file of swaps.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offsets: dict[int, int] = {}
        offset = 0
        with path.open("rb") as file:
            for line in file:
                self._offsets[json.loads(line)["place"]] = offset
                offset += len(line)

    def among(self, places: Places) -> Places:
        """Return those of the places whose entries have a swapped version."""
        return np.array([place for place in places if int(place) in self._offsets], dtype=np.int64)

    def examples(self, number: int, seed: int) -> list[dict[str, Any]]:
        """Return rows that are drawn by the seed."""
        places = np.array(list(self._offsets), dtype=np.int64)
        drawn = random_generator(seed, "corpus", "examples").permutation(len(places))[:number]
        return list(self.rows(places[drawn]))

    def rows(self, places: Places) -> Iterator[dict[str, Any]]:
        """Yield the rows of places, in their order: `entry`, and `swapped`."""
        return rows_at(self.path, (self._offsets[int(place)] for place in places))


def make_swapper(tagger: Tagger) -> Swapper:
    """Return what swaps the gender words and names of a sentence."""
    names = gender_words.names()
    return Swapper(gender_words.words(), tagger, names=names.pairs, ambiguous=names.ambiguous)


def identity(tagger: Tagger) -> dict[str, Any]:
    """Return what determines a swapped sentence."""
    names = gender_words.names()
    return {
        "tagger": tagger,
        "pipeline": spacy_pipeline() if tagger == "spacy" else None,
        "words": 2 * len(gender_words.words()),
        "names": 2 * len(names.pairs),
        "lists": digest([list(gender_words.words()), list(names.pairs), sorted(names.ambiguous)]),
    }


def write(
    path: Path, corpus: ScoredCorpus, places: Places, tagger: Tagger, progress: Progress
) -> Swaps:
    """Write the swapped versions of entries, unless they are written; return the file.

    Parameters
    ----------
    path
        The file.
    corpus
        The entries.
    places
        The entries to swap, in their order.
    tagger
        Tells pronouns apart, and people from places and words.
    progress
        Where to report progress.

    Raises
    ------
    Unavailable
        If the tagger is not installed.
    DiskError
        If the file cannot be written.
    """
    about = {
        "scores": corpus.sha256,
        "places": digest(places.tolist()),
        "swapping": identity(tagger),
    }
    if path.exists() and resumable_file.read_about(path) == about:
        return Swaps(path)
    resume = resumable_file.can_continue(path, about)
    file = ResumableFile(path, about, overwrite=True, resume=resume)
    done = max((row["place"] for row in file.rows()), default=-1)
    left = places[places > done]
    try:
        swapper = make_swapper(tagger)
        with progress.stage("swapping", len(places), "entries") as advance:
            advance(len(places) - len(left))
            pairs = zip(left, corpus.rows(left), strict=True)
            while buffer := list(itertools.islice(pairs, BUFFER)):
                file.write(_swapped(buffer, swapper))
                advance(len(buffer))
    except BaseException:
        file.close()
        raise
    file.finish(about)
    return Swaps(path)


def _swapped(
    buffer: list[tuple[np.int64, dict[str, Any]]], swapper: Swapper
) -> list[dict[str, Any]]:
    texts = [s["text"] for _, row in buffer for s in scored_rows.sentences(row)]
    swapped = dict(zip(texts, swapper.swap_all(texts), strict=True))
    return [
        {
            "place": int(place),
            "line": row["line"],
            "abs": row["abs"],
            "entry": scored_rows.entry_of(row),
            "swapped": scored_rows.entry_of(row, swapped),
        }
        for place, row in buffer
        if any(swapped[s["text"]] != s["text"] for s in scored_rows.sentences(row))
    ]
