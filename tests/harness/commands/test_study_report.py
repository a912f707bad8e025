"""The results of a study, as files."""

from __future__ import annotations

from study_records import records_of, study_part

from harness.commands import study
from harness.study.summary import summarize

DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.1, 0.11, 0.12], "ECT": [0.4, 0.3, 0.2]},
}


def test_each_model_has_its_own_violins(tmp_path):
    records = records_of(study_part(), DISTANCES)
    other = records[0].model.model_copy(update={"name": "vectors:./a.txt", "fingerprint": "g"})
    records += [record.model_copy(update={"model": other}) for record in records]
    folder = study.write_tables(summarize(records), tmp_path / "toy.study.jsonl")
    assert folder == tmp_path / "toy.study"
    assert {path.name for path in folder.glob("*.svg")} == {
        *("violins-toy-model.svg", "violins-vectors_._a.txt.svg"),
    }
    text = (folder / "table.txt").read_text()
    assert text.count("chosen by any criterion") == 2
    assert not (folder / "chosen.csv").exists(), "nothing was chosen"
