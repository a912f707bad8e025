"""The published protocol of SentEval's classification tasks.

Conneau and Kiela (2018), SentEval: an evaluation toolkit for universal sentence representations;
details from the toolkit's `validation.py` and `classifier.py`. A softmax regression, or a network
with one hidden layer, is trained by Adam on the vectors as they are. The weight of its penalty is
chosen by accuracy on development texts.

Two things differ from the toolkit. Its folds and initial weights have fixed seeds; here they have
the run's. It averages the accuracies of the folds; here each text counts the same. As in the
toolkit with any torch since 0.4, the loss of a minibatch is the mean of its texts. The paper's own
torch summed it, which makes the same penalty 64 times weaker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, one_thread
from harness.metrics import Samples, Score

from . import intervals

if TYPE_CHECKING:
    import torch


# Small softmax classifiers trained by Adam with early stopping: many at once, on shared vectors.
#
# Each classifier has its own training rows and its own penalty. Those that share the rows share
# each minibatch, and those of all splits are one batched product. The result is that of training
# each alone, from the same initial weights, in the same order of rows.
#
# Gradients are written out: a step is so small that torch's autograd would take most of its time.
# They are equal to autograd's to the last bit.


Rows: TypeAlias = npt.NDArray[np.int64]
Layer: TypeAlias = "tuple[torch.Tensor, torch.Tensor]"
Judge: TypeAlias = Callable[[Floats, Rows], Floats]
"""Takes (r, m, c) probabilities of m rows and the indices of these rows; returns (r,) qualities,
higher is better; NaN is worse than any number."""
Loss: TypeAlias = "Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]"
"""Takes (f, r, c, b) logits, (f, 1, c, b) targets and (f, 1, 1, b) weights of the rows; returns the
(f, r, c, b) gradient of the weighted sum of the rows' losses with respect to the logits."""


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
    loss: Loss,
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
        What is minimised, by its gradient. The loss of a minibatch is the mean of its rows.
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
    # With more threads, products this small would wait for others.
    with one_thread(), torch.no_grad():
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
    loss: Loss,
    seed: int,
    schedule: Schedule,
) -> Trained:
    """Train the classifiers of splits that have equally many minibatches."""
    import torch

    flat = [tensor for layer in layers for tensor in layer]
    best = [tensor.clone() for tensor in flat]
    decay, has_penalty = penalties[:, :, None, None], bool(penalties.any())
    adam = _Adam(flat)
    quality = np.full(tuple(penalties.shape), -np.inf)
    epochs = np.zeros(quality.shape, dtype=np.int64)
    misses, done = np.zeros(quality.shape, dtype=np.int64), np.zeros(quality.shape, dtype=bool)
    training = [rows for rows, _ in splits]
    weights = torch.split(_weights(list(map(len, training))), BATCH, dim=3)
    columns = targets.T.contiguous()
    orders = [np.random.default_rng(seed) for _ in splits]
    epoch = 0
    while not done.all() and epoch <= schedule.most_epochs:
        for _ in range(schedule.epochs):
            rows = _shuffled(training, orders)
            wanted = columns.index_select(1, rows.flatten()).reshape(-1, 1, *rows.shape)
            parts = torch.split(rows, BATCH, 1), torch.split(wanted.permute(2, 1, 0, 3), BATCH, 3)
            for own, own_targets, own_weights in zip(*parts, weights, strict=True):
                batch = x.index_select(0, own.flatten()).reshape(*own.shape, -1)
                gradients = _gradients(layers, batch, own_targets, own_weights, loss)
                if has_penalty:
                    for tensor, gradient in zip(flat, gradients, strict=True):
                        gradient.addcmul_(tensor, decay)
                adam.step(gradients)
        epoch += schedule.epochs
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


