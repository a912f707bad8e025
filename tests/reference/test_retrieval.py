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
