"""The toy retrieval of the context-injection paper on all-MiniLM-L6-v2 against measured values."""

from __future__ import annotations

import pytest

GROUPS = ("female", "male", "neutral", "random")


@pytest.fixture(scope="module")
def results(scores, minilm):
    return scores("retrieval-army", minilm)


@pytest.fixture(scope="module")
def reference(expected):
    return expected("minilm.json")["uriot_retrieval"]


@pytest.fixture(scope="module")
def places(results, registry):
    """Return the ranked chunks of a scenario by their names in the paper, such as female C5."""
    chunks = [f"{group} C{j + 1}" for group in GROUPS for j in range(5)]
    inputs = {s.name: s.inputs for s in registry.task("retrieval-army").scenarios}

    def ranked(scenario: str) -> list[str]:
        names = dict(zip(inputs[scenario]["documents"].texts, chunks, strict=True))
        table = results[scenario]["retrieval"]["exposure_gap"].tables["ranking"]
        return [names[row["document"]] for row in table]

    return ranked


@pytest.mark.parametrize("scenario", [*GROUPS[:3], "debiasing"])
def test_chunks_are_ranked_as_measured(scenario, places, reference):
    assert places(scenario) == reference["ranking"][scenario]


@pytest.mark.parametrize("scenario", [*GROUPS[:3], "debiasing"])
def test_similarities_of_groups_to_a_query_are_as_measured(scenario, results, reference):
    result = results[scenario]["retrieval"]["exposure_gap"].details["similarity"]
    assert result == pytest.approx(reference["group_means"][scenario], abs=2e-4)


def test_algorithm_1_retrieves_the_chunks_that_were_measured(results, places, reference):
    measured = reference["algorithm1_k10"]
    result = results["algorithm-1"]["retrieval"]
    assert result["recall"].details["retrieved"] == measured["m"]
    assert result["recall"].value == pytest.approx(measured["relevant"] / 15)
    assert result["precision"].value == pytest.approx(1 - measured["random"] / measured["m"])
    table = result["exposure_gap"].tables["ranking"]
    named = zip(places("algorithm-1"), table, strict=True)
    missed = [name for name, row in named if row["relevant"] and not row["retrieved"]]
    assert sorted(missed) == sorted(measured["missed"])


def test_ten_places_miss_a_third_and_the_symmetric_union_misses_less(results):
    recall = {name: result["retrieval"]["recall"].value for name, result in results.items()}
    assert recall["neutral"] == recall["debiasing"] == pytest.approx(10 / 15)
    assert recall["neutral"] < recall["algorithm-1"] < recall["algorithm-1-symmetric"]
    precision = results["algorithm-1-symmetric"]["retrieval"]["precision"].value
    assert precision == 1, "no random chunk"


def test_grep_biasir_prefers_women_for_child_care_and_men_for_cognition(scores, minilm):
    results = scores("retrieval-grep-biasir", minilm)
    share = {name: result["version-gap"]["first_share"] for name, result in results.items()}
    assert share["all"].n == 117
    assert share["all"].value == pytest.approx(0.453, abs=0.01)
    assert share["child-care"].value == pytest.approx(12 / 14, abs=0.01)
    assert share["cognitive-capabilities"].value == pytest.approx(1 / 12, abs=0.01)
    assert {name for name, score in share.items() if score.p_value < 0.05} == {
        "child-care",
        "cognitive-capabilities",
    }


def test_gendered_queries_are_closer_to_stereotypes_especially_queries_of_men(scores, minilm):
    results = scores("retrieval-gendered-queries", minilm)
    share = {name: result["version-gap"]["first_share"] for name, result in results.items()}
    assert [share[name].n for name in ("all", "of-women", "of-men")] == [280, 140, 140]
    assert share["all"].value == pytest.approx(0.75, abs=0.01)
    assert share["of-women"].value == pytest.approx(0.621, abs=0.01)
    assert share["of-men"].value == pytest.approx(0.879, abs=0.01)
    assert share["all"].p_value < 0.05, "with topics as the units"
