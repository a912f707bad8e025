"""Static models of the package model2vec, as the first module of a SentenceTransformer.

A text's vector is the mean of the rows of its tokens. sentence-transformers reads such a folder if
it has a modules.json, and counts unknown tokens, too; a folder without one is read here, as
model2vec itself does. torch is imported when the model is loaded.
"""

from __future__ import annotations

import functools
import json
import re
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ModelError

from .. import quiet_loading, weight_files

MAX_TOKENS = 512
"""Tokens after which model2vec cuts a text if config.json does not say."""


def load(folder: Path, name: str, *, normalize: bool, max_length: int | None) -> Any:
    """Return a SentenceTransformer with the vectors of `model2vec.StaticModel.encode`.

    Parameters
    ----------
    folder
        The model's folder: model.safetensors and tokenizer.json.
    name
        What errors call the model.
    normalize
        Whether vectors have length 1.
    max_length
        Number of tokens after which a text is cut; None for no limit.

    Raises
    ------
    ModelError
        If a file is missing or the tokens do not fit the rows.
    """
    from safetensors.torch import load_file
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

    with quiet_loading.loading(name):
        tensors = load_file(folder / "model.safetensors")
        for key, value in tensors.items():
            if re.search("bfloat16|float8", str(value.dtype)):  # numpy has none
                tensors[key] = value.float()
        weights = {key: value.numpy() for key, value in tensors.items()}
        if "embeddings" not in weights or weights["embeddings"].ndim != 2:
            raise ModelError(
                f"'{name}': model.safetensors has no matrix 'embeddings', as models of model2vec do"
            )
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        rows = weights.get("mapping", weights.get("weights", weights["embeddings"]))
        if len(rows) < tokenizer.get_vocab_size():
            raise ModelError(
                f"'{name}': tokenizer.json has {tokenizer.get_vocab_size()} tokens, but "
                f"model.safetensors has rows for {len(rows)}"
            )
        module = _module_class()(tokenizer, weights, normalize=normalize, max_length=max_length)
        return SentenceTransformer(modules=[module], device="cpu").eval()


def check(folder: Path, config: Mapping[str, Any], name: str) -> None:
    """Raise ModelError if a file of a model2vec folder is missing, or a setting is wrong."""
    at: dict[str, Any] = {"name": name, "file": "config.json"}
    longest, normalize = config.get("max_length"), config.get("normalize", False)
    weight_files.expect(
        longest is None or weight_files.is_count(longest),
        "a whole number of 1 or more, or null",
        key="max_length",
        value=longest,
        **at,
    )
    weight_files.expect(
        isinstance(normalize, bool), "true or false", key="normalize", value=normalize, **at
    )
    for file in ("model.safetensors", "tokenizer.json"):
        if not (folder / file).is_file():
            raise ModelError(f"'{name}' is a model of model2vec without its {file}")
    if "embeddings" not in weight_files.named_shapes(folder / "model.safetensors"):
        raise ModelError(
            f"'{name}': model.safetensors has no matrix 'embeddings', as models of model2vec do"
        )


def _unknown(tokenizer: Any) -> int | None:
    """Return the id of the token that stands for unknown words; None without one."""
    model = json.loads(tokenizer.to_str())["model"]
    token = model.get("unk_token")
    unknown: int | None = model.get("unk_id") if token is None else tokenizer.token_to_id(token)
    return unknown


@functools.cache
def _module_class() -> Any:
    """Return the class of the module; it imports torch, which listing models must not."""
    import torch
    from sentence_transformers.sentence_transformer.modules import InputModule

    class StaticTokens(InputModule):
        """Splits texts into tokens and returns the mean of their rows."""

        def __init__(
            self,
            tokenizer: Any,
            weights: dict[str, Any],
            *,
            normalize: bool,
            max_length: int | None,
        ) -> None:
            super().__init__()  # type: ignore[no-untyped-call]  # torch's own
            self.tokenizer: Any = tokenizer
            self.tokenizer.no_padding()
            self.rows, self.normalize = weights["embeddings"], normalize
            self.row_of, self.factors = weights.get("mapping"), weights.get("weights")
            self.max_seq_length = max_length
            self.unknown = _unknown(tokenizer)
            self.median = int(statistics.median(map(len, tokenizer.get_vocab())))

        def preprocess(self, inputs: Any, prompt: str | None = None, **_: Any) -> dict[str, Any]:
            texts = [f"{prompt or ''}{text}" for text in inputs]
            if self.max_seq_length is None:
                self.tokenizer.no_truncation()
            else:
                texts = [text[: self.max_seq_length * self.median] for text in texts]
                self.tokenizer.enable_truncation(self.max_seq_length)
            encodings = self.tokenizer.encode_batch(texts, add_special_tokens=False)
            ids = [[i for i in encoding.ids if i != self.unknown] for encoding in encodings]
            return {"input_ids": torch.zeros(len(texts), 1), "token_ids": ids}

        def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
            vectors = np.stack([self._mean(ids) for ids in features["token_ids"]])
            if self.normalize:
                # As model2vec does, in the precision of its rows.
                single = vectors.astype(np.float32)
                lengths = np.linalg.norm(single, axis=1, keepdims=True) + 1e-32
                vectors = (single / lengths).astype(vectors.dtype)
            features["sentence_embedding"] = torch.from_numpy(vectors.astype(np.float32))
            return features

        def _mean(self, ids: list[int]) -> Any:
            dtype = np.float32 if self.rows.dtype == np.int8 else self.rows.dtype
            if not ids:
                return np.zeros(self.rows.shape[1], dtype=dtype)
            rows = self.rows[ids if self.row_of is None else self.row_of[ids]]
            if self.factors is not None:
                rows = rows * self.factors[ids][:, None]
            return rows.mean(axis=0).astype(dtype)

        def get_embedding_dimension(self) -> int:
            return int(self.rows.shape[1])

        def save(self, *_: Any, **__: Any) -> None:
            raise NotImplementedError

    return StaticTokens
