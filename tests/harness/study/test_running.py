"""A study chooses in inner folds, judges in outer folds, and continues where it stopped."""

import json

import pytest

from harness.errors import UsageError
from harness.study.bench import Outcome
from harness.study.running import best, distances

OF_THE_RUN = {"id", "run", "created", "seconds", "environment"}


def numbers(result):
    records = [record.model_dump(exclude=OF_THE_RUN) for record in result.records]
    return json.dumps(records, sort_keys=True)


@pytest.fixture
def once(run):
    return run()


def test_there_is_a_record_for_each_row_in_each_fold(once):
    assert len(once.records) == once.new == 4 * 4
    assert {(r.row, r.fold) for r in once.records} == {
        (row, fold) for row in ("none", "normalize", "hard-debias", "leace") for fold in range(4)
    }


def test_inner_folds_are_recorded_for_rows_with_something_to_choose(once):
    first_fold = {record.row: record for record in once.records if record.fold == 0}
    assert [(fit.params, fit.fold) for fit in first_fold["hard-debias"].inner] == [
        ({"k": k}, fold) for k in (1, 2) for fold in range(3)
    ]
    assert first_fold["leace"].inner == ()


def test_the_setting_chosen_is_the_best_of_the_inner_folds(once):
    for record in once.records:
        for criterion, judged in record.judged.items():
            if record.inner:
                sums = {
                    k: sum(f.values[criterion] for f in record.inner if f.params == {"k": k})
                    for k in (1, 2)
                }
                if criterion == "ECT":  # WEAT has a sign, and is pooled
                    assert judged.params == {"k": min(sums, key=sums.get)}


def test_scores_with_a_sign_are_pooled_over_the_inner_folds_and_others_are_averaged():
    outcomes = [
        Outcome({"WEAT": 0.5, "ECT": 0.5}, signed={"WEAT": (0.5,)}),
        Outcome({"WEAT": 0.25, "ECT": 0.25}, signed={"WEAT": (-0.25,)}),
    ]
    assert distances(outcomes, pool=True) == {"WEAT": 0.125, "ECT": 0.375}
    assert distances(outcomes, pool=False) == {"WEAT": 0.375, "ECT": 0.375}
    outcomes.append(Outcome({"WEAT": None, "ECT": 0.0}, signed={"WEAT": (None,)}))
    assert distances(outcomes, pool=True) == {"WEAT": None, "ECT": 0.25}


def test_in_the_published_protocol_the_outer_fold_chooses(run, content):
    content["protocol"] = "published"
    for record in run().records:
        if record.row == "hard-debias":
            assert {fit.fold for fit in record.inner} == {0}
            for criterion, judged in record.judged.items():
                least = min(record.inner, key=lambda fit: fit.values[criterion])
                assert judged.params == least.params


def test_a_second_run_makes_no_new_records(once, run):
    again = run()
    assert again.new == 0
    assert again.records == once.records


def test_an_interrupted_run_continues_to_the_same_records(once, run):
    lines = once.path.read_bytes().splitlines(keepends=True)
    once.path.write_bytes(b"".join(lines[:5]) + lines[5][:100])
    again = run()
    assert again.new == len(lines) - 5
    assert once.path.name in again.notices[0]
    assert numbers(again) == numbers(once)


def test_two_processes_give_the_numbers_of_one(once, run):
    assert numbers(run(workers=2, overwrite=True)) == numbers(once)


def test_another_seed_gives_other_folds(once, run, content):
    content["seed"] = 1
    assert numbers(run()) != numbers(once)


def test_only_an_added_row_is_run(once, run, content):
    content["mitigators"]["inlp"] = {}
    again = run()
    assert again.new == 4
    assert {record.study.rows for record in again.records} == {
        ("none", "normalize", "hard-debias", "leace", "inlp")
    }


def test_a_changed_level_of_the_tests_only_updates_the_records(once, run, content):
    content |= {"alpha": 0.01, "title": "Another"}
    again = run()
    assert again.new == 0
    assert {(r.study.alpha, r.study.title) for r in again.records} == {(0.01, "Another")}


