"""Classifiers trained by Adam, many at once: each is what it would be alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from harness.plugins.metrics.statistics.senteval import BATCH, Schedule, cross_entropy, train
from harness.plugins.metrics.trained_relatedness import squared_error

SHORT = Schedule(epochs=2, tenacity=1, most_epochs=8)


def data(n=150, d=4, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    x = rng.standard_normal((n, d)).astype(np.float32)
    x[np.arange(n), y] += 1.5
    return x, y


def judge_of(y):
    return lambda probabilities, rows: (probabilities.argmax(axis=2) == y[rows]).mean(axis=1)


def fit(x, y, splits, penalties, **options):
    options = {"seed": 3, "schedule": SHORT} | options
    targets = np.eye(y.max() + 1)[y]
    return train(
        x, targets, splits, np.array(penalties), judge_of(y), loss=cross_entropy, **options
    )


def alone(x, y, rows, dev, penalty, hidden, schedule, seed):
    """Train one classifier with torch's modules and weight decay, as SentEval's toolkit does."""
    rng = np.random.default_rng(seed)
    sizes = [x.shape[1], *([hidden] if hidden else []), y.max() + 1]
    modules = []
    for inputs, outputs in pairwise(sizes):
        both = rng.uniform(-1, 1, (outputs, inputs + 1)) / np.sqrt(inputs)
        linear = torch.nn.Linear(inputs, outputs)
        linear.weight.data = torch.tensor(both[:, :-1], dtype=torch.float32)
        linear.bias.data = torch.tensor(both[:, -1], dtype=torch.float32)
        modules += [linear, torch.nn.Sigmoid()]
    model = torch.nn.Sequential(*modules[:-1])
    adam = torch.optim.Adam(model.parameters(), weight_decay=penalty)
    vectors, classes = torch.tensor(x), torch.tensor(y)
    order = np.random.default_rng(seed)
    best, best_state, misses, epoch = -1.0, None, 0, 0
    while epoch <= schedule.most_epochs:
        for _ in range(schedule.epochs):
            permuted = order.permutation(rows)
            for i in range(0, len(rows), BATCH):
                batch = permuted[i : i + BATCH]
                loss = torch.nn.functional.cross_entropy(model(vectors[batch]), classes[batch])
                adam.zero_grad()
                loss.backward()
                adam.step()
        epoch += schedule.epochs
        accuracy = (model(vectors[dev]).argmax(1) == classes[dev]).float().mean().item()
        if accuracy > best:
            best = accuracy
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        elif misses >= schedule.tenacity:
            break
        else:
            misses += 1
    model.load_state_dict(best_state)
    return model(vectors).softmax(dim=1).detach().numpy()


@pytest.mark.parametrize("hidden", [0, 5])
def test_each_classifier_is_what_the_toolkit_s_loop_makes_of_it_alone(hidden):
    x, y = data()
    rows = np.arange(150)
    # 128 and 129 rows are two and three minibatches; 127 has a shorter last one than 128
    splits = [(rows[:128], rows[128:]), (rows[:129], rows[129:]), (rows[23:], rows[:23])]
    penalties = [[0.0, 0.3], [0.01, 0.1], [1e-5, 1.0]]
    together = fit(x, y, splits, penalties, hidden=hidden)
    for f, (own, dev) in enumerate(splits):
        for r in range(2):
            expected = alone(x, y, own, dev, penalties[f][r], hidden, SHORT, 3)
            np.testing.assert_allclose(together.probabilities(x, f, r), expected, atol=2e-5)


@pytest.mark.parametrize(
    ("gradient", "loss"),
    [
        (cross_entropy, lambda z, t: -(t * z.log_softmax(dim=2)).sum(dim=2)),
        (squared_error, lambda z, t: (z.softmax(dim=2) - t).square().mean(dim=2)),
    ],
)
def test_gradients_of_losses_are_those_of_autograd_to_the_last_bit(gradient, loss):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(2, 3, 5, 7, generator=generator, requires_grad=True)
    targets = torch.rand(2, 1, 5, 7, generator=generator)
    weights = torch.rand(2, 1, 1, 7, generator=generator)
    (expected,) = torch.autograd.grad((loss(logits, targets) * weights[:, :, 0]).sum(), logits)
    assert torch.equal(gradient(logits.detach(), targets, weights), expected)


def test_trained_to_the_end_it_is_the_optimum_of_scikit_learn():
    # The penalty p/2·|w|² beside a mean of n losses is scikit-learn's C = 1 / (n·p). The bias is
    # penalised as well here, so that regression has the bias as one more feature.
    x, y = data(n=60, classes=2)
    rows, penalty = np.arange(60), 0.05  # one minibatch: no noise from sampling
    schedule = Schedule(epochs=3000, tenacity=0, most_epochs=2000)
    fitted = fit(x, y, [(rows, rows)], [[penalty]], schedule=schedule)
    with_one = np.hstack([x, np.ones((60, 1))])
    # two softmax outputs of a two-class problem share the penalty: each has half of the weights
    peer = LogisticRegression(C=1 / (60 * penalty / 2), fit_intercept=False, tol=1e-10).fit(
        with_one, y
    )
    np.testing.assert_allclose(fitted.probabilities(x, 0), peer.predict_proba(with_one), atol=1e-3)


def test_a_classifier_is_kept_as_it_was_at_its_best_look():
    x, y = data()
    rows = np.arange(150)
    qualities = iter([0.2, 0.9, 0.5, 0.4, 0.3])
    states = []

    def judge(probabilities, dev):
        states.append(probabilities[0].copy())
        return np.array([next(qualities)])

    fitted = train(
        x, np.eye(3)[y], [(rows, rows)], np.zeros((1, 1)), judge,
        loss=cross_entropy, seed=0, schedule=Schedule(epochs=1, tenacity=2, most_epochs=99),
    )  # fmt: skip
    assert len(states) == 5  # two looks without a new best value are forgiven
    assert fitted.quality.tolist() == [[0.9]]
    assert fitted.epochs.tolist() == [[2]]
    np.testing.assert_array_equal(fitted.probabilities(x, 0), states[1])
