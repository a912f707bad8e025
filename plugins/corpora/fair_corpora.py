"""Fairer corpora by subtraction or augmentation (Dolci et al. 2023, section 4.2).

For each percentile one folder with `train.jsonl`, `dev.jsonl`, `test.jsonl`, and `corpus.json`,
which says how it was made. A folder appears when it is complete; a complete one is not made again.
"""

from __future__ import annotations

import functools
import gzip
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import folders
from harness.digest import digest, file_sha256
from harness.errors import DiskError, InvalidOption, unreadable
from harness.progress import Advance, Progress
from harness.run.scoring import random_generator

from ..texts.swapping import PEOPLE, PRONOUNS, Pair, Swapper, Tagger, one_to_one
from ..texts.taggers import spacy_pipeline
from . import scoring
from .entries import Kind, entries
from .scoring import STEP, Places, ScoredCorpus

# The three parts of a corpus: to train, to develop, and to test.
#
# Drawn at random by the seed, as in Dolci et al. (2023), section 4.2.1; or the last two are files
# of the user, and all entries are for training.


TRAIN, DEV, TEST = PARTS = ("train", "dev", "test")


@dataclass(frozen=True, kw_only=True)
class Splits:
    """How a corpus is split.

    Parameters
    ----------
    holdout
        Size of the parts to develop and to test, each: a number of entries, or a fraction below
        one half. The paper: 10,000.
    dev, test
        Files of these parts; None to draw them.
    seed
        Seed of the order and of the draw.

    Raises
    ------
    InvalidOption
        If the holdout is no such number, or one file is missing.
    InvalidFile
        If a file does not exist.
    """

    holdout: Fraction
    dev: Path | None = None
    test: Path | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.dev is None) != (self.test is None):
            raise InvalidOption("--dev and --test belong together; without them, both are drawn")
        for path in self.files().values():
            if not path.is_file():
                raise unreadable(path)
        whole = self.holdout >= 1 and self.holdout.denominator == 1
        if not (0 < self.holdout < Fraction(1, 2) or whole):
            raise InvalidOption(
                f"--holdout {float(self.holdout):g}: expected a number of entries, 1 or more, or a "
                "fraction below 0.5"
            )

    def files(self) -> Mapping[str, Path]:
        """Return the files of the user, by part."""
        parts = {DEV: self.dev, TEST: self.test}
        return {part: path for part, path in parts.items() if path is not None}

    def draw(self, n: int, name: str) -> Mapping[str, npt.NDArray[np.int64]]:
        """Return the places of the entries of each part that is drawn, in random order.

        Parameters
        ----------
        n
            Number of entries.
        name
            Name of the corpus, for the message.

        Raises
        ------
        InvalidOption
            If nothing would be left to train.
        """
        order = random_generator(self.seed, "corpus", "order").permutation(n)
        if self.files():
            return {TRAIN: order}
        held = int(self.holdout) if self.holdout >= 1 else round(n * self.holdout)
        if not 0 < held < n / 2:
            raise InvalidOption(
                f"--holdout {float(self.holdout):g}: {name} has {n:,} entries, too few for "
                "two parts of that size and one to train; set a fraction such as 0.1, or --dev "
                "and --test"
            )
        return {TRAIN: order[2 * held :], DEV: order[:held], TEST: order[held : 2 * held]}

    def about(self) -> dict[str, Any]:
        """Return what determines the parts; files by name and content."""
        if not self.files():
            return {"holdout": float(self.holdout), "seed": self.seed}
        return {"seed": self.seed} | {
            part: {"name": path.name, "sha256": file_sha256(path)}
            for part, path in self.files().items()
        }


# Words and names with a counterpart of the other gender, for counterfactual sentences.
#
# One to one: each word is the counterpart of its counterpart, so that swapping a sentence twice
# gives the sentence back. The names are shipped in `data/`; `data/README.md` has their source.


