"""Silences the bars, logs and warnings of the libraries that train."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import datasets
import transformers


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the libraries while a model is trained; errors are raised as ever."""
    logging_of: Any = transformers.utils.logging
    bars, verbosity = logging_of.is_progress_bar_enabled(), logging_of.get_verbosity()
    data_bars = datasets.utils.logging.is_progress_bar_enabled()
    logging_of.disable_progress_bar()
    logging_of.set_verbosity(logging.CRITICAL)
    datasets.disable_progress_bars()
    loggers = [logging.getLogger(name) for name in ("sentence_transformers", "accelerate")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        logging_of.set_verbosity(verbosity)
        if bars:
            logging_of.enable_progress_bar()
        if data_bars:
            datasets.enable_progress_bars()
