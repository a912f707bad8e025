"""A study file is checked whole before anything runs; a mistake is one line that says where."""

import re

import pytest

from harness.errors import UsageError


def test_a_study_has_the_rows_none_and_normalize_besides_its_own(resolved):
    study = resolved()
    assert [one.label for one in study.candidates] == ["none", "normalize", "hard-debias", "leace"]
    assert study.baseline == "hard-debias"
    assert study.criteria == ("WEAT", "ECT")


def test_each_point_of_the_grid_is_an_unfitted_mitigator(resolved):
    hard = resolved().candidates[2]
    assert hard.settings == ({"k": 1}, {"k": 2})
    assert [chain.mitigators[0].k for chain in hard.chains] == [1, 2]


def test_a_grid_may_be_several_and_of_a_stage_of_a_chain(resolved, said):
    said["mitigators"] = {
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


def test_distance_from_fair_is_less_for_what_is_fairer(resolved):
    weat, ect = resolved().measures
    assert weat.distance(-0.5) == 0.5
    assert (ect.distance(1.0), ect.distance(0.25)) == (0.0, 0.75)
    assert (weat.rises, ect.rises) == (False, True)


def test_what_a_study_is_does_not_depend_on_its_prose_or_tests(resolved, said):
    digest = resolved().digest
    said |= {"title": "Another", "alpha": 0.01, "rope": 0.1, "baseline": "leace"}
    assert resolved().digest == digest
    said["seed"] = 7
    assert resolved().digest != digest


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"baseline": "leice"}, r"small.yaml:\d+: baseline: there is no row 'leice'; .*'leace'"),
        ({"criteria": ["WAET"]}, r"criteria: there is no measure 'WAET'; did you mean 'WEAT'"),
        ({"folds": 9}, r"folds: 9 folds of 8 definitional pairs: at most one fold for each"),
        ({"inner_folds": 7}, r"inner_folds: 7 folds of the 6 .* an outer fold leaves"),
        ({"concept": "side"}, r"concept: unknown concept 'side'; did you mean 'sides'"),
        ({"folded": "definitional_sets"}, r"concept: concept 'sides' has no definitional sets"),
        ({"mitigator": {}}, r"mitigator: unknown key 'mitigator'; did you mean 'mitigators'"),
        ({"models": []}, r"models: .*at least 1 item"),
    ],
)
def test_a_mistake_in_the_set_up_is_told_with_its_place(resolved, said, change, told):
    said |= change
    with pytest.raises(UsageError, match=told):
        resolved()


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ({"hard-debais": {}}, r"mitigators.hard-debais: unknown mitigator 'hard-debais'"),
        ({"x": {"mitigator": "lace"}}, r"mitigators.x.mitigator: .*'lace'; did you mean 'leace'"),
        ({"hard-debias": {"grid": {"kk": [1]}}}, r"hard-debias.grid: .*has no option 'kk'"),
        ({"hard-debias": {"grid": {"k": ["x"]}}}, r"option k=x: input should be a valid integer"),
        ({"hard-debias": {"grid": {"k": []}}}, r"hard-debias.grid.k: no value to choose from"),
        ({"hard-debias": {"grid": {"k": 1}}}, r"hard-debias.grid.k: expected a list"),
        (
            {"x": {"mitigator": "normalize+leace", "grid": {"k": [1]}}},
            r"x.grid: of a chain, say whose 'k' is meant: 'normalize.k'",
        ),
        (
            {"x": {"mitigator": "normalize+leace", "grid": {"leice.k": [1]}}},
            r"there is no stage 'leice'; did you mean 'leace'",
        ),
        ({"context-injection": {}}, r"'context-injection' needs contexts of a concept, which 's"),
    ],
)
def test_a_mistake_in_a_row_is_told_with_its_place(resolved, said, use, told):
    said["mitigators"] = use
    with pytest.raises(UsageError, match=told):
        resolved()


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ({"metric": "wheat"}, r"measures.M.metric: unknown metric 'wheat'; did you mean"),
        ({"metric": "ect", "score": "x"}, r"measures.M.score: metric 'ect' has no score 'x'"),
        ({"metric": "ect", "scenarios": ["x"]}, r"scenarios\[0\]: there is no scenario 'x'"),
        ({"metric": "ect", "options": {"x": 1}}, r"measures.M.options: .*has no option 'x'"),
        (
            {"metric": "ripa", "options": {"unit_length": "perhaps"}},
            r"option unit_length=perhaps: input should be a valid boolean",
        ),
        ({"metric": "sem-bias"}, r"measures.M: metric 'sem-bias' needs the input"),
    ],
)
def test_a_mistake_in_a_column_is_told_with_its_place(resolved, said, use, told):
    said["measures"] = {"M": use}
    with pytest.raises(UsageError, match=told):
        resolved()


def test_a_measure_that_holds_nothing_out_is_refused(resolved, said):
    said["inputs"]["targets_1"] = {"words": ["he0"]}
    said["inputs"]["targets_2"] = {"words": ["she0"]}
    with pytest.raises(UsageError, match=r"of the table 'concept\.definitional_pairs', so nothing"):
        resolved()


def test_every_line_of_a_mistake_names_the_file(resolved, said, folder):
    said["baseline"] = "x"
    with pytest.raises(UsageError, match=re.escape(str(folder / "small.yaml"))):
        resolved()
