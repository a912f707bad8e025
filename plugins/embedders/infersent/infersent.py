"""`infersent:FOLDER`: word vectors, a BiLSTM over them, and max pooling (Conneau et al. 2017).

How often a token wins the maximum over tokens is its exact share in the vector, which scores of
single words rest on. Runs a trained model; `files.py` says what its folder holds and
makes one of published weights. Trains nothing.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.digest import digest
from harness.embedder import Card, Embedder, ModelInfo
from harness.errors import InvalidOption
from harness.plugins.embedders import file_hashes, model_info, quiet_loading
from harness.plugins.embedders.infersent import files
from harness.token_states import NO_WORD, TokenStates, words

if TYPE_CHECKING:
    from harness.arrays import Vectors

# What a word is looked up as where the vocabulary lacks it as a whole: do + n't, mother + in + law.
_PART = re.compile(r"n['’]t\b|['’][^\W_]+|(?:(?!n['’]t\b)[^\W_])+|\S")
_RULES = 1  # counted up when the way a text becomes tokens changes, as that changes vectors


class _Tokens(NamedTuple):
    """The tokens of a text that have vectors, and the index of each one's word."""

    tokens: list[str]
    word_of: list[int]


class InferSentEmbedder:
    """A text encoder of a BiLSTM with max pooling over word vectors.

    A text is cut into words; one that the vocabulary lacks as it is written, and in lower case, is
    looked up in parts, and left out if there are none. The marks of start and end are put around,
    where they have vectors. A text without any token that has a vector gives a row of NaN.

    Parameters
    ----------
    reference
        Folder with `config.json`, `model.safetensors` and word vectors; see `files.py`.
    vectors
        Name of a word embedder, such as `vectors:./glove.840B.300d.txt` or `glove-6b-50d`; None
        for the file in the folder that config.json names.
    device
        As torch names it, `cuda:1`; None for the CPU, which suits an LSTM of this size.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If the vectors are none of words, or of another length than the weights take.
    ModelError
        If the folder holds no such model, or its weights do not fit config.json.

    Notes
    -----
    Padding takes no part in the maximum. In the first version of the published code it did while
    training, so that a text's vector hung on the other texts of its batch.
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
        self._folder = Path(reference).expanduser()
        self._name = reference
        self._config = config = files.config(self._folder)
        self._words = _word_embedder(vectors, self._folder, config.vectors)
        own = self._words.info.dimensions
        if own is not None and own != config.word_dimensions:
            raise InvalidOption(
                f"'{reference}' takes word vectors of {config.word_dimensions} dimensions, and "
                f"'{self._words.info.name}' has {own}"
            )
        self._device = device or "cpu"
        weights = files.checked_weights(self._folder, config)
        made = {
            "config": config.what_counts(),
            "weights": file_hashes.sha256(weights),
            "words": self._words.info.fingerprint,
            "rules": _RULES,
        }
        self.info: ModelInfo = model_info.describe(
            card,
            name=name or f"infersent:{reference}",
            kind="text",
            fingerprint=f"infersent-{digest(made)}",
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

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the states of each text's tokens before pooling, encoded as one batch."""
        return [
            TokenStates(
                words=tuple(word.text for word in words(text)),
                word_of=np.array(found.word_of, dtype=np.int64),
                states=states,
            )
            for text, (found, states) in zip(texts, self._states(texts), strict=True)
        ]

    def max_pool_counts(
        self, texts: Sequence[str]
    ) -> list[tuple[list[str], npt.NDArray[np.int64]]]:
        """Return for each text its tokens, and in how many dimensions each is the maximum.

        The counts, (T,), sum to the 2 h dimensions; of tokens that are equal the first has it. The
        marks of start and end are among the tokens.
        """
        return [
            (found.tokens, np.bincount(states.argmax(axis=0), minlength=len(states)))
            if len(states)
            else ([], np.zeros(0, dtype=np.int64))
            for found, states in self._states(texts)
        ]

    def lengths(self, texts: Sequence[str]) -> Sequence[int]:
        """Return about how many tokens each text has, for batches of even cost."""
        return [len(words(text)) + 2 for text in texts]

    def truncated(self, texts: Sequence[str]) -> Sequence[bool]:
        """Return that no text is cut: an LSTM reads texts of any length."""
        return [False] * len(texts)

    def close(self) -> None:
        """Let go of the weights; they are loaded anew if they are needed again."""
        self.__dict__.pop("_lstm", None)

    def _states(self, texts: Sequence[str]) -> list[tuple[_Tokens, Vectors]]:
        """Return for each text its tokens and their (T, 2 h) states."""
        import torch
        from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

        choices = [self._choices(text) for text in texts]
        vector_of = self._vectors(
            {token for text in choices for _, any_of in text for token in any_of}
        )
        found = [_known(text, vector_of) for text in choices]
        full = [i for i, tokens in enumerate(found) if tokens.tokens]
        states = [np.empty((0, self.info.dimensions or 0), dtype=np.float32) for _ in texts]
        if full:
            inputs = [
                torch.from_numpy(np.stack([vector_of[token] for token in found[i].tokens]))
                for i in full
            ]
            with torch.inference_mode():
                packed: Any = pack_sequence(inputs, enforce_sorted=False)
                padded, lengths = pad_packed_sequence(
                    self._lstm(packed.to(self._device))[0], batch_first=True
                )
            for i, rows, n in zip(full, padded.cpu().numpy(), lengths.tolist(), strict=True):
                states[i] = rows[:n]
        return list(zip(found, states, strict=True))

    def _choices(self, text: str) -> list[tuple[int, list[str]]]:
        """Return for each word its index and what it may be read as: itself, else its parts."""
        written = [text[word.start : word.end] for word in words(text)]
        if self._config.lowercase:
            written = [word.lower() for word in written]
        return [
            (NO_WORD, [self._config.start]),
            *((i, [word, *_PART.findall(word)]) for i, word in enumerate(written)),
            (NO_WORD, [self._config.end]),
        ]

    def _vectors(self, tokens: set[str]) -> dict[str, Vectors]:
        asked = sorted(tokens)
        found = self._words.encode(asked)
        there = np.isfinite(found).all(axis=1)
        return {asked[i]: found[i] for i in np.flatnonzero(there).tolist()}

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


def _known(choices: list[tuple[int, list[str]]], vector_of: Mapping[str, Vectors]) -> _Tokens:
    """Return the tokens that have vectors: each word, or else those of its parts that do."""
    read = [
        (i, token)
        for i, (whole, *parts) in choices
        for token in ([whole] if whole in vector_of else parts)
        if token in vector_of
    ]
    return _Tokens([token for _, token in read], [i for i, _ in read])


def _word_embedder(asked: str | Embedder | None, folder: Path, file: str | None) -> Embedder:
    if asked is None:
        if file is None:
            raise InvalidOption(
                f"'{folder}' names no word vectors in config.json: say which with "
                "vectors=NAME, such as vectors=glove-6b-50d"
            )
        from harness.plugins.embedders.vectors.vectors_file import vectors_file

        return vectors_file(str(folder / file))
    if isinstance(asked, str):
        from harness.registry.registry import Registry

        asked = Registry().embedder(asked)
    if asked.info.kind != "word":
        raise InvalidOption(f"InferSent reads word vectors, and '{asked.info.name}' has none")
    return asked
