"""Trains a model on a corpus: `train`, which the command calls."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import harness
from harness import names
from harness.errors import InvalidOption, NotApplicable, Unavailable, UsageError
from harness.progress import Progress, Silent, shown

from . import pairs, training_folder
from .settings import Kind, Trained, TrainSettings

if TYPE_CHECKING:
    from harness.embedder import Embedder
    from harness.registry.registry import Registry

    from .pairs import Corpus

_IDENTITY = ("hidden", "words", "epochs", "batch_size", "lr", "limit", "seed", "precision")
"""Settings that determine the weights, besides the base and the corpus."""
_BOUNDS = ("bias", "bias_steps", "stop_above", "stop_below")
"""Settings that determine when the training stops."""


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
    from harness.registry.registry import Registry

    registry = registry or Registry()
    shown_in = shown(progress) if is_main() else Silent()
    check_installed()
    base = _base(settings, registry)
    kind: Kind = "bilstm" if base.info.kind == "word" else "transformer"
    settings = dataclasses.replace(settings.resolved(kind), device=_device(settings))
    corpus = pairs.read(settings)
    if kind == "bilstm" and corpus.dev is None:
        raise UsageError("a BiLSTM needs dev pairs, which decide on its learning rate: --dev FILE")
    out = Path(settings.out).expanduser().absolute()
    identity = {
        "base": base.info.fingerprint or base.info.name,
        "corpus": {name: split.digest for name, split in corpus.splits.items()},
        **{name: getattr(settings, name) for name in _IDENTITY},
    }
    if settings.stop_above or settings.stop_below:  # measuring alone changes no weight
        identity |= {name: getattr(settings, name) for name in _BOUNDS}
    bias = None
    if settings.bias:
        from . import running  # torch and the trainer take seconds to import

        bias = running.bias_of(settings, registry)
    if not is_main():  # of several processes the first one writes
        state = {} if settings.overwrite else training_folder.read_state(out) or {}
    else:
        state = training_folder.open_training(out, identity, overwrite=settings.overwrite)
    if state.get("complete"):
        if is_main():
            training_folder.remove_checkpoints(out)
        return _trained(out, state, is_new=False)
    state = _first_state(settings, kind, base, corpus, identity)
    if is_main():
        training_folder.write_state(out, state)
    from . import running  # torch and the trainer take seconds to import

    began = time.monotonic()
    outcome = running.run(settings, kind, base, corpus, out, shown_in, bias)
    state |= outcome.facts | {"seconds": round(time.monotonic() - began, 1), "complete": True}
    if is_main():
        outcome.save(out)
        training_folder.finish(out, state)
    return _trained(out, state, is_new=True)


def is_main() -> bool:
    """Return whether this is the first of the processes that torchrun starts, or the only one."""
    return os.environ.get("RANK", "0") == "0"


def check_installed() -> None:
    """Check that the libraries of the extra `train` are installed.

    Raises
    ------
    Unavailable
        If one is missing.
    """
    for package in ("accelerate", "datasets"):
        if importlib.util.find_spec(package) is None:
            raise Unavailable(
                f"training needs the package '{package}': "
                "pip install 'embedding-bias-harness[train]'"
            )


def _device(settings: TrainSettings) -> str:
    """Return the device to train on; the best one if none is set."""
    import torch

    available = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    device = settings.device or next(name for name, is_there in available.items() if is_there)
    if device not in available:
        raise InvalidOption(
            f"device={device}: expected cpu, cuda or mps; CUDA_VISIBLE_DEVICES chooses among GPUs"
        )
    if not available[device]:
        raise Unavailable(f"device={device}: not available on this machine")
    if settings.precision == "float16" and device == "cpu":
        raise InvalidOption("precision=float16: needs a GPU; choose bfloat16 or float32")
    return device


def _base(settings: TrainSettings, registry: Registry) -> Embedder:
    """Return the embedder to train on."""
    from ..embedders.transformers.sentence_transformer import (
        SentenceTransformersEmbedder,
    )

    base = registry.embedder(settings.base, device="cpu")
    if base.info.kind != "word" and not isinstance(base, SentenceTransformersEmbedder):
        raise NotApplicable(
            f"'{settings.base}' cannot be trained; choose word vectors, or a text encoder of "
            "sentence-transformers without options"
        )
    return base


def _first_state(
    settings: TrainSettings, kind: Kind, base: Embedder, corpus: Corpus, identity: dict[str, Any]
) -> dict[str, Any]:
    """Return what is known of a training before it begins."""
    return {
        "complete": False,
        "kind": kind,
        "base": base.info.name,
        "corpus": {
            "name": names.reference_label(settings.corpus),
            "origin": corpus.origin,
            "sha256": {name: split.digest for name, split in corpus.splits.items()},
            "dropped": {name: split.dropped for name, split in corpus.splits.items()},
        },
        "labels": list(corpus.names),
        "identity": identity,
        "harness": harness.__version__,
    }


def _trained(out: Path, state: dict[str, Any], *, is_new: bool) -> Trained:
    return Trained(
        folder=out,
        kind=state["kind"],
        scores=state["scores"],
        before=state.get("before", {}),
        pairs=state["pairs"],
        epochs=len(state["epochs"]),
        best_epoch=state["best_epoch"],
        seconds=state["seconds"],
        is_new=is_new,
        bias=tuple(state.get("bias", ())),
        stopped=state.get("stopped", ""),
    )
