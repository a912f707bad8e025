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
from harness.plugins.bias_score.gendered import Gendered
from harness.plugins.bias_score.importance import Importance
from harness.plugins.bias_score.method import (
    PAIRS,
    SENTENCES,
    Method,
    direction_of,
    gendered_of,
    settled,
)
from harness.plugins.bias_score.scored_file import ScoredFile
from harness.plugins.bias_score.scorer import Scorer, SentenceScore
from harness.plugins.bias_score.summary import Summary
from harness.progress import Advance, Progress, Silent

BUFFER = 1_024
"""Sentences in memory at a time."""
EVERY = 10_240
"""Sentences of standard input between lines that tell how many there were."""
_DIGITS = 6  # what hangs on the batch a sentence is in begins at the seventh


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What was done: the file, the method as it was settled, and the corpus as a whole."""

    path: Path
    importance: Importance
    direction_of: str
    direction: Direction
    gendered: Gendered
    summary: Summary
    continued: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Sentences a second, without loading and without what was there already."""
        return (self.summary.sentences - self.continued) / max(self.seconds, 1e-9)


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Where sentences are read from; see `corpus.sentences`."""

    name: str
    kind: corpus.Format
    keys: Sequence[str] = ()


def score_corpus(
    embedder: Embedder,
    concept: Concept,
    source: Corpus,
    out: Path,
    method: Method,
    *,
    with_words: bool = False,
    top: int = 10,
    overwrite: bool = False,
    resume: bool = False,
    progress: Progress | None = None,
) -> Scored:
    """Score each sentence of a corpus and write a row for it.

    A row has the sentence's line, `text`, `bias_f`, `bias_m` and `abs` (None where the model knows
    no word), `cut` if the model did not read it to its end, and with `with_words` its words.

    Parameters
    ----------
    embedder
        A text encoder that shows its tokens' states, or word vectors.
    concept
        Gives the pairs and the words that are no bias.
    source, out
        What is read, and the file that is written.
    method
        How sentences are scored.
    with_words
        Whether rows have what each word gives.
    top
        How many of the most biased sentences to keep a side.
    overwrite, resume
        Whether to replace the file, and to go on with one that was begun.
    progress
        Where to show how far it is.

    Raises
    ------
    InvalidFile
        If a line of the corpus, or a list of words, cannot be read.
    InvalidOption
        If the file is there already, or was begun with something else.
    NotApplicable
        If the model or the concept lacks what the method needs.
    """
    shown = progress or Silent()
    chosen, of = settled(embedder, method)
    if out.resolve() == Path(source.name).resolve():
        raise InvalidOption(f"'{out}' is the corpus itself")
    identity = _identity(embedder, concept, source, method, with_words)
    file = ScoredFile(out, identity, overwrite=overwrite, resume=resume)
    summary = Summary(top)
    for row in file.rows():
        summary.add(row)
    continued = summary.sentences
    listed = gendered_of(concept, method)
    try:
        along = direction_of(embedder, concept, method, chosen, of)
        scores = Scorer(embedder, along, importance=chosen, gendered=listed, vectors=method.vectors)
        started = time.monotonic()
        with _stage(shown, source) as advance:
            advance(continued)
            found = corpus.sentences(source.name, source.kind, source.keys)
            for batch in _buffers(found, skip=continued):
                scored = scores.score([sentence.text for sentence in batch])
                rows = [
                    _row(sentence, score, with_words=with_words)
                    for sentence, score in zip(batch, scored, strict=True)
                ]
                file.write(rows)
                for row in rows:
                    summary.add(row)
                advance(len(rows))
        if not summary.sentences:
            raise InvalidFile("has no sentences", path=source.name)
    except BaseException:
        if summary.sentences:
            shown.say(f"{summary.sentences} sentences are scored: --resume goes on from there")
        raise
    finally:
        file.close()
    seconds = time.monotonic() - started
    file.finish()
    return Scored(
        path=out,
        importance=chosen,
        direction_of=of,
        direction=along,
        gendered=listed,
        summary=summary,
        continued=continued,
        seconds=seconds,
    )


@contextlib.contextmanager
def _stage(shown: Progress, source: Corpus) -> Iterator[Advance]:
    """Show how far it is; of standard input, whose end nobody knows, how much is done."""
    lines = corpus.count_lines(source.name)
    if lines is not None:
        with shown.stage("scoring", lines * max(1, len(source.keys)), "sentences") as advance:
            yield advance
        return
    done = 0

    def count(n: int) -> None:
        nonlocal done
        if (done + n) // EVERY > done // EVERY:
            shown.say(f"scoring: {done + n} sentences")
        done += n

    yield count


def _identity(
    embedder: Embedder, concept: Concept, source: Corpus, method: Method, with_words: bool
) -> dict[str, Any]:
    """Return what decides a row, as JSON has it; files by what is in them."""
    chosen, of = settled(embedder, method)
    listed = gendered_of(concept, method)
    return {
        "model": embedder.info.fingerprint,
        "vectors": method.vectors.info.fingerprint if method.vectors else None,
        "concept": digest(concept.model_dump(mode="json")),
        "importance": chosen,
        "direction": of if of in (PAIRS, SENTENCES) else file_sha256(Path(of)),
        "gendered": digest([sorted(listed.words), sorted(listed.names)]),
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


def _row(sentence: corpus.Sentence, found: SentenceScore, *, with_words: bool) -> dict[str, Any]:
    score = found.score
    row: dict[str, Any] = {"line": sentence.line}
    if sentence.key:
        row["key"] = sentence.key
    row |= {
        "text": sentence.text,
        "bias_f": round(score.female, _DIGITS) if score else None,
        "bias_m": round(score.male, _DIGITS) if score else None,
        "abs": round(score.absolute, _DIGITS) if score else None,
    }
    if found.cut:
        row["cut"] = True
    if with_words and score:
        row["words"] = [
            {
                "word": word,
                "importance": round(float(score.importance[i]), _DIGITS),
                "cosine": round(float(score.cosines[i]), _DIGITS),
                "bias": round(float(score.biases[i]), _DIGITS),
                "gendered": bool(found.gendered[i]),
            }
            for i, word in enumerate(found.words)
        ]
    return row
