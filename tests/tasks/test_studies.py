"""The studies that come with the harness: they resolve, are those of their papers, and leak not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness import tasks
from harness.embedder import ModelInfo
from harness.errors import Unavailable
from harness.plugins.embedders import packages
from harness.plugins.embedders.vectors import glove
from harness.registry.registry import Registry
from harness.study import bench, running, study
from harness.study.folds import deal

NAMES = sorted(path.stem for path in (Path(tasks.__file__).parent / "studies").glob("[!_]*.yaml"))
GENDER = ("gender-hard-soft", "gender-hard-soft-published", "gender-mitigators")
QUERIES = 8
"""Of WEAT, by the published code; the other measures leave pleasantness out."""
WORDS, KNOWN = 6_894, 6_344
"""Distinct attribute words of these, and those that GloVe 6B has: NASA and Einstein by their lower
case, which the published code did not look up."""


class Everything:
    """An embedder that has a vector for every text, and knows nothing."""

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
            try:
                known[name] = study.resolve(running.find(registry, name), registry)
            except Unavailable as error:
                pytest.skip(str(error))
        return known[name]

    return find


def scenarios(one, measure):
    return next(m for m in one.measures if m.name == measure).task.scenarios


def attributes(one):
    """Return the distinct words that are judged besides the pairs."""
    return {
        text
        for measure in one.measures
        for scenario in measure.task.scenarios
        for given in scenario.inputs.values()
        if given.name not in measure.held_out[scenario.name]
        for text in given.texts or ()
    }


def test_there_are_studies():
    assert {*GENDER, "religion", "context-injection-or-anonymization"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_study_resolves_under_the_name_of_its_file_and_says_where_it_is_from(name, resolved):
    one = resolved(name)
    assert one.file.name == name
    assert one.file.source
    assert one.file.description
    assert one.file.title


@pytest.mark.parametrize("name", NAMES)
def test_the_models_of_a_study_are_registered(name, resolved, registry):
    assert set(resolved(name).file.models) <= set(registry.embedders)


@pytest.mark.parametrize("name", NAMES)
def test_a_study_fits_on_nothing_that_it_judges(name, resolved):
    one = resolved(name)
    kind = "word" if one.file.models[0] == "glove-6b-50d" else "text"
    made = bench.prepare(one, Everything(kind))
    assert len(made.items) == len(one.items)
    folds = deal(
        len(made.items),
        folds=one.file.folds,
        inner_folds=one.file.inner_folds,
        repeats=1,
        seed=one.file.seed,
        protocol=one.file.protocol,
    )
    bench.refuse_overlap(made, [split for fold in folds for split in (fold.outer, *fold.inner)])


@pytest.mark.parametrize("name", GENDER)
def test_the_study_of_gender_has_the_pairs_and_words_of_the_published_one(name, resolved):
    one = resolved(name)
    assert len(one.items) == 45
    assert len(attributes(one)) == WORDS


@pytest.mark.parametrize("name", GENDER)
def test_weat_has_eight_queries_and_what_takes_two_sets_seven(name, resolved):
    one = resolved(name)
    assert len(scenarios(one, "WEAT")) == QUERIES
    assert len(scenarios(one, "RNSB")) == len(scenarios(one, "WEAT-ES")) == QUERIES - 1


@pytest.mark.parametrize("measure", ["RND", "RIPA", "ECT"])
def test_what_takes_one_set_counts_it_once_and_as_published_as_often_as_queries_have_it(
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
    if packages.folder(glove.PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    asked = sorted(attributes(resolved("gender-hard-soft")))
    embedder = registry.embedder("glove-6b-50d")
    found = np.isfinite(embedder.encode(asked)).all(axis=1)
    assert found.sum() == KNOWN
    words = set(embedder.vocabulary.words)
    only_lower = {word for word, has in zip(asked, found, strict=True) if has and word not in words}
    assert only_lower == {"NASA", "Einstein"}


def test_the_grids_of_the_published_study_are_those_of_its_table_and_code(resolved):
    grids = {one.label: one.settings for one in resolved("gender-hard-soft").candidates}
    assert [one["alpha"] for one in grids["half-sibling-regression"]] == [0, 10, 30, 60, 80, 100]
    assert {(one["theta"], one["n_neighbours"]) for one in grids["ran"]} == {
        (theta, n) for theta in (0.02, 0.05, 0.1) for n in (50, 100, 200)
    }
    for row in ("hard-debias", "double-hard-debias"):
        assert {one["solver"] for one in grids[row]} == {"full", "arpack", "randomized"}


def test_as_published_rows_come_to_length_1_where_wefe_does_it(resolved):
    rows = {one.label: one.normalize for one in resolved("gender-hard-soft-published").candidates}
    assert {row for row, unit in rows.items() if unit} == {"hard-debias", "ran"}
    assert not resolved("gender-hard-soft-published").file.normalize


def test_names_of_women_and_men_are_those_of_weat(resolved, registry):
    pairs = resolved("context-injection-or-anonymization").items
    female, male = zip(*pairs, strict=True)
    assert len({*female, *male}) == 2 * len(pairs) == 80
    printed = {
        word
        for name in ("weat-3", "weat-4", "weat-6")
        for given in registry.task(name).scenarios[0].inputs.values()
        for word in given.texts or ()
    }
    assert {*female, *male} <= printed
