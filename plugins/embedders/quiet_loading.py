"""Silences progress bars and reports while weights are loaded; failures become one-line errors."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from harness.errors import HarnessError, ModelError


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
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(f"'{name}' cannot be loaded: {reason}") from error
    finally:
        logging.set_verbosity(verbosity)
        if bars_enabled:
            logging.enable_progress_bar()


@contextlib.contextmanager
def loading_gguf(name: str) -> Iterator[None]:
    """As `loading`; stderr is silent, since the bar of converted weights has no other switch."""
    with loading(name), contextlib.redirect_stderr(io.StringIO()):
        yield
