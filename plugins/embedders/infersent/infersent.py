"""`infersent:FOLDER`: word vectors, a BiLSTM over them, and max pooling (Conneau et al. 2017).

The number of dimensions in which a token is the maximum is its exact share of the vector; scores of
single words are built on it. `files.py` describes the folder of a trained model and makes one from
published weights. This module trains nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import regex

from harness import folders
from harness.digest import digest, remembered_sha256
from harness.embedder import NO_WORD, Card, Embedder, ModelInfo, TokenStates, words
from harness.errors import InvalidOption
from harness.letters import LETTER, RUN, composed
from harness.names import reference_label

from .. import cards, quiet_loading
from . import files

if TYPE_CHECKING:
    from harness.arrays import Vectors

# The parts that a word is looked up in if it is not in the vocabulary: do + n't, mother + in + law.
_PART = regex.compile(rf"n['’]t\b|['’]{RUN}|(?:(?!n['’]t\b){LETTER})+|\S")
_RULES = 2  # version of the way texts become tokens, since that changes vectors


class _Tokens(NamedTuple):
    """The tokens of a text that have vectors, and the index of each one's word."""

    tokens: list[str]
    word_of: list[int]


class InferSentEmbedder:
    """A text encoder: a BiLSTM with max pooling over word vectors.

    A text is split into words. A word without a vector, as it is written and in lower case, is
    looked up in parts; if the parts have none either, the word is left out. Start and end markers
    are put around a text, if they have vectors. A text without any token with a vector gives a row
    of NaN.

    Parameters
    ----------
    reference
        Folder with `config.json`, `model.safetensors` and word vectors; see `files.py`.
    vectors
        Name of a word embedder, such as `vectors:./glove.840B.300d.txt` or `glove-6b-50d`; None
        for the file in the folder that config.json names.
    device
        A torch device such as `cuda:1`; None for the CPU, which is fast enough for an LSTM.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If `vectors` is not a word embedder, its vectors have another length than the weights
        expect, or neither `vectors` nor config.json names word vectors.
    ModelError
        If the folder is not an InferSent model, or its weights do not match config.json.

    Notes
    -----
    Padding is not part of the maximum. In the first version of the published code it was during
    training, so that the vector of a text depended on the other texts of its batch.

    The fingerprint covers the SHA-256 of the weights, the fingerprint of the word vectors, the
    settings of config.json that change vectors, and the way texts become tokens.
    """

    poolings: tuple[str, ...] = ("max",)

    def __init__(
        self,
        reference: str,
        *,
        vectors: str | Embedder | None = None,
        device: str | None = None,
        name: str | None = None,
        card: Card | None = None,
    ) -> None:
        self._folder = folders.typed(reference)
        self._name = reference
        self._config = config = files.read_config(self._folder)
        self._words = _word_embedder(vectors, self._folder, config.vectors)
        own = self._words.info.dimensions
        if own is not None and own != config.word_dimensions:
            raise InvalidOption(
                f"'{reference}' expects word vectors of {config.word_dimensions} dimensions; "
                f"'{self._words.info.name}' has {own}"
            )
        self._device = device or "cpu"
        weights = files.checked_weights(self._folder, config)
        identity = {
            "config": config.identity(),
            "weights": remembered_sha256(weights),
            "words": self._words.info.fingerprint,
            "rules": _RULES,
        }
        self.info: ModelInfo = cards.describe(
            card,
            name=name or f"infersent:{reference_label(reference)}",
            kind="text",
            fingerprint=f"infersent-{digest(identity)}",
            dimensions=2 * config.hidden_size,
            n_parameters=files.n_weights(config),
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, 2 h) float32 vectors, the maximum of each dimension over a text's tokens."""
        vectors = np.full((len(texts), self.info.dimensions or 0), np.nan, dtype=np.float32)
        for i, (_, states) in enumerate(self._states(texts)):
            if len(states):
                vectors[i] = states.max(axis=0)
        return vectors

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the word vectors."""
        return tuple(getattr(self._words, "notes", ()))

    def lacks(self, texts: Sequence[str]) -> list[bool]:
        """Return whether each text has no known word."""
        return [not len(states) for _, states in self._states(texts)]

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the states of each text's tokens before pooling, encoded as one batch."""
        return [
            TokenStates(
                words=tuple(word.text for word in words(text)),
                word_of=np.array(tokens.word_of, dtype=np.int64),
                states=states,
            )
            for text, (tokens, states) in zip(texts, self._states(texts), strict=True)
        ]

    def lengths(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the approximate number of tokens of each text, for batches of even cost."""
        return [len(words(text)) + 2 for text in texts]

    def truncated(self, texts: Sequence[str]) -> Sequence[bool]:
        """Return False for each text: an LSTM reads texts of any length."""
        return [False] * len(texts)

    def close(self) -> None:
        """Free the weights; they are loaded again when needed."""
        self.__dict__.pop("_lstm", None)

    def _states(self, texts: Sequence[str]) -> list[tuple[_Tokens, Vectors]]:
        """Return the tokens of each text and their (T, 2 h) states."""
        import torch
        from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

        candidates = [self._candidates(text) for text in texts]
        vector_of = self._vectors(
            {form for text in candidates for _, forms in text for form in forms}
        )
        tokens_of = [_known(text, vector_of) for text in candidates]
        not_empty = [i for i, tokens in enumerate(tokens_of) if tokens.tokens]
        states = [np.empty((0, self.info.dimensions or 0), dtype=np.float32) for _ in texts]
        if not_empty:
            inputs = [
                torch.from_numpy(np.stack([vector_of[token] for token in tokens_of[i].tokens]))
                for i in not_empty
            ]
            with torch.inference_mode():
                packed: Any = pack_sequence(inputs, enforce_sorted=False)
                padded, lengths = pad_packed_sequence(
                    self._lstm(packed.to(self._device))[0], batch_first=True
                )
            for i, rows, n in zip(not_empty, padded.cpu().numpy(), lengths.tolist(), strict=True):
                states[i] = rows[:n]
        return list(zip(tokens_of, states, strict=True))

    def _candidates(self, text: str) -> list[tuple[int, list[str]]]:
        """Return the index of each word, with its forms to look up: itself, then its parts."""
        written = [composed(text[word.start : word.end]) for word in words(text)]
        if self._config.lowercase:
            written = [word.lower() for word in written]
        return [
            (NO_WORD, [self._config.start]),
            *((i, [word, *_PART.findall(word)]) for i, word in enumerate(written)),
            (NO_WORD, [self._config.end]),
        ]

    def _vectors(self, tokens: set[str]) -> dict[str, Vectors]:
        names = sorted(tokens)
        vectors = self._words.encode(names)
        has_vector = np.isfinite(vectors).all(axis=1)
        return {names[i]: vectors[i] for i in np.flatnonzero(has_vector).tolist()}

    @functools.cached_property
    def _lstm(self) -> Any:
        import torch
        from safetensors.torch import load_file

        with quiet_loading.loading(self._name):
            lstm = torch.nn.LSTM(
                self._config.word_dimensions, self._config.hidden_size, bidirectional=True
            )
            weights = load_file(self._folder / files.WEIGHTS)
            prefix = files.PREFIX
            lstm.load_state_dict(
                {name.removeprefix(prefix): value.float() for name, value in weights.items()}
            )
        return lstm.to(self._device).eval()


def _known(candidates: list[tuple[int, list[str]]], vector_of: Mapping[str, Vectors]) -> _Tokens:
    """Return the tokens that have vectors: each word, or else its parts."""
    known = [
        (i, token)
        for i, (whole, *parts) in candidates
        for token in ([whole] if whole in vector_of else parts)
        if token in vector_of
    ]
    return _Tokens([token for _, token in known], [i for i, _ in known])


def _word_embedder(vectors: str | Embedder | None, folder: Path, file: str | None) -> Embedder:
    if vectors is None:
        if file is None:
            raise InvalidOption(
                f"'{folder}': config.json names no word vectors; set vectors=NAME, such as "
                "vectors=glove-6b-50d"
            )
        from ..vectors.vectors_file import vectors_file

        return vectors_file(str(folder / file))
    if isinstance(vectors, str):
        from harness.registry.registry import Registry

        vectors = Registry().embedder(vectors)
    if vectors.info.kind != "word":
        raise InvalidOption(
            f"vectors={vectors.info.name}: expected a word embedder, this is a text encoder"
        )
    return vectors