def test_without_normalising_only_the_row_normalize_has_unit_length(run, content):
    content["normalize"] = False
    content["mitigators"] = {"leave": {"mitigator": "none"}}
    content["measures"] = {"RND": {"metric": "rnd"}}
    values = {
        record.row: record.judged["RND"].values for record in run().records if not record.fold
    }
    assert values["none"] == values["leave"] != values["normalize"]


def test_a_model_that_fails_does_not_stop_the_others(run, content):
    content["models"].append(f"bag-of-words:{content['models'][0]}")
    content["mitigators"] = {"hard-debias": {}, "ran": {}}
    result = run()
    assert len(result.records) == 16
    (failure,) = result.failed
    assert failure.startswith(f"{content['models'][1]}: 'ran' ")
    assert "text embedders" in failure


def test_a_text_encoder_is_judged_through_templates_and_rewriting(run, content, folder):
    concept = folder / "concepts" / "sides.yaml"
    concept.write_text(concept.read_text() + "contexts: {debiasing: 'Say career0 of she1.'}\n")
    content["models"] = [f"bag-of-words:{content['models'][0]}"]
    content["mitigators"] = {"context-injection": {}, "hard-debias": {"grid": {"k": [1, 2]}}}
    content["templates"] = {"here": ["{text} is here.", "That is {text}."]}
    for name in ("targets_1", "targets_2"):
        content["inputs"][name]["template"] = "here"
    result = run(workers=2)
    assert result.new == 16
    values = {r.row: r.judged["WEAT"].values["WEAT"] for r in result.records if r.fold == 0}
    assert values["context-injection"] != values["normalize"]
    assert run().new == 0


def test_an_invalid_setting_found_by_a_worker_is_a_usage_error(run, content):
    content["mitigators"] = {"half-sibling-regression": {"grid": {"alpha": [1, -1]}}}
    with pytest.raises(UsageError, match=r"alpha=-1\.0"):
        run(workers=2)


def test_the_best_setting_is_the_first_with_the_least_distance():
    assert best([0.5, 0.15]) == 1
    assert best([0.5, None]) == 0
    assert best([0.2, 0.2]) == 0
    assert best([None, None]) == 0
    assert best([None]) == 0


def test_the_result_is_a_sequence_of_records_with_frames(once):
    assert list(once) == list(once.records)
    assert (once[0], len(once[1:3]), once[1:3].path) == (once.records[0], 2, once.path)
    polars, pandas = once.to_polars(), once.to_pandas()
    assert polars.columns == list(pandas.columns)
    n_values = sum(len(judged.values) for record in once for judged in record.judged.values())
    assert polars.height == len(pandas) == n_values
    chosen = polars.filter(row="hard-debias", fold=0)["params"].to_list()
    assert {json.loads(params)["k"] for params in chosen} <= {1, 2}
    assert once[:0].to_polars().columns == polars.columns


def test_records_have_labels_and_no_path_and_one_model_is_run_once(run, content, folder):
    content["models"].append(f"{folder / 'vectors.txt'}?name=copy")
    name = "hard-debias?k=2&seed=0+normalize?"
    content["mitigators"] = {"hard": {"mitigator": name}}
    result = run()
    assert {(r.model.name, r.model.aliases) for r in result.records} == {
        ("vectors:vectors", ("copy",))
    }
    assert {r.mitigator for r in result.records if r.row == "hard"} == {"hard-debias?k=2+normalize"}
    assert (
        "copy is the same model as vectors:vectors; results are shown under vectors:vectors"
        in result.notices
    )
    assert str(folder) not in result.path.read_text("utf-8")


def test_two_models_of_one_name_are_an_error_before_any_model_runs(run, content, folder):
    (folder / "other").mkdir()
    other = folder / "other" / "vectors.txt"
    other.write_text((folder / "vectors.txt").read_text() + "more 1 2 3 4 5\n")
    content["models"].append(str(other))
    with pytest.raises(UsageError, match="two different models have the name 'vectors:vectors'"):
        run()
