"""Range of a statistic when one word is left out: how much hangs on a single word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from harness.arrays import Floats
from harness.plugins.metrics.statistics.intervals import Codes


def without_one(
    statistic: Callable[..., Floats],
    value: float,
    sizes: Sequence[int],
    *,
    resamples: int,
    clusters: Sequence[Codes | None] | None = None,
    texts: Sequence[Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return the least and the greatest value of a statistic without one word of a set.

    All items that share a cluster, such as the sentences of a word, are left out together. The
    only word of a set stays.

    Parameters
    ----------
    statistic
        As for an interval: takes one (b, n) array of counts per set, and returns (b,) values.
    value
        The statistic with all words.
    sizes
        Number of items of each set.
    resamples
        The option of the metric: 0 leaves nothing out. A study asks for 0, since leaving out each
        word of a long list takes most of the time of a score.
    clusters
        For each set, the (n,) cluster codes of its items; None where each item is its own
        cluster.
    texts
        Texts of the items of each set.

    Returns
    -------
    dict
        Details of a score: `low`, `high`, the first text of the word that each lacks (`low_text`,
        `high_text`), and whether the sign changes without some word (`changes_sign`). Empty if
        nothing is left out, no set has two words, or the statistic is undefined without each.

    References
    ----------
    Ethayarajh, Duvenaud and Hirst (2019), Understanding undesirable word embedding associations:
    WEAT's result hangs on the choice of single words.
    """
    if not resamples:
        return {}
    unit_of_items, left_out, k = [], [], 0  # k words can be left out
    for i, size in enumerate(sizes):
        codes = clusters[i] if clusters else None
        distinct, first, unit = np.unique(
            np.arange(size) if codes is None else np.asarray(codes),
            return_index=True,
            return_inverse=True,
        )
        is_only = len(distinct) < 2
        unit_of_items.append(np.full(size, -1) if is_only else unit + k)
        if not is_only:
            k += len(distinct)
            left_out += [texts[i][row] for row in first.tolist()] if texts else []
    rows = np.arange(k)[:, None]
    values = statistic(*((rows != unit).astype(np.float64) for unit in unit_of_items))
    known = np.flatnonzero(np.isfinite(values))
    if len(known) == 0:
        return {}
    low, high = known[values[known].argmin()], known[values[known].argmax()]
    words = {"low_text": left_out[low], "high_text": left_out[high]} if texts else {}
    return {
        "low": float(values[low]),
        "high": float(values[high]),
        **words,
        "changes_sign": bool((value * values[known] < 0).any()),
    }
