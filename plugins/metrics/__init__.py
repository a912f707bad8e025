"""The built-in metrics: a plugin that lists them; each is one file and one line here."""

from __future__ import annotations

from harness.specs import MetricSpec, hookimpl


@hookimpl
def harness_metrics() -> list[MetricSpec]:
    """List the built-in metrics."""
    return [
        _metric("weat", "association of two target sets with two attribute sets"),
        _metric("weat-association", "the same, not standardised: WEAT's test statistic"),
        _metric("association-test", "attributes nearer to one of two target sets, binomial"),
        _metric("concept-direction", "projections on a concept's direction against ratings"),
        _metric("similarity-correlation", "cosines of pairs against people's ratings"),
        _metric("triplet-auc", "same meaning against same names, by triplets"),
        _metric("perturbation-similarity", "texts that differ in their names alone"),
        _metric("reference-correlation", "summaries near people's own against their ratings"),
        _metric("rnd", "attributes nearer to one of two target sets' means"),
        _metric("rnsb", "target words that a sentiment classifier finds more negative"),
        _metric("ripa", "projections of attributes on the directions of pairs of words"),
        _metric("ect", "whether two target sets rank attributes in one order"),
        _metric("mac", "mean distance of targets from sets of stereotyped words"),
        _metric("direct-bias", "how far neutral words lie along a concept's direction"),
        _metric("indirect-bias", "similarity of neutral words that goes with the concept"),
        _metric("explained-variance", "whether pairs share one direction, against random pairs"),
        _metric("occupation-projection", "occupations along a direction against ratings"),
        _metric("pair-analogies", "generated analogies that people rated as stereotypes"),
        _metric("residual-bias", "what was biased before debiasing still keeps together"),
        _metric("sem-bias", "which kind of pair differs as he and she do"),
        _metric("word-analogies", "a is to b as c is to d, by 3CosAdd and 3CosMul"),
        _metric("specific-words", "words that mean a concept, found by a linear classifier"),
        _metric("retrieval", "exposure of groups among what queries retrieve, and recall"),
        _metric("version-gap", "which of two versions of one text a query is nearer to"),
        _metric("linear-probe", "whether a linear classifier still finds what a text says"),
    ]


def _metric(name: str, summary: str) -> MetricSpec:
    """Describe a metric whose module and function have its name."""
    module = name.replace("-", "_")
    target = f"harness.plugins.metrics.{module}:{module}"
    return MetricSpec(name=name, target=target, summary=summary)
