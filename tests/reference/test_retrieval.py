"""The toy retrieval of the context-injection paper on all-MiniLM-L6-v2, as measured."""

from __future__ import annotations

import pytest

GROUPS = ("female", "male", "neutral", "random")


@pytest.fixture(scope="module")
def results(scores, minilm):
    return scores("retrieval-army", minilm)


@pytest.fixture(scope="module")
def wanted(expected):
    return expected("minilm.json")["uriot_retrieval"]


def places(result) -> list[str]:
    """Return the chunks by place, named as the paper has them: the fifth of a group is C5."""
    table = result["retrieval"]["exposure_gap"].tables["ranking"]
    names = {f"documents {i + 1}": f"{group} C{j + 1}" for i, (group, j) in enumerate(
        (group, j) for group in GROUPS for j in range(5))}  # fmt: skip
    return [names[row["document"]] for row in table]


@pytest.mark.parametrize("scenario", [*GROUPS[:3], "debiasing"])
def test_chunks_are_ranked_as_measured(scenario, results, wanted):
    assert places(results[scenario]) == wanted["ranking"][scenario]


@pytest.mark.parametrize("scenario", [*GROUPS[:3], "debiasing"])
def test_groups_are_as_near_to_a_query_as_measured(scenario, results, wanted):
    found = results[scenario]["retrieval"]["exposure_gap"].details["similarity"]
    assert found == pytest.approx(wanted["group_means"][scenario], abs=2e-4)


def test_algorithm_1_finds_what_it_was_measured_to_find(results, wanted):
    measured = wanted["algorithm1_k10"]
    found = results["algorithm-1"]["retrieval"]
    assert found["recall"].details["retrieved"] == measured["m"]
    assert found["recall"].value == pytest.approx(measured["relevant"] / 15)
    assert found["precision"].value == pytest.approx(1 - measured["random"] / measured["m"])
    table = found["exposure_gap"].tables["ranking"]
    named = zip(places(results["algorithm-1"]), table, strict=True)
    missed = [name for name, row in named if row["relevant"] and not row["retrieved"]]
    assert sorted(missed) == sorted(measured["missed"])


def test_ten_places_miss_a_third_and_the_symmetric_union_finds_more(results):
    recall = {name: result["retrieval"]["recall"].value for name, result in results.items()}
    assert recall["neutral"] == recall["debiasing"] == pytest.approx(10 / 15)
    assert recall["neutral"] < recall["algorithm-1"] < recall["algorithm-1-symmetric"]
    precision = results["algorithm-1-symmetric"]["retrieval"]["precision"].value
    assert precision == 1, "no random chunk"


@pytest.mark.usefixtures("data_folder")
def test_grep_biasir_leans_to_women_in_child_care_and_to_men_in_cognition(scores, minilm):
    results = scores("retrieval-grep-biasir", minilm)
    share = {name: result["version-gap"]["first_share"] for name, result in results.items()}
    assert share["all"].n == 117
    assert share["all"].value == pytest.approx(0.453, abs=0.01)
    assert share["child-care"].value == pytest.approx(12 / 14, abs=0.01)
    assert share["cognitive-capabilities"].value == pytest.approx(1 / 12, abs=0.01)
    assert {name for name, one in share.items() if one.p_value < 0.05} == {
        "child-care",
        "cognitive-capabilities",
    }


@pytest.mark.usefixtures("data_folder")
def test_gendered_queries_are_nearer_to_the_stereotype_and_most_of_all_to_men(scores, minilm):
    results = scores("retrieval-gendered-queries", minilm)
    share = {name: result["version-gap"]["first_share"] for name, result in results.items()}
    assert [share[name].n for name in ("all", "of-women", "of-men")] == [280, 140, 140]
    assert share["all"].value == pytest.approx(0.75, abs=0.01)
    assert share["of-women"].value == pytest.approx(0.621, abs=0.01)
    assert share["of-men"].value == pytest.approx(0.879, abs=0.01)
    assert share["all"].p_value < 0.05, "with topics as the units"
