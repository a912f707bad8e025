"""Folds: how a concept's pairs are divided, and the part of the concept to fit on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.concept import Concept
from harness.letters import plain
from harness.study.study_file import Folded, Protocol


@dataclass(frozen=True)
class Split:
    """Positions of the pairs to fit on and of the held-out pairs."""

    train: tuple[int, ...]
    held_out: tuple[int, ...]


@dataclass(frozen=True)
class Fold:
    """An outer fold.

    Parameters
    ----------
    repeat, number
        Its repeat and its number in that repeat, each from 0.
    outer
        Pairs on which the chosen mitigator is fitted, and pairs on which it is judged.
    inner
        Splits by which hyper-parameters are chosen.
    """

    repeat: int
    number: int
    outer: Split
    inner: tuple[Split, ...]


def deal(
    n: int, *, folds: int, inner_folds: int, repeats: int, seed: int, protocol: Protocol
) -> tuple[Fold, ...]:
    """Return the outer folds of all repeats.

    Parameters
    ----------
    n
        Number of pairs.
    folds, inner_folds
        Number of outer folds, and of inner folds among the other pairs of each outer fold.
    repeats
        Number of repeats. Repeat r is shuffled with seed + r, so that repeat 0 of seed 42 has the
        folds of Zambrano and Bravo-Marquez.
    seed
        Seed of the shuffles.
    protocol
        `nested`, or `published`: the outer fold itself chooses the hyper-parameters, among fits on
        a random half of the other pairs.
    """
    import numpy as np
    from sklearn.model_selection import KFold

    all_folds = []
    for repeat in range(repeats):
        outer = KFold(folds, shuffle=True, random_state=seed + repeat).split(np.arange(n))
        for number, (train, held_out) in enumerate(outer):
            if protocol == "published":
                rng = np.random.default_rng([seed, repeat, number])
                half = np.sort(rng.permutation(train)[len(train) // 2 :])
                inner: tuple[Split, ...] = (_split(half, held_out),)
            else:
                parts = KFold(inner_folds, shuffle=True, random_state=seed + repeat).split(train)
                inner = tuple(_split(train[fit], train[judge]) for fit, judge in parts)
            all_folds.append(Fold(repeat, number, _split(train, held_out), inner))
    return tuple(all_folds)


def concept_without(
    concept: Concept,
    folded: Folded,
    train: Sequence[tuple[str, ...]],
    held_out: frozenset[str],
    judged: frozenset[str],
) -> Concept:
    """Return the concept without the words that a mitigator must not be fitted on.

    Parameters
    ----------
    concept
        The whole concept.
    folded
        The field that is divided into folds.
    train
        The training items of that field.
    held_out
        Held-out words, plain; pairs and sets of other fields that have one are left out.
    judged
        Judged words, plain; they are removed from the specific words, which mitigators do not
        change. As in the published study.
    """
    others = {"definitional_pairs", "definitional_sets", "equalize_sets"} - {folded}
    remaining = {
        name: tuple(g for g in getattr(concept, name) if held_out.isdisjoint(map(plain, g)))
        for name in others
    }
    specific = tuple(word for word in concept.specific_words if plain(word) not in judged)
    return concept.model_copy(
        update={**remaining, folded: tuple(train), "specific_words": specific}
    )


def _split(train: Iterable[int], held_out: Iterable[int]) -> Split:
    return Split(tuple(map(int, train)), tuple(map(int, held_out)))