class _Adam:
    """Adam with the defaults of torch, whose fused kernel it calls.

    `torch.optim.Adam` takes several times as long to prepare each of these small steps.
    """

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        import torch

        self._parameters = parameters
        self._means = [torch.zeros_like(tensor) for tensor in parameters]
        self._squares = [torch.zeros_like(tensor) for tensor in parameters]
        self._steps = [torch.zeros(())] * len(parameters)

    def step(self, gradients: Sequence[torch.Tensor]) -> None:
        """Change the parameters in place."""
        import torch

        self._steps[0] += 1  # one number for all
        torch._fused_adam_(
            self._parameters,
            list(gradients),
            self._means,
            self._squares,
            [],
            self._steps,
            lr=RATE,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0.0,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )


def _shuffled(training: Sequence[Rows], orders: Sequence[np.random.Generator]) -> torch.Tensor:
    """Return the (f, longest) rows of an epoch; shorter splits are padded with row 0."""
    import torch

    rows = np.zeros((len(training), max(map(len, training))), dtype=np.int64)
    for i, (own, order) in enumerate(zip(training, orders, strict=True)):
        rows[i, : len(own)] = order.permutation(own)
    return torch.as_tensor(rows)


def _weights(sizes: Sequence[int]) -> torch.Tensor:
    """Return (f, 1, 1, longest) weights: 1 / b in a minibatch of b rows, 0 where it is padded."""
    import torch

    weights = np.zeros((len(sizes), max(sizes)), dtype=np.float32)
    for own, size in zip(weights, sizes, strict=True):
        own[:size] = 1
    for start in range(0, max(sizes), BATCH):
        part = weights[:, start : start + BATCH]
        part /= part.sum(axis=1, keepdims=True)
    return torch.as_tensor(weights)[:, None, None]


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
    return _outputs(layers, x)[-1]


def _outputs(layers: Sequence[Layer], x: torch.Tensor) -> list[torch.Tensor]:
    """Return what goes into each layer behind the first one, and the logits."""
    import torch

    (w, b), *others = layers
    product = torch.bmm(w.flatten(1, 2), x.transpose(1, 2))
    out = product.reshape(*w.shape[:3], x.shape[1]).add_(b)
    outputs = []
    for w, b in others:
        outputs.append(out.sigmoid_())
        out = w @ out + b
    return [*outputs, out]


def _gradients(
    layers: Sequence[Layer],
    x: torch.Tensor,
    targets: torch.Tensor,
    weights: torch.Tensor,
    loss: Loss,
) -> list[torch.Tensor]:
    """Return the gradients of the loss of (f, b, d) vectors, in the order of weights and biases."""
    import torch

    *inputs, logits = _outputs(layers, x)
    slope = loss(logits, targets, weights)
    gradients: list[torch.Tensor] = []
    for (w, _), given in zip(layers[:0:-1], reversed(inputs), strict=True):
        gradients[:0] = slope @ given.mT, slope.sum(dim=3, keepdim=True)
        slope = torch.ops.aten.sigmoid_backward(w.mT @ slope, given)
    product = torch.bmm(slope.flatten(1, 2), x)
    return [product.reshape(layers[0][0].shape), slope.sum(dim=3, keepdim=True), *gradients]


def _probabilities(layers: Sequence[Layer], x: torch.Tensor) -> Floats:
    """Return the (r, m, c) probabilities of (m, d) vectors by the classifiers of one split."""
    logits = _logits(layers, x[None])[0].transpose(1, 2)
    probabilities: Floats = logits.double().softmax(dim=-1).numpy()
    return probabilities


def _of_split(layers: Sequence[Layer], split: int) -> list[Layer]:
    return [(w[split : split + 1], b[split : split + 1]) for w, b in layers]


def _single(x: Reals) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(x, dtype=np.float32)


# What metrics that classify texts share: features of pairs, copies of texts, the accuracy.


Codes: TypeAlias = npt.NDArray[np.int64]
Texts: TypeAlias = Mapping[str, Sequence[str]]


