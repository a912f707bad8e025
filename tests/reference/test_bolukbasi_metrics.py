"""The geometric metrics of Bolukbasi et al. (2016) on GloVe 6B 50d and spaCy's 300d vectors."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import harness.tasks
from harness import folders
from harness.chain import Chain, MitigatedEmbedder
from harness.embedder import vocabulary_of
from harness.metrics import Score
from harness.plugins.embedders.vectors import spacy_vectors
from harness.plugins.metrics.analogies import found, words_of
from harness.plugins.metrics.direct_bias import direct_bias
from harness.plugins.metrics.indirect_bias import gender_share, indirect_bias
from harness.plugins.metrics.occupation_projection import occupation_projection
from harness.plugins.metrics.pair_analogies import pair_analogies
from harness.plugins.metrics.statistics.concept_scores import pair_components
from harness.plugins.mitigators.hard_debias import HardDebias

MODELS = {"glove50": "glove-6b-50d", "md300": "en-core-web-md"}
MEASURED = 2e-3  # the expected values' own tolerance
PATTERN = re.compile("[a-z]{1,19}").fullmatch
PRINTED = 40  # number of pairs in a list of the expected values


@pytest.fixture(scope="module", params=MODELS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def model(name, registry):
    if folders.of_package(spacy_vectors.PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    return registry.embedder(MODELS[name])


@pytest.fixture(scope="module")
def reference(name, expected):
    return expected("bolukbasi_words.json")[name]


@pytest.fixture(scope="module")
def pairs(registry, model):
    """Return the vectors of the two sides of the definitional pairs."""
    words = registry.concept("gender").definitional_pairs
    return [model.encode([pair[side] for pair in words]) for side in (0, 1)]


@pytest.fixture(scope="module")
def professions(data_folder, model):
    """Return the rows [word, definitional, stereotypical] of known words, and their vectors."""
    rows = json.loads((data_folder / "professions.json").read_text("utf-8"))
    vectors = model.encode([row[0] for row in rows])
    known = np.isfinite(vectors).all(axis=1)
    return [row for row, is_known in zip(rows, known, strict=True) if is_known], vectors[known]


@pytest.fixture(scope="module")
def kept(data_folder, professions):
    """Return a mask of professions for each key of the expected values."""
    rows, _ = professions
    lists = {
        name: set(json.loads((data_folder / f"gender_specific_{name}.json").read_text("utf-8")))
        for name in ("seed", "full")
    }
    return {
        "all": np.array([True for _ in rows]),
        "def<0.5": np.array([abs(row[1]) < 0.5 for row in rows]),
        "not in seed": np.array([row[0] not in lists["seed"] for row in rows]),
        "not in full": np.array([row[0] not in lists["full"] for row in rows]),
    }


def supplied() -> dict:
    return {"resamples": 0, "rng": np.random.default_rng(0)}


def seeds(model) -> tuple[np.ndarray, np.ndarray]:
    return model.encode(["she"]), model.encode(["he"])


@pytest.mark.parametrize("which", ["def<0.5", "not in seed", "not in full"])
def test_direct_bias_of_neutral_professions_is_as_measured(
    which, pairs, professions, kept, reference
):
    score = direct_bias(*pairs, professions[1][kept[which]], **supplied())
    value, n = reference["direct_bias"][which]
    assert score.value == pytest.approx(value, abs=MEASURED)
    assert score.n == n


@pytest.mark.parametrize("which", ["all", "def<0.5", "not in full"])
@pytest.mark.parametrize("direction", ["g", "she-he"])
def test_the_correlation_of_professions_with_ratings_is_as_measured(
    direction, which, model, pairs, professions, kept, reference
):
    rows, vectors = professions
    ratings = np.array([row[2] for row in rows])[kept[which]]
    sides = pairs if direction == "g" else seeds(model)
    score = occupation_projection(*sides, vectors[kept[which]], ratings, **supplied())
    value, n = reference["crowd_spearman"][f"{direction} {which} stereo"]
    assert score.value == pytest.approx(value, abs=MEASURED)
    assert score.n == n


def test_projections_of_professions_in_two_models_correlate_as_measured(
    glove_50d, en_core_web_md, data_folder, expected
):
    """Figure 4; between the paper's two embeddings it is .81."""
    words = [row[0] for row in json.loads((data_folder / "professions.json").read_text("utf-8"))]
    cosines = []
    for model in (glove_50d, en_core_web_md):
        score = direct_bias(*seeds(model), model.encode(words), **supplied())
        cosines.append(score.samples[0].columns["cosine"])
    known = np.isfinite(cosines).all(axis=0)
    value, n = expected("bolukbasi_words.json")["direction_words"][
        "spearman she-he professions glove50 vs md300"
    ]
    assert spearmanr(*np.array(cosines)[:, known]).statistic == pytest.approx(value, abs=MEASURED)
    assert known.sum() == n


