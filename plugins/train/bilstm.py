"""A BiLSTM with max pooling over frozen word vectors, of the modules of sentence-transformers."""

from __future__ import annotations

import functools
from typing import Any

from .words import Words


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