def accuracy(
    truth: Floats,
    answers: Floats,
    *,
    part: str,
    texts: Texts,
    details: Mapping[str, Any],
    rng: np.random.Generator,
    resamples: int,
    confidence: float,
) -> Score:
    """Return the accuracy of answers, with its interval and samples.

    Parameters
    ----------
    truth, answers
        (n,) labels of the tested texts.
    part
        The tested inputs: `texts` for `texts_1` and, of pairs, `texts_2`; or `test`.
    texts
        Texts by input name. Copies of a text are one cluster of the interval.
    details
        Further details; `majority`, the share of the most frequent label, is added.
    rng
        Random number generator of the resamples.
    resamples, confidence
        Number of resamples and level of the interval.
    """
    hits = np.asarray(answers == truth, dtype=np.float64)
    counts = np.unique(truth, return_counts=True)[1]
    interval = intervals.jackknife_interval(
        lambda drawn: drawn @ hits / drawn.sum(axis=1),
        [len(hits)],
        rng=rng,
        clusters=[codes(texts, part)],
        resamples=resamples,
        confidence=confidence,
        bounds=(0, 1),
    )
    inputs = (f"{part}_1", f"{part}_2") if texts.get(f"{part}_2") else f"{part}_1"
    samples = [Samples(inputs, hits, {"label": truth, "predicted": answers})]
    majority = {"majority": float(counts.max() / len(truth))}
    return Score(
        float(hits.mean()),
        interval=interval,
        n=len(hits),
        details={**details, **majority},
        samples=samples,
    )


def too_few_texts(counts: Sequence[int] | Codes, needed: int) -> str:
    """Return why labels with these numbers of texts cannot be learnt; empty if they can."""
    if len(counts) >= 2 and min(counts) >= needed:
        return ""
    problem = "all labels are equal" if len(counts) < 2 else f"a label has {min(counts)} texts"
    return f"{problem}: two or more labels are needed, each with at least {needed} texts"


def pair_features(first: Reals, second: Reals) -> Floats:
    """Return the (n, 2d) features of pairs of (n, d) vectors: |u − v| and u·v, entry by entry."""
    u, v = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return np.hstack([np.abs(u - v), u * v])


def items(texts: Texts, part: str) -> list[tuple[str, str]]:
    """Return the text, or pair of texts, of each row of the inputs of a part."""
    column = texts[f"{part}_1"]
    return list(zip(column, texts.get(f"{part}_2") or [""] * len(column), strict=True))


def codes(texts: Texts, part: str) -> Codes:
    """Return the (n,) codes of the texts, or pairs of texts, of a part: equal for copies."""
    known: dict[tuple[str, str], int] = {}
    return np.array([known.setdefault(item, len(known)) for item in items(texts, part)])


def seen(texts: Texts) -> int:
    """Return how many tested texts, or pairs, are also trained on."""
    trained = set(items(texts, "texts"))
    return sum(item in trained for item in items(texts, "test"))


PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)
HELD_OUT = 0.05  # share of the training texts that end the last training


@dataclass(frozen=True)
class Predicted:
    """Predicted classes of the tested texts.

    Parameters
    ----------
    classes
        (m,) predicted class of each.
    penalties
        The chosen penalty of each training.
    development
        The accuracy that chose it.
    parts
        (m,) fold of each; all 0 with a test set.
    """

    classes: Codes
    penalties: list[float]
    development: list[float]
    parts: Codes


def of_folds(x: Reals, y: Codes, *, folds: int, hidden: int, rng: np.random.Generator) -> Predicted:
    """Predict each text by a classifier that was trained on the other folds.

    The penalty is chosen by a cross-validation inside them, with as many folds. The classifier
    with that penalty is trained on all of them but a random 5 %, on which it is stopped.

    Parameters
    ----------
    x
        (n, d) vectors.
    y
        (n,) classes from 0.
    folds
        Number of stratified folds, at least 2.
    hidden
        Number of hidden units; 0 for a softmax regression.
    rng
        Random number generator of the folds and the seed.
    """
    splits = _folds(y, folds, rng)
    seed = int(rng.integers(2**31))
    penalties, development = [], []
    for rows, _ in splits:
        inner = [(rows[a], rows[b]) for a, b in _folds(y[rows], folds, rng)]
        penalty, quality = _chosen(_trained(x, y, inner, _grid(folds), hidden, seed))
        penalties.append(penalty)
        development.append(quality)
    last = [_held_out(rows, seed) for rows, _ in splits]
    fitted = _trained(x, y, last, np.array(penalties)[:, None], hidden, seed)
    classes, parts = np.zeros_like(y), np.zeros_like(y)
    for i, (_, tested) in enumerate(splits):
        classes[tested], parts[tested] = fitted.probabilities(x[tested], i).argmax(axis=1), i
    return Predicted(classes, penalties, development, parts)


