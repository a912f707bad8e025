"""The options that all encoders of transformers' models share, checked against a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self, TypeAlias

from harness.embedder import Card, Role
from harness.errors import InvalidOption, ModelError
from harness.plugins.embedders import prompts
from harness.plugins.embedders.transformers.model_folder import ModelFolder

Precision: TypeAlias = Literal["float32", "float16", "bfloat16"]

SHORTEST = 3
"""Fewest tokens of `max_length`: one of the text between the two that many models add."""


@dataclass(frozen=True, kw_only=True)
class EncoderOptions:
    """The shared options of an encoder, as the user gave them.

    The constructors of the encoders list these options one by one, because users read them in the
    signature and `harness.options` checks them against it. After that they are one object, which
    `of` makes of all arguments.

    Parameters
    ----------
    prompt, query_prompt, document_prompt, precision, max_length, normalize, dimensions
    trust_remote_code, device
        See `SentenceTransformersEmbedder`.
    name, card
        What the model is reported as.
    """

    prompt: str | None
    query_prompt: str | None
    document_prompt: str | None
    precision: Precision
    max_length: int | None
    normalize: bool
    dimensions: int | None
    trust_remote_code: bool | None
    device: str | None
    name: str | None
    card: Card | None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """Return the shared options among the arguments of a constructor."""
        return cls(**{field.name: arguments[field.name] for field in fields(cls)})

    def runs_own_code(self, folder: ModelFolder) -> bool:
        """Return whether the model's own Python code is run.

        Raises
        ------
        ModelError
            If the model has such code and `trust_remote_code` is not set.
        """
        if not folder.runs_own_code:
            return False
        if self.trust_remote_code is None:
            raise ModelError(
                f"'{folder.name}' comes with its own Python code: read the code, then set "
                "trust_remote_code=true to run it, or false to use the library's code instead"
            )
        return self.trust_remote_code

    def prompts(self, folder: ModelFolder) -> dict[str, str]:
        """Return the prompts of the card and of the files by name; the files take precedence."""
        return {**(self.card.prompts if self.card else {}), **folder.prompts}

    def role_prompts(self, folder: ModelFolder) -> dict[Role, str]:
        """Return the prompts in use by role; see `prompts.by_role`."""
        stated = self.card.prompts if self.card else {}
        return prompts.by_role(
            self.prompts(folder),
            model=folder.name,
            default=stated.get("text", ""),
            plain=folder.default_prompt or None,
            **self._of_prompts,
        )

    def prompt_notices(self, folder: ModelFolder, used: Mapping[Role, str]) -> list[str]:
        """Return what a user may not expect of the prompts in use; see `prompts.notices`."""
        return list(prompts.notices(self.prompts(folder), used, **self._of_prompts))

    @property
    def _of_prompts(self) -> dict[str, str | None]:
        names = ("prompt", "query_prompt", "document_prompt")
        return {name: getattr(self, name) for name in names}

    def token_limit(self, folder: ModelFolder) -> int | None:
        """Return the number of tokens after which a text is cut; None for no limit.

        Raises
        ------
        InvalidOption
            If `max_length` is below `SHORTEST` or above what the model can read.
        """
        if self.max_length is None:
            return folder.max_tokens
        if self.max_length < SHORTEST:
            raise InvalidOption(f"max_length={self.max_length}: must be at least {SHORTEST} tokens")
        if folder.max_positions is not None and self.max_length > folder.max_positions:
            raise InvalidOption(
                f"max_length={self.max_length}: '{folder.name}' reads at most "
                f"{folder.max_positions} tokens"
            )
        return self.max_length

    def kept_dimensions(self, own: int | None, folder: ModelFolder) -> int | None:
        """Return how many dimensions are kept; None for all of the model's own.

        Parameters
        ----------
        own
            The model's number of dimensions; None if its files do not say.
        folder
            The model, for the message.

        Raises
        ------
        InvalidOption
            If `dimensions` is below 1 or above the model's own number.
        """
        if self.dimensions is None or self.dimensions == own:
            return None
        if self.dimensions < 1 or (own is not None and self.dimensions > own):
            limit = "1 or more" if own is None else f"from 1 to {own}"
            raise InvalidOption(
                f"dimensions={self.dimensions}: must be {limit}, the dimensions of '{folder.name}'"
            )
        return self.dimensions
