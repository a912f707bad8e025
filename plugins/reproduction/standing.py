"""Whether a row's value stands on a valid score. The one list of published scores that do not.

A number may reproduce and still say nothing about bias. What makes a score valid is measured by
`harness validate-metric`; the file of a task that fails says `unranked` with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.plugins.reproduction.selection import Selection
    from harness.registry.registry import Registry

VALID = "yes"
NOT_KNOWN = ""
NOT_VALID = {
    "association-test/proportion": "an offset of all attributes changes the count",
    "concept-direction/auc": "the best of many components, without its floor",
    "ect/coherence": "does not move with the bias",
    "mac/distance": "does not move with the bias",
    "reference-correlation/pooled_pearson": "pools the levels of whole articles",
    "reference-correlation/pooled_spearman": "pools the levels of whole articles",
    "ripa/association": "a single set of attributes has an offset",
    "rnd/difference": "a single set of attributes has an offset",
    "rnsb/divergence": "does not move with the bias",
    "weat/effect_size": "standardised: no magnitude of bias",
}
"""Why a published score is not valid, by `metric/score`; docs/claims.md has the measurements.

It counts where no ranked task has the score for its primary one: RND of two contrasted attribute
sets is valid, that of a study's single sets is not.
"""


def standing(selected: Selection, registry: Registry) -> str:
    """Return `yes`, or `no: ` with the reason, or nothing where no score is judged.

    A score is valid if tasks rank by it: it is the primary score of a task that is ranked, and
    not a control.
    """
    from harness.plugins.reproduction.selection import ScoreSelection

    if isinstance(selected, ScoreSelection):
        if selected.field != "value":
            return NOT_KNOWN
        data = registry.task_files.find(selected.task).data
        return _of_task(data, selected.metric, selected.score)
    measures = registry.study_files.find(selected.study).data["measures"]
    measure = measures.get(selected.answer.measure)
    if measure is None:
        return NOT_KNOWN
    metric = measure["metric"]
    score = measure.get("score") or next(iter(registry.metric(metric).scores))
    return _no(NOT_VALID.get(f"{metric}/{score}"))


def _of_task(data: Mapping[str, Any], metric: str, score: str) -> str:
    is_primary = (metric, score) == (data["primary"]["metric"], data["primary"]["score"])
    if is_primary and "unranked" not in data:
        return NOT_KNOWN if data.get("measures") == "control" else VALID
    return _no(NOT_VALID.get(f"{metric}/{score}") or data.get("unranked"))


def _no(reason: str | None) -> str:
    return f"no: {reason}" if reason else NOT_KNOWN