def test_indirect_bias_is_as_measured(model, pairs, professions, reference):
    g = pair_components(*pairs).vectors[0]
    named = reference["indirect_before"]["beta_named"]
    words, poles = zip(*(key.rsplit("-", 1) for key in named), strict=True)
    betas = gender_share(model.encode(words), model.encode(poles), g)
    assert betas == pytest.approx(list(named.values()), abs=MEASURED)
    rows, vectors = professions
    poles = [model.encode([pole]) for pole in ("softball", "football")]
    texts = {
        "words": [row[0] for row in rows],
        "poles_1": ["softball"],
        "poles_2": ["football"],
    }
    scores = indirect_bias(*pairs, vectors, *poles, least_similarity=0.0, texts=texts)
    for pole in ("softball", "football"):
        result = [row for row in scores["magnitude"].tables["words"] if row["pole"] == pole]
        names, values = zip(*reference["indirect_before"][pole], strict=True)
        # Compare vectors: in the pruned table, bartender and waitress share one.
        assert np.array_equal(model.encode([row["word"] for row in result]), model.encode(names))
        assert [row["beta"] for row in result] == pytest.approx(list(values), abs=MEASURED)


def analogies(model, head: int, size: int, **options) -> Score:
    """Return the score of the first `size` lower-case words among the first `head` words."""
    words, vectors = vocabulary_of(model).head(head)
    rows = [row for row, word in enumerate(words) if PATTERN(word)][:size]
    texts = {"vocabulary": [words[row] for row in rows], "rated_1": [], "rated_2": []}
    none = np.empty((0, vectors.shape[1]))
    scores = pair_analogies(
        *seeds(model), vectors[rows], none, none, none[:, 0], none[:, 0], texts=texts, **options
    )
    return scores["stereotyped"]


def pairs_of(score: Score) -> list[list]:
    return [[row["first"], row["second"], row["score"]] for row in score.tables["pairs"]]


@pytest.mark.parametrize(("unique", "key"), [("first", "x"), ("both", "xy")])
def test_generated_analogies_of_glove_are_as_measured(unique, key, glove_50d, expected):
    size = 20_000
    reference = expected("bolukbasi_words.json")["analogies"][f"glove50 before {size} uniq={key}"]
    score = analogies(glove_50d, 30_000, size, unique=unique)
    result = pairs_of(score)
    assert [row[:2] for row in result[:PRINTED]] == [row[:2] for row in reference["top"]]
    assert [row[2] for row in result[:PRINTED]] == pytest.approx(
        [row[2] for row in reference["top"]], abs=MEASURED
    )
    assert len(result) == 150
    # The measurement counted a pair in both orders, and each word with itself.
    counted = 2 * score.details["within_delta"] + size
    assert counted == pytest.approx(reference["pairs_within_delta"], rel=MEASURED)


def test_analogies_of_equation_2_have_little_to_do_with_gender(en_core_web_md, registry):
    """As in figure 9: none of the ten pairs that only equation 2 lists names a woman and a man."""
    own = words_of(registry.concept("gender"))
    seeds = ("she", "he")
    listed = found(en_core_web_md, seeds, left_out=own, equation="both", top=10, size=20_000)
    only = {equation: [pair[:2] for pair in pairs] for equation, pairs in listed.items()}
    assert ("southern", "northern") in only["equation 2"]
    assert ("east", "west") in only["equation 2"], "the paper's list has east-west, too"
    assert ("gorgeous", "splendid") in only["equation 1"], "the paper's: glamorous-flashy"


def test_a_debiased_model_answers_that_she_is_a_physician(en_core_web_md, registry):
    """Section 8: he to doctor is as she to nurse before, and to physician after hard debiasing."""
    debiased = HardDebias().fit(en_core_web_md, registry.concept("gender"))
    for model, answer in (
        (en_core_web_md, "nurse"),
        (MitigatedEmbedder(en_core_web_md, Chain([debiased])), "physician"),
    ):
        answers = found(model, ("he", "she"), "doctor", top=1, size=20_000)
        assert [pairs[0][1] for pairs in answers.values()] == [answer] * 2


def ratings() -> list[dict[str, str]]:
    path = Path(harness.tasks.__file__).parent / "bolukbasi" / "analogy_ratings.tsv"
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def test_the_majority_ratings_have_as_many_stereotypes_as_the_paper_counts():
    rated = ratings()
    before = [row for row in rated if row["list"] != "after"]
    after = [row for row in rated if row["list"] != "before"]
    assert len(before) == len(after) == 148, "of 150, as printed"
    assert sum(int(row["biased"]) >= 6 for row in before) == 29  # section 4, 19 %
    assert sum(int(row["biased"]) >= 6 for row in after) == 9  # section 8, 6 %
    assert sum(int(row["appropriate"]) >= 6 for row in before) == 71
    assert sum(int(row["appropriate"]) >= 6 for row in after) == 72
    assert sum(int(row["biased"]) >= 5 for row in before) == 38, "section 4 prints 29"
    assert sum(int(row["appropriate"]) >= 5 for row in before) == 73, "section 4 prints 72"


def test_the_shipped_professions_and_ratings_are_those_of_the_authors(data_folder):
    path = Path(harness.tasks.__file__).parent / "bolukbasi" / "professions.tsv"
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    ours = [
        [row["word"], float(row["definitional"]), float(row["stereotypical"])]
        for row in csv.DictReader(lines, delimiter="\t")
    ]
    theirs = (data_folder / "professions.json").read_text("utf-8")
    assert ours == json.loads(theirs)
