"""Scores a corpus of any size with one model: reads, scores and writes a thousand at a time."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.concept import Concept
from harness.digest import digest, file_sha256
from harness.embedder import Embedder
from harness.errors import InvalidFile, InvalidOption
from harness.plugins.bias_score.direction import Direction
from harness.plugins.bias_score.method import PAIRS, SENTENCES, Method, ResolvedMethod, resolve
from harness.plugins.bias_score.scorer import Scorer, SentenceScore
from harness.plugins.corpora import entries as corpora
from harness.plugins.corpora import hub, scored_rows
from harness.plugins.corpora.entries import Entry, Kind
from harness.plugins.corpora.resumable_file import ResumableFile
from harness.plugins.corpora.summary import Summary
from harness.progress import Advance, Progress, Silent

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
        if hub.is_hub(self.name):
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
    resume
        Whether to continue a partial file.
    how_to_continue
        What an interrupted run says.
    """

    path: Path
    with_words: bool = False
    overwrite: bool = False
    resume: bool = False
    how_to_continue: str = "--resume continues from there"


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
        If the file exists already, or the partial file has other options.
    NotApplicable
        If the model or the concept lacks what the method needs.
    """
    progress = progress or Silent()
    resolved = resolve(method, embedder, concept)
    if output.path.resolve() == Path(source.name).resolve():
        raise InvalidOption(f"--out {output.path}: the output file is the corpus itself")
    identity = identity_of(embedder, concept, source, resolved, with_words=output.with_words)
    file = ResumableFile(output.path, identity, overwrite=output.overwrite, resume=output.resume)
    summary = Summary(top)
    dropped = Counter[str]()
    for row in file.rows():
        summary.add(row)
    continued = summary.entries
    with _closing(file, summary, output, progress):
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
def _closing(
    file: ResumableFile, summary: Summary, output: Output, progress: Progress
) -> Iterator[None]:
    """Close the file at the end; after an interruption, say how to continue."""
    try:
        yield
    except BaseException:
        if summary.entries:
            progress.say(f"{summary.entries} entries are scored; {output.how_to_continue}")
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
        texts = tuple(sentence["text"] for sentence in scored_rows.sentences(row))
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
                scored_rows.of_entry(
                    entry, [scores[text] for text in entry.texts], with_words=with_words
                )
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
