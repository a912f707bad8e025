"""A study chooses inside, judges outside, and goes on where it stopped to the same numbers."""

import json

import pytest

from harness.errors import InvalidFile, UnknownName, UsageError
from harness.study.bench import Outcome
from harness.study.judging import best

OF_THE_RUN = {"id", "run", "created", "seconds", "environment"}


def numbers(ran):
    told = [record.model_dump(exclude=OF_THE_RUN) for record in ran.records]
    return json.dumps(told, sort_keys=True)


@pytest.fixture
def once(run):
    return run()


def test_there_is_a_record_for_each_row_in_each_fold(once):
    assert len(once.records) == once.made == 4 * 4
    assert {(r.row, r.fold) for r in once.records} == {
        (row, fold) for row in ("none", "normalize", "hard-debias", "leace") for fold in range(4)
    }


def test_inner_folds_are_recorded_for_rows_with_something_to_choose(once):
    of = {record.row: record for record in once.records if record.fold == 0}
    assert [(one.params, one.fold) for one in of["hard-debias"].inner] == [
        ({"k": k}, fold) for k in (1, 2) for fold in range(3)
    ]
    assert of["leace"].inner == ()


def test_the_setting_chosen_is_the_best_of_the_inner_folds(once):
    for record in once.records:
        for criterion, judged in record.judged.items():
            if record.inner:
                means = {
                    k: sum(one.values[criterion] for one in record.inner if one.params["k"] == k)
                    for k in (1, 2)
                }
                assert judged.params == {"k": min(means, key=means.get)}


def test_in_the_published_protocol_the_outer_fold_chooses(run, said):
    said["protocol"] = "published"
    for record in run().records:
        if record.row == "hard-debias":
            assert {one.fold for one in record.inner} == {0}


def test_the_second_run_makes_nothing_and_says_the_same(once, run):
    again = run()
    assert again.made == 0
    assert again.records == once.records


def test_a_run_that_was_cut_off_goes_on_to_the_same_records(once, run):
    lines = once.path.read_bytes().splitlines(keepends=True)
    once.path.write_bytes(b"".join(lines[:5]) + lines[5][:100])
    again = run()
    assert again.made == len(lines) - 5
    assert "torn" in again.notices[0]
    assert numbers(again) == numbers(once)


def test_two_processes_give_the_numbers_of_one(once, run):
    assert numbers(run(workers=2, overwrite=True)) == numbers(once)


def test_another_seed_deals_other_folds(once, run, said):
    said["seed"] = 1
    assert numbers(run()) != numbers(once)


def test_a_row_that_is_added_costs_only_itself(once, run, said):
    said["mitigators"]["inlp"] = {}
    again = run()
    assert again.made == 4
    assert {record.study.rows for record in again.records} == {
        ("none", "normalize", "hard-debias", "leace", "inlp")
    }


def test_another_level_of_the_tests_costs_nothing_and_is_told_by_the_records(once, run, said):
    said |= {"alpha": 0.01, "title": "Another"}
    again = run()
    assert again.made == 0
    assert {(r.study.alpha, r.study.title) for r in again.records} == {(0.01, "Another")}


def test_without_normalising_only_the_row_normalize_is_at_length_1(run, said):
    said["normalize"] = False
    said["mitigators"] = {"leave": {"mitigator": "none"}}
    said["measures"] = {"RND": {"metric": "rnd"}}
    of = {record.row: record.judged["RND"].values for record in run().records if not record.fold}
    assert of["none"] == of["leave"] != of["normalize"]


def test_of_several_models_one_that_fails_costs_the_others_nothing(run, said):
    said["models"].append(f"bag-of-words:{said['models'][0]}")
    said["mitigators"] = {"hard-debias": {}, "ran": {}}
    ran = run()
    assert len(ran.records) == 16
    assert ran.failed == (
        f"{said['models'][1]}: 'ran' does not work on text embedders, and "
        f"'{said['models'][1]}' is one",
    )


def test_a_text_encoder_is_judged_through_templates_and_rewriting(run, said, folder):
    concept = folder / "concepts" / "sides.yaml"
    concept.write_text(concept.read_text() + "contexts: {debiasing: 'Say career0 of she1.'}\n")
    said["models"] = [f"bag-of-words:{said['models'][0]}"]
    said["mitigators"] = {"context-injection": {}, "hard-debias": {"grid": {"k": [1, 2]}}}
    said["templates"] = {"here": ["{text} is here.", "That is {text}."]}
    for name in ("targets_1", "targets_2"):
        said["inputs"][name]["template"] = "here"
    ran = run(workers=2)
    assert ran.made == 16
    values = {r.row: r.judged["WEAT"].values["WEAT"] for r in ran.records if r.fold == 0}
    assert values["context-injection"] != values["normalize"]
    assert run().made == 0


def test_a_mistake_in_a_workers_setting_is_one_line(run, said):
    said["mitigators"] = {"half-sibling-regression": {"grid": {"alpha": [1, -1]}}}
    with pytest.raises(UsageError, match=r"alpha=-1\.0: 0 or more is needed"):
        run(workers=2)


def test_what_is_no_study_is_told(folder):
    from harness.study import running

    with pytest.raises(UnknownName, match="unknown study 'smal'"):
        running.run("smal", results=folder)
    with pytest.raises(InvalidFile, match=r"missing\.yaml: cannot be read"):
        running.run(folder / "missing.yaml", results=folder)
    with pytest.raises(UsageError, match="workers=0: at least 1"):
        running.run("small", workers=0)


def test_the_best_setting_is_defined_in_every_fold_and_the_first_of_equals():
    def outcomes(*values):
        return [Outcome({"M": value}, {}) for value in values]

    assert best([outcomes(0.5, 0.5), outcomes(0.1, 0.2)], "M") == 1
    assert best([outcomes(0.5, 0.5), outcomes(0.1, None)], "M") == 0
    assert best([outcomes(0.3, 0.1), outcomes(0.1, 0.3)], "M") == 0
    assert best([outcomes(None), outcomes(None)], "M") == 0
    assert best([[]], "M") == 0


def test_a_wrong_model_is_told_with_its_place_before_any_runs(run, said, folder):
    said["models"].append("glove-6b-50")
    with pytest.raises(UsageError, match=r"small\.yaml:\d+: models\[1\]: .*'glove-6b-50d'"):
        run()
    assert not (folder / "results" / "small.study.jsonl").exists()
