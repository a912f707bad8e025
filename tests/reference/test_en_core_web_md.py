"""Usefulness, analogies, hard and soft debiasing of en_core_web_md 3.7.1 against measured values.

The values were measured on one word per row of the pruned table. It is the most frequent one: the
first word of the row among GloVe's first 50,000 words, if it has only the letters a to z.
"""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import spearmanr

from harness.arrays import paired_cosines, unit_rows
from harness.concept import Concept
from harness.embedder import vocabulary_of
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.metrics.indirect_bias import gender_share
from harness.plugins.metrics.pair_analogies import pair_analogies
from harness.plugins.metrics.word_analogies import word_analogies
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.soft_debias import SoftDebias

MEASURED = 2e-3  # the expected values' own tolerance
LAMBDAS = ("0.2", "1", "10", "100", "1000", "10000", "1e+06")
LISTS = ("definitional_pairs", "equalize_pairs", "gender_specific_seed", "gender_specific_full")
FILES = {"RG": "EN-RG-65", "WS": "EN-WS-353-ALL", "SL": "EN-SIMLEX-999"}


@pytest.fixture(scope="module")
def model(en_core_web_md):
    return en_core_web_md


@pytest.fixture(scope="module")
def measured(model, glove_50d):
    """Return the words of the measurements and their vectors."""
    words = vocabulary_of(glove_50d).words[:50_000]
    first: dict[bytes, tuple[str, np.ndarray]] = {}
    for word, row in zip(words, model.encode(words), strict=True):
        if np.isfinite(row).all():
            first.setdefault(row.tobytes(), (word, row))
    kept = [(word, row) for word, row in first.values() if re.fullmatch("[a-z]{1,19}", word)]
    assert len(kept) == pytest.approx(14_559, abs=1)
    return [word for word, _ in kept], np.stack([row for _, row in kept])


@pytest.fixture(scope="module")
def reference(expected):
    return expected("bolukbasi_words.json")


@pytest.fixture(scope="module")
def concepts(measured, debiaswe):
    """Return gender by list of specific words, with the equalize sets of measured words."""
    lists = {name: debiaswe(name) for name in LISTS}
    known = set(measured[0])
    return {
        which: Concept(
            name="gender",
            definitional_pairs=tuple(map(tuple, lists["definitional_pairs"])),
            equalize_sets=tuple(tuple(p) for p in lists["equalize_pairs"] if known.issuperset(p)),
            specific_words=tuple(lists[f"gender_specific_{which}"]),
        )
        for which in ("seed", "full")
    }


@pytest.fixture(scope="module")
def debiased(model, concepts):
    return {
        which: HardDebias(subspace="unit-differences").fit(model, concept)
        for which, concept in concepts.items()
    }


class Measured:
    """en_core_web_md with the vocabulary of the measurements; it still encodes every key."""

    def __init__(self, model, words, vectors) -> None:
        self.info, self.encode = model.info, model.encode
        self.words, self.vectors = words, vectors


def rated_pairs(data_folder, key):
    text = (data_folder / f"{FILES[key]}.txt").read_text("utf-8")
    return [line.split() for line in text.splitlines()]


def answers(words, vectors, data_folder):
    """Return the accuracy of the Google questions by part, and how many were answered."""
    parts: dict[str, list[list[str]]] = {"semantic": [], "syntactic": [], "family": []}
    text = (data_folder / "google_questions-words.txt").read_text("utf-8")
    for section in text.split(": ")[1:]:
        name, *lines = section.strip().splitlines()
        questions = [line.split() for line in lines]
        parts["syntactic" if name.startswith("gram") else "semantic"] += questions
        parts["family"] += questions if name == "family" else []
    result = {}
    for part, questions in parts.items():
        sides = dict(zip("abcd", zip(*questions, strict=True), strict=True))
        none = [np.empty((len(questions), 0))] * 4
        texts = sides | {"vocabulary": words}
        rng = np.random.default_rng(0)
        scores = word_analogies(*none, vectors, texts=texts, rng=rng, resamples=0)
        result[part] = scores["accuracy_3cosadd"]
    answered = result["semantic"].n + result["syntactic"].n
    right = sum(result[part].value * result[part].n for part in ("semantic", "syntactic"))
    values = {part: score.value for part, score in result.items()} | {"all": right / answered}
    return values, answered


