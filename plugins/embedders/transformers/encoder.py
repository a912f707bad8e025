"""What encoders of transformers' models share, however they are run: options, lengths, identity.

Runs no model: `sentence_transformer.py` and `last_token.py` do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from harness.digest import digest
from harness.embedder import Card, ModelInfo
from harness.plugins.embedders import file_hashes, model_info
from harness.plugins.embedders.transformers import encoder_options
from harness.plugins.embedders.transformers.model_folder import ModelFolder
from harness.plugins.embedders.transformers.text_lengths import TextLengths

Precision: TypeAlias = Literal["float32", "float16", "bfloat16"]


class TransformerEncoder:
    """A model in a folder, with the options that all its encoders take, as they were settled.

    Parameters
    ----------
    folder
        Where the model lies; named as users named it.
    card
        Published facts, if there are any.
    prompt, precision, max_length, normalize, trust_remote_code
        See the encoders.
    added
        Tokens that are put behind each text beside those that the tokenizer adds itself.

    Raises
    ------
    InvalidOption
        If the model has no such prompt, or cannot take so many tokens.
    ModelError
        If it has Python code of its own and nobody said what to do with it.
    """

    info: ModelInfo
    _dimensions: int | None
    """How many of the first are kept; None where the model's own number is."""

    def __init__(
        self,
        folder: ModelFolder,
        card: Card | None,
        *,
        prompt: str | None,
        precision: Precision,
        max_length: int | None,
        normalize: bool,
        trust_remote_code: bool | None,
        added: int = 0,
    ) -> None:
        self._folder = folder
        self._runs_own_code = encoder_options.runs_own_code(folder, trust_remote_code)
        self._prompts = {**(card.prompts if card else {}), **folder.prompts}
        self._prompt = encoder_options.prompt_text(
            prompt, self._prompts, folder.default_prompt, folder.name
        )
        self._max_length = encoder_options.max_length(max_length, folder)
        self._precision: Precision = precision
        self._normalize = normalize
        self._lengths = TextLengths(
            folder.tokenizer, limit=self._max_length, prompt=self._prompt, added=added
        )

    def lengths(self, texts: Sequence[str]) -> Sequence[int]:
        """Return how many tokens each text has, for batches of even cost.

        Needs no weights. Where the tokenizer's file cannot be read on its own, the lengths are
        estimated from the characters.
        """
        return self._lengths.lengths(texts)

    def truncated(self, texts: Sequence[str]) -> Sequence[bool]:
        """Return whether each text is longer than the model reads, so that its end is cut off."""
        return self._lengths.truncated(texts)

    def close(self) -> None:
        """Let go of the weights; they are loaded anew if they are needed again."""
        self.__dict__.pop("_model", None)

    def _described(
        self,
        card: Card | None,
        *,
        provider: str,
        name: str | None,
        revision: str | None,
        own_dimensions: int | None,
        **differs: Any,
    ) -> ModelInfo:
        """Return what the model is; `differs` is what changes a vector beside what all share.

        An option that names what the model does anyway is no difference, and neither is where its
        files were found or run.
        """
        files = self._folder.files(code=self._runs_own_code)
        identity = {
            "files": {path: file_hashes.sha256(file) for path, file in files.items()},
            "prompt": self._prompt or "",
            "precision": self._precision,
            "max_length": self._max_length,
            "normalize": self._normalize,
            "own_code": self._runs_own_code,
            **differs,
        }
        if self._dimensions is not None:
            identity["dimensions"] = self._dimensions
        return model_info.describe(
            card,
            name=name or f"{provider}:{self._folder.name}",
            kind="text",
            fingerprint=f"{provider}-{digest(identity)}",
            dimensions=self._dimensions or own_dimensions,
            max_tokens=self._max_length,
            n_parameters=self._folder.n_parameters,
            revision=revision,
            prompts=self._prompts or None,
        )
