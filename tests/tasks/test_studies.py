"""The studies that ship: they resolve, match their papers, and judge on nothing they fitted on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness import folders, tasks
from harness.embedder import ModelInfo
from harness.plugins.embedders.vectors import glove
from harness.registry import discovery
from harness.registry.registry import Registry
from harness.study import bench, study
from harness.study.folds import deal

NAMES = sorted(path.stem for path in (Path(tasks.__file__).parent / "studies").glob("[!_]*.yaml"))
GENDER = (
    "gender-hard-soft",
    "gender-hard-soft-published",
    "gender-mitigators",
    "gender-hard-soft-300d",
    "gender-hard-soft-published-300d",
)
WORD_MODELS = ("glove-6b-50d", "en-core-web-md")
QUERIES = 8
"""WEAT's queries in the published code; the other measures omit pleasantness."""
WORDS, KNOWN = 6_894, 6_344
"""Distinct attribute words, and how many GloVe 6B has. It has NASA and Einstein in lower case,
which the published code did not look up."""


class Everything:
    """An embedder with a random vector for every text."""

    def __init__(self, kind):
        self.info = ModelInfo(name="everything", kind=kind, fingerprint="everything")

    def encode(self, texts):
        rng = np.random.default_rng(0)
        return rng.normal(size=(len(texts), 8)).astype(np.float32)


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture(scope="module")
def resolved(registry):
    known = {}

    def find(name):
        if name not in known:
            known[name] = study.resolve(discovery.find_file(registry.study_files, name), registry)
        return known[name]

    return find


def scenarios(study, measure):
    return next(m for m in study.measures if m.name == measure).task.scenarios


def attributes(study):
    """Return the distinct words that the measures use besides the pairs."""
    return {
        text
        for measure in study.measures
        for scenario in measure.task.scenarios
        for input_ in scenario.inputs.values()
        if input_.name not in measure.held_out[scenario.name]
        for text in input_.texts or ()
    }


def test_a_study_has_its_name_a_source_and_registered_models(resolved, registry):
    for name in NAMES:
        file = resolved(name).file
        assert (file.name, bool(file.source and file.description and file.title)) == (name, True)
        assert set(file.models) <= set(registry.embedders), name


@pytest.mark.parametrize("name", NAMES)
def test_a_study_fits_on_nothing_that_it_judges(name, resolved):
    chosen = resolved(name)
    kind = "word" if chosen.file.models[0] in WORD_MODELS else "text"
    prepared = bench.prepare(chosen, Everything(kind))
    assert len(prepared.items) == len(chosen.items)
    folds = deal(
        len(prepared.items),
        folds=chosen.file.folds,
        inner_folds=chosen.file.inner_folds,
        repeats=1,
        seed=chosen.file.seed,
        protocol=chosen.file.protocol,
    )
    bench.refuse_overlap(prepared, [split for fold in folds for split in (fold.outer, *fold.inner)])


@pytest.mark.parametrize("name", GENDER)
def test_the_studies_of_gender_have_the_pairs_and_words_of_the_published_one(name, resolved):
    assert len(resolved(name).items) == 45
    assert len(attributes(resolved(name))) == WORDS


@pytest.mark.parametrize("name", GENDER)
def test_weat_has_eight_queries_and_other_measures_of_two_attribute_sets_have_seven(name, resolved):
    gender = resolved(name)
    assert len(scenarios(gender, "WEAT")) == QUERIES
    assert len(scenarios(gender, "RNSB")) == len(scenarios(gender, "WEAT-ES")) == QUERIES - 1


@pytest.mark.parametrize("measure", ["RND", "RIPA", "ECT"])
def test_measures_of_one_attribute_set_count_it_once_but_as_published_once_per_query(
    measure, resolved
):
    def sets(name):
        return [s.inputs["attributes"].texts for s in scenarios(resolved(name), measure)]

    queries = scenarios(resolved("gender-hard-soft"), "RNSB")
    of_queries = [
        s.inputs[side].texts for s in queries for side in ("attributes_1", "attributes_2")
    ]
    assert sorted(sets("gender-hard-soft-published")) == sorted(of_queries)
    assert sorted(sets("gender-hard-soft")) == sorted(set(of_queries))


def test_glove_has_the_words_that_the_published_study_had_and_two_more(resolved, registry):
    if folders.of_package(glove.PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    judged = sorted(attributes(resolved("gender-hard-soft")))
    embedder = registry.embedder("glove-6b-50d")
    known = np.isfinite(embedder.encode(judged)).all(axis=1)
    assert known.sum() == KNOWN
    words = set(embedder.vocabulary.words)
    only_lower = {
        word for word, has in zip(judged, known, strict=True) if has and word not in words
    }
    assert only_lower == {"NASA", "Einstein"}


def test_the_grids_of_the_published_study_are_those_of_its_table_and_code(resolved):
    grids = {row.label: row.settings for row in resolved("gender-hard-soft").candidates}
    alphas = [setting["alpha"] for setting in grids["half-sibling-regression"]]
    assert alphas == [0, 10, 30, 60, 80, 100]
    assert {(setting["theta"], setting["n_neighbours"]) for setting in grids["ran"]} == {
        (theta, n) for theta in (0.02, 0.05, 0.1) for n in (50, 100, 200)
    }
    for row in ("hard-debias", "double-hard-debias"):
        assert {setting["solver"] for setting in grids[row]} == {"full", "arpack", "randomized"}


def test_as_published_vectors_are_normalised_where_wefe_normalises_them(resolved):
    study = resolved("gender-hard-soft-published")
    assert {row.label for row in study.candidates if row.normalize} == {"hard-debias", "ran"}
    assert not study.file.normalize


def test_names_of_women_and_men_are_those_of_weat(resolved, registry):
    pairs = resolved("context-injection-or-anonymization").items
    female, male = zip(*pairs, strict=True)
    assert len({*female, *male}) == 2 * len(pairs) == 80
    printed = {
        word
        for name in ("weat-3", "weat-4", "weat-6")
        for input_ in registry.task(name).scenarios[0].inputs.values()
        for word in input_.texts or ()
    }
    assert {*female, *male} <= printed


@pytest.mark.parametrize("name", ["gender-hard-soft", "gender-hard-soft-published"])
def test_in_300_dimensions_alpha_may_be_0_and_all_else_is_the_same(name, resolved):
    small, large = resolved(name), resolved(f"{name}-300d")
    grids = {row.label: row.settings for row in large.candidates}
    alphas = [setting["alpha"] for setting in grids["half-sibling-regression"]]
    assert alphas == [0, 10, 30, 60, 80, 100]
    for row in small.candidates:
        if row.label != "half-sibling-regression":
            assert grids[row.label] == row.settings
    assert attributes(small) == attributes(large)
    assert large.file.models == ("en-core-web-md",)
