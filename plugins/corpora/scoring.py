"""Scores a corpus of any size with one model: reads, scores and writes a thousand at a time."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import jsonlines
import numpy as np
import numpy.typing as npt

from harness import folders
from harness.concept import Concept
from harness.digest import digest, file_sha256
from harness.embedder import Embedder
from harness.errors import DiskError, InvalidFile, InvalidOption, unreadable
from harness.progress import Advance, Progress, Silent
from harness.run.scoring import random_generator

from ..bias_score.method import PAIRS, SENTENCES, Method, ResolvedMethod, resolve
from ..bias_score.scorer import Direction, Scorer, SentenceScore
from . import entries as corpora
from .entries import GRADED_KEYS, TEXT_KEYS, Entry, Kind, is_hub

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.results.figures import Panel

# A JSON-lines file that takes long: written under a temporary name, renamed when complete.
#
# Until it is complete it is called `OUT.part`. Beside it, `OUT.part.json` names what determines its
# rows, so that an interrupted run can be continued; an incomplete last row is dropped. Of a
# complete file, `OUT.about.json` says how it was made.


class ResumableFile:
    """A JSON-lines file that appears when it is complete; a partial one of its identity goes on.

    Parameters
    ----------
    path
        The file.
    identity
        Everything that determines a row, such as model, options and corpus. A partial file of
        another identity is written anew.
    overwrite
        Whether to replace an existing file.

    Attributes
    ----------
    part
        The partial file.

    Raises
    ------
    InvalidOption
        If the file exists already.
    DiskError
        If the folder cannot be written to.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], *, overwrite: bool) -> None:
        self.path = path
        self.part = path.with_name(f"{path.name}.part")
        self._identity = path.with_name(f"{path.name}.part.json")
        self._file: IO[str] | None = None
        folders.make(path.parent)
        if path.exists() and not overwrite:
            raise InvalidOption(f"'{path}' exists already; --overwrite replaces it")
        text = json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()
        is_same = self._identity.exists() and self._identity.read_bytes() == text
        if is_same and self.part.exists():
            self._drop_incomplete_row()
        else:
            folders.write_atomically(self._identity, text)
            self.part.write_bytes(b"")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the partial file."""
        with jsonlines.open(self.part, loads=json.loads) as reader:
            yield from reader.iter(type=dict)

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Append rows.

        Raises
        ------
        DiskError
            If they cannot be written.
        """
        try:
            if self._file is None:
                self._file = self.part.open("a", encoding="utf-8", newline="\n")
            jsonlines.Writer(self._file).write_all(rows)
            self._file.flush()
        except OSError as error:
            raise DiskError(f"cannot write '{self.part}' ({error.strerror})") from None

    def finish(self, about: Mapping[str, Any]) -> None:
        """Rename the partial file to its final name, and write beside it how it was made.

        Raises
        ------
        DiskError
            If it cannot be renamed.
        """
        try:
            if self._file is not None:
                self._file.close()
                self._file = None
            folders.write_json(about_path(self.path), about)
            self.part.replace(self.path)
            self._identity.unlink(missing_ok=True)
        except OSError as error:
            raise DiskError(f"cannot write '{self.path}' ({error.strerror})") from None

    def close(self) -> None:
        """Close the file. The rows stay in the partial file, so that a run can continue it."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self.part.exists() and not self.part.stat().st_size:
            self.part.unlink()
            self._identity.unlink(missing_ok=True)

    def _drop_incomplete_row(self) -> None:
        """Drop what follows the last newline: a row whose writing was interrupted."""
        with self.part.open("rb+") as file:
            end = 0
            for line in file:
                if line.endswith(b"\n"):
                    end += len(line)
            file.truncate(end)


def about_path(path: Path) -> Path:
    """Return the file that says how a complete file was made."""
    return path.with_name(f"{path.name}.about.json")


def read_about(path: Path) -> dict[str, Any]:
    """Return how a complete file was made; an empty mapping if it is unknown."""
    try:
        about = json.loads(about_path(path).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


# Rows of a file of scores: an entry of a corpus with the scores of its sentences.
#
# A row of one sentence is flat: `line`, `key`, `text`, `bias_f`, `bias_m`, `abs`. A row of a pair
# has `line`, `abs` (the larger one of its sentences, Dolci et al. 2023, section 4.2.1) and
# `sentences`, each with the scores. `more` holds the other keys of the entry, such as its label.


_DIGITS = 6  # the seventh digit depends on the batch that a sentence is in


def of_entry(entry: Entry, scores: Sequence[SentenceScore], *, with_words: bool) -> dict[str, Any]:
    """Return the row of an entry; scores are None if the model knows no word."""
    sentences = [
        _sentence(key, text, score, with_words=with_words)
        for key, text, score in zip(entry.keys, entry.texts, scores, strict=True)
    ]
    if len(sentences) == 1:
        row = {"line": entry.line, **sentences[0]}
    else:
        largest = max((s["abs"] for s in sentences if s["abs"] is not None), default=None)
        row = {"line": entry.line, "abs": largest, "sentences": sentences}
    more = {key: value for key, value in entry.row.items() if key not in entry.keys}
    return row | ({"more": more} if more else {})


def sentences_of(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the sentences of a row with their scores."""
    return row.get("sentences") or [row]


