"""What is said beside a study's numbers is said once."""

from harness.study.summary import summarize


def test_a_setting_that_could_not_be_chosen_is_told_once_for_all_measures(run, said):
    said["mitigators"] = {"half-sibling-regression": {"grid": {"alpha": [0, 1]}}}
    (summary,) = summarize(run().records)
    assert [note for note in summary.notes if "alpha" in note] == [
        "'half-sibling-regression' has no value of WEAT, ECT in 12 of 24 fits of inner folds, "
        'so that {"alpha": 0} could not be chosen there'
    ]
    assert not summary.undefined  # of what is judged


def test_a_row_that_is_undefined_is_told_with_its_reason(run, said):
    said["mitigators"] = {"half-sibling-regression": {"grid": {"alpha": [0]}}}
    (summary,) = summarize(run().records)
    (note,) = (note for note in summary.notes if "has no value" in note)
    assert "WEAT, ECT in 4 of 4 folds: half-sibling-regression: alpha=0 with 12 words" in note
    assert summary.undefined


def test_a_row_that_starts_from_other_lengths_is_told(run, said):
    said["mitigators"] = {"leace": {"normalize": False}, "hard-debias": {"normalize": True}}
    (summary,) = summarize(run().records)
    told = [note for note in summary.notes if "starts from" in note]
    assert told == ["'leace' starts from vectors as they come, unlike the others"]