def generated(words, vectors, model):
    none = np.empty((0, vectors.shape[1]))
    texts = {"vocabulary": words, "rated_1": [], "rated_2": []}
    rows = dict(zip(words, vectors, strict=True))
    seeds = rows["she"][None], rows["he"][None]
    scores = pair_analogies(*seeds, vectors, none, none, none[:, 0], none[:, 0], texts=texts)
    score = scores["stereotyped"]
    pairs = [[row["first"], row["second"], row["score"]] for row in score.tables["pairs"]]
    return SimpleNamespace(pairs=pairs, within=score.details["within_delta"])


def test_rg_65_is_as_measured(scores, model, reference, data_folder, monkeypatch):
    """Two pairs have a cosine of 1 here; when measured, their cosines differed by rounding."""
    monkeypatch.setenv("HARNESS_DATA", str(data_folder))
    figure, n, missing = reference["md300"]["bench"]["RG before"]
    result = scores("rg-65", model.encode)["default"]["similarity-correlation"]["spearman"]
    assert result.n == n - missing
    assert result.value == pytest.approx(figure, abs=MEASURED)
    rows = rated_pairs(data_folder, "RG")
    sides = [unit_rows(model.encode([row[side] for row in rows])) for side in (0, 1)]
    similarity, ratings = paired_cosines(*sides), [float(row[2]) for row in rows]
    tied = spearmanr(similarity.round(9), ratings).statistic
    assert result.value == pytest.approx(tied, abs=1e-9)
    assert tied == pytest.approx(figure, abs=5e-4)  # .7215 with the tie, .7212 without


@pytest.mark.parametrize("which", ["seed", "full"])
@pytest.mark.parametrize("key", FILES)
def test_word_similarity_after_hard_debiasing_is_as_measured(
    key, which, model, debiased, reference, data_folder
):
    rows = rated_pairs(data_folder, key)
    sides = []
    for side in (0, 1):
        words = [row[side] for row in rows]
        sides.append(unit_rows(debiased[which].transform(model.encode(words), words)))
    ratings = np.array([float(row[2]) for row in rows])
    result = spearmanr(paired_cosines(*sides), ratings).statistic
    figure, n, missing = reference["md300"]["bench"][f"{key} hard {which}"]
    assert len(rows) == n - missing
    assert result == pytest.approx(figure, abs=MEASURED)


def test_google_analogies_are_as_measured(measured, reference, data_folder):
    figures = reference["md300"]["bench"]["analogy before"]
    values, answered = answers(*measured, data_folder)
    assert answered == figures["n"]
    for part, value in values.items():
        assert value == pytest.approx(figures[part], abs=1e-4), part


@pytest.mark.parametrize("which", ["seed", "full"])
def test_google_analogies_after_hard_debiasing_are_as_measured(
    which, measured, debiased, reference, data_folder
):
    figures = reference["md300"]["bench"][f"analogy hard {which}"]
    words, vectors = measured
    values, answered = answers(words, debiased[which].transform(vectors, words), data_folder)
    assert answered == figures["n"]
    for part, value in values.items():
        assert value == pytest.approx(figures[part], abs=MEASURED), part


def test_generated_analogies_are_as_measured(measured, reference, model):
    figures = reference["analogies"]["md300 before 14559 uniq=xy"]
    result = generated(*measured, model)
    for ours, theirs in zip(result.pairs, figures["top"], strict=False):
        assert ours[:2] == theirs[:2]
        assert ours[2] == pytest.approx(theirs[2], abs=MEASURED)
    # The measurement counted a pair in both orders, and each word with itself.
    both = 2 * result.within + len(measured[0])
    assert both == pytest.approx(figures["pairs_within_delta"], rel=MEASURED)


