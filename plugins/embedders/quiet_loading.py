"""Loads weights without the libraries' bars and reports, and tells in one line why it failed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from harness.errors import HarnessError, ModelError


@contextlib.contextmanager
def loading(name: str) -> Iterator[None]:
    """Keep transformers quiet, and turn what it raises into a ModelError.

    That memory does not suffice is raised as it is, since the engine knows what to do.

    Parameters
    ----------
    name
        What to call the model.
    """
    import torch
    from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging
    shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    except (torch.OutOfMemoryError, HarnessError):
        raise
    except Exception as error:  # libraries raise all kinds on a model that does not fit them
        told = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(f"'{name}' cannot be loaded: {told}") from error
    finally:
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()
