"""Trains a model on a corpus: `train`, which the command and the recipes call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.plugins.train.settings import Trained, TrainSettings

if TYPE_CHECKING:
    from harness.progress import Progress
    from harness.registry.registry import Registry


def train(
    settings: TrainSettings, *, registry: Registry | None = None, progress: bool | Progress = False
) -> Trained:
    """Train a model; a training that was stopped goes on.

    The folder `settings.out` keeps checkpoints while the training runs. The same call with the same
    settings goes on from the last one after an interruption of any kind, and does nothing if the
    training is complete.

    Parameters
    ----------
    settings
        What is trained, on what, and how.
    registry
        Finds the base; None for a new one.
    progress
        Where progress is shown.

    Raises
    ------
    UnknownName, Unavailable
        If the base or the corpus is not available, or the extra `train` is not installed.
    InvalidFile
        If the corpus has an unknown label or an empty split.
    UsageError
        If the folder holds another training, or other files.
    NotApplicable
        If the word vectors lack most words of the corpus.
    ModelError
        If the memory is too small for a batch, or the loss is no number.
    """
    raise NotImplementedError
