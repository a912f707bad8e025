"""The context-injection tasks on all-MiniLM-L6-v2: counts exactly, correlations to 2e-3."""

from __future__ import annotations

import pytest

TASKS = {"gender": "gender-occupations", "age": "age-traits", "wealth": "wealth-ethnicities"}
SCENARIOS = ("neutral", "debiasing", "positive", "negative")


@pytest.mark.parametrize("concept", TASKS)
def test_table_4_reproduces_count_by_count(concept, scores, minilm, expected):
    wanted = expected("minilm.json")["uriot_table4"][concept]
    results = scores(TASKS[concept], minilm)
    for scenario in SCENARIOS:
        proportion = results[scenario]["association-test"]["proportion"]
        found = {"k1": proportion.details["k1"], "k2": proportion.details["k2"], "n": proportion.n}
        assert found == {key: wanted[scenario][key] for key in found}, scenario
        assert proportion.value == pytest.approx(wanted[scenario]["here"], abs=1e-4), scenario


@pytest.mark.parametrize("concept", TASKS)
def test_p_values_of_single_tests_are_those_of_the_binomial(concept, scores, minilm, expected):
    wanted = expected("minilm.json")["uriot_table4"][concept]
    results = scores(TASKS[concept], minilm)
    for scenario in ("neutral", "positive"):
        p_value = results[scenario]["association-test"]["proportion"].p_value
        assert p_value == pytest.approx(wanted[scenario]["p"], rel=1e-6), scenario


@pytest.mark.parametrize("concept", ["gender", "wealth"])
def test_the_printed_reading_gives_the_printed_p_values(concept, scores, minilm, expected):
    wanted = expected("minilm.json")["uriot_table4"][concept]
    results = scores(TASKS[concept], minilm, reading="printed")
    for scenario in SCENARIOS:
        p_value = results[scenario]["association-test"]["proportion"].p_value
        assert p_value == pytest.approx(wanted[scenario]["p"], rel=1e-6), scenario


@pytest.mark.parametrize("concept", TASKS)
def test_projections_correlate_with_the_labels_as_measured(concept, scores, minilm, expected):
    wanted = expected("minilm.json")["uriot_geometry"][concept]
    results = scores(TASKS[concept], minilm)
    for scenario in SCENARIOS:
        found = results[scenario]["concept-direction"]
        correlation = found["correlation"]
        assert correlation.value == pytest.approx(wanted[scenario]["pearson"], abs=2e-3), scenario
        rank = correlation.details["spearman"]
        assert rank == pytest.approx(wanted[scenario]["spearman"], abs=2e-3), scenario
        assert found["auc"].value == pytest.approx(wanted["auc"], abs=2e-3), scenario
        assert found["auc"].details["component"] == wanted["component"], scenario
        assert found["auc"].details["explained"] == pytest.approx(
            wanted["explained_pc1"], abs=2e-3
        ), scenario
