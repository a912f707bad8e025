"""An exported transformer as the first module of a SentenceTransformer.

Only `exported_backend.py` imports this module, when a model is loaded, because it imports torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers.sentence_transformer.modules import InputModule

from .exported_backend import Run


class ExportedTransformer(InputModule):
    """Splits texts into tokens and returns the tokens' states.

    Parameters
    ----------
    run
        Returns (n, T, d) states for the arrays of a batch.
    inputs
        Names of the arrays that `run` takes.
    tokenizer
        The tokenizer, of transformers.
    max_seq_length
        Number of tokens after which a text is cut; None for no limit.
    lowercase
        Whether texts are lower-cased first.
    """

    def __init__(
        self,
        run: Run,
        inputs: Sequence[str],
        tokenizer: Any,
        *,
        max_seq_length: int | None,
        lowercase: bool,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own
        self.run, self.inputs = run, tuple(inputs)
        self.tokenizer: Any = tokenizer
        self.max_seq_length, self.lowercase = max_seq_length, lowercase

    def preprocess(
        self, inputs: Sequence[Any], prompt: str | None = None, **_: Any
    ) -> dict[str, Any]:
        """Return the tokens of texts, each behind the prompt."""
        features = self._tokens([f"{prompt or ''}{text}" for text in inputs])
        if prompt:
            # Models that do not pool prompts count them without the special token behind.
            ids = self._tokens([prompt])["input_ids"][0].tolist()
            features["prompt_length"] = len(ids) - (ids[-1] in self.tokenizer.all_special_ids)
        return features

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Add the tokens' states to the features of a batch."""
        mask = features["attention_mask"]
        if "position_ids" in self.inputs:
            features["position_ids"] = (mask.cumsum(dim=1) - 1).clamp(min=0)
        if "token_type_ids" in self.inputs and "token_type_ids" not in features:
            features["token_type_ids"] = torch.zeros_like(mask)
        arrays = {name: features[name].numpy().astype(np.int64) for name in self.inputs}
        features["token_embeddings"] = torch.from_numpy(self.run(arrays)).float()
        return features

    def save(self, *_: Any, **__: Any) -> None:
        """Raise NotImplementedError: the model was loaded from files and needs no saving."""
        raise NotImplementedError

    def _tokens(self, texts: list[str]) -> dict[str, Any]:
        encoding = self.tokenizer(
            [text.lower() for text in texts] if self.lowercase else texts,
            padding=True,
            truncation=self.max_seq_length is not None,
            max_length=self.max_seq_length,
            return_tensors="pt",
        )
        return dict(encoding)