NAMES = 2_500  # names of each gender, Dolci et al. 2023, section 4.2.2
FURTHER: Sequence[Pair] = (
    *(("ma", "pa"), ("housewife", "househusband")),
    *(("housewives", "househusbands"), ("barwoman", "barman"), ("barwomen", "barmen")),
    *(("busgirl", "busboy"), ("busgirls", "busboys"), ("bellgirl", "bellboy")),
    *(("bellgirls", "bellboys"), ("countrywoman", "countryman"), ("stateswoman", "statesman")),
    *(("countrywomen", "countrymen"), ("strongwoman", "strongman"), ("handywoman", "handyman")),
    *(("bachelorette", "bachelor"), ("fiancees", "fiances"), ("fiancées", "fiancés")),
    *(("granny", "grandad"), ("nana", "gramps"), ("sorceresses", "sorcerers")),
    *(("firewomen", "firemen"), ("fisherwoman", "fisherman"), ("fisherwomen", "fishermen")),
    *(("anchorwoman", "anchorman"), ("craftswoman", "craftsman"), ("craftswomen", "craftsmen")),
    *(("workwoman", "workman"), ("workwomen", "workmen"), ("repairwoman", "repairman")),
    *(("repairwomen", "repairmen"), ("frontwoman", "frontman"), ("mailwoman", "mailman")),
    *(("ballerina", "danseur"), ("ballerinas", "danseurs"), ("abbess", "abbot")),
)
"""Female first. After the lists of GN-GloVe (Zhao et al. 2018, Apache-2.0) and WinoBias (MIT), and
of our own by the same patterns."""
OTHER_SENSES = frozenset({"count", "host", "hosts", "god", "gods"})
"""Words that are more often something else: `count the birds`, `hosts a party`, `oh my God`."""


@dataclass(frozen=True)
class Names:
    """Pairs of equally popular names, female first, and those that are words or places, too."""

    pairs: Sequence[Pair]
    ambiguous: frozenset[str]


@functools.cache
def gender_words() -> Sequence[Pair]:
    """Return the pairs of gender words without the personal pronouns her, hers, him and his."""
    every = one_to_one([*PRONOUNS, *PEOPLE, *FURTHER])
    return [pair for pair in every if OTHER_SENSES.isdisjoint(pair)]


@functools.cache
def names_of_people() -> Names:
    """Return the most popular names; those of one rank are a pair."""
    with gzip.open(
        Path(__file__).parent / "data" / "first_names.tsv.gz", "rt", encoding="utf-8"
    ) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return Names(
        pairs=[(female.rstrip("*"), male.rstrip("*")) for female, male in rows],
        ambiguous=frozenset(name[:-1] for row in rows for name in row if name.endswith("*")),
    )


# The file of swaps: biased entries beside the same entries with genders swapped.
#
# Dolci et al. (2023), section 4.2.2. It has only entries with a gender word or a name, in the order
# of the corpus.


BUFFER = 1_024
"""Entries that are swapped together."""
Swaps: TypeAlias = Mapping[int, Mapping[str, Any]]
"""By the place of an entry, its row in the file: `entry`, and `swapped`."""


def examples(path: Path, number: int, seed: int) -> list[dict[str, Any]]:
    """Return rows of a file of swaps that are drawn by the seed."""
    lines = path.read_bytes().splitlines()
    drawn = random_generator(seed, "corpus", "examples").permutation(len(lines))[:number]
    return [json.loads(lines[i]) for i in drawn]


def make_swapper(tagger: Tagger) -> Swapper:
    """Return what swaps the gender words and names of a sentence."""
    names = names_of_people()
    return Swapper(gender_words(), tagger, names=names.pairs, ambiguous=names.ambiguous)


def swaps_identity(tagger: Tagger) -> dict[str, Any]:
    """Return what determines a swapped sentence."""
    names = names_of_people()
    return {
        "tagger": tagger,
        "pipeline": spacy_pipeline() if tagger == "spacy" else None,
        "words": 2 * len(gender_words()),
        "names": 2 * len(names.pairs),
        "lists": digest([list(gender_words()), list(names.pairs), sorted(names.ambiguous)]),
    }


