"""The context-injection tasks on all-MiniLM-L6-v2: counts exactly, correlations within 2e-3.

Table 4 reproduces except for age under debiasing (.66, printed .52). Table 9 reproduces with no
variant: the correlations here are those of the concept's direction as the paper defines it.
"""

from __future__ import annotations

import pytest

TASKS = {"gender": "gender-occupations", "age": "age-traits", "wealth": "wealth-ethnicities"}
SCENARIOS = ("neutral", "debiasing", "positive", "negative")


@pytest.mark.parametrize("concept", TASKS)
def test_table_4_reproduces_count_by_count(concept, scores, minilm, expected):
    reference = expected("minilm.json")["uriot_table4"][concept]
    results = scores(TASKS[concept], minilm)
    for scenario in SCENARIOS:
        proportion = results[scenario]["association-test"]["proportion"]
        counts = {"k1": proportion.details["k1"], "k2": proportion.details["k2"], "n": proportion.n}
        assert counts == {key: reference[scenario][key] for key in counts}, scenario
        assert proportion.value == pytest.approx(reference[scenario]["here"], abs=1e-4), scenario


@pytest.mark.parametrize("concept", ["gender", "wealth"])
def test_the_printed_reading_gives_the_printed_p_values(concept, scores, minilm, expected):
    reference = expected("minilm.json")["uriot_table4"][concept]
    results = scores(TASKS[concept], minilm, reading="printed")
    for scenario in SCENARIOS:
        p_value = results[scenario]["association-test"]["proportion"].p_value
        assert p_value == pytest.approx(reference[scenario]["p"], rel=1e-6), scenario


def stars(p_value):
    """Return the stars of table 4: * p < .1, ** p < .05, *** p < .01."""
    return "*" * sum(p_value < level for level in (0.1, 0.05, 0.01))


PRINTED = {  # row 13 of table 4: all-MiniLM-L6-v2 under neutral, debiasing and negative
    "gender": ((0.48, ""), (1.0, "***"), (0.19, "***")),
    "age": ((0.51, ""), None, (0.07, "***")),  # 0.52 under debiasing does not reproduce
    "wealth": ((0.56, ""), (1.0, "***"), (0.0, "***")),
}


@pytest.mark.parametrize("concept", TASKS)
def test_proportions_and_stars_are_those_of_table_4(concept, scores, minilm):
    results = scores(TASKS[concept], minilm, reading="printed")
    for scenario, cell in zip(("neutral", "debiasing", "negative"), PRINTED[concept], strict=True):
        proportion = results[scenario]["association-test"]["proportion"]
        if cell is not None:
            assert proportion.value == pytest.approx(cell[0], abs=0.01), scenario
            assert stars(proportion.p_value) == cell[1], scenario
    assert results["positive"]["association-test"]["proportion"].value == 1


@pytest.mark.parametrize("concept", TASKS)
def test_projections_correlate_with_the_labels_as_measured(concept, scores, minilm, expected):
    reference = expected("minilm.json")["uriot_geometry"][concept]
    results = scores(TASKS[concept], minilm, projections=10_000)
    for scenario in SCENARIOS:
        by_score = results[scenario]["concept-direction"]
        correlation = by_score["correlation"]
        assert correlation.value == pytest.approx(reference[scenario]["pearson"], abs=2e-3), (
            scenario
        )
        rank = correlation.details["spearman"]
        assert rank == pytest.approx(reference[scenario]["spearman"], abs=2e-3), scenario
        p_value = reference[scenario]["p_two_sided_random_directions"]
        isotropic = correlation.details["p_isotropic"]
        assert isotropic == pytest.approx(p_value, abs=0.02), scenario
        assert by_score["auc"].value == pytest.approx(reference["auc"], abs=2e-3), scenario
        assert by_score["auc"].details["component"] == reference["component"], scenario
        assert by_score["auc"].details["explained"] == pytest.approx(
            reference["explained_pc1"], abs=2e-3
        ), scenario
