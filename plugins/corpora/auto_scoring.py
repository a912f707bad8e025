"""Scores a corpus for a command that needs its scores, unless they are there."""

from __future__ import annotations

from pathlib import Path

from harness.concept import Concept
from harness.digest import digest
from harness.embedder import Embedder
from harness.errors import InvalidOption
from harness.plugins.bias_score.method import Method, resolve
from harness.plugins.corpora import resumable_file, scoring
from harness.plugins.corpora.scoring import Corpus, Output
from harness.progress import Progress


def score_once(
    embedder: Embedder,
    concept: Concept,
    source: Corpus,
    path: Path,
    method: Method,
    *,
    overwrite: bool,
    progress: Progress,
) -> None:
    """Write the scores of a corpus to a file, unless it has them; continue what was interrupted.

    Raises
    ------
    InvalidOption
        If the file has other scores.
    """
    identity = scoring.identity_of(embedder, concept, source, resolve(method, embedder, concept))
    if path.exists() and not overwrite:
        about = resumable_file.read_about(path)
        if (about.get("identity"), about.get("corpus")) == (digest(identity), source.about()):
            return
        raise InvalidOption(
            f"'{path}' has scores of another model, corpus or options; --overwrite replaces it"
        )
    output = Output(
        path=path,
        overwrite=overwrite,
        resume=resumable_file.can_continue(path, identity),
        how_to_continue="the same command continues from there",
    )
    scoring.score_corpus(embedder, concept, source, output, method, progress=progress)