def entry_of(
    row: Mapping[str, Any], replacements: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the entry of a row, as it stands in a corpus file.

    Parameters
    ----------
    row
        The row of a file of scores.
    replacements
        The text that stands in place of another one.
    """
    new = replacements or {}
    texts = {s.get("key", "text"): new.get(s["text"], s["text"]) for s in sentences_of(row)}
    more = dict(row.get("more", {}))
    if len(texts) == 2 and tuple(texts) not in TEXT_KEYS:  # columns that only the user knows
        graded = isinstance(more.get("score"), int | float)
        texts = dict(zip(GRADED_KEYS if graded else TEXT_KEYS[0], texts.values(), strict=True))
    return texts | more


def parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """Return the row of a line of a file of scores.

    Raises
    ------
    InvalidFile
        If it is none.
    """
    try:
        row = json.loads(line)
        texts = [sentence["text"] for sentence in sentences_of(row)]
        score = row["abs"]
    except (ValueError, KeyError, TypeError, AttributeError):
        texts, score = [None], ""
    if all(isinstance(text, str) for text in texts) and isinstance(score, int | float | None):
        return dict(row)
    raise InvalidFile(
        "no row of scores, as harness corpus score writes them; with --model, this command scores "
        "a corpus itself",
        path=path,
        line=number,
    )


def _sentence(key: str, text: str, result: SentenceScore, *, with_words: bool) -> dict[str, Any]:
    score = result.score
    sentence: dict[str, Any] = {
        "key": key,
        "text": text,
        "bias_f": round(score.female, _DIGITS) if score else None,
        "bias_m": round(score.male, _DIGITS) if score else None,
        "abs": round(score.absolute, _DIGITS) if score else None,
    }
    if result.cut:
        sentence["cut"] = True
    if with_words and score:
        sentence["words"] = [
            {
                "word": word,
                "importance": round(float(score.importance[i]), _DIGITS),
                "cosine": round(float(score.cosines[i]), _DIGITS),
                "bias": round(float(score.biases[i]), _DIGITS),
                "gendered": bool(result.gendered[i]),
            }
            for i, word in enumerate(result.words)
        ]
    return sentence


# Means of the scores of a corpus, and its most biased sentences and pairs, in bounded memory.


SIDES: Mapping[str, int] = {"bias_f": 1, "bias_m": -1}
"""The scores whose most biased sentences are kept, with the sign of the score."""


class Summary:
    """Counts entries and sentences, and keeps the most biased, each text once.

    Parameters
    ----------
    top
        Number of sentences to keep for each side, and of pairs.
    """

    def __init__(self, top: int = 10) -> None:
        self._top = top
        self._sums = dict.fromkeys(("bias_f", "bias_m", "abs"), 0.0)
        self._scored = 0
        self._largest: dict[str, _Largest] = {side: _Largest(top) for side in SIDES}
        self._pairs = _Largest(top)
        self.entries = 0
        self.sentences = 0
        self.without_words = 0
        self.cut = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Count an entry."""
        self.entries += 1
        sentences = sentences_of(row)
        for sentence in sentences:
            self._add_sentence(sentence)
        if len(sentences) > 1 and row["abs"] is not None:
            texts = tuple(str(sentence["text"]) for sentence in sentences)
            self._pairs.add(row["abs"], (*texts, _label(row)))

    def means(self) -> dict[str, float | None]:
        """Return the mean of each score over the sentences that have one; None if none has."""
        return {
            name: total / self._scored if self._scored else None
            for name, total in self._sums.items()
        }

    def most_biased(self) -> dict[str, list[tuple[float, str]]]:
        """Return scores and texts by side, the most biased first; scores of 0 are left out."""
        return {
            side: [(SIDES[side] * score, text) for score, (text,) in largest.items()]
            for side, largest in self._largest.items()
        }

    def most_biased_pairs(self) -> list[tuple[float, tuple[str, ...]]]:
        """Return the absolute score, the sentences and the label of pairs, most biased first."""
        return self._pairs.items()

    def _add_sentence(self, sentence: Mapping[str, Any]) -> None:
        self.sentences += 1
        self.cut += bool(sentence.get("cut"))
        if sentence["abs"] is None:
            self.without_words += 1
            return
        self._scored += 1
        for name in self._sums:
            self._sums[name] += sentence[name]
        for side, sign in SIDES.items():
            self._largest[side].add(sign * sentence[side], (sentence["text"],))


def _label(row: Mapping[str, Any]) -> str:
    more = row.get("more", {})
    return str(more.get("label", more.get("score", "")))


class _Largest:
    """Keeps the texts with the largest scores, each once."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._heap: list[tuple[float, tuple[str, ...]]] = []

    def items(self) -> list[tuple[float, tuple[str, ...]]]:
        """Return scores above 0 and texts, the largest score first."""
        items = sorted(self._heap, key=lambda item: (-item[0], item[1]))
        return [(score, texts) for score, texts in items if score > 0]

    def add(self, score: float, texts: tuple[str, ...]) -> None:
        item = (score, texts)
        if self._top < 1 or (len(self._heap) >= self._top and item <= self._heap[0]):
            return
        if any(kept == texts for _, kept in self._heap):  # premises of SNLI are repeated
            return
        if len(self._heap) < self._top:
            heapq.heappush(self._heap, item)
        else:
            heapq.heapreplace(self._heap, item)


BUFFER = 1_024
"""Entries in memory at a time."""
EVERY = 10_240
"""Entries of a corpus of unknown length between two lines of progress."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The corpus to read; see `entries.entries`."""

    name: str
    kind: Kind | None = None
    keys: Sequence[str] = ()
    split: str = "train"

    def entries(self, dropped: Counter[str] | None = None) -> Iterator[Entry]:
        """Yield its entries."""
        return corpora.entries(self.name, self.kind, self.keys, split=self.split, dropped=dropped)

    def about(self) -> dict[str, Any]:
        """Return what it is, without a path of this machine."""
        path = Path(self.name)
        if is_hub(self.name):
            return {"name": self.name, "split": self.split}
        return {"name": path.name, "sha256": file_sha256(path) if path.is_file() else None}


@dataclass(frozen=True, kw_only=True)
class Output:
    """The file to write.

    Parameters
    ----------
    path
        The file.
    with_words
        Whether rows have the contribution of each word.
    overwrite
        Whether to replace an existing file.
    """

    path: Path
    with_words: bool = False
    overwrite: bool = False


@dataclass(frozen=True, kw_only=True)
class CorpusScores:
    """The result: the file, the method with its direction, and a summary of the corpus.

    `continued` counts the entries that were scored before this run; `seconds` leaves out the
    loading of the model; `dropped` counts entries that were left out, by reason.
    """

    path: Path
    method: ResolvedMethod
    direction: Direction
    summary: Summary
    continued: int
    seconds: float
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def per_second(self) -> float:
        """Sentences per second, without loading and without the entries scored before."""
        entries = self.summary.entries
        share = (entries - self.continued) / entries
        return share * self.summary.sentences / max(self.seconds, 1e-9)


def score_corpus(
    embedder: Embedder,
    concept: Concept,
    source: Corpus,
    output: Output,
    method: Method,
    *,
    top: int = 10,
    progress: Progress | None = None,
) -> CorpusScores:
    """Score each sentence of a corpus and write a row for each entry; see `scored_rows`.

    Parameters
    ----------
    embedder
        A text encoder that gives token states, or word vectors.
    concept
        Gives the definitional pairs and the gendered words.
    source, output
        The corpus and the file to write.
    method
        How sentences are scored.
    top
        Number of most biased sentences to keep for each side.
    progress
        Where to report progress.

    Raises
    ------
    InvalidFile
        If a line of the corpus, or a file of words, cannot be read.
    InvalidOption
        If the file exists already, or the corpus has changed since a run was interrupted.
    NotApplicable
        If the model or the concept lacks what the method needs.
    """
    progress = progress or Silent()
    resolved = resolve(method, embedder, concept)
    if output.path.resolve() == Path(source.name).resolve():
        raise InvalidOption(f"--out {output.path}: the output file is the corpus itself")
    identity = identity_of(embedder, concept, source, resolved, with_words=output.with_words)
    file = ResumableFile(output.path, identity, overwrite=output.overwrite)
    summary = Summary(top)
    dropped = Counter[str]()
    for row in file.rows():
        summary.add(row)
    continued = summary.entries
    with _closing(file, summary, progress):
        direction = resolved.direction(embedder, concept)
        scorer = resolved.make_scorer(embedder, direction)
        started = time.monotonic()
        entries = source.entries(dropped)
        _skip_scored(file, entries)
        for rows in _scored_rows(scorer, source, entries, progress, continued, output.with_words):
            file.write(rows)
            for row in rows:
                summary.add(row)
        if not summary.entries:
            left_out = sum(dropped.values())
            reason = f": {left_out} entries without a label or a text" if left_out else ""
            raise InvalidFile(f"has no sentences{reason}", path=source.name)
    seconds = time.monotonic() - started
    file.finish(
        {
            "corpus": source.about(),
            "model": embedder.info.name,
            "fingerprint": embedder.info.fingerprint,
            "importance": resolved.importance,
            "direction": Path(resolved.direction_source).name,
            "entries": summary.entries,
            "dropped": dict(dropped),
            "identity": digest(identity),
        }
    )
    return CorpusScores(
        path=output.path,
        method=resolved,
        direction=direction,
        summary=summary,
        continued=continued,
        seconds=seconds,
        dropped=dropped,
    )


def identity_of(
    embedder: Embedder,
    concept: Concept,
    source: Corpus,
    method: ResolvedMethod,
    *,
    with_words: bool = False,
) -> dict[str, Any]:
    """Return everything that determines a row, as JSON-like values; files by their content."""
    direction, gendered = method.direction_source, method.gendered
    built_in = direction in (PAIRS, SENTENCES)
    return {
        "model": embedder.info.fingerprint,
        "vectors": method.vectors.info.fingerprint if method.vectors else None,
        "concept": digest(concept.model_dump(mode="json")),
        "importance": method.importance,
        "direction": direction if built_in else file_sha256(Path(direction)),
        "gendered": digest([sorted(gendered.words), sorted(gendered.names)]),
        "corpus": [
            source.name,
            source.kind or corpora.format_of(source.name),
            list(source.keys),
            source.split,
        ],
        "words": with_words,
    }


@contextlib.contextmanager
def _closing(file: ResumableFile, summary: Summary, progress: Progress) -> Iterator[None]:
    """Close the file at the end; after an interruption, say how to continue."""
    try:
        yield
    except BaseException:
        if summary.entries:
            say = "the same command continues from there"
            progress.say(f"{summary.entries} entries are scored; {say}")
        raise
    finally:
        file.close()


def _skip_scored(file: ResumableFile, entries: Iterator[Entry]) -> None:
    """Skip the entries that have a row in a partial file.

    Raises
    ------
    InvalidOption
        If a row is of another entry, because the corpus has changed.
    """
    for row in file.rows():
        entry = next(entries, None)
        texts = tuple(sentence["text"] for sentence in sentences_of(row))
        if entry is None or (entry.line, entry.texts) != (row["line"], texts):
            raise InvalidOption(
                f"'{file.part}': the corpus has another entry in line {row['line']} by now; "
                "delete this file to start again"
            )


def _scored_rows(
    scorer: Scorer,
    source: Corpus,
    entries: Iterator[Entry],
    progress: Progress,
    done: int,
    with_words: bool,
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of the entries, buffer by buffer; those before them are `done`."""
    with _stage(progress, source) as advance:
        advance(done)
        while buffer := list(itertools.islice(entries, BUFFER)):
            scores = _scores(scorer, [text for entry in buffer for text in entry.texts])
            yield [
                of_entry(entry, [scores[text] for text in entry.texts], with_words=with_words)
                for entry in buffer
            ]
            advance(len(buffer))


def _scores(scorer: Scorer, texts: Sequence[str]) -> dict[str, SentenceScore]:
    """Return the scores of texts, each scored once: SNLI repeats a premise three times."""
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, scorer.score(distinct), strict=True))


@contextlib.contextmanager
def _stage(progress: Progress, source: Corpus) -> Iterator[Advance]:
    """Report progress; for standard input, whose length is unknown, the number of entries."""
    total = corpora.count(source.name, source.split)
    if total is not None:
        with progress.stage("scoring", total, "entries") as advance:
            yield advance
        return
    done = 0

    def count(n: int) -> None:
        nonlocal done
        if (done + n) // EVERY > done // EVERY:
            progress.say(f"scoring: {done + n} entries")
        done += n

    yield count


# The distribution of the scores of a corpus with its percentiles: figure 5 of Dolci et al. (2023).


BINS = 100


def histogram(
    scores: npt.NDArray[np.float64], thresholds: Mapping[str, float], model: str
) -> tuple[str, list[Panel]]:
    """Return the title and the panel of a histogram with a line at each threshold.

    Parameters
    ----------
    scores
        (n,) absolute bias scores; NaN is left out.
    thresholds
        Scores by percentile.
    model
        Name of the model that gave the scores.
    """
    known = scores[np.isfinite(scores)]

    def draw(ax: Axes) -> None:
        ax.hist(known, BINS, range=(0.0, float(known.max(initial=0.0)) or 1.0))
        for i, (percentile, score) in enumerate(thresholds.items()):
            ax.axvline(score, color="#D55E00")
            at = score, 1 - 0.06 * i  # one below the other, because the lines are close
            text, place = f" {percentile} %: {score:.4f}", ax.get_xaxis_transform()
            ax.text(*at, text, transform=place, color="#D55E00", va="top")
        ax.set(xlabel="absolute bias score, eq. 3", ylabel="entries")

    return f"Bias scores of {len(known):,} entries ({model})", [draw]


# A file of scores, whose lines are in memory: which entries are most biased, and their rows.
#
# An entry above a percentile is one of the stated share with the highest scores. The share is
# exact: among equal scores at the threshold, the seed chooses. The entries above a percentile are
# also above each lower one. Entries without a score come last.


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
        with path.open("rb") as file:
            self._lines = [(i, line) for i, line in enumerate(file, start=1) if line.strip()]
        if not self._lines:
            raise InvalidFile("has no entries", path=path)
        scores: list[float] = []
        with progress.stage("reading", len(self._lines), "entries") as advance:
            for number, line in self._lines:
                score = parsed(line, path, number)["abs"]
                scores.append(np.nan if score is None else float(score))
                if len(scores) % STEP == 0:
                    advance(STEP)
            advance(len(scores) % STEP)
        self.scores = np.array(scores)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.scores)

    def rows(self, places: Iterable[int]) -> Iterator[dict[str, Any]]:
        """Yield rows by their places, in any order."""
        return (json.loads(self._lines[place][1]) for place in places)

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
