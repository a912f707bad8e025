"""How much each token of a text counts in the text's vector.

Exact for encoders that pool by maximum; for others a stated generalisation, or none at all. Knows
no words: what has more than one token adds their shares up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals

Importance: TypeAlias = Literal["max", "mean", "mean-raw", "uniform"]
IMPORTANCES: tuple[Importance, ...] = get_args(Importance)

_BY_POOLING: dict[str, Importance] = {
    "max": "max",
    "mean": "mean",
    "mean_sqrt_len_tokens": "mean",  # the mean but for a factor, which no share sees
}


def shares(states: Reals, counted: npt.NDArray[np.bool_], kind: Importance) -> Floats:
    """Return (T,) the importance of each token; 0 for those not counted.

    Parameters
    ----------
    states
        (T, d) of all tokens that are pooled, special ones too.
    counted
        (T,) which tokens belong to words.
    kind
        `max`, `mean`, `mean-raw` or `uniform`; see the functions below.
    """
    found = np.zeros(len(states))
    if not counted.any():
        return found
    if kind == "max":
        found[counted] = by_maximum(states[counted])
    elif kind == "uniform":
        found[counted] = 1 / counted.sum()
    else:
        found[counted] = by_mean(states)[counted].clip(min=0)
        if kind == "mean" and (total := found.sum()) > 0:
            found /= total
    return found


def by_maximum(states: Reals) -> Floats:
    """Return (T,) the share of dimensions in which each token is the maximum.

    Exact where max pooling makes the sentence's vector. Handed the tokens of words alone it gives
    the shares as if special tokens took no part; they take 5–33 % of the dimensions in
    all-MiniLM-L6-v2. Of equal states the first has the dimension.

    References
    ----------
    Section 3.4 of the paper of the bias score, after Conneau et al. (2017).
    """
    counts = np.bincount(np.asarray(states).argmax(axis=0), minlength=len(states))
    result: Floats = counts / np.shape(states)[1]
    return result


def by_mean(states: Reals) -> Floats:
    """Return (T,) the share of each token in a mean-pooled vector, h_t·s̄ / (T‖s̄‖²).

    s̄ = (1/T) Σ h_t, so that the shares sum to 1 over all T tokens, special ones among them. A token
    that points away from the mean has a share below 0. Our generalisation: the paper has
    importance for max pooling alone. All are 0 where s̄ = 0.
    """
    h = np.asarray(states, dtype=np.float64)
    mean = h.mean(axis=0)
    length = float(mean @ mean)
    result: Floats = h @ mean / (len(h) * length) if length > 0 else np.zeros(len(h))
    return result


def of_poolings(poolings: Sequence[str]) -> Importance:
    """Return the importance that fits how an encoder pools; `uniform` where none does.

    An encoder that takes the state of one token (`cls`, `lasttoken`), or joins several poolings,
    gives its words no share that could be counted.
    """
    return _BY_POOLING.get(poolings[0], "uniform") if len(poolings) == 1 else "uniform"
