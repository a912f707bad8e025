"""Pairs of sentences with labels, read from the splits of a corpus and checked for training.

Labels are names, such as `entailment`, or numbers: graded pairs such as those of STS-B, with scores
from 0 to 1 or from 0 to 5.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import InvalidFile, InvalidOption, UsageError, suggestion, unreadable

from ..corpora import entries as corpora
from ..corpora.entries import Entry, Kind
from .settings import TrainSettings

INFERENCE = frozenset(("entailment", "neutral", "contradiction"))
BINARY_INFERENCE = frozenset(("entailment", "not_entailment"))  # RTE, QNLI
MOST_LABELS = 100
LARGEST_SCORE = 5.0
"""Of STS-B; scores that are all at most 1 are taken as they are."""


@dataclass(frozen=True)
class Split:
    """The pairs of a split.

    Parameters
    ----------
    source
        Where they come from, as error messages call it.
    firsts, seconds
        The sentences.
    labels
        A number for each pair: the place of its label, or its score from 0 to 1.
    digest
        SHA-256 of the sentences and labels.
    dropped
        Number of entries that were left out, by reason.
    """

    source: str
    firsts: tuple[str, ...]
    seconds: tuple[str, ...]
    labels: tuple[float, ...]
    digest: str
    dropped: dict[str, int]

    def __len__(self) -> int:
        return len(self.firsts)


@dataclass(frozen=True)
class Corpus:
    """The splits of a corpus.

    Parameters
    ----------
    train, dev, test
        The splits.
    names
        The labels; empty for graded pairs.
    origin
        What `corpus.json` says of a corpus that the harness made; empty for another.
    """

    train: Split
    dev: Split | None
    test: Split | None
    names: tuple[str, ...]
    origin: dict[str, Any]

    @property
    def splits(self) -> dict[str, Split]:
        """The splits by name."""
        by_name = {"train": self.train, "dev": self.dev, "test": self.test}
        return {name: split for name, split in by_name.items() if split is not None}


def read(settings: TrainSettings) -> Corpus:
    """Return the pairs of a corpus.

    Raises
    ------
    InvalidFile
        If a split is empty, an entry is no pair, or its label is missing, unknown or of another
        kind than those before it.
    UsageError
        If the training pairs have only one label, or too many.
    """
    places = _places(settings)
    train, names, largest = _first_split(*places["train"], settings)
    others = {}
    for name in [name for name in places if name != "train"]:
        try:
            others[name] = _split(*places[name], settings.format, names, largest)
        except InvalidOption:
            if getattr(settings, name) is not None:
                raise
            # A data set of the hub need not have a split that nobody asked for.
    return Corpus(train, others.get("dev"), others.get("test"), names, _origin(settings.corpus))


def _places(settings: TrainSettings) -> dict[str, tuple[str, str]]:
    """Return the source of each split, and the name that it has on the hub."""
    corpus, folder = settings.corpus, Path(settings.corpus).expanduser()
    places: dict[str, tuple[str, str]] = {}
    if corpus.startswith("hf://"):
        places = {"train": (corpus, "train"), "dev": (corpus, "validation")}
        places["test"] = (corpus, "test")
    elif folder.is_dir():
        for name in ("train", "dev", "test"):
            if (folder / f"{name}.jsonl").is_file():
                places[name] = (str(folder / f"{name}.jsonl"), name)
        if "train" not in places:
            raise InvalidFile("the folder has no train.jsonl", path=corpus)
    elif folder.is_file():
        places["train"] = (str(folder), "train")
    else:
        raise unreadable(corpus)
    for name, source in (("dev", settings.dev), ("test", settings.test)):
        if source is not None:
            places[name] = (source, {"dev": "validation"}.get(name, name))
    return places


def _origin(corpus: str) -> dict[str, Any]:
    path = Path(corpus).expanduser() / "corpus.json"
    if not path.is_file():
        return {}
    try:
        stated = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidFile(f"cannot be read ({error})", path=path) from None
    if not isinstance(stated, dict):
        raise InvalidFile("expected a JSON object", path=path)
    return stated


def _first_split(
    source: str, split: str, settings: TrainSettings
) -> tuple[Split, tuple[str, ...], float]:
    """Return the training pairs, the names of their labels, and the scale of their scores."""
    dropped: Counter[str] = Counter()
    pairs = list(itertools.islice(_pairs(source, split, settings.format, dropped), settings.limit))
    if not pairs:
        raise _empty(source, dropped)
    graded = not isinstance(pairs[0].label, str)
    for entry in pairs:
        if isinstance(entry.label, str) == graded:
            kinds = ("number", "name") if graded else ("name", "number")
            problem = f"expected a {kinds[0]}, as in line {pairs[0].line}, but this is a {kinds[1]}"
            raise _wrong(source, entry, problem)
    if graded:
        scores = [float(entry.label or 0) for entry in pairs]
        largest = LARGEST_SCORE if max(scores) > 1 else 1.0
        return _checked(source, pairs, (), largest, dropped), (), largest
    counts = Counter(str(entry.label) for entry in pairs)
    names = tuple(sorted(counts))
    if INFERENCE & counts.keys() and counts.keys() != BINARY_INFERENCE:
        names = tuple(sorted(INFERENCE))  # a label that is none of them is a mistake
    elif not 2 <= len(names) <= MOST_LABELS:
        problem = f"{len(names)} different labels" if names[1:] else f"every label is '{names[0]}'"
        raise UsageError(f"{source}: {problem}; expected 2 to {MOST_LABELS} different labels")
    return _checked(source, pairs, names, 1.0, dropped), names, 1.0


def _split(
    source: str, split: str, kind: Kind | None, names: tuple[str, ...], largest: float
) -> Split:
    dropped: Counter[str] = Counter()
    pairs = list(_pairs(source, split, kind, dropped))
    if not pairs:
        raise _empty(source, dropped)
    return _checked(source, pairs, names, largest, dropped)


def _pairs(source: str, split: str, kind: Kind | None, dropped: Counter[str]) -> Iterator[Entry]:
    for entry in corpora.entries(source, kind, split=split, dropped=dropped):
        if len(entry.texts) != 2:
            raise _wrong(source, entry, f"{len(entry.texts)} sentence; expected a pair", key="")
        if entry.label is None:
            raise _wrong(source, entry, "missing label")
        yield entry


def _checked(
    source: str,
    pairs: Sequence[Entry],
    names: tuple[str, ...],
    largest: float,
    dropped: Counter[str],
) -> Split:
    place = {name: float(i) for i, name in enumerate(names)}
    content = hashlib.sha256()
    labels = []
    for entry in pairs:
        label = entry.label
        if names:
            if label not in place:
                hint = suggestion(str(label), names)
                raise _wrong(source, entry, f"unknown label '{label}'{hint}")
            labels.append(place[str(label)])
        elif isinstance(label, str) or label is None or not 0 <= label <= largest:
            raise _wrong(source, entry, f"'{label}' is not a score from 0 to {largest:g}")
        else:
            labels.append(label / largest)
        content.update(json.dumps([*entry.texts, label]).encode())
    return Split(
        source=source,
        firsts=tuple(entry.texts[0] for entry in pairs),
        seconds=tuple(entry.texts[1] for entry in pairs),
        labels=tuple(labels),
        digest=content.hexdigest(),
        dropped=dict(dropped),
    )


def _empty(source: str, dropped: Counter[str]) -> InvalidFile:
    left_out = ", ".join(f"{n} with {reason}" for reason, n in dropped.items())
    return InvalidFile(f"no pairs{f' ({left_out})' if left_out else ''}", path=source)


def _wrong(source: str, entry: Entry, problem: str, *, key: str = "label") -> InvalidFile:
    return InvalidFile(problem, path=source, line=entry.line, key=key)
