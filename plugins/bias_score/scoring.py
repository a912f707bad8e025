"""Scores a corpus of any size with one model: reads, scores and writes a thousand at a time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.concept import Concept
from harness.digest import digest, file_sha256
from harness.embedder import Embedder
from harness.errors import InvalidFile, InvalidOption
from harness.plugins.bias_score import corpus
from harness.plugins.bias_score.direction import Direction
from harness.plugins.bias_score.method import PAIRS, SENTENCES, Method, ResolvedMethod, resolve
from harness.plugins.bias_score.scored_file import ScoredFile
from harness.plugins.bias_score.scorer import Scorer, SentenceScore
from harness.plugins.bias_score.summary import Summary
from harness.progress import Advance, Progress, Silent

BUFFER = 1_024
"""Sentences in memory at a time."""
EVERY = 10_240
"""Sentences of standard input between two lines of progress."""
_DIGITS = 6  # the seventh digit depends on the batch that a sentence is in


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The sentences to read; see `corpus.sentences`."""

    name: str
    kind: corpus.Format
    keys: Sequence[str] = ()


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
    """

    path: Path
    with_words: bool = False
    overwrite: bool = False
    resume: bool = False


@dataclass(frozen=True, kw_only=True)
class CorpusScores:
    """The result: the file, the method with its direction, and a summary of the corpus.

    `continued` counts the sentences that were scored before this run; `seconds` leaves out the
    loading of the model.
    """

    path: Path
    method: ResolvedMethod
    direction: Direction
    summary: Summary
    continued: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Sentences per second, without loading and without the sentences scored before."""
        return (self.summary.sentences - self.continued) / max(self.seconds, 1e-9)


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
    """Score each sentence of a corpus and write a row for it.

    A row has the sentence's line, `text`, `bias_f`, `bias_m` and `abs` (None if the model knows no
    word), `cut` if the model truncated it, and its words if the output asks for them.

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
    identity = _identity(embedder, concept, source, resolved, with_words=output.with_words)
    file = ScoredFile(output.path, identity, overwrite=output.overwrite, resume=output.resume)
    summary = Summary(top)
    for row in file.rows():
        summary.add(row)
    continued = summary.sentences
    with _closing(file, summary, progress):
        direction = resolved.direction(embedder, concept)
        scorer = resolved.make_scorer(embedder, direction)
        started = time.monotonic()
        for rows in _scored_rows(scorer, source, progress, continued, output.with_words):
            file.write(rows)
            for row in rows:
                summary.add(row)
        if not summary.sentences:
            raise InvalidFile("has no sentences", path=source.name)
    seconds = time.monotonic() - started
    file.finish()
    return CorpusScores(
        path=output.path,
        method=resolved,
        direction=direction,
        summary=summary,
        continued=continued,
        seconds=seconds,
    )


@contextlib.contextmanager
def _closing(file: ScoredFile, summary: Summary, progress: Progress) -> Iterator[None]:
    """Close the file at the end; after an interruption, say how to continue."""
    try:
        yield
    except BaseException:
        if summary.sentences:
            progress.say(f"{summary.sentences} sentences are scored; --resume continues from there")
        raise
    finally:
        file.close()


def _scored_rows(
    scorer: Scorer, source: Corpus, progress: Progress, skip: int, with_words: bool
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of the corpus, buffer by buffer, without the first `skip` sentences."""
    with _stage(progress, source) as advance:
        advance(skip)
        sentences = corpus.sentences(source.name, source.kind, source.keys)
        for buffer in _buffers(sentences, skip=skip):
            scores = scorer.score([sentence.text for sentence in buffer])
            yield [
                _row(sentence, score, with_words=with_words)
                for sentence, score in zip(buffer, scores, strict=True)
            ]
            advance(len(buffer))


@contextlib.contextmanager
def _stage(progress: Progress, source: Corpus) -> Iterator[Advance]:
    """Report progress; for standard input, whose length is unknown, the number of sentences."""
    lines = corpus.count_lines(source.name)
    if lines is not None:
        with progress.stage("scoring", lines * max(1, len(source.keys)), "sentences") as advance:
            yield advance
        return
    done = 0

    def count(n: int) -> None:
        nonlocal done
        if (done + n) // EVERY > done // EVERY:
            progress.say(f"scoring: {done + n} sentences")
        done += n

    yield count


def _identity(
    embedder: Embedder,
    concept: Concept,
    source: Corpus,
    method: ResolvedMethod,
    *,
    with_words: bool,
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
        "corpus": [source.name, source.kind, list(source.keys)],
        "words": with_words,
    }


def _buffers(
    sentences: Iterator[corpus.Sentence], *, skip: int
) -> Iterator[Sequence[corpus.Sentence]]:
    buffer: list[corpus.Sentence] = []
    for i, sentence in enumerate(sentences):
        if i < skip:
            continue
        buffer.append(sentence)
        if len(buffer) == BUFFER:
            yield buffer
            buffer = []
    if buffer:
        yield buffer


def _row(sentence: corpus.Sentence, result: SentenceScore, *, with_words: bool) -> dict[str, Any]:
    score = result.score
    row: dict[str, Any] = {"line": sentence.line}
    if sentence.key:
        row["key"] = sentence.key
    row |= {
        "text": sentence.text,
        "bias_f": round(score.female, _DIGITS) if score else None,
        "bias_m": round(score.male, _DIGITS) if score else None,
        "abs": round(score.absolute, _DIGITS) if score else None,
    }
    if result.cut:
        row["cut"] = True
    if with_words and score:
        row["words"] = [
            {
                "word": word,
                "importance": round(float(score.importance[i]), _DIGITS),
                "cosine": round(float(score.cosines[i]), _DIGITS),
                "bias": round(float(score.biases[i]), _DIGITS),
                "gendered": bool(result.gendered[i]),
            }
            for i, word in enumerate(result.words)
        ]
    return row
