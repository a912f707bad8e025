"""Variances between groups: by hand, by brute force, under noise and where groups are alike."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.metrics import Gap
from harness.plugins.metrics.statistics.group_gaps import dispersion_gap, screening_gap
from harness.results.ratios import ratio_of

G, F, D = 12, 6, 384
WORDS = [f"word {i}" for i in range(10)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def dispersion(rng, effect=0.5, groups=G, frames=F):
    """Return sentences of groups, of which half are nearer to pleasant words."""
    axis = unit(rng.standard_normal(D)) * 8
    side = np.where(np.arange(groups) % 2, 1, -1) * rng.uniform(0.5, 1.5, groups) * effect
    x = np.zeros((groups, frames, D)) + rng.standard_normal(D) + rng.standard_normal((frames, D))
    x += rng.standard_normal((groups, 1, D)) / 2 + rng.standard_normal((groups, frames, D)) / 2
    x += side[:, None, None] * axis
    number = np.arange(groups * frames)
    words = rng.standard_normal((2, 10, D)) + np.array([1, -1])[:, None, None] * axis
    return {
        "sentences": x.reshape(-1, D),
        "groups": (number // frames).astype(float),
        "frames": (number % frames).astype(float),
        "pleasant": words[0],
        "unpleasant": words[1],
    }


def of(arrays):
    units = {
        "sentences": [f"group {group:g}" for group in arrays["groups"]],
        "pleasant": WORDS[: len(arrays["pleasant"])],
        "unpleasant": [f"un{word}" for word in WORDS[: len(arrays["unpleasant"])]],
    }
    return dispersion_gap(**arrays, units=units).gap


def test_the_gap_is_the_mean_covariance_over_all_splits_of_frames_and_words(rng):
    arrays = dispersion(rng, groups=5, frames=4)
    for name in ("pleasant", "unpleasant"):
        arrays[name] = arrays[name][:4]
    x, a, b = (unit(arrays[name]) for name in ("sentences", "pleasant", "unpleasant"))
    x = x.reshape(5, 4, D)
    halves = [list(half) for half in itertools.combinations(range(4), 2)]
    values = []
    for f, p, u in itertools.product(halves, repeat=3):
        first = x[:, f].mean(axis=1) @ (a[p].mean(axis=0) - b[u].mean(axis=0))
        f, p, u = (np.setdiff1d(range(4), half) for half in (f, p, u))
        second = x[:, f].mean(axis=1) @ (a[p].mean(axis=0) - b[u].mean(axis=0))
        values.append(np.cov(first, second)[0, 1])
    assert of(arrays).value == pytest.approx(np.mean(values))


def test_the_deviations_are_those_of_leaving_out_each_group_and_each_word(rng):
    arrays = dispersion(rng)
    gap = of(arrays)
    without = []
    for group in range(G):
        kept = arrays["groups"] != group
        rows = {name: arrays[name][kept] for name in ("sentences", "groups", "frames")}
        without.append(of(arrays | rows).value)
    check(gap, without, [f"group {group}" for group in range(G)])
    for name, prefix in (("pleasant", ""), ("unpleasant", "un")):
        words = [np.delete(arrays[name], i, axis=0) for i in range(10)]
        without = [of(arrays | {name: rows}).value for rows in words]
        check(gap, without, [prefix + word for word in WORDS])
    assert gap.power == 2


def check(gap, without, names):
    k = len(without)
    expected = (np.array(without) - np.mean(without)) * np.sqrt((k - 1) / k)
    assert [gap.deviations[name] for name in names] == pytest.approx(expected.tolist(), abs=1e-12)


def test_a_frame_that_lacks_a_group_is_left_out(rng):
    arrays = dispersion(rng)
    kept = ~((arrays["groups"] == 3) & (arrays["frames"] == 2))
    rows = {name: arrays[name][kept] for name in ("sentences", "groups", "frames")}
    whole = arrays["frames"] != 2
    whole = {name: arrays[name][whole] for name in rows}
    assert of(arrays | rows).value == pytest.approx(of(arrays | whole).value)


def test_too_few_groups_frames_or_words_have_no_gap(rng):
    arrays = dispersion(rng)
    assert np.isnan(of(arrays | {"groups": arrays["groups"] % 2}).value)
    assert np.isnan(of(arrays | {"frames": np.zeros(G * F)}).value)
    assert np.isnan(of(arrays | {"pleasant": arrays["pleasant"][:2]}).value)


def test_a_scale_and_a_constant_coordinate_leave_the_ratio_as_it_is(rng):
    arrays, others = dispersion(rng), dispersion(rng, effect=1.0)
    others |= {name: arrays[name] for name in ("pleasant", "unpleasant")}
    ratio = of(arrays).value / of(others).value
    for changed in (lambda x: 7 * x, lambda x: np.pad(x, ((0, 0), (0, 1)), constant_values=2.0)):
        gap, yardstick = (of(vectors_of(of_task, changed)) for of_task in (arrays, others))
        assert gap.value / yardstick.value == pytest.approx(ratio)


def vectors_of(arrays, change):
    return arrays | {
        name: change(unit(arrays[name])) for name in ("sentences", "pleasant", "unpleasant")
    }


def test_noise_of_length_1_leaves_the_ratio_in_its_interval(rng):
    axis_words = dispersion(rng, groups=24)
    arrays, others = axis_words.copy(), axis_words.copy()
    first = axis_words["groups"] < G
    for name in ("sentences", "groups", "frames"):
        arrays[name], others[name] = axis_words[name][first], axis_words[name][~first]
    ratio = np.sqrt(of(arrays).value / of(others).value)
    for _ in range(20):
        words = {name: noisy(axis_words[name], rng) for name in ("pleasant", "unpleasant")}
        gap, yardstick = (
            of(a | words | {"sentences": noisy(a["sentences"], rng)}) for a in (arrays, others)
        )
        part = ratio_of(gap, yardstick, "others")
        assert part.low < ratio < part.high


def noisy(x, rng):
    return unit(x) + unit(rng.standard_normal(x.shape))


def test_the_dispersion_is_0_on_average_where_the_groups_of_a_frame_are_shuffled(rng):
    arrays = dispersion(rng)
    assert of(arrays).value > 2 * np.sqrt(of(arrays).variance)
    values = []
    for _ in range(200):
        groups = arrays["groups"].copy()
        for frame in range(F):
            rows = np.flatnonzero(arrays["frames"] == frame)
            groups[rows] = rng.permutation(groups[rows])
        values.append(of(arrays | {"groups": groups}).value)
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(200)


def screening(rng, effect, names=10, jobs=4, screenings=3):
    """Return applications for jobs, of names of two groups that differ by an effect."""
    d = jobs + 1
    count = 2 * names
    name = np.tile(np.arange(count), jobs * screenings)
    of_screening = np.repeat(np.arange(jobs * screenings), count)
    of_job = of_screening // screenings
    own = rng.normal(0.5, 0.02, jobs * screenings)[of_screening]
    shift = (np.where(np.arange(count) < names, effect, -effect) + rng.normal(0, 0.02, count))[name]
    resumes = np.zeros((len(name), d))
    resumes[np.arange(len(name)), of_job] = own + shift + rng.normal(0, 0.01, len(name))
    resumes[:, -1] = np.sqrt(1 - (resumes**2).sum(axis=1))
    queries = np.eye(d)[of_job]
    return {
        "resumes": resumes,
        "queries": queries,
        "groups": (name >= names).astype(float),
        "units": name.astype(float),
        "screenings": of_screening.astype(float),
        "jobs": of_job.astype(float),
    }


def test_screening_by_hand():
    # cosines of the names of both groups, .1 apart; variance within 0.01 and 0.01, of 3 names
    c = np.tile([0.6, 0.7, 0.8, 0.5, 0.6, 0.7], 3)
    job = np.repeat(np.arange(3), 6)
    resumes = np.zeros((18, 4))
    resumes[np.arange(18), job] = c
    resumes[:, 3] = np.sqrt(1 - c**2)
    groups, names = np.tile([0.0, 0, 0, 1, 1, 1], 3), np.tile(np.arange(6.0), 3)
    gaps = screening_gap(
        resumes, np.eye(4)[job], groups, names, job.astype(float), job.astype(float)
    )
    assert gaps.gap.value == pytest.approx(0.1**2 / 2 - 0.01 / 3)
    assert gaps.yardstick.value == pytest.approx(0.65**2)
    assert gaps.gap.power == gaps.yardstick.power == 2


def test_the_deviations_of_screening_are_those_of_leaving_out_names_and_jobs(rng):
    arrays = screening(rng, 0.03)
    gaps = screening_gap(**arrays)
    kept = [arrays["units"] != name for name in range(20)]
    without = [
        screening_gap(**{name: array[rows] for name, array in arrays.items()}).gap.value
        for rows in kept
    ]
    check(gaps.gap, without, [name for name in gaps.gap.deviations if name != "chance"])
    rows = [arrays["jobs"] != job for job in range(4)]
    without = [
        screening_gap(**{name: array[of] for name, array in arrays.items()}).yardstick.value
        for of in rows
    ]
    check(gaps.yardstick, without, [f"job {job}" for job in range(4)])


def test_screening_is_at_least_as_uncertain_as_chance_is(rng):
    z = []
    for _ in range(300):
        gap = screening_gap(**screening(rng, 0.0)).gap
        z.append(gap.value / np.sqrt(gap.variance))
    assert np.sqrt(np.mean(np.square(z))) < 1.2


def test_screening_is_0_on_average_where_groups_do_not_differ(rng):
    values = np.array([screening_gap(**screening(rng, 0.0)).gap.value for _ in range(200)])
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(200)
    gap = screening_gap(**screening(rng, 0.03)).gap
    assert gap.value > 2 * np.sqrt(gap.variance)


def test_screening_of_two_jobs_has_no_yardstick(rng):
    assert screening_gap(**screening(rng, 0.0, jobs=2)).yardstick is None


def test_groups_of_two_names_have_no_gap(rng):
    gaps = screening_gap(**screening(rng, 0.0, names=2))
    assert np.isnan(gaps.gap.value)
    assert isinstance(gaps.gap, Gap)


def of_surnames(rng, by, *, spread=(0.05, 0.02), effects=(0.0,) * 8, per_race=10):
    """Return applications of a woman and a man with each surname of four races, for four jobs."""
    kin = np.tile(np.repeat(np.arange(4 * per_race), 2), 4)
    gender = np.tile([0, 1], 16 * per_race)
    job = np.repeat(np.arange(4), 8 * per_race)
    group = 2 * (kin // per_race) + gender
    of_name = spread[0] * np.repeat(rng.standard_normal(4 * per_race), 2)
    of_name = of_name + spread[1] * rng.standard_normal(8 * per_race)
    c = 0.5 + np.tile(of_name, 4) + np.asarray(effects)[group]
    resumes = np.zeros((len(c), 5))
    resumes[np.arange(len(c)), job] = c
    resumes[:, 4] = np.sqrt(1 - c**2)
    groups = {"race": kin // per_race, "gender": gender, "both": group}[by]
    units = kin if by == "race" else np.tile(np.arange(8 * per_race), 4)
    return {
        "resumes": resumes,
        "queries": np.eye(5)[job],
        "groups": groups.astype(float),
        "units": units.astype(float),
        "screenings": job.astype(float),
        "jobs": job.astype(float),
        "kin": kin.astype(float),
    }


@pytest.mark.parametrize("by", ["race", "gender", "both"])
def test_what_surnames_share_adds_nothing_to_the_gap(rng, by):
    gaps = [screening_gap(**of_surnames(rng, by)).gap for _ in range(200)]
    values = np.array([gap.value for gap in gaps])
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(200)
    z = [gap.value / np.sqrt(gap.variance) for gap in gaps]
    assert np.sqrt(np.mean(np.square(z))) < 1.2


def test_the_gap_of_men_and_women_with_one_surname_is_that_of_pairs(rng):
    effects = [0.0, 0.02] * 4
    gap = screening_gap(**of_surnames(rng, "gender", spread=(0.1, 0.005), effects=effects)).gap
    assert gap.value == pytest.approx(0.02**2 / 2, rel=0.3)
    assert gap.value > 3 * np.sqrt(gap.variance)


def test_the_deviations_of_kin_are_those_of_leaving_them_out(rng):
    arrays = of_surnames(rng, "both", per_race=4, effects=[0, 0, 0, 0, 0.1, 0.1, 0, 0])
    gap = screening_gap(**arrays).gap
    without = []
    for kin in range(16):
        # the mean of a screening is that of all names, so the gap is taken of centred cosines
        kept = arrays["kin"] != kin
        without.append(
            screening_gap(**{name: array[kept] for name, array in arrays.items()}).gap.value
        )
    check(gap, without, [f"kin {kin}" for kin in range(16)])