def write_swaps(
    path: Path, corpus: ScoredCorpus, places: Places, tagger: Tagger, progress: Progress
) -> Swaps:
    """Write the swapped versions of entries, and return them.

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
    swapper = make_swapper(tagger)
    swaps: dict[int, dict[str, Any]] = {}
    with progress.stage("swapping", len(places), "entries") as advance:
        for start in range(0, len(places), BUFFER):
            chunk = places[start : start + BUFFER].tolist()
            swaps |= _swapped(dict(zip(chunk, corpus.rows(chunk), strict=True)), swapper)
            advance(len(chunk))
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in swaps.values())
    folders.write_atomically(path, (line.encode() for line in lines))
    return swaps


def _swapped(rows: Mapping[int, dict[str, Any]], swapper: Swapper) -> dict[int, dict[str, Any]]:
    texts = [s["text"] for row in rows.values() for s in scoring.sentences_of(row)]
    swapped = dict(zip(texts, swapper.swap_all(texts), strict=True))
    return {
        place: {
            "place": place,
            "line": row["line"],
            "abs": row["abs"],
            "entry": scoring.entry_of(row),
            "swapped": scoring.entry_of(row, swapped),
        }
        for place, row in rows.items()
        if any(swapped[s["text"]] != s["text"] for s in scoring.sentences_of(row))
    }


Method: TypeAlias = Literal["subtract", "augment"]
ABOUT = "corpus.json"
SWAPS = "swaps.jsonl"
_NAMES: Mapping[Method, str] = {"subtract": "sub", "augment": "aug"}


@dataclass(frozen=True, kw_only=True)
class Change:
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
        swapping = {"swapping": swaps_identity(self.tagger)} if self.method == "augment" else {}
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
    corpus: ScoredCorpus, change: Change, out: Path, *, overwrite: bool, progress: Progress
) -> list[FairCorpus]:
    """Make the corpora of a change in a folder, those that are not there.

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
    there = {p: _existing(corpus, change, p, out, overwrite) for p in change.percentiles}
    missing = [percentile for percentile, fair in there.items() if fair is None]
    swapped = None
    if change.method == "augment" and missing:
        # The entries above a percentile are above each lower one, too.
        places = corpus.above(min(change.percentiles), change.splits.seed)
        swapped = write_swaps(out / SWAPS, corpus, places, change.tagger, progress)
    for percentile in missing:
        there[percentile] = _make(corpus, change, percentile, out, swapped, progress)
    return [fair for fair in there.values() if fair is not None]


def _existing(
    corpus: ScoredCorpus, change: Change, percentile: Fraction, out: Path, overwrite: bool
) -> FairCorpus | None:
    """Return a corpus that is there; None if it is to be made."""
    path = out / change.name(percentile)
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
    if about.get("made_from") != change.about(corpus, percentile):
        raise InvalidOption(
            f"'{path}' is there already, made from other scores or options; --overwrite replaces it"
        )
    return FairCorpus(path=path, about=about, new=False)


def _make(
    corpus: ScoredCorpus,
    change: Change,
    percentile: Fraction,
    out: Path,
    swapped: Swaps | None,
    progress: Progress,
) -> FairCorpus:
    name = change.name(percentile)
    above = corpus.above(percentile, change.splits.seed)
    every = np.arange(len(corpus))
    kept = np.setdiff1d(every, above, assume_unique=True) if swapped is None else every
    added = np.array([place for place in above if place in (swapped or ())], dtype=np.int64)
    drawn = change.splits.draw(len(kept) + len(added), name)
    folder = out / f".{name}.part"
    shutil.rmtree(folder, ignore_errors=True)
    sizes = {}
    try:
        folder.mkdir()
        with progress.stage(f"writing {name}", len(kept) + len(added), "entries") as advance:
            for part, order in drawn.items():
                chosen = _chosen(corpus, swapped, kept, added, order)
                sizes[part] = _write(folder / f"{part}.jsonl", chosen, advance)
        for part, path in change.splits.files().items():
            rows = (dict(entry.row) for entry in entries(str(path), change.kind))
            sizes[part] = _write(folder / f"{part}.jsonl", rows, lambda _: None)
        about = _about(corpus, change, percentile, above, added, sizes)
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
    for number in order.tolist():
        if swapped is None or number < len(kept):
            yield scoring.entry_of(next(originals))
        else:
            row = swapped[int(added[number - len(kept)])]
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
    return number


def _about(
    corpus: ScoredCorpus,
    change: Change,
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
        "removed": len(above) if change.method == "subtract" else 0,
        "added": len(added),
    }
    return {
        "name": change.name(percentile),
        "made_from": change.about(corpus, percentile),
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
