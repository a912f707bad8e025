"""Clusters of documents: a paper's V-measures, chance, and planted groups."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from harness.plugins.metrics.group_clusters import group_clusters, information
from harness.plugins.metrics.merge_rates import merge_rates
from harness.plugins.metrics.statistics.group_gaps import merge_gap, nearness_gap

FAST = {"null_draws": 0, "resamples": 0}
COLUMNS = ("topics", "groups", "units", "originals")


def documents(
    near, *, groups=2, names=12, topics=4, originals=2, d=60, noise=0.1, spread=1.0, seed=0
):
    """Return documents of topics and originals with names, whose groups lie in `near` directions.

    `near` is a length for each group, by which its names are moved to a point of the group.
    """
    rng = np.random.default_rng(seed)
    t, o, g, u = np.indices((topics, originals, groups, names)).reshape(4, -1)
    lengths = np.broadcast_to(near, groups)
    of_group, of_topic = (rng.standard_normal((k, d)) for k in (groups, topics))
    of_original = rng.standard_normal((topics, originals, d))
    of_name = noise * rng.standard_normal((groups, names, d))
    of_name *= np.broadcast_to(spread, groups)[:, None, None]
    x = of_topic[t] + of_original[t, o] / 2 + of_name[g, u]
    x += lengths[g][:, None] * (of_group / np.linalg.norm(of_group, axis=1)[:, None])[g]
    x += 0.02 * rng.standard_normal(x.shape)
    numbers = dict(zip(COLUMNS, (t, g, u, t * originals + o), strict=True))
    return x, {name: values.astype(float) for name, values in numbers.items()}


def clusters_of(x, numbers, **options):
    return group_clusters(x, **numbers, rng=np.random.default_rng(0), **options)


def merges_of(x, numbers, **options):
    return merge_rates(x, **numbers, rng=np.random.default_rng(0), **options)


@pytest.mark.parametrize(
    ("solution", "expected"),
    [(((3, 1, 1), (1, 3, 1), (1, 1, 3)), 0.14), (((3, 2, 0), (0, 3, 2), (2, 0, 3)), 0.39)],
)
def test_v_measures_are_those_of_the_paper(solution, expected):
    # Rosenberg and Hirschberg (2007), figure 2: solutions A and B of 15 items of three classes
    cluster, topic = np.repeat(np.indices((3, 3)).reshape(2, -1), np.ravel(solution), axis=1)
    x = np.eye(3)[cluster]
    n = np.arange(15.0)
    numbers = {"topics": topic.astype(float), "groups": n % 2, "units": n, "originals": topic * 1.0}
    score = clusters_of(x, numbers, k=2, **FAST)["topic_v_measure"]
    assert score.value == pytest.approx(expected, abs=0.005)
    assert score.details["homogeneity"] == pytest.approx(score.details["completeness"])


def test_the_information_is_that_of_scikit_learn_also_without_some_units():
    rng = np.random.default_rng(0)
    labels, unit, cluster = rng.integers(3, size=30), np.arange(240) % 30, rng.integers(7, size=240)
    table = np.zeros((30, 7))
    np.add.at(table, (unit, cluster), 1)
    counts = (rng.random((5, 30)) < 0.8).astype(float)
    found = information(labels[None], table, counts)
    for value, row in zip(found, counts, strict=True):
        kept = row[unit] > 0
        expected = adjusted_mutual_info_score(labels[unit][kept], cluster[kept])
        assert value == pytest.approx(expected, abs=1e-10)
    several = np.stack([labels, labels[::-1]])
    by_cluster = information(several, table)
    assert by_cluster[1] == pytest.approx(adjusted_mutual_info_score(labels[::-1][unit], cluster))


def test_clusters_that_are_topics_and_groups_have_the_value_1():
    x, numbers = documents(2.0, topics=3, originals=1, noise=0.01)
    scores = clusters_of(x, numbers, k=6, **FAST)
    assert scores["topic_v_measure"].value == pytest.approx(1)
    table = scores["group_information"].tables["clusters"]
    assert sorted(row["documents"] for row in table) == [0] * 6 + [12] * 6
    # six clusters know more than the group, so that their entropy lowers the value
    h_groups, h_clusters = np.log(2), np.log(6)
    assert scores["group_information"].value == pytest.approx(
        2 * h_groups / (h_groups + h_clusters), abs=0.03
    )
    two = {**numbers, "topics": numbers["groups"]}
    assert clusters_of(x, two, k=6, **FAST)["topic_v_measure"].details["homogeneity"] < 1


def test_names_without_groups_are_at_chance_and_planted_groups_are_found():
    options = {"starts": 2, "null_draws": 60}
    fair, biased = (
        clusters_of(*documents(near), **options)["group_information"] for near in (0.0, 0.8)
    )
    assert fair.p_value > 0.05
    assert fair.null.values.mean() == pytest.approx(fair.value, abs=0.1)
    assert biased.value > 0.3
    assert biased.p_value == pytest.approx(1 / 61)
    assert biased.interval.low > biased.null.values.mean()


def test_the_gaps_are_differences_of_mean_cosines_by_hand():
    x, numbers = documents([1.0, 0.5], names=5, seed=3)
    gaps = nearness_gap(x, **numbers)
    unit = x / np.linalg.norm(x, axis=1)[:, None]
    cosine = unit @ unit.T
    group, name, original, topic = (
        np.equal.outer(numbers[key], numbers[key])
        for key in ("groups", "units", "originals", "topics")
    )
    same = original & group & ~name
    assert gaps.gap.value == pytest.approx(cosine[same].mean() - cosine[original & ~group].mean())
    of_topic = topic & ~original
    assert gaps.yardstick.value == pytest.approx(cosine[of_topic].mean() - cosine[~topic].mean())
    merges = merge_gap(x, **numbers)
    assert merges.gap.value == pytest.approx(gaps.gap.value)
    assert merges.yardstick.value == pytest.approx(
        cosine[original & ~(group & name)].mean() - cosine[~original].mean()
    )


def test_without_groups_both_gaps_are_0_on_average():
    for gap in (nearness_gap, merge_gap):
        values, errors = [], []
        for seed in range(40):
            x, numbers = documents(0.0, names=8, topics=9, d=20, noise=0.3, seed=seed)
            found = gap(x, **numbers)
            values.append(found.gap.value)
            errors.append(found.gap.variance**0.5)
            assert found.yardstick.value > 2 * found.yardstick.variance**0.5
        values = np.array(values)
        assert abs(values.mean()) < 3 * values.std() / np.sqrt(len(values))
        assert np.mean(np.abs(values) > 2.2 * np.array(errors)) <= 0.2


def test_both_gaps_find_planted_bias_and_random_vectors_have_no_yardstick():
    near = nearness_gap(*documents(1.0)[:1], **documents(1.0)[1]).gap
    assert near.value > 3 * near.variance**0.5
    x, numbers = documents(1.0)
    noise = np.random.default_rng(0).standard_normal(x.shape)
    for gap in (nearness_gap, merge_gap):
        yardstick = gap(noise, **numbers).yardstick
        assert yardstick.value < 3 * yardstick.variance**0.5


def test_the_nearest_pair_is_merged_by_hand():
    # four names of one original: 0 and 1, of one group, are the nearest of six pairs
    x = np.array([[1, 0, 0], [1, 0.1, 0], [0, 1, 0], [0, 0, 1]], float)
    numbers = dict(zip(COLUMNS, ([0] * 4, [0, 0, 1, 1], [0, 1, 0, 1], [0] * 4), strict=True))
    numbers = {name: np.array(values, float) for name, values in numbers.items()}
    scores = merges_of(x, numbers, false_merges=1 / 6, group_names=("a", "b"), **FAST)
    gap, excess = scores["merge_gap"], scores["own_group_excess"]
    assert gap.details["rates"] == {"a": 1, "b": 0}
    assert (gap.value, excess.value) == (1, 0.5)
    assert gap.details["between"] == 0
    assert gap.details["threshold"] == pytest.approx(1 / np.sqrt(1.01), abs=1e-6)
    assert gap.tables["rates"][0] == pytest.approx(
        {"group_1": "a", "group_2": "a", "same_text": 1.0, "different_texts": np.nan}, nan_ok=True
    )


def test_equal_cosines_share_the_merges_and_are_fair():
    x, numbers = documents(0.0, noise=0.0)
    x = np.repeat(np.eye(8), 24, axis=0)
    scores = merges_of(x, numbers, null_draws=20)
    assert scores["merge_gap"].value == pytest.approx(0, abs=1e-9)
    assert scores["merge_gap"].details["between"] == pytest.approx(0.05)


def test_names_of_one_unit_count_nowhere():
    x, numbers = documents(0.0)
    pairs = {**numbers, "units": numbers["units"] // 2}
    copies = x.reshape(8, 2, 12, -1).copy()
    copies[:, :, 1::2] = copies[:, :, ::2]  # both names of a unit have one vector
    scores = merges_of(copies.reshape(x.shape), pairs, **FAST)
    assert scores["merge_gap"].details["threshold"] < 0.9999


def test_a_group_whose_names_are_alike_is_merged_more_often():
    fair, alike = (
        merges_of(*documents(0.0, spread=spread), null_draws=100) for spread in (1.0, [1.0, 0.5])
    )
    assert fair["merge_gap"].p_value > 0.05
    assert alike["merge_gap"].p_value == pytest.approx(1 / 101)
    assert alike["merge_gap"].details["highest"] == "1"
    assert alike["own_group_excess"].value > 0
    assert alike["merge_gap"].interval.low > alike["merge_gap"].null.values.mean()