@pytest.mark.long
def test_after_hard_debiasing_equalised_pairs_are_the_best_analogies_as_measured(
    measured, debiased, reference, model
):
    """Of the measured 40 pairs up to three with a score below 1 differ; the reason is unknown."""
    figures = reference["analogies"]["md300 hard 14559 uniq=xy"]
    words, vectors = measured
    result = generated(words, debiased["full"].transform(vectors, words), model)
    perfect = [{tuple(p[:2]) for p in ps if p[2] > 0.999} for ps in (result.pairs, figures["top"])]
    assert perfect[0] == perfect[1]
    assert len(perfect[0]) == 27
    score = {frozenset(pair[:2]): pair[2] for pair in result.pairs}
    both = [pair for pair in figures["top"] if frozenset(pair[:2]) in score]
    same = [pair for pair in both if abs(score[frozenset(pair[:2])] - pair[2]) < MEASURED]
    assert len(same) >= len(figures["top"]) - 3
    counted = 2 * result.within + len(words)
    assert counted == pytest.approx(figures["pairs_within_delta"], rel=MEASURED)


@pytest.mark.parametrize("which", ["seed", "full"])
def test_bias_after_hard_debiasing_is_as_measured(which, model, debiased, reference, debiaswe):
    mitigator = debiased[which]
    named = reference["md300"][f"indirect_after_{which}"]["beta_named"]
    sides = [list(side) for side in zip(*(key.rsplit("-", 1) for key in named), strict=True)]
    rows = [mitigator.transform(model.encode(side), side) for side in sides]
    betas = gender_share(*rows, mitigator.subspace_[0])
    assert betas == pytest.approx(list(named.values()), abs=MEASURED)
    words = [row[0] for row in debiaswe("professions")]
    left = np.abs(mitigator.transform(model.encode(words), words) @ mitigator.subspace_[0])
    figure = reference["md300"][f"hard_{which}"]["direct_all_prof"]
    assert np.nanmean(left) == pytest.approx(figure, abs=MEASURED)


@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("scale", ["sum", "mean"])
def test_soft_debiasing_at_300_dimensions_is_as_measured(
    scale, lam, model, measured, concepts, reference, data_folder, debiaswe
):
    figures = reference["soft"]["md300"][f"{scale} lam={lam}"]
    gender, (words, vectors) = concepts["full"], measured
    soft = SoftDebias(lam=float(lam), scale=scale, subspace="unit-differences")
    soft.fit(Measured(model, words, vectors), gender)
    neutral = [row[0] for row in debiaswe("professions") if row[0] not in gender.specific_words]
    rows = soft.transform(model.encode(neutral), neutral)
    rows = rows[np.isfinite(rows).all(axis=1)]
    pairs = [word for pair in gender.definitional_pairs for word in pair]
    anew = WordVectors.of(pairs, soft.transform(model.encode(pairs), pairs))
    directions = {
        "direct_same_g": soft.subspace_[0],
        "direct_own_g": HardDebias(subspace="unit-differences").fit(anew, gender).subspace_[0],
        "proj_TB": unit_rows(soft.subspace_ @ soft.transform_)[0],
    }
    for key, direction in directions.items():
        assert np.abs(rows @ direction).mean() == pytest.approx(figures[key], abs=MEASURED), key
    assert soft.smallest_eigenvalue_ == pytest.approx(figures["min_eig"], abs=MEASURED)
    assert soft.smallest_eigenvalue_ > 0  # then the closed form is the optimum
    assert soft.objective_ == pytest.approx(figures["obj"], rel=MEASURED)
    for key in {"RG", "WS"} & set(figures):
        rated = rated_pairs(data_folder, key)
        sides = []
        for side in (0, 1):
            side_words = [row[side] for row in rated]
            sides.append(unit_rows(soft.transform(model.encode(side_words), side_words)))
        ratings = [float(row[2]) for row in rated]
        value = spearmanr(paired_cosines(*sides), ratings).statistic
        assert value == pytest.approx(figures[key], abs=MEASURED), key
    if "analogy" in figures:
        values, _ = answers(words, soft.transform(vectors, words), data_folder)
        assert values["all"] == pytest.approx(figures["analogy"], abs=MEASURED)


def test_the_closed_form_has_a_lower_objective_than_a_general_solver(
    model, measured, concepts, reference
):
    for lam in ("0.2", "10000"):
        figures = reference["soft"]["md300"][f"lbfgs lam={lam}"]
        soft = SoftDebias(lam=float(lam), scale="sum", subspace="unit-differences")
        soft.fit(Measured(model, *measured), concepts["full"])
        assert soft.objective_ == pytest.approx(figures["obj_closed"], rel=MEASURED)
        assert soft.objective_ < figures["obj"]
