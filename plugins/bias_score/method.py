"""How sentences are scored: the options of the user, and the defaults that a model implies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidFile, InvalidOption, NotApplicable, suggestion

from . import gendered, scorer
from .gendered import Gendered
from .scorer import Direction, Importance, Scorer

SENTENCES, PAIRS = "sentences", "pairs"


@dataclass(frozen=True, kw_only=True)
class Method:
    """How sentences are scored.

    Parameters
    ----------
    importance
        Weight of each word; None for the one that belongs to the encoder's pooling.
    direction
        Source of the gender direction. `sentences`: the built-in pairs; `pairs`: the concept's
        definitional pairs; or a file of sentences, one per line, each paired with its
        gender-swapped version. None: `pairs` for word vectors, else `sentences`.
    vectors
        Word embedder that gives the vectors of words; None for the mean of their token states.
    words, names
        Files of further gendered words and of given names.
    long_list
        Whether the shipped words of GN-GloVe and given names do not count as bias, too.
    """

    importance: Importance | None = None
    direction: str | None = None
    vectors: Embedder | None = None
    words: Sequence[Path] = ()
    names: Sequence[Path] = ()
    long_list: bool = False


@dataclass(frozen=True, kw_only=True)
class ResolvedMethod:
    """How sentences are scored with one model and one concept, with all defaults filled in.

    Parameters
    ----------
    importance
        Weight of each word.
    direction_source
        `sentences`, `pairs`, or the path of a file of sentences.
    gendered
        Words and names that do not count as bias.
    vectors
        As in `Method`.
    """

    importance: Importance
    direction_source: str
    gendered: Gendered
    vectors: Embedder | None

    def direction(self, embedder: Embedder, concept: Concept) -> Direction:
        """Return the gender direction in the space of the words' vectors.

        Raises
        ------
        InvalidFile
            If no sentence of the file has a gendered word.
        NotApplicable
            If the concept has no definitional pairs, or the built-in sentences do not fit it.
        """
        space, source = self.vectors or embedder, self.direction_source
        if source == PAIRS:
            if not concept.definitional_pairs:
                raise NotApplicable(
                    f"--direction {PAIRS}: concept '{concept.name}' has no definitional pairs"
                )
            return scorer.of_words(space, concept.definitional_pairs, self.importance)
        if source == SENTENCES and concept.name.split("-")[0] != "gender":
            raise NotApplicable(
                f"--direction {SENTENCES}: the built-in sentences differ in gender, but the "
                f"concept is '{concept.name}'; use --direction {PAIRS}"
            )
        pairs = scorer.shipped() if source == SENTENCES else _swapped_sentences(source)
        return scorer.of_sentences(space, pairs, self.importance)

    def make_scorer(self, embedder: Embedder, direction: Direction) -> Scorer:
        """Return a scorer of sentences along a direction."""
        return Scorer(
            embedder,
            direction,
            importance=self.importance,
            gendered=self.gendered,
            vectors=self.vectors,
        )


def resolve(method: Method, embedder: Embedder, concept: Concept) -> ResolvedMethod:
    """Fill in the defaults of a method, and read its files of words and names.

    Raises
    ------
    InvalidFile
        If a file of words or names cannot be read.
    InvalidOption
        If the direction is neither a known source nor a file, or `vectors` has no word vectors.
    NotApplicable
        If the model gives no token states.
    """
    token_states = scorer.of(embedder)
    static = embedder.info.kind == "word" or method.vectors is not None
    source = method.direction or (PAIRS if static else SENTENCES)
    if source not in (PAIRS, SENTENCES) and not Path(source).is_file():
        raise InvalidOption(
            f"--direction {source}: expected {SENTENCES}, {PAIRS}, or a file of sentences"
            f"{suggestion(source, (SENTENCES, PAIRS))}"
        )
    if method.vectors is not None and method.vectors.info.kind != "word":
        raise InvalidOption(
            f"--word-vectors {method.vectors.info.name}: expected a word embedder, not a text "
            "encoder"
        )
    return ResolvedMethod(
        importance=method.importance or scorer.of_poolings(token_states.poolings),
        direction_source=source,
        gendered=_gendered(concept, method),
        vectors=method.vectors,
    )


def _swapped_sentences(path: str) -> scorer.SentencePairs:
    """Return the sentences of a file, paired with their gender-swapped versions."""
    lines = gendered.read_text(Path(path)).split("\n")
    sentences = (" ".join(line.split()) for line in lines)
    pairs = scorer.swapped(sentence for sentence in sentences if sentence)
    if not pairs.first:
        raise InvalidFile("no sentence has a gendered word", path=path)
    return pairs


def _gendered(concept: Concept, method: Method) -> Gendered:
    """Return the words that do not count as bias: of the concept, the long list and the files.

    Raises
    ------
    InvalidFile
        If a file cannot be read.
    """
    listed = gendered.of_concept(concept)
    if method.long_list:
        further = gendered.long_list()
        listed = listed.joined(words=further.words, names=further.names)
    return listed.joined(
        words=(word for path in method.words for word in gendered.read_words(path)),
        names=(name for path in method.names for name in gendered.read_names(path)),
    )
