"""A record of a study agrees with itself, or is told by its file and line."""

import json

import pytest

from harness.errors import InvalidFile
from harness.results.jsonl import read
from harness.study.study_record import StudyRecord


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda r: r.update(row="x"), "no row of the study: 'x'"),
        (lambda r: r["study"].update(baseline="x"), "no row of the study: 'x'"),
        (lambda r: r["study"].update(criteria=["X"]), "no measure of the study: 'X'"),
        (lambda r: r["judged"].pop("ECT"), "judged without being a criterion, or not: 'ECT'"),
        (lambda r: r["judged"]["ECT"]["values"].update(X=1.0), "no measure: 'X'"),
        (lambda r: r.update(fold=4), "repeat 0, fold 4 is more than the study has"),
        (lambda r: r.update(fold=-1), "fold: .*greater than or equal to 0"),
    ],
)
def test_a_record_that_contradicts_its_study_is_told_by_its_line(run, change, told):
    path = run().path
    lines = path.read_text().splitlines()
    record = json.loads(lines[2])
    change(record)
    path.write_text("\n".join([*lines[:2], json.dumps(record), *lines[3:]]) + "\n")
    with pytest.raises(InvalidFile, match=rf"small\.study\.jsonl:3: .*{told}"):
        list(read(path, StudyRecord, []))


def test_a_record_survives_its_line(run):
    for record in run().records:
        assert StudyRecord.model_validate_json(record.line()) == record
