"""The gap between the groups' shares of what queries retrieve, as a score."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Mask
from harness.plugins.metrics.statistics import exposure
from harness.scores import Null, Samples, Score

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """Documents that queries retrieve, and the groups of all documents.

    Parameters
    ----------
    hits, relevant
        (q, n) whether a document is retrieved and relevant, and whether it is relevant.
    similarities
        (q, n) cosines.
    codes, topics
        (n,) group and topic of each document.
    names
        Names of the groups by code.
    """

    hits: Mask
    relevant: Mask
    similarities: Floats
    codes: Codes
    topics: Floats
    names: Mapping[int, str]

    @property
    def member(self) -> Mask:
        """(g, n) whether a document belongs to a group."""
        member: Mask = np.stack([self.codes == code for code in self.names])
        return member

    def by_name(self, values: Any) -> dict[str, float | None]:
        """Return (g,) values by group name; None for NaN."""
        return {
            name: None if np.isnan(value) else float(value)
            for name, value in zip(self.names.values(), values, strict=True)
        }


def gap(
    score: Callable[..., Score],
    groups: Groups,
    shares: str,
    weights: Floats,
    *,
    draws: int,
    rng: np.random.Generator,
) -> Score:
    """Return the gap of the groups' shares of the (q, n) weights of the documents that are hit.

    Parameters
    ----------
    score
        Makes a score of a statistic and a reason.
    groups
        Documents and their groups.
    shares
        Name of the shares in the details and samples.
    weights
        (q, n) weight of each document.
    draws, rng
        Number of shuffles, and their random number generator.
    """
    member, once = groups.member, np.ones((1, len(groups.hits)))
    of_documents = exposure.shares(groups.hits * weights)  # (q, n)
    has_hits = groups.hits.sum(axis=1) > 0
    n_relevant = exposure.count_by_group(groups.relevant, member)
    values = {
        shares: exposure.count_by_group(of_documents, member),
        "fair": np.where(has_hits[:, None], exposure.shares(n_relevant), np.nan),
        "recall": exposure.ratio(exposure.count_by_group(groups.hits, member), n_relevant),
    }
    columns = {
        f"{key}_{name}": values[key][:, i]
        for key in (shares, "fair")
        for i, name in enumerate(groups.names.values())
    }
    contributions = exposure.gap_contributions(values[shares], values["fair"])
    score_of_gap = score(
        partial(exposure.exposure_gap, values[shares], values["fair"]),
        reason="no query retrieves a relevant document",
        samples=Samples("queries", contributions, columns),
    )
    means = {key: exposure.mean_over_queries(of, once)[0] for key, of in values.items()}
    details = {key: groups.by_name(mean) for key, mean in means.items()} | {
        "similarity": groups.by_name([groups.similarities[:, m].mean() for m in member]),
        "without_hits": int(np.count_nonzero(~has_hits)),
    }
    if np.isnan(score_of_gap.value):
        return dataclasses.replace(score_of_gap, details={**score_of_gap.details, **details})
    mean_share = exposure.mean_over_queries(of_documents, once)[0]
    details["granularity"] = float(mean_share[mean_share > 0].min())
    null, p_value = None, None
    if draws:
        codes = np.searchsorted(list(groups.names), groups.codes)
        gaps = exposure.shuffled_gaps(
            mean_share, means["fair"], codes, groups.topics, draws=draws, rng=rng
        )
        null = Null(gaps, "groups of the documents of a topic")
        p_value = (int((gaps >= score_of_gap.value - 1e-9).sum()) + 1) / (draws + 1)
        details["least"] = float(gaps.min())
    interval = score_of_gap.interval
    if interval is not None:  # a mean difference may have any sign, its distance from 0 not
        low, high = max(interval.low, 0.0), min(interval.high, 1.0)
        interval = dataclasses.replace(interval, low=low, high=high)
    return dataclasses.replace(
        score_of_gap,
        p_value=p_value,
        null=null,
        interval=interval,
        details={**score_of_gap.details, **details},
    )
