"""The step of a SentenceTransformer that stands for its transformer where that was exported.

Imported by `exported_backend.py` alone, and only to run: it needs torch from its first line on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers.sentence_transformer.modules import InputModule

from harness.plugins.embedders.transformers.exported_backend import Run


class ExportedTransformer(InputModule):
    """Cuts texts into tokens and gives the tokens' states.

    Parameters
    ----------
    run
        Gives (n, T, d) states for the arrays of a batch.
    inputs
        Names of the arrays that `run` takes.
    tokenizer
        The tokenizer, of transformers.
    max_seq_length
        Tokens after which a text is cut; None if it never is.
    lowercase
        Whether texts are brought to lower case first.
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
        """Return the tokens of texts, with the prompt put before each."""
        features = self._tokens([f"{prompt or ''}{text}" for text in inputs])
        if prompt:
            # Without the special token behind it, as models that do not pool prompts count it.
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
        """Refuse: a model that runs here has its files already."""
        raise NotImplementedError

    def _tokens(self, texts: list[str]) -> dict[str, Any]:
        made = self.tokenizer(
            [text.lower() for text in texts] if self.lowercase else texts,
            padding=True,
            truncation=self.max_seq_length is not None,
            max_length=self.max_seq_length,
            return_tensors="pt",
        )
        return dict(made)