def of_test(
    x: Reals, y: Codes, test: Reals, *, folds: int, hidden: int, rng: np.random.Generator
) -> Predicted:
    """Predict (m, d) test vectors; the penalty is chosen by cross-validation of the others.

    Parameters are those of `of_folds`.
    """
    splits = _folds(y, folds, rng)
    seed = int(rng.integers(2**31))
    penalty, quality = _chosen(_trained(x, y, splits, _grid(folds), hidden, seed))
    last = [_held_out(np.arange(len(y)), seed)]
    fitted = _trained(x, y, last, np.array([[penalty]]), hidden, seed)
    predicted = fitted.probabilities(test, 0).argmax(axis=1)
    return Predicted(predicted, [penalty], [quality], np.zeros_like(predicted))


def of_development(
    x: Reals,
    y: Codes,
    dev: Reals,
    dev_y: Codes,
    test: Reals,
    *,
    hidden: int,
    rng: np.random.Generator,
) -> Predicted:
    """Predict (m, d) test vectors; a development set chooses the penalty and ends the training.

    Parameters
    ----------
    x, y, test, hidden, rng
        As for `of_folds`.
    dev, dev_y
        Vectors and classes of the development set.
    """
    rows = np.arange(len(y) + len(dev_y))
    split = rows[: len(y)], rows[len(y) :]
    seed = int(rng.integers(2**31))
    both = np.concatenate([y, dev_y])
    fitted = _trained(np.vstack([x, dev]), both, [split], _grid(1), hidden, seed)
    penalty, quality = _chosen(fitted)
    predicted = fitted.probabilities(test, 0, PENALTIES.index(penalty)).argmax(axis=1)
    return Predicted(predicted, [penalty], [quality], np.zeros_like(predicted))


def _trained(
    x: Reals,
    y: Codes,
    splits: Sequence[tuple[Codes, Codes]],
    penalties: Floats,
    hidden: int,
    seed: int,
) -> Trained:
    """Train the classifiers; the quality of each is its accuracy on the development rows."""
    return train(
        x,
        np.eye(y.max() + 1)[y],
        splits,
        penalties,
        lambda probabilities, rows: (probabilities.argmax(axis=2) == y[rows]).mean(axis=1),
        loss=cross_entropy,
        hidden=hidden,
        seed=seed,
    )


def cross_entropy(
    logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Return the gradient of the cross-entropy of targets and the logits' probabilities: `Loss`."""
    import torch

    slope = (-weights * targets).expand(logits.shape)
    return torch._log_softmax_backward_data(slope, logits.log_softmax(dim=2), 2, logits.dtype)


def _chosen(trained: Trained) -> tuple[float, float]:
    """Return the penalty of the highest mean accuracy over the splits, and that accuracy.

    Of penalties whose accuracies are equal in hundredths of a per cent, the first is chosen.
    """
    accuracies = trained.quality.mean(axis=0)
    best = int(np.argmax(np.round(100 * accuracies, 2)))
    return PENALTIES[best], float(accuracies[best])


def _grid(splits: int) -> Floats:
    return np.tile(PENALTIES, (splits, 1))


def _folds(y: Codes, folds: int, rng: np.random.Generator) -> list[tuple[Codes, Codes]]:
    """Return the rows outside each stratified fold, and those in it."""
    from sklearn.model_selection import StratifiedKFold

    state = int(rng.integers(2**31))
    return list(StratifiedKFold(folds, shuffle=True, random_state=state).split(y, y))


def _held_out(rows: Codes, seed: int) -> tuple[Codes, Codes]:
    """Return the rows without a random 5 %, and these; at least one row."""
    order = np.random.default_rng(seed).permutation(rows)
    size = max(1, int(HELD_OUT * len(rows)))
    return order[size:], order[:size]
