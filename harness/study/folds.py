"""Folds: how the pairs of a concept are dealt out, and the concept that is left to fit on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from harness.concept import Concept
from harness.study.study_file import Folded, Protocol


@dataclass(frozen=True)
class Split:
    """Pairs to fit on, and pairs to judge, as positions among those dealt out."""

    train: tuple[int, ...]
    held_out: tuple[int, ...]


@dataclass(frozen=True)
class Fold:
    """An outer fold.

    Parameters
    ----------
    repeat, number
        Which it is, each from 0.
    outer
        What the mitigator chosen is fitted on, and what it is judged on.
    inner
        What hyper-parameters are chosen by.
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
        How many pairs there are.
    folds, inner_folds
        How many parts they are dealt into, and how many the rest of each outer fold.
    repeats
        How often; repeat r is shuffled with seed + r, so that repeat 0 of seed 42 has the folds of
        Zambrano and Bravo-Marquez.
    seed
        Of the shuffles.
    protocol
        `published`: the outer fold itself judges the choice, among fits on a random half of the
        other pairs.
    """
    import numpy as np
    from sklearn.model_selection import KFold

    dealt = []
    for repeat in range(repeats):
        outer = KFold(folds, shuffle=True, random_state=seed + repeat).split(np.arange(n))
        for number, (train, held_out) in enumerate(outer):
            if protocol == "published":
                rng = np.random.default_rng([seed, repeat, number])
                half = np.sort(rng.permutation(train)[len(train) // 2 :])
                inner: tuple[Split, ...] = (_split(half, held_out),)
            else:
                parts = KFold(inner_folds, shuffle=True, random_state=seed + repeat).split(train)
                inner = tuple(_split(train[learn], train[judge]) for learn, judge in parts)
            dealt.append(Fold(repeat, number, _split(train, held_out), inner))
    return tuple(dealt)


def concept_without(
    concept: Concept,
    folded: Folded,
    train: Sequence[tuple[str, ...]],
    held_out: Collection[str],
    judged: Collection[str],
) -> Concept:
    """Return the concept as a mitigator may see it.

    Parameters
    ----------
    concept
        The whole concept.
    folded
        Which of its fields is dealt out.
    train
        What is left of that field.
    held_out
        Words held out: every other pair or set that has one of them is left out.
    judged
        Words judged: none of them is a specific word, which mitigators leave alone. As in the
        published study.
    """

    def kept(sets: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
        return tuple(one for one in sets if not any(word in held_out for word in one))

    others = ("definitional_pairs", "definitional_sets", "equalize_sets")
    left = {name: kept(getattr(concept, name)) for name in others if name != folded}
    specific = tuple(word for word in concept.specific_words if word not in judged)
    return concept.model_copy(update={**left, folded: tuple(train), "specific_words": specific})


def _split(train: Iterable[int], held_out: Iterable[int]) -> Split:
    return Split(tuple(map(int, train)), tuple(map(int, held_out)))
