"""Options that all encoders of transformers' models take, checked against what a model can."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.errors import InvalidOption, ModelError, suggestion
from harness.plugins.embedders.transformers.model_folder import ModelFolder

SHORTEST = 3
"""Tokens: one of the text between the two that many models put around it."""
_PROMPT_NAME = re.compile(r"[A-Za-z0-9_-]+")


def runs_own_code(folder: ModelFolder, trust_remote_code: bool | None) -> bool:
    """Return whether the model's own Python code is run.

    Raises
    ------
    ModelError
        If the model has such code and nobody said what to do with it.
    """
    if not folder.runs_own_code:
        return False
    if trust_remote_code is None:
        raise ModelError(
            f"'{folder.name}' comes with Python code of its own: read it, then add "
            "trust_remote_code=true to run it (or false to do without, if the library can)"
        )
    return trust_remote_code


def prompt_text(
    prompt: str | None, prompts: Mapping[str, str], default: str, reference: str
) -> str | None:
    """Return what is put before each text, or None: by its name, by itself, or the default.

    Raises
    ------
    InvalidOption
        If a single word names no prompt.
    """
    if prompt is None:
        return default or None
    if prompt in prompts:
        return prompts[prompt]
    if _PROMPT_NAME.fullmatch(prompt):
        raise InvalidOption(
            f"'{reference}' has no prompt '{prompt}'{suggestion(prompt, prompts)}"
            " (a prompt that is not just one word is taken literally)"
        )
    return prompt


def max_length(asked: int | None, folder: ModelFolder) -> int | None:
    """Return the tokens after which a text is cut; None if it never is.

    Raises
    ------
    InvalidOption
        If so many or so few cannot be.
    """
    if asked is None:
        return folder.max_tokens
    if asked < SHORTEST:
        raise InvalidOption(f"max_length={asked}: at least {SHORTEST} tokens are needed")
    if folder.max_positions is not None and asked > folder.max_positions:
        raise InvalidOption(
            f"max_length={asked}: '{folder.name}' can take {folder.max_positions} tokens"
        )
    return asked


def dimensions(asked: int | None, own: int | None, reference: str) -> int | None:
    """Return how many dimensions are kept; None where the model's own number is.

    Raises
    ------
    InvalidOption
        If the model has not so many.
    """
    if asked is None or asked == own:
        return None
    if asked < 1 or (own is not None and asked > own):
        has = f"has {own}" if own is not None else "has more than 0"
        raise InvalidOption(f"dimensions={asked}: '{reference}' {has}")
    return asked
