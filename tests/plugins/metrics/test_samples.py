"""Samples: what each item contributes, for every built-in metric."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics import harness_metrics
from harness.plugins.metrics.statistics import intervals
from harness.plugins.metrics.statistics.exposure import exposure_gap, gap_contributions
from harness.plugins.metrics.statistics.intervals import auc, pearson, spearman
from harness.registry.registry import Registry

# F1 and a dispersion are no means of items, and a cosine of two directions none of pairs
NO_MEAN = {
    ("specific-words", "f1"),
    ("specific-words", "f1_tuned"),
    ("direction-agreement", "cosine"),
    ("group-dispersion", "dispersion"),
    ("group-dispersion", "share"),
    ("rnsb", "gap"),
    ("same", "stereotype"),
    ("tpr-gap", "gap_rms"),
    ("tpr-gap", "gap_correlation"),
    ("tpr-gap", "leaning"),
    ("classifier-gaps", "rate_gap"),
    ("classifier-gaps", "tpr_gap"),
    ("classifier-gaps", "fpr_gap"),
    ("classifier-gaps", "calibration_gap"),
    ("classifier-gaps", "accuracy"),
    ("group-clusters", "group_information"),
    ("group-clusters", "topic_v_measure"),
    ("merge-rates", "merge_gap"),
    ("merge-rates", "own_group_excess"),
    ("screening", "rank_gap"),
    ("screening", "impact_ratio"),
}
WEAT = {"targets_1": 5, "targets_2": 3, "attributes_1": 4, "attributes_2": 6}
RND = {"targets_1": 5, "targets_2": 3, "attributes": 7}
PAIRS = {"pairs_1": 6, "pairs_2": 6}
SIZES = {  # rows of each input with vectors
    "weat": WEAT,
    "weat-association": WEAT,
    "weat-mean": WEAT,
    "same": WEAT,
    "association-test": WEAT,
    "rnd": RND,
    "ect": RND,
    "ripa": RND | {"targets_2": 5},
    "rnsb": {"targets_1": 5, "targets_2": 4, "attributes_1": 9, "attributes_2": 11},
    "group-dispersion": {"sentences": 24, "pleasant": 4, "unpleasant": 6},
    "corpus-leaning": dict.fromkeys(("queries", "versions_1", "versions_2"), 9),
    "query-loss": dict.fromkeys(("queries", "varied", "edited", "documents"), 9),
    "mac": {"targets_1": 5, "targets_2": 3, "attributes_1": 4, "attributes_2": 6},
    "concept-direction": PAIRS | {"attributes": 9},
    "concept-plane": PAIRS | {"attributes": 9},
    "residual-sides": {"side_1": 9, "side_2": 9},
    "direct-bias": PAIRS | {"neutral": 8},
    "indirect-bias": PAIRS | {"words": 20, "poles_1": 2, "poles_2": 2},
    "explained-variance": PAIRS | {"words": 30},
    "direction-agreement": PAIRS | {"other_1": 6, "other_2": 6},
    "occupation-projection": PAIRS | {"occupations": 9},
    "pair-accuracy": PAIRS | {"words_1": 7, "words_2": 9},
    "similarity-correlation": {"texts_1": 10, "texts_2": 10},
    "triplet-auc": {"queries": 9, "positives": 9, "negatives": 9},
    "perturbation-similarity": {"perturbed": 11},
    "reference-correlation": {"summaries": 9, "references": 5},
    "pair-analogies": {"seed_1": 1, "seed_2": 1, "vocabulary": 60, "rated_1": 3, "rated_2": 3},
    "residual-bias": {"vocabulary": 90, "vocabulary_before": 90} | PAIRS,
    "sem-bias": {"direction_1": 2, "direction_2": 2}
    | {f"{kind}_{side}": 12 for kind in ("definition", "stereotype", "none_a", "none_b")
       for side in (1, 2)},
    "word-analogies": dict.fromkeys("abcd", 12) | {"vocabulary": 40},
    "specific-words": {"seeds": 13, "words": 41},
    "retrieval": {"queries": 6, "documents": 20},
    "ranking-bias": {"queries": 6, "documents": 20},
    "recommendation": {"items": 9} | dict.fromkeys(("profiles_1", "profiles_2", "edited"), 6),
    "stereotype-choice": dict.fromkeys(("contexts", "stereotyped", "anti_stereotyped"), 9),
    "related-choice": dict.fromkeys(
        ("contexts", "stereotyped", "anti_stereotyped", "unrelated"), 9
    ),
    "form-gap": dict.fromkeys(("feminine", "masculine"), 9)
    | dict.fromkeys(("definers_feminine", "definers_masculine"), 4)
    | dict.fromkeys(("nouns_feminine", "nouns_masculine"), 7),
    "version-gap": {"queries": 9, "versions_1": 9, "versions_2": 9},
    "similarity-gap": {"sentences": 9, "versions_1": 9, "versions_2": 9},
    "screening": {"resumes": 24, "queries": 24},
    "linear-probe": {"texts_1": 33},
    "senteval-probe": {"texts_1": 33},
    "tpr-gap": {"items": 48},
    "classifier-gaps": {"positives": 9, "negatives": 11, "sentences": 24},
    "group-clusters": {"documents": 48},
    "merge-rates": {"documents": 48},
    "trained-relatedness": {f"{part}_{side}": 9 for part in ("texts", "dev", "test")
                            for side in (1, 2)},
}  # fmt: skip
NAMED = {  # documents of four originals with the names of two groups
    "topics": np.arange(48) // 24,
    "groups": np.arange(48) % 2,
    "units": np.arange(48) % 12,
    "originals": np.arange(48) // 12,
}
NUMBERS = {
    "concept-direction": {"labels": np.arange(9) % 5},
    "concept-plane": {"labels": np.arange(9) % 5},
    "occupation-projection": {"ratings": np.arange(9) % 4},
    "similarity-correlation": {"ratings": np.arange(10) % 6},
    "perturbation-similarity": {"texts_of": [0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4]},
    "reference-correlation": {
        "ratings": np.arange(9) % 5,
        "documents": [0, 0, 1, 1, 2, 2, 2, 3, 3],
        "reference_documents": [0, 0, 1, 2, 2],
    },
    "pair-analogies": {"appropriate": [9, 1, 9], "biased": [1, 9, 9]},
    "retrieval": {
        "query_topics": [0, 0, 1, 1, 2, 7],
        "document_topics": np.arange(20) % 4,
        "groups": np.arange(20) // 5 % 2,
    },
    "ranking-bias": {"counts_1": np.arange(20) % 4, "counts_2": np.arange(20) // 5},
    "recommendation": {
        "statistics": np.arange(9) / 8,
        "item_codes": np.arange(9),
        "profile_codes": np.arange(6),
    },
    "group-dispersion": {"groups": np.arange(24) % 6, "frames": np.arange(24) // 6},
    "similarity-gap": {"statistics": np.arange(9) / 8},
    "form-gap": {"ratings": np.arange(9) % 4},
    "screening": {
        "groups": np.arange(24) % 3,
        "units": np.arange(24) % 12,
        "screenings": np.arange(24) // 12,
        "jobs": np.arange(24) // 12,
    },
    "version-gap": {"topics": [0, 0, 1, 1, 1, 2, 3, 3, 3]},
    "linear-probe": {"labels": np.arange(33) % 3},
    "senteval-probe": {"labels": np.arange(33) % 3},
    "tpr-gap": {
        "labels": np.arange(48) % 4,
        "groups": np.arange(48) // 4 < 3 + 2 * (np.arange(48) % 4),
    },
    "classifier-gaps": {
        "labels": 1 - np.arange(24) // 4 % 2,
        "groups": np.arange(24) // 8,
        "frames": np.arange(24) % 4,
    },
    "group-clusters": NAMED,
    "merge-rates": NAMED,
    "trained-relatedness": {
        name: np.arange(9) % 5 + 1 for name in ("ratings", "dev_ratings", "test_ratings")
    },
}
OPTIONS = {
    "residual-bias": {"most_biased": 20, "k": 5, "sample": 30, "folds": 3},
    "pair-analogies": {"delta": 2.0, "top": 8},
    "specific-words": {"folds": 3},
    "linear-probe": {"folds": 4, "grid": [1.0]},
    "senteval-probe": {"folds": 2},
    "explained-variance": {"draws": 3},
    "retrieval": {"k": 4},
    "ranking-bias": {"k": 4},
    "recommendation": {"k": 4},
    "residual-sides": {"k": 3, "folds": 3},
    "indirect-bias": {"extremes": 3, "least_similarity": 0.2},
}
CASES = [
    ("weat-association", {"over": "sum"}), ("weat-association", {"over": "mean"}),
    ("association-test", {"test": "positive"}), ("rnd", {"distance": "cos"}),
    ("ripa", {"unit_length": True}), ("mac", {}), ("retrieval", {"ranking": "plain"}),
    ("direct-bias", {"c": 2.0}), ("reference-correlation", {"of_references": "mean"}),
    *((spec.name, {}) for spec in harness_metrics()),
]  # fmt: skip


def measured(name, options=None):
    """Return the scores of a metric on random vectors, and the texts of its inputs."""
    metric = Registry().metric(name)
    rng = np.random.default_rng(5)
    arrays = {key: rng.normal(size=(n, 8)) + 0.3 for key, n in SIZES[name].items()}
    texts = {key: [f"{key} {i}" for i in range(n)] for key, n in SIZES[name].items()}
    if name == "word-analogies":
        texts |= {key: texts["vocabulary"][i : i + 12] for i, key in enumerate("abcd")}
    if name == "specific-words":
        texts["seeds"] = texts["words"][:13]
    arrays |= {key: np.asarray(values, float) for key, values in NUMBERS.get(name, {}).items()}
    chosen = {"resamples": 0} if "resamples" in metric.options else {}
    chosen |= OPTIONS.get(name, {}) | (options or {})
    return metric.measure(arrays, chosen, rng=rng, clusters={}, texts=texts), texts


def parts_of(score):
    return list(score.samples() if callable(score.samples) else score.samples)


def size_of(part, texts):
    inputs = (part.inputs,) if isinstance(part.inputs, str) else part.inputs
    if part.rows is not None:
        return len(part.rows)
    return len(texts[inputs[0]]) if inputs else len(part.contribution)


@pytest.mark.parametrize("name", [spec.name for spec in harness_metrics()])
def test_every_metric_gives_samples_of_each_score_that_fit_its_inputs(name):
    scores, texts = measured(name)
    for score in scores.values():
        assert np.isfinite(score.value)
        assert parts_of(score)
        for part in parts_of(score):
            n = size_of(part, texts)
            columns = [*part.columns.values()]
            columns += [] if part.contribution is None else [part.contribution]
            assert columns
            assert {len(values) for values in columns} == {n}


@pytest.mark.parametrize(("name", "options"), CASES)
def test_the_mean_of_the_contributions_is_the_score(name, options):
    scores, _ = measured(name, options)
    for key, score in scores.items():
        values = [part.contribution for part in parts_of(score)]
        if (name, key) in NO_MEAN:
            assert all(value is None for value in values)
            continue
        assert np.nanmean(np.concatenate(values).astype(float)) == pytest.approx(
            score.value, rel=1e-9, abs=1e-12
        )


@pytest.mark.parametrize(
    ("name", "options"),
    [("weat", {}), ("weat-association", {"over": "sum"}), ("weat-association", {"over": "mean"}),
     ("weat-mean", {}), ("mac", {}), ("ripa", {})],
)  # fmt: skip
def test_targets_alone_and_attributes_alone_have_the_score_as_mean(name, options):
    for score in measured(name, options)[0].values():
        for kind in ("targets", "attributes"):
            parts = [part.contribution for part in parts_of(score) if kind in str(part.inputs)]
            assert np.concatenate(parts).mean() == pytest.approx(score.value, rel=1e-9)


def test_f1_is_the_mean_over_folds_of_the_f1_of_the_words_in_its_samples():
    from sklearn.metrics import f1_score

    scores, _ = measured("specific-words")
    columns = parts_of(scores["f1"])[0].columns
    y, found, fold = (np.asarray(columns[key]) for key in ("seed", "found", "fold"))
    by_fold = [f1_score(y[fold == i], found[fold == i], zero_division=0) for i in range(3)]
    assert np.mean(by_fold) == pytest.approx(scores["f1"].value)


def test_a_word_that_is_no_closer_than_the_others_contributes_nothing_to_weat():
    s_1, s_2 = np.array([0.3, 0.1]), np.array([0.1, -0.1])
    first, second = intervals.to_difference(s_1, s_2, 0.5)
    assert first.tolist() == pytest.approx([0.8, 0])
    assert second.tolist() == pytest.approx([0, 0.8])


def test_the_rank_of_an_analogy_that_is_answered_correctly_is_1():
    scores, _ = measured("word-analogies")
    (part,) = parts_of(scores["accuracy_3cosadd"])
    ranks = np.asarray(part.columns["rank"])
    assert ((ranks == 1) == (np.asarray(part.contribution) == 1)).all()


@pytest.mark.parametrize("seed", range(3))
def test_contributions_have_the_statistic_as_mean_with_ties(seed):
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(0, 4, 12).astype(float) for _ in range(2))
    assert intervals.to_pearson(x, y).mean() == pytest.approx(pearson(x, y)[0])
    assert intervals.to_spearman(x, y).mean() == pytest.approx(spearman(x, y)[0])
    for side in intervals.to_auc(x, y[:7]):
        assert side.mean() == pytest.approx(auc(x, y[:7])[0])


def test_a_constant_has_no_contributions_to_a_correlation():
    assert np.isnan(intervals.to_pearson(np.ones(4), np.arange(4.0))).all()


def test_queries_without_relevant_documents_do_not_count_for_the_gap():
    exposure = np.array([[1.0, 0.0], [np.nan, np.nan], [np.nan, np.nan]])
    fair = np.array([[0.5, 0.5], [0.2, 0.8], [np.nan, np.nan]])
    values = gap_contributions(exposure, fair)
    assert np.isnan(values[2])
    gap = exposure_gap(exposure, fair, np.ones((1, 3)))[0]
    assert np.nanmean(values) == pytest.approx(gap)
