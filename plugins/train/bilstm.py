"""A BiLSTM with max pooling over frozen word vectors, of the modules of sentence-transformers.

Its tokenizer splits a text into words and marks, as the vocabularies of GloVe are: a possessive is
a word of its own, and so are the parts of a hyphenated word. A word without a vector is dropped, as
InferSent does. The tokenizer is one of the library `tokenizers`, so that the saved model needs no
code of the harness, and the words of its tokens are known.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.embedder import Embedder, vocabulary_of
from harness.errors import NotApplicable
from harness.letters import LETTER, composed

if TYPE_CHECKING:
    from harness.arrays import Vectors


def model(words: Words, hidden: int) -> Any:
    """Return an untrained `SentenceTransformer`: word vectors, a BiLSTM, and max pooling.

    Parameters
    ----------
    words
        The vocabulary; its vectors stay as they are.
    hidden
        Units of the LSTM in each direction.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import LSTM, Pooling, WordEmbeddings

    lstm: Any = LSTM(words.vectors.shape[1], hidden)
    vectors = WordEmbeddings(words.tokenizer, words.vectors)
    pooling = Pooling(2 * hidden, pooling_mode="max")
    return SentenceTransformer(modules=[vectors, lstm, pooling], device="cpu")


def speed_up(lstm: Any) -> None:
    """Make an `LSTM` module run each direction by itself over padded sentences, on the CPU.

    The states of words are the same, up to rounding, and training takes less than half the time of
    the library's packed sequences. What is saved does not change.
    """
    lstm.forward = functools.partial(_forward, lstm, type(lstm).forward)


def _forward(lstm: Any, of_library: Any, features: dict[str, Any]) -> dict[str, Any]:
    import torch

    vectors, lengths = features["token_embeddings"], features["sentence_lengths"]
    if vectors.device.type != "cpu":
        return dict(of_library(lstm, features))
    position = torch.arange(vectors.shape[1])[None]
    # A sentence read backwards begins with its last word; padding stays behind, where no word
    # before it sees it.
    order = torch.where(position < lengths[:, None], lengths[:, None] - 1 - position, position)
    # Not every processor has an LSTM of lower precision, so mixed precision leaves this layer out.
    with torch.autocast("cpu", enabled=False):
        vectors = vectors.float()
        forwards = _states(lstm, vectors, backwards=False)
        backwards = _states(lstm, _reordered(vectors, order), backwards=True)
    states = torch.cat([forwards, _reordered(backwards, order)], dim=2)
    return features | {"token_embeddings": states}


def _states(lstm: Any, vectors: Any, *, backwards: bool) -> Any:
    import torch

    suffix = "_reverse" if backwards else ""
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    weights = [getattr(lstm.encoder, f"{name}{suffix}") for name in names]
    start = vectors.new_zeros(1, len(vectors), lstm.hidden_dim)
    # The arguments: with biases, one layer, no dropout, training, one direction, batch first.
    return torch.lstm(
        vectors, (start, start), weights, True, 1, 0.0, torch.is_grad_enabled(), False, True
    )[0]


def _reordered(vectors: Any, order: Any) -> Any:
    return vectors.gather(1, order[..., None].expand_as(vectors))


LEAST_COVERAGE = 0.5
"""Share of the corpus' words that must have a vector: what remains is no text otherwise."""
_SAMPLE = 20_000  # texts that the share is measured on
_SPACE = "▁"  # put before each word by the tokenizer, so that no single letter passes for a word
_PAD = f"{_SPACE}<pad>"
_PARTS = rf"n't\b|'(?:s|m|d|re|ve|ll)\b|(?:(?!n't\b){LETTER})+|[^\w\s]|_"
_WHOLE = rf"{LETTER}+(?:'{LETTER}+)*|[^\w\s]|_"  # for vocabularies that have don't, not do and n't


@dataclass(frozen=True)
class Words:
    """A vocabulary, ready for an encoder.

    Parameters
    ----------
    tokenizer
        Turns a text into the ids of its words; of the library transformers.
    vectors
        (n, d) vectors by id; row 0 is padding.
    """

    tokenizer: Any
    vectors: Vectors


def words_of(embedder: Embedder, limit: int | None = None) -> Words:
    """Return the vocabulary of a word embedder; words without a direction are left out.

    Parameters
    ----------
    embedder
        An embedder of kind `word`.
    limit
        Only the first so many words are kept; None for all.
    """
    words: list[str] = []
    rows: list[Vectors] = []
    for block, vectors in vocabulary_of(embedder).blocks():
        usable: Any = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
        words.extend(word for word, is_usable in zip(block, usable, strict=True) if is_usable)
        rows.append(np.asarray(vectors[usable], dtype=np.float32))
        if limit is not None and len(words) >= limit:
            break
    matrix = np.concatenate(rows)[:limit]
    padding = np.zeros((1, matrix.shape[1]), dtype=np.float32)
    return Words(_tokenizer(words[:limit]), np.concatenate([padding, matrix]))


def check_coverage(words: Words, texts: Sequence[str], name: str) -> float:
    """Return the share of the words of texts that have a vector.

    Raises
    ------
    NotApplicable
        If it is under `LEAST_COVERAGE`.
    """
    sample = texts[:: max(1, len(texts) // _SAMPLE)]
    backend = words.tokenizer.backend_tokenizer
    known = sum(len(ids) for ids in words.tokenizer(list(sample))["input_ids"])
    pieces = (backend.pre_tokenizer.pre_tokenize_str(text) for text in sample)
    total = sum(piece not in (_SPACE, "") for text in pieces for piece, _ in text)
    share = known / total if total else 0.0
    if share < LEAST_COVERAGE:
        raise NotApplicable(
            f"'{name}' has vectors for {share:.0%} of the words of the corpus; at least "
            f"{LEAST_COVERAGE:.0%} is needed"
        )
    return share


def _tokenizer(words: Sequence[str]) -> Any:
    """Return a tokenizer that knows these words, with ids from 1 on.

    It is byte-pair encoding without merges and without an unknown token: a whole word that is in
    the vocabulary is a token, and nothing else is. Words are lower-cased if the vocabulary has none
    with a capital.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {_PAD: 0} | {f"{_SPACE}{composed(word)}": i for i, word in enumerate(words, 1)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], ignore_merges=True))
    steps: list[Any] = [normalizers.NFC(), normalizers.Replace("’", "'")]
    if not any(_is_capitalised(word) for word in words):
        steps.append(normalizers.Lowercase())
    tokenizer.normalizer = normalizers.Sequence(steps)
    pattern = _PARTS if f"{_SPACE}n't" in vocabulary else _WHOLE
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.Metaspace(_SPACE, prepend_scheme="always", split=False),
        ]
    )
    fast: Any = PreTrainedTokenizerFast
    return fast(tokenizer_object=tokenizer, pad_token=_PAD)


def _is_capitalised(word: str) -> bool:
    return re.match(r"[^\W\d_]", word) is not None and word != word.lower()
