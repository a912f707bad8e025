"""How sentences are scored: what the user asked for, and what it comes to for a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidFile, InvalidOption, NotApplicable, suggestion
from harness.plugins.bias_score import corpus, gendered, scorer, sentence_pairs, states
from harness.plugins.bias_score import importance as weights
from harness.plugins.bias_score.direction import Direction
from harness.plugins.bias_score.gendered import Gendered
from harness.plugins.bias_score.importance import Importance

SENTENCES, PAIRS = "sentences", "pairs"


@dataclass(frozen=True, kw_only=True)
class Method:
    """How sentences are scored.

    Parameters
    ----------
    importance
        How words are weighed; None for what fits the encoder's pooling.
    direction
        `sentences`: the shipped pairs; `pairs`: the concept's words; or a file of sentences, one a
        line, each of which is taken with its other gender. None: `pairs` for word vectors, else
        `sentences`.
    vectors
        A word embedder whose vectors stand for the words, or None.
    words, names
        Files of further gendered words and of given names.
    """

    importance: Importance | None = None
    direction: str | None = None
    vectors: Embedder | None = None
    words: Sequence[Path] = ()
    names: Sequence[Path] = ()


def settled(embedder: Embedder, method: Method) -> tuple[Importance, str]:
    """Return the importance and the direction that a method comes to for a model.

    Raises
    ------
    InvalidOption
        If the direction is no such file, or `vectors` are none of words.
    NotApplicable
        If the model does not show its tokens' states.
    """
    shown = states.of(embedder)
    static = embedder.info.kind == "word" or method.vectors is not None
    of = method.direction or (PAIRS if static else SENTENCES)
    if of not in (PAIRS, SENTENCES) and not Path(of).is_file():
        raise InvalidOption(
            f"--direction {of}: {SENTENCES}, {PAIRS}, or a file of sentences"
            f"{suggestion(of, (SENTENCES, PAIRS))}"
        )
    if method.vectors is not None and method.vectors.info.kind != "word":
        raise InvalidOption(f"'{method.vectors.info.name}' has no word vectors: it reads texts")
    return method.importance or weights.of_poolings(shown.poolings), of


def direction_of(
    embedder: Embedder, concept: Concept, method: Method, chosen: Importance, of: str
) -> Direction:
    """Return the direction in the space of the words' vectors.

    Raises
    ------
    InvalidFile
        If a file of sentences has none with a gendered word.
    NotApplicable
        If the concept lacks what is needed.
    """
    space = method.vectors or embedder
    if of == PAIRS:
        if not concept.definitional_pairs:
            raise NotApplicable(
                f"the concept '{concept.name}' has no definitional pairs to find a direction by"
            )
        return scorer.of_words(space, concept.definitional_pairs, chosen)
    if of != SENTENCES:
        lines = corpus.sentences(of, "text")
        pairs = sentence_pairs.swapped(sentence.text for sentence in lines)
        if not pairs.first:
            raise InvalidFile("no sentence has a gendered word", path=of)
        return scorer.of_sentences(space, pairs, chosen)
    if concept.name.split("-")[0] != "gender":
        raise NotApplicable(
            f"the shipped sentences differ in gender, and the concept is '{concept.name}': "
            f"--direction {PAIRS}"
        )
    return scorer.of_sentences(space, sentence_pairs.shipped(), chosen)


def gendered_of(concept: Concept, method: Method) -> Gendered:
    """Return the words that are no bias: the concept's and those of the files.

    Raises
    ------
    InvalidFile
        If a list cannot be read.
    """
    return gendered.of_concept(concept).joined(
        words=(word for path in method.words for word in gendered.read_words(path)),
        names=(name for path in method.names for name in gendered.read_names(path)),
    )
