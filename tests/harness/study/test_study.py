"""A study file is checked before anything runs; an error names the file, line and key."""

import pytest
import small_study

from harness.errors import InvalidFile, UsageError
from harness.registry.registry import Registry
from harness.study.study import resolve
from harness.task import yaml_files


def test_the_rows_none_and_normalize_are_added_to_a_study(resolved):
    study = resolved()
    assert [row.label for row in study.candidates] == ["none", "normalize", "hard-debias", "leace"]
    assert study.baseline == "hard-debias"
    assert study.criteria == ("WEAT", "ECT")


def test_each_point_of_the_grid_is_an_unfitted_mitigator(resolved):
    hard = resolved().candidates[2]
    assert hard.settings == ({"k": 1}, {"k": 2})
    assert [chain.mitigators[0].k for chain in hard.chains] == [1, 2]


def test_a_row_may_have_several_grids_and_grids_of_the_stages_of_a_chain(resolved, content):
    content["mitigators"] = {
        "two": {
            "mitigator": "normalize+hard-debias",
            "grid": [{"hard-debias.k": [1, 2]}, {"hard-debias.equalize": [False]}],
        }
    }
    two = resolved().candidates[-1]
    assert two.settings == (
        {"hard-debias.k": 1}, {"hard-debias.k": 2}, {"hard-debias.equalize": False}
    )  # fmt: skip
    assert [chain.mitigators[1].k for chain in two.chains] == [1, 2, 1]


def test_a_fairer_score_has_less_distance_from_fair(resolved):
    weat, ect = resolved().measures
    assert weat.distance(-0.5) == 0.5
    assert (ect.distance(1.0), ect.distance(0.25)) == (0.0, 0.75)
    assert (weat.rises, ect.rises) == (False, True)


def test_the_digest_of_a_study_does_not_depend_on_its_prose_or_tests(resolved, content):
    digest = resolved().digest
    content |= {"title": "Another", "alpha": 0.01, "baseline": "leace"}
    assert resolved().digest == digest
    content["seed"] = 7
    assert resolved().digest != digest


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"baseline": "leice"}, r"small.yaml:\d+: baseline: .*'leice'.*'leace'"),
        ({"folds": 9}, r"folds: 9 .* 8 definitional pairs"),
        ({"concept": "side"}, r"concept: .*'side'.*'sides'"),
        ({"mitigator": {}}, r"mitigator: .*'mitigator'.*'mitigators'"),
    ],
)
def test_an_error_in_the_set_up_names_its_key(resolved, content, change, problem):
    content |= change
    with pytest.raises(UsageError, match=problem):
        resolved()


@pytest.mark.parametrize(
    ("use", "problem"),
    [
        ({"hard-debais": {}}, r"mitigators.hard-debais: .*'hard-debias'"),
        ({"hard-debias": {"grid": {"kk": [1]}}}, r"hard-debias.grid: .*'kk'"),
        ({"hard-debias": {"grid": {"k": ["x"]}}}, r"hard-debias.grid: .*k=x"),
        (
            {"x": {"mitigator": "normalize+leace", "grid": {"k": [1]}}},
            r"x.grid: 'k' .*'normalize.k'",
        ),
        ({"context-injection": {}}, r"context-injection: .*contexts.*'sides'"),
    ],
)
def test_an_error_in_a_row_names_its_key(resolved, content, use, problem):
    content["mitigators"] = use
    with pytest.raises(UsageError, match=problem):
        resolved()


def test_a_measure_without_held_out_pairs_is_refused(resolved, content):
    content["inputs"]["targets_1"] = {"words": ["he0"]}
    content["inputs"]["targets_2"] = {"words": ["she0"]}
    with pytest.raises(UsageError, match=r"measures.WEAT: .*'concept\.definitional_pairs'"):
        resolved()


# --- the mitigator of unit length -------------------------------------------------------------


def test_a_measure_has_a_sign_if_swapped_sides_turn_it_round_its_fair_value(resolved, content):
    content["measures"] = {
        name: {"metric": name}
        for name in ("weat-association", "weat", "rnd", "ripa", "ect", "rnsb", "mac")
    }
    signed = {measure.name for measure in resolved().measures if measure.signed}
    assert signed == {"weat-association", "weat", "rnd", "ripa"}


def test_a_grid_of_too_many_points_is_refused_before_it_is_made(folder, content):
    content["mitigators"] = {"hard-debias": {"grid": {"k": [1, 2] * 20, "x": [1] * 40}}}
    path = small_study.write(folder / "small.yaml", content)
    with pytest.raises(InvalidFile, match="1,600 points; at most 1,000"):
        resolve(yaml_files.load(path), Registry(include=[folder]))
