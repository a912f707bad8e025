"""Usefulness: word analogies `a is to b as c is to d`, by 3CosAdd and 3CosMul.

Cosines with the vocabulary are computed once per distinct word of a block of questions. Questions
with the same a and b share them.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Samples, Scale, Score, metric

from .statistics import intervals

EPSILON = 0.001  # Levy and Goldberg 2014
BLOCK = 512  # questions whose cosines are held at once
QUESTION = ("a", "b", "c", "d")

Ints = npt.NDArray[np.intp]


@metric(
    "word-analogies",
    scores={
        "accuracy_3cosadd": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of the questions that 3CosAdd answers correctly",
        ),
        "accuracy_3cosmul": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of the questions that 3CosMul answers correctly",
        ),
    },
)
def word_analogies(
    a: Reals,
    b: Reals,
    c: Reals,
    d: Reals,
    vocabulary: Reals,
    *,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    texts: Mapping[str, Sequence[str]],
    rng: np.random.Generator,
) -> dict[str, Score]:
    """Share of the analogy questions a : b :: c : d that are answered with d.

    The answer x is a word of the vocabulary other than a, b and c:

    - 3CosAdd: argmax cos(x, b) − cos(x, a) + cos(x, c);
    - 3CosMul: argmax cos'(x, b) cos'(x, c) / (cos'(x, a) + ε), where cos' = (cos + 1)/2 and
      ε = 0.001 (Levy and Goldberg).

    A question counts only if all its words are in the vocabulary, as written or in lower case. The
    vectors of the vocabulary are used.

    Parameters
    ----------
    a, b, c, d
        (n, d) vectors of the question words; only their `texts` are used.
    vocabulary
        (m, d) vectors of the candidate words.
    confidence, resamples
        Level of the intervals over pairs a : b, and the most of these to leave out. Questions
        that share a pair are not independent.
    texts
        Words by input name.
    rng
        Random number generator of the resamples.

    Returns
    -------
    dict of Score
        `accuracy_3cosadd` and `accuracy_3cosmul`, in [0, 1], higher is better. `n` is the number
        of questions that count. Details: `not_asked`, the number of questions with a word that is
        not in the vocabulary. Samples: each question that counts with its `answer` and the
        `rank` of d among all answers, from 1. There is no p-value.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Mikolov et al. (2013), Linguistic regularities in continuous space word representations. Levy
    and Goldberg (2014), Linguistic regularities in sparse and explicit word representations,
    equations 1 and 4.
    """
    rows = _rows([texts[name] for name in QUESTION], texts["vocabulary"])
    asked = np.flatnonzero((rows >= 0).all(axis=1))
    questions = rows[asked]
    details = {"not_asked": len(rows) - len(questions)}
    if len(questions) == 0:
        reason = "no question has all its words in the vocabulary"
        undefined = Score(float("nan"), n=0, reason=reason, details=details)
        return {"accuracy_3cosadd": undefined, "accuracy_3cosmul": undefined}
    _, pairs = np.unique(questions[:, :2], axis=0, return_inverse=True)
    order = np.argsort(pairs, kind="stable")
    asked, questions, pairs = asked[order], questions[order], pairs[order]
    unit = unit_rows(vocabulary).astype(np.float32)
    solved = partial(_solved, questions, pairs, unit)
    answers = solved(_best)
    ranks = functools.cache(partial(solved, _rank))  # only for samples
    scores = {}
    for method, name in enumerate(("accuracy_3cosadd", "accuracy_3cosmul")):
        right = answers[method] == questions[:, 3]
        interval = intervals.jackknife_interval(
            _accuracy(right, pairs),
            [int(pairs.max()) + 1],
            rng=rng,
            resamples=resamples,
            confidence=confidence,
            bounds=(0, 1),
        )
        if interval is not None:
            of_pairs = interval.method.replace("items", "the pairs a : b")
            interval = dataclasses.replace(interval, method=of_pairs)
        scores[name] = Score(
            float(right.mean()),
            interval=interval,
            n=len(questions),
            details=details,
            samples=partial(_samples, method, answers[method], right, asked, ranks, texts),
        )
    return scores


def _samples(
    method: int,
    answers: Ints,
    right: npt.NDArray[np.bool_],
    asked: Ints,
    ranks: Callable[[], Ints],
    texts: Mapping[str, Sequence[str]],
) -> list[Samples]:
    """Return the questions with their answers; their ranks take as long as the answers."""
    words = [texts["vocabulary"][row] for row in answers]
    columns = {"answer": words, "rank": ranks()[method]}
    return [Samples(QUESTION, right.astype(np.float64), columns, asked)]


def _rows(columns: Sequence[Sequence[str]], words: Sequence[str]) -> Ints:
    """Return the (n, 4) vocabulary rows of the question words; -1 for missing words."""
    rows = {word: row for row, word in reversed(list(enumerate(words)))}
    return np.array(
        [[rows.get(word, rows.get(word.lower(), -1)) for word in four]
         for four in zip(*columns, strict=True)], dtype=np.intp
    ).reshape(-1, len(QUESTION))  # fmt: skip


def _solved(
    questions: Ints,
    pairs: Ints,
    unit: npt.NDArray[np.float32],
    solve: Callable[[npt.NDArray[np.float32], Ints], Ints],
) -> Ints:
    """Return (2, n) what `solve` returns for n questions by 3CosAdd and 3CosMul; sorted by pair."""
    solved = np.empty((2, len(questions)), dtype=np.intp)
    for start in range(0, len(questions), BLOCK):
        block = slice(start, start + BLOCK)
        distinct, inverse = np.unique(questions[block, :3], return_inverse=True)
        rows = inverse.reshape(-1, 3)
        cosines = unit[distinct] @ unit.T
        args = (questions[block], rows, pairs[block], solve)
        solved[0, block] = _solved_block(cosines, cosines, *args)
        shifted = np.maximum((cosines + 1) / 2, 1e-12)  # a cosine of -1 has no logarithm
        solved[1, block] = _solved_block(np.log(shifted), np.log(shifted + EPSILON), *args)
    return solved


def _solved_block(
    near: npt.NDArray[np.float32],
    far: npt.NDArray[np.float32],
    questions: Ints,
    rows: Ints,
    pairs: Ints,
    solve: Callable[[npt.NDArray[np.float32], Ints], Ints],
) -> Ints:
    """Return (n,) what `solve` returns for the sums near(x, b) + near(x, c) − far(x, a)."""
    solved = np.empty(len(questions), dtype=np.intp)
    for part in _runs(pairs):
        a, b = rows[part.start, :2]
        sums = near[rows[part, 2]] + (near[b] - far[a])
        np.put_along_axis(sums, questions[part, :3], -np.inf, axis=1)
        solved[part] = solve(sums, questions[part, 3])
    return solved


def _best(sums: npt.NDArray[np.float32], _: Ints) -> Ints:
    """Return the (n,) words x with the largest of (n, m) sums."""
    best: Ints = sums.argmax(axis=1)
    return best


def _rank(sums: npt.NDArray[np.float32], d: Ints) -> Ints:
    """Return the (n,) ranks, from 1, of the words d by (n, m) sums."""
    rank: Ints = (sums > np.take_along_axis(sums, d[:, None], axis=1)).sum(axis=1) + 1
    return rank


def _runs(codes: Ints) -> Iterator[slice]:
    """Yield the slices of equal codes; the codes are sorted."""
    starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    yield from (slice(i, j) for i, j in itertools.pairwise(starts))


def _accuracy(right: npt.NDArray[np.bool_], pairs: Ints) -> Callable[[Floats], Floats]:
    """Return the accuracy as a function of how often each pair was drawn."""
    hits, sizes = np.bincount(pairs, right), np.bincount(pairs)

    def statistic(counts: Floats) -> Floats:
        shares: Floats = (counts @ hits) / (counts @ sizes)
        return shares

    return statistic
