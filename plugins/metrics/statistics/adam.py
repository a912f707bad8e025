"""Small softmax classifiers trained by Adam with early stopping: many at once, on shared vectors.

Each classifier has its own training rows and its own penalty. Those that share the rows share each
minibatch, and those of all splits are one batched product. The result is that of training each
alone, from the same initial weights, in the same order of rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals
from harness.threads import one_thread

if TYPE_CHECKING:
    import torch

Rows: TypeAlias = npt.NDArray[np.int64]
Layer: TypeAlias = "tuple[torch.Tensor, torch.Tensor]"
Judge: TypeAlias = Callable[[Floats, Rows], Floats]
"""Takes (r, m, c) probabilities of m rows and the indices of these rows; returns (r,) qualities,
higher is better; NaN is worse than any number."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long a classifier is trained; the defaults are SentEval's for classification.

    Parameters
    ----------
    epochs
        Epochs before each look at the development rows ("epoch size").
    tenacity
        Number of looks without a new best value that are forgiven, in all; the next one ends the
        training.
    most_epochs
        The training ends when more epochs than these are done.
    """

    epochs: int = 4
    tenacity: int = 5
    most_epochs: int = 200


BATCH = 64  # rows of a minibatch, as in SentEval
RATE = 1e-3  # learning rate of Adam; with its other defaults, as in SentEval


@dataclass(frozen=True)
class Trained:
    """Trained classifiers of f splits and r penalties, each as it was best on development rows.

    Parameters
    ----------
    layers
        Weights and biases of each layer, (f, r, outputs, inputs) and (f, r, outputs, 1).
    quality
        (f, r) quality on the development rows.
    epochs
        (f, r) epochs until that quality.
    """

    layers: Sequence[Layer]
    quality: Floats
    epochs: npt.NDArray[np.int64]

    def probabilities(self, x: Reals, split: int, penalty: int = 0) -> Floats:
        """Return the (m, c) probabilities of the classes of (m, d) vectors, by one classifier."""
        import torch

        with torch.no_grad():
            layers = _of_split(self.layers, split)
            probabilities: Floats = _probabilities(layers, torch.as_tensor(_single(x)))[penalty]
        return probabilities


def train(
    x: Reals,
    targets: Reals,
    splits: Sequence[tuple[Rows, Rows]],
    penalties: Reals,
    judge: Judge,
    *,
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    seed: int,
    hidden: int = 0,
    schedule: Schedule | None = None,
) -> Trained:
    """Train a classifier for each split and penalty.

    Parameters
    ----------
    x
        (n, d) vectors, used in single precision.
    targets
        (n, c) target distributions over the classes.
    splits
        Rows to train on and development rows, f times.
    penalties
        (f, r) weight of the L2 penalty: its gradient, penalty × weight, is added before Adam's
        step (Adam's "weight decay"), also for the biases.
    judge
        Quality on the development rows.
    loss
        Takes (f, r, c, b) logits and (f, 1, c, b) targets, and returns the (f, r, b) loss of each
        row. A minibatch has the mean of its rows.
    seed
        Seed of the initial weights and of the order of the rows, the same for every classifier.
    hidden
        Number of hidden units with a sigmoid; 0 for none.
    schedule
        When training ends; by default SentEval's for classification.
    """
    import torch

    vectors, wanted = torch.as_tensor(_single(x)), torch.as_tensor(_single(targets))
    sizes = [vectors.shape[1], *([hidden] if hidden else []), wanted.shape[1]]
    shape = np.shape(penalties)
    layers = _initial(sizes, shape, seed)
    quality, epochs = np.full(shape, -np.inf), np.zeros(shape, dtype=np.int64)
    groups: dict[int, list[int]] = defaultdict(list)
    for i, (rows, _) in enumerate(splits):
        groups[-(-len(rows) // BATCH)].append(i)  # so that all have a batch at each step
    with one_thread():  # products this small would wait for others
        for members in groups.values():
            part = _train_together(
                vectors,
                wanted,
                [splits[i] for i in members],
                torch.as_tensor(_single(np.asarray(penalties)[members])),
                judge,
                [(w[members], b[members]) for w, b in layers],
                loss,
                seed,
                schedule or Schedule(),
            )
            quality[members], epochs[members] = part.quality, part.epochs
            for (w, b), (new_w, new_b) in zip(layers, part.layers, strict=True):
                w[members], b[members] = new_w, new_b
    return Trained(layers, quality, epochs)


def _train_together(
    x: torch.Tensor,
    targets: torch.Tensor,
    splits: Sequence[tuple[Rows, Rows]],
    penalties: torch.Tensor,
    judge: Judge,
    layers: Sequence[Layer],
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    seed: int,
    schedule: Schedule,
) -> Trained:
    """Train the classifiers of splits that have equally many minibatches."""
    import torch

    flat = [tensor.requires_grad_() for layer in layers for tensor in layer]
    best = [tensor.detach().clone() for tensor in flat]
    decay = penalties[:, :, None, None]
    adam = torch.optim.Adam(flat, lr=RATE, fused=True)
    quality = np.full(tuple(penalties.shape), -np.inf)
    epochs = np.zeros(quality.shape, dtype=np.int64)
    misses, done = np.zeros(quality.shape, dtype=np.int64), np.zeros(quality.shape, dtype=bool)
    orders = [np.random.default_rng(seed) for _ in splits]
    epoch = 0
    while not done.all() and epoch <= schedule.most_epochs:
        for _ in range(schedule.epochs):
            for rows, weights in _minibatches([rows for rows, _ in splits], orders):
                batch, wanted = _of(x, rows), _of(targets, rows)
                losses = loss(_logits(layers, batch), wanted.transpose(1, 2)[:, None])
                adam.zero_grad()
                torch.autograd.backward((losses * weights[:, None]).sum())
                with torch.no_grad():
                    for tensor in flat:
                        tensor.grad.addcmul_(tensor, decay)  # type: ignore[union-attr]  # backward has set it
                adam.step()
        epoch += schedule.epochs
        with torch.no_grad():
            now = np.array(
                [
                    judge(_probabilities(_of_split(layers, f), x[dev]), dev)
                    for f, (_, dev) in enumerate(splits)
                ]
            )
            better = (now > quality) & ~done
            chosen = torch.as_tensor(better)[:, :, None, None]
            best = [torch.where(chosen, new, old) for new, old in zip(flat, best, strict=True)]
        quality[better], epochs[better] = now[better], epoch
        done |= ~better & (misses >= schedule.tenacity)
        misses += ~better
    return Trained(list(zip(best[::2], best[1::2], strict=True)), quality, epochs)


def _minibatches(
    training: Sequence[Rows], orders: Sequence[np.random.Generator]
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return the minibatches of an epoch: (f, b) rows of all splits, and (f, b) weights of 1 / b.

    The last one is padded, with weights of 0, for splits that have fewer rows than others.
    """
    import torch

    longest = max(len(rows) for rows in training)
    rows = np.zeros((len(training), longest), dtype=np.int64)
    counted = np.zeros((len(training), longest), dtype=np.float32)
    for i, (own, order) in enumerate(zip(training, orders, strict=True)):
        rows[i, : len(own)] = order.permutation(own)
        counted[i, : len(own)] = 1
    batches = []
    for start in range(0, longest, BATCH):
        weights = counted[:, start : start + BATCH]
        weights = weights / weights.sum(axis=1, keepdims=True)
        batches.append((rows[:, start : start + BATCH], weights))
    return [(torch.as_tensor(own), torch.as_tensor(weights)) for own, weights in batches]


def _initial(sizes: Sequence[int], shape: tuple[int, ...], seed: int) -> list[Layer]:
    """Return layers with uniform random values, within 1 / √inputs, as torch's `Linear` has."""
    import torch

    rng = np.random.default_rng(seed)
    layers = []
    for inputs, outputs in pairwise(sizes):
        both = rng.uniform(-1, 1, (outputs, inputs + 1)) / np.sqrt(inputs)
        parts = np.split(both, [inputs], axis=1)
        w, b = (torch.as_tensor(_single(part)).repeat(*shape, 1, 1) for part in parts)
        layers.append((w, b))
    return layers


def _logits(layers: Sequence[Layer], x: torch.Tensor) -> torch.Tensor:
    """Return the (f, r, c, b) logits of (f, b, d) vectors."""
    import torch

    (w, b), *others = layers
    product = torch.bmm(w.flatten(1, 2), x.transpose(1, 2))
    out = product.reshape(*w.shape[:3], x.shape[1]) + b
    for w, b in others:
        out = w @ torch.sigmoid(out) + b
    return out


def _probabilities(layers: Sequence[Layer], x: torch.Tensor) -> Floats:
    """Return the (r, m, c) probabilities of (m, d) vectors by the classifiers of one split."""
    logits = _logits(layers, x[None])[0].transpose(1, 2)
    probabilities: Floats = logits.double().softmax(dim=-1).numpy()
    return probabilities


def _of_split(layers: Sequence[Layer], split: int) -> list[Layer]:
    return [(w[split : split + 1], b[split : split + 1]) for w, b in layers]


def _of(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Return the (f, b, …) rows of a table; faster than `table[rows]`."""
    return table.index_select(0, rows.flatten()).reshape(*rows.shape, table.shape[1])


def _single(x: Reals) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(x, dtype=np.float32)
