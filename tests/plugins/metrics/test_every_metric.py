"""What holds of every built-in metric: invariances, intervals, void scores, options, samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ortho_group

from harness.errors import InvalidOption
from harness.metrics import is_within
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


NAMES = tuple(spec.name for spec in harness_metrics())
FEW = {"resamples": 0, "null_draws": 20, "permutations": 30, "projections": 30, "draws": 3,
       "repeats": 3}  # fmt: skip
NO_DRAWS = {"null_draws": 0, "draws": 0, "projections": 0}

# What the metrics do not share

BY_COORDINATE = ("trained-relatedness", "senteval-probe")
"""They learn from coordinates, as published: a rotation changes what they see."""
OF_LENGTHS = ("rnd", "ripa", "rnsb", "perturbation-similarity")
"""Without unit length, where they have that option, they grow with the vectors, as published."""
BY_FORMULA = ("similarity-correlation", "association-test", "version-gap", "trained-relatedness",
              "weat", "occupation-projection", "form-gap")  # fmt: skip
"""They have p-values that are not drawn, but counted or calculated."""
RANDOM_SIDES = ("association-test",)
"""Its permutations are its null, which cannot be left out."""
APART = {  # inputs of which each may be empty alone; others are rows of one table
    **dict.fromkeys(("weat", "weat-association", "weat-mean", "same", "mac"), tuple(WEAT)),
    **dict.fromkeys(("rnd", "ect", "ripa"), tuple(RND)),
    "association-test": ("targets_1", "targets_2"),
    "rnsb": ("targets_1", "targets_2", "attributes_1", "attributes_2"),
    "direct-bias": ("neutral",),
    "indirect-bias": ("words", "poles_1"),
    "pair-accuracy": ("words_1", "words_2"),
    "residual-bias": ("vocabulary",),
    "word-analogies": ("vocabulary",),
    "specific-words": ("seeds", "words"),
    "sem-bias": ("direction_1", "direction_2"),
    "ranking-bias": ("queries",),
}
EQUAL = (  # a metric and an input that defines no direction if its other side has the same vectors
    *((name, "pairs_1") for name in ("concept-direction", "concept-plane", "direct-bias",
      "indirect-bias", "explained-variance", "occupation-projection", "residual-bias")),
    *((name, "attributes_1") for name in ("weat", "same")), ("sem-bias", "direction_1"),
)  # fmt: skip
NEEDS_ROWS = ("tpr-gap", "classifier-gaps", "retrieval", "group-clusters")
"""They stop with an error where there is no row at all."""
BAD = {  # a value of each option that no metric accepts
    "permutations": 0, "k": 0, "folds": 1, "inner_folds": 1, "classifier": "tree",
    "grammar": "pca", "subspace": "plane", "c": -1.0, "holdout": 1.0, "repeats": 0, "extremes": 0,
    "unique": "none", "grid": (-1.0,), "sizes": (0,), "matched": 0.5, "fewest": 0, "hidden": -1,
    "starts": 0, "false_merges": 1.0, "persistence": 1.0, "top": 0, "levels": (1.0, 3.0),
    "delta": -1.0,
}  # fmt: skip


SWAPS = (  # a metric, an input with its other side, and the scores that are mirrored
    *((name, side, {"association", "effect_size"}) for side in ("targets_1", "attributes_1")
      for name in ("weat", "weat-association", "weat-mean")),
    ("same", "targets_1", ()), ("same", "attributes_1", {"skew"}),
    ("association-test", "attributes_1", {"association", "auc"}),
    *((name, "pairs_1", {"correlation"}) for name in ("concept-direction", "concept-plane")),
    ("similarity-correlation", "texts_1", ()), ("triplet-auc", "positives", {"auc"}),
    ("rnd", "targets_1", {"difference"}), ("rnsb", "targets_1", ()),
    ("ripa", "targets_1", {"association"}), ("ect", "targets_1", ()),
    ("mac", "targets_1", ()), ("mac", "attributes_1", ()),
    ("direct-bias", "pairs_1", ()), ("indirect-bias", "pairs_1", ()),
    ("indirect-bias", "poles_1", ()), ("explained-variance", "pairs_1", ()),
    ("pair-accuracy", "pairs_1", {"accuracy"}), ("pair-accuracy", "words_1", {"accuracy"}),
    ("direction-agreement", "pairs_1", ()), ("direction-agreement", "other_1", ()),
    ("occupation-projection", "pairs_1", {"spearman"}),
    ("similarity-gap", "versions_1", {"slope", "pearson"}), ("group-dispersion", "pleasant", ()),
    ("stereotype-choice", "stereotyped", {"stereotype_score"}),
    ("related-choice", "stereotyped", ()), ("version-gap", "versions_1", {"first_share", "gap"}),
    ("corpus-leaning", "versions_1", {"top_share"}), ("sem-bias", "direction_1", {"preference"}),
    ("trained-relatedness", "test_1", ()),
)  # fmt: skip
OTHER_SIDE = {"positives": "negatives", "pleasant": "unpleasant", "stereotyped": "anti_stereotyped"}
NOT_ALIKE = {  # scores of these that a swap of the sides changes in no simple way
    "triplet-auc": {"same_meaning", "same_names"},
    "sem-bias": {"definition", "stereotype", "none"},
}


def inputs_of(name):
    """Return random vectors of a metric by input, its numbers, and the texts of the vectors."""
    rng = np.random.default_rng(5)
    vectors = {key: rng.normal(size=(n, 8)) + 0.3 for key, n in SIZES[name].items()}
    texts = {key: [f"{key} {i}" for i in range(n)] for key, n in SIZES[name].items()}
    if name == "word-analogies":
        texts |= {key: texts["vocabulary"][i : i + 12] for i, key in enumerate("abcd")}
    if name == "specific-words":
        texts["seeds"] = texts["words"][:13]
    numbers = {key: np.asarray(values, float) for key, values in NUMBERS.get(name, {}).items()}
    return vectors, numbers, texts


def scores_of(name, vectors, numbers, texts, clusters=None, **options):
    """Measure with few draws. Options that the metric does not have are left out."""
    metric = Registry().metric(name)
    chosen = FEW | OPTIONS.get(name, {}) | options
    chosen = {key: value for key, value in chosen.items() if key in metric.options}
    rng = np.random.default_rng(0)
    return metric.measure(vectors | numbers, chosen, rng=rng, clusters=clusters or {}, texts=texts)


def numbers_of(score):
    null = None if score.null is None else np.asarray(score.null.values).tolist()
    return repr((score.value, score.p_value, score.n, score.interval, score.unit, null))


def changed(name, change, tolerance=1e-7, **options):
    """Return a line for each score that is another one after a change of all vectors."""
    vectors, numbers, texts = inputs_of(name)
    moved = {key: change(x) for key, x in vectors.items()}
    before = scores_of(name, vectors, numbers, texts, **options)
    after = scores_of(name, moved, numbers, texts, **options)
    return [
        f"{name}: {key}: {score.value}, then {after[key].value}"
        for key, score in before.items()
        if not np.isclose(score.value, after[key].value, rtol=tolerance, atol=tolerance)
    ]


def test_each_metric_loads_by_name_and_every_score_has_a_help_text():
    for name in NAMES:
        metric = Registry().metric(name)
        assert metric.name == name
        assert all(scale.help for scale in metric.scores.values()), name


def test_a_rotation_of_the_vectors_changes_no_score():
    turn = ortho_group.rvs(8, random_state=0)
    faults = []
    for name in NAMES:
        if name not in BY_COORDINATE:
            options = {"classifier": "logistic"}  # a vote of support vectors can be a tie
            faults += changed(name, lambda x: x @ turn, **options)
    assert not faults


def test_at_unit_length_the_lengths_of_the_vectors_change_no_score():
    def of_other_lengths(x):
        return x * np.random.default_rng(len(x)).uniform(0.5, 2, (len(x), 1))

    faults, grown = [], set()
    for name in sorted(set(NAMES) - set(BY_COORDINATE)):
        faults += changed(name, of_other_lengths, unit_length=True)
        if changed(name, lambda x: 3 * x):
            grown.add(name)
    # the Euclidean distance of perturbations is of vectors as they are
    assert [fault for fault in faults if "perturbation-similarity: distance" not in fault] == []
    assert grown == set(OF_LENGTHS)


def test_swapped_sides_mirror_a_score_or_leave_it():
    faults = []
    for name, side, mirrored in SWAPS:
        vectors, numbers, texts = inputs_of(name)
        other = OTHER_SIDE.get(side, side[:-1] + "2")
        swap = {side: other, other: side}
        swapped = [{key: of[swap.get(key, key)] for key in of} for of in (vectors, texts)]
        before = scores_of(name, vectors, numbers, texts, **NO_DRAWS)
        after = scores_of(name, swapped[0], numbers, swapped[1], **NO_DRAWS)
        for key in set(before) - NOT_ALIKE.get(name, set()):
            low, high = Registry().metric(name).scores[key].bounds
            expected = before[key].value
            if key in mirrored:
                expected = -expected if None in (low, high) else low + high - expected
            if not np.isclose(after[key].value, expected, rtol=1e-7, atol=1e-7):
                faults.append(f"{name}: {key}: {before[key].value}, then {after[key].value}")
    assert not faults


def test_the_p_value_is_the_larger_of_all_that_is_shuffled():
    faults, several = [], set()
    for name in NAMES:
        if "sides" not in Registry().metric(name).options:
            continue
        for key, score in scores_of(name, *inputs_of(name), sides="both").items():
            parts = {part: p for part, p in score.details.items() if part.startswith("p_")}
            parts = {part: p for part, p in parts.items() if isinstance(p, float)}
            if len(parts) > 1:
                several.add(name)
                if score.p_value != max(parts.values()):
                    faults.append(f"{name}: {key}: {score.p_value} of {parts}")
    assert not faults
    assert len(several) >= 4


def test_values_are_within_their_bounds_and_intervals_contain_them():
    faults, with_interval = [], set()
    for name in NAMES:
        scales = Registry().metric(name).scores
        for key, score in scores_of(name, *inputs_of(name), resamples=100, null_draws=0).items():
            if not is_within(score.value, score.bounds or scales[key].bounds):
                faults.append(f"{name}: {key}: {score.value} is out of its bounds")
            if score.interval is not None:
                with_interval.add(name)
                if not score.interval.low <= score.value <= score.interval.high:
                    faults.append(f"{name}: {key}: {score.value} is outside {score.interval}")
    assert not faults
    assert len(with_interval) > 25


@pytest.mark.parametrize(
    ("name", "items", "key"),
    [("direct-bias", "neutral", "direct_bias"), ("concept-direction", "attributes", "correlation"),
     ("occupation-projection", "occupations", "spearman"),
     ("similarity-correlation", "texts_1", "pearson")],
)  # fmt: skip
def test_an_interval_leaves_out_whole_clusters_of_items(name, items, key):
    vectors, numbers, texts = inputs_of(name)
    n = len(vectors[items])
    alike = {of: x for of, x in vectors.items() if len(x) == n}
    twice = {of: np.repeat(x, 2, axis=0) for of, x in alike.items()}
    labels = {of: np.repeat(x, 2) for of, x in numbers.items()}
    names = texts | {of: [text for text in texts[of] for _ in range(2)] for of in alike}
    clusters = {items: np.repeat(np.arange(n), 2)}
    of_items = scores_of(name, vectors, numbers, texts, resamples=100)[key].interval
    score = scores_of(name, vectors | twice, labels, names, clusters, resamples=100)[key]
    assert "of clusters" in score.interval.method
    assert score.interval.low == pytest.approx(of_items.low)
    assert score.interval.high == pytest.approx(of_items.high)


def test_empty_sets_have_no_score_but_a_reason():
    faults = []
    for name in sorted(set(NAMES) - set(NEEDS_ROWS)):
        vectors, numbers, texts = inputs_of(name)
        for empty in (tuple(vectors), *((key,) for key in APART.get(name, ()))):
            try:
                scores = scores_of(
                    name,
                    {key: x[:0] if key in empty else x for key, x in vectors.items()},
                    {key: x[:0] if len(empty) == len(vectors) else x for key, x in numbers.items()},
                    {key: [] if key in empty else of for key, of in texts.items()},
                )
            except Exception as error:  # all faults are reported at the end
                faults.append(f"{name} without {empty}: {error!r}")
                continue
            faults += [
                f"{name} without {empty}: {key} is {score.value}: {score.reason}"
                for key, score in scores.items()
                if np.isfinite(score.value) or not score.reason
            ]
    assert not faults


def test_equal_sides_have_no_direction_and_no_score_but_a_reason():
    faults = []
    for name, side in EQUAL:
        vectors, numbers, texts = inputs_of(name)
        vectors[side[:-1] + "2"] = vectors[side]
        faults += [
            f"{name}: {key} is {score.value}: {score.reason}"
            for key, score in scores_of(name, vectors, numbers, texts).items()
            if np.isfinite(score.value) or not score.reason
        ]
    assert not faults


def test_an_invalid_option_is_one_clear_error():
    faults = []
    for name in NAMES:
        for option in set(BAD) & set(Registry().metric(name).options):
            try:
                scores_of(name, *inputs_of(name), **{option: BAD[option]})
            except InvalidOption as error:
                if option not in str(error):
                    faults.append(f"{name}: {option}: {error}")
            except Exception as error:  # all faults are reported at the end
                faults.append(f"{name}: {option}: {error!r}")
            else:
                faults.append(f"{name}: {option}={BAD[option]} is accepted")
    assert faults == ["query-loss: k=0 is accepted"]  # it decides a detail, the recall


def test_without_draws_there_is_neither_floor_nor_drawn_p_value():
    faults = []
    for name in NAMES:
        for key, score in scores_of(name, *inputs_of(name), **NO_DRAWS).items():
            if score.null is not None and name not in RANDOM_SIDES:
                faults.append(f"{name}: {key} has a floor")
            if score.p_value is not None and name not in BY_FORMULA:
                faults.append(f"{name}: {key} has the p-value {score.p_value}")
    assert not faults


def test_the_same_seed_gives_the_same_numbers():
    faults = []
    for name in NAMES:
        first, second = (scores_of(name, *inputs_of(name), resamples=50) for _ in range(2))
        faults += [
            f"{name}: {key}" for key in first if numbers_of(first[key]) != numbers_of(second[key])
        ]
    assert not faults


def measured(name, options=None):
    """Return the scores of a metric on random vectors, and the texts of its inputs."""
    vectors, numbers, texts = inputs_of(name)
    metric = Registry().metric(name)
    chosen = {"resamples": 0} if "resamples" in metric.options else {}
    chosen |= OPTIONS.get(name, {}) | (options or {})
    rng = np.random.default_rng(6)
    return metric.measure(vectors | numbers, chosen, rng=rng, clusters={}, texts=texts), texts


def parts_of(score):
    return list(score.samples() if callable(score.samples) else score.samples)


def size_of(part, texts):
    inputs = (part.inputs,) if isinstance(part.inputs, str) else part.inputs
    if part.rows is not None:
        return len(part.rows)
    return len(texts[inputs[0]]) if inputs else len(part.contribution)


@pytest.mark.parametrize("name", NAMES)
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
