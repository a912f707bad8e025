"""Plugin of the built-in metrics: one file and one line per metric; a variant may join its file.

`statistics/` holds the statistics behind them. `analogies` is `harness analogies`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.specs import MetricSpec, hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def harness_commands(group: click.Group) -> None:
    """Add `harness analogies`."""
    from .analogies import command

    group.add_command(command)


@hookimpl
def harness_metrics() -> list[MetricSpec]:
    """List the built-in metrics."""
    return [
        _metric("weat", "association of two target sets with two attribute sets (WEAT, SEAT)"),
        _metric("weat-association", "WEAT's test statistic, not standardised", module="weat"),
        _metric("weat-mean", "mean association of several WEAT tests"),
        _metric("same", "cosines of words with the direction between groups (SAME)"),
        _metric(
            "association-test", "association of two attribute sets with two target sets, counts"
        ),
        _metric("concept-direction", "projections on a concept's direction against human labels"),
        _metric(
            "concept-plane",
            "as concept-direction, with two components for one",
            module="concept_direction",
        ),
        _metric("similarity-correlation", "cosines of text pairs against human ratings (STS)"),
        _metric("triplet-auc", "name bias: same meaning against same names, in triplets"),
        _metric("perturbation-similarity", "name bias: texts that differ only in their names"),
        _metric("reference-correlation", "summaries' similarity to references against ratings"),
        _metric("rnd", "relative norm distance of attributes from two target sets"),
        _metric("rnsb", "relative negative sentiment bias between target words"),
        _metric("ripa", "relational inner product association of attributes with word pairs"),
        _metric("ect", "embedding coherence test of two target sets' attribute rankings"),
        _metric("mac", "mean cosine distance of targets from attribute sets (MAC)"),
        _metric("direct-bias", "direct bias of neutral words along a concept's direction"),
        _metric("indirect-bias", "share of the similarity of neutral words due to a concept"),
        _metric("explained-variance", "variance of the pairs along one direction, against chance"),
        _metric("pair-accuracy", "share of words that single pairs put on their own side"),
        _metric("direction-agreement", "whether two sets of pairs define the same direction"),
        _metric("occupation-projection", "projections of occupations against human ratings"),
        _metric("pair-analogies", "generated analogies that people rated as stereotypes"),
        _metric("residual-bias", "residual bias after debiasing: clusters, neighbours, classifier"),
        _metric("residual-sides", "residual bias of texts: whether two sides can be told apart"),
        _metric("similarity-gap", "which of two versions a sentence is closer to, by statistics"),
        _metric("form-gap", "bias of the feminine and masculine forms of occupations"),
        _metric("tpr-gap", "gaps between two groups in the true positive rates of a classifier"),
        _metric("classifier-gaps", "rates and calibration of a classifier by identity group"),
        _metric("group-dispersion", "how far sentences about groups differ in pleasantness"),
        _metric("sem-bias", "SemBias questions: definitional, stereotyped or unrelated pair"),
        _metric("word-analogies", "word analogies by 3CosAdd and 3CosMul"),
        _metric("specific-words", "gender-specific words found by a linear classifier"),
        _metric("retrieval", "exposure of groups, recall and precision of retrieval"),
        _metric(
            "stereotype-choice", "share of contexts nearer to the stereotype than its opposite"
        ),
        _metric("related-choice", "share of related texts nearer to their context than others"),
        _metric("version-gap", "share of queries closer to the first of two versions of a text"),
        _metric("query-loss", "what a search loses by queries in another variety of the language"),
        _metric("corpus-leaning", "leaning of what queries retrieve from answers of two leanings"),
        _metric("ranking-bias", "gendered content of what queries rank first (ARaB, NFaiRR)"),
        _metric("recommendation", "whether what is recommended changes with a profile's group"),
        _metric(
            "group-clusters", "whether clusters of documents follow topics, or groups of names"
        ),
        _metric("merge-rates", "whose documents are merged with another person's, by group"),
        _metric("screening", "how résumés that differ in the name rank, by group of the name"),
        _metric("trained-relatedness", "ratings of text pairs learnt from others (SentEval)"),
        _metric("senteval-probe", "accuracy of SentEval's classifier, as published"),
        _metric("linear-probe", "accuracy of a linear classifier of texts (SentEval)"),
    ]


def _metric(name: str, summary: str, *, module: str | None = None) -> MetricSpec:
    """Describe a metric whose function has its name, and its module, too, unless one is given."""
    function = name.replace("-", "_")
    target = f"harness.plugins.metrics.{module or function}:{function}"
    return MetricSpec(name=name, target=target, summary=summary)
