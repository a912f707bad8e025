"""The library's trainer with checkpoints that hold the classifier too, and what it calls back.

A checkpoint has the weights that are trained, and no others: word vectors are large and frozen.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformerTrainer
from transformers import PrinterCallback, TrainerCallback

from harness.errors import ModelError
from harness.progress import Advance, Progress

from .batches import SimilarLengths
from .settings import SGD_MINIMUM

CHECKPOINT_STEPS = 500
"""Batches between checkpoints, besides those at the end of an epoch."""
DECAY, SHRINK = 0.99, 5.0  # Conneau et al. 2017, section 3.3
_WEIGHTS = "trained.safetensors"


class PairTrainer(SentenceTransformerTrainer):
    """A trainer on pairs of sentences.

    Parameters
    ----------
    head
        The classifier on top of the two vectors of a pair; None for graded pairs.
    lengths
        Lengths of both sentences of each training pair.
    options
        The library's options.
    """

    def __init__(
        self, *, head: Any | None, lengths: Sequence[tuple[int, int]], **options: Any
    ) -> None:
        super().__init__(**options)
        self._head, self._lengths = head, lengths
        self.remove_callback(PrinterCallback)

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Do nothing: the harness writes its own card."""

    def get_batch_sampler(self, dataset: Any, **options: Any) -> Any:  # type: ignore[override]
        """Return batches of pairs of similar length."""
        return SimilarLengths(dataset, lengths=self._lengths, **options)

    def trained(self) -> dict[str, Any]:
        """Return the weights that are trained by name."""
        modules = {"model": self.model, "head": self._head}
        return {
            f"{name}.{key}": weight
            for name, module in modules.items()
            if module is not None
            for key, weight in module.named_parameters()
            if weight.requires_grad
        }

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        folder = Path(output_dir or self.args.output_dir or ".")
        folder.mkdir(parents=True, exist_ok=True)
        weights = {key: w.detach().cpu().contiguous() for key, w in self.trained().items()}
        save_file(weights, folder / _WEIGHTS)

    def _load_from_checkpoint(self, checkpoint_path: str, model: Any = None) -> None:
        stored = load_file(Path(checkpoint_path) / _WEIGHTS)
        with torch.no_grad():
            for key, weight in self.trained().items():
                weight.copy_(stored[key])


class InferSentSchedule(TrainerCallback):
    """The learning rate of InferSent: × .99 each epoch, / 5 after one without a better dev score.

    The paper that this reproduces calls the first a weight decay; it is none. Training stops if the
    rate is under 1e-5. The optimizer and the scheduler hold the rate, and checkpoints keep both.

    Parameters
    ----------
    metric
        Name of the dev score.
    """

    def __init__(self, metric: str) -> None:
        self._metric = metric

    def on_evaluate(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Set the rate of the next epoch; `state.best_metric` is that of the epochs before."""
        scheduler, optimizer = objects["lr_scheduler"], objects["optimizer"]
        rate = scheduler.base_lrs[0]
        score = objects["metrics"][f"eval_{self._metric}"]
        if state.best_metric is not None and score <= state.best_metric:
            rate /= SHRINK
        if rate < SGD_MINIMUM:
            control.should_training_stop = True
        scheduler.base_lrs = [rate * DECAY] * len(scheduler.base_lrs)
        for group in optimizer.param_groups:
            group["lr"] = rate * DECAY


class Checkpoints(TrainerCallback):
    """Asks for a checkpoint every `CHECKPOINT_STEPS` batches."""

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for a checkpoint if it is time; the end of an epoch has one after its evaluation."""
        steps_of_epoch = state.max_steps // int(state.num_train_epochs)
        if state.global_step % CHECKPOINT_STEPS == 0 and state.global_step % steps_of_epoch:
            control.should_save = True


class SharedHead(TrainerCallback):
    """Averages the gradients of the classifier over processes, which the library leaves out."""

    def __init__(self, head: Any) -> None:
        self._head = head

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Average the gradients; does nothing in a single process."""
        distributed = torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            for weight in self._head.parameters():
                distributed.all_reduce(weight.grad)
                weight.grad /= distributed.get_world_size()


class Report(TrainerCallback):
    """Shows the progress of a training, and one line for each epoch.

    Parameters
    ----------
    progress
        Where it is shown.
    metric
        Name of the dev score; empty if there is no dev split.
    """

    def __init__(self, progress: Progress, metric: str) -> None:
        self._progress, self._metric = progress, metric
        self._advance: Advance | None = None
        self._loss = self._rate = math.nan

    @contextlib.contextmanager
    def stage(self, batches: int, done: int) -> Iterator[None]:
        """Show the batches of a training, some of which may be done."""
        label = f"training, going on at batch {done}" if done else "training"
        with self._progress.stage(label, batches - done, "batches") as self._advance:
            yield

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Count a batch."""
        if self._advance is not None:
            self._advance(1)

    def on_log(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Keep the mean loss of the epoch.

        Raises
        ------
        ModelError
            If it is not a number.
        """
        self._loss = objects["logs"].get("loss", self._loss)
        if "loss" in objects["logs"] and not math.isfinite(self._loss):
            raise ModelError(
                f"the loss is {self._loss} in epoch {math.ceil(state.epoch)}: choose a smaller "
                "learning rate, or precision float32"
            )

    def on_epoch_end(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Keep the learning rate of the epoch."""
        self._rate = objects["lr_scheduler"].get_last_lr()[0]

    def on_evaluate(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Print the line of an epoch."""
        score = objects["metrics"][f"eval_{self._metric}"]
        self._progress.say(
            f"epoch {round(state.epoch)}/{int(state.num_train_epochs)}: loss {self._loss:.4f}, "
            f"dev {self._metric} {score:.4f}, learning rate {self._rate:.2g}"
        )
