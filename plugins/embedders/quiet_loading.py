"""Silences progress bars and reports while weights are loaded; failures become one-line errors."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from harness.errors import HarnessError, ModelError

_LONGEST = 500
"""Characters of a library's reason."""


@contextlib.contextmanager
def loading(name: str) -> Iterator[None]:
    """Silence transformers, and turn its exceptions into a ModelError.

    Out-of-memory errors are raised unchanged: the engine handles them with smaller batches.

    Parameters
    ----------
    name
        What the error calls the model.
    """
    import torch
    from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging
    bars_enabled, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    except (torch.OutOfMemoryError, HarnessError):
        raise
    except Exception as error:  # the libraries raise exceptions of many types
        raise ModelError(f"'{name}' cannot be loaded: {_reason(error)}") from error
    finally:
        logging.set_verbosity(verbosity)
        if bars_enabled:
            logging.enable_progress_bar()


@contextlib.contextmanager
def loading_gguf(name: str) -> Iterator[None]:
    """As `loading`; stderr is silent, since the bar of converted weights has no other switch."""
    with loading(name), contextlib.redirect_stderr(io.StringIO()):
        yield


def _reason(error: Exception) -> str:
    """Return the first line of an error, with those that it announces: the names of weights."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    reason = lines[0]
    for line in lines[1:]:
        if not reason.endswith(":") or len(reason) > _LONGEST:
            break
        reason = f"{reason} {line}"
    if isinstance(error, KeyError):
        reason = f"{reason} is missing"
    return reason if len(reason) <= _LONGEST else f"{reason[: _LONGEST - 1]}…"
