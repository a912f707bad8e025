"""A study's tables in the formats of other programs."""

from __future__ import annotations

import csv
import io
import json

import pytest
from study_records import records_of, study_part

from harness.study import study_tables
from harness.study.summary import summarize

DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.1, 0.11, 0.12], "ECT": [0.4, 0.3, 0.2]},
}
PARAMS = {"new": {"WEAT": [{"top_k": 2}] * 3}}


def summary_of(distances=DISTANCES, **changed):
    (summary,) = summarize(records_of(study_part(**changed), distances, params=PARAMS))
    return summary


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_line_for_each_model_row_and_measure():
    lines = read(study_tables.changes_csv([summary_of(), summary_of(name="other")]))
    assert len(lines) == 2 * 4 * 2
    assert {line["study"] for line in lines} == {"toy", "other"}
    assert float(lines[2]["mean"]) == pytest.approx(-0.8)
    assert lines[0]["mean"] == "", "vectors as they come have no change"


def test_csv_of_choices_has_params_as_json():
    (line,) = read(study_tables.choices_csv([summary_of()]))
    assert (line["row"], line["criterion"], line["folds"]) == ("new", "WEAT", "3")
    assert json.loads(line["params"]) == {"top_k": 2}


def test_a_formula_for_spreadsheets_is_quoted():
    distances = {("=1+1" if row == "new" else row): v for row, v in DISTANCES.items()}
    found = summary_of(distances, rows=tuple(distances))
    assert read(study_tables.changes_csv([found]))[-1]["row"] == "'=1+1"


def test_latex_has_a_booktabs_tabular_for_each_table():
    text = study_tables.formatted([summary_of()], "latex")
    assert text.count(r"\begin{tabular}{lll}") == text.count(r"\begin{tabular}{lllll}") == 1
    assert r"\caption{chosen by any criterion}" in text
    assert r"new & $-$1.090 $\pm$ 0.190 ($\uparrow$*) & 0.300 $\pm$ 0.265 (=) \\" in text
    rules = [line for line in text.splitlines() if line.startswith("\\") and "rule" in line]
    top, middle, bottom = r"\toprule", r"\midrule", r"\bottomrule"
    assert rules == [top, middle, middle, bottom, top, middle, bottom]
    (legend,) = (line for line in text.splitlines() if "mean ± standard deviation" in line)
    assert legend.startswith("% change from")
    assert r"new & any criterion & top\_k=2 & 3 of 3 & -- \\" in text


def test_latex_and_markdown_escape_their_special_characters():
    odd = "a_b & 50% {c} \\x | <i>"
    distances = {(odd if row == "new" else row): v for row, v in DISTANCES.items()}
    found = summary_of(distances, rows=tuple(distances))
    tex = r"a\_b \& 50\% \{c\} \textbackslash{}x | $<$i$>$"
    assert f"{tex} & " in study_tables.formatted([found], "latex")
    assert r"| a\_b & 50% {c} \\x \| &lt;i&gt; |" in study_tables.formatted([found], "markdown")


def test_markdown_has_the_tables_the_statement_and_the_notes():
    text = study_tables.formatted([summary_of(protocol="published")], "markdown")
    assert "| mitigator | WEAT | ECT |\n| --- | --- | --- |\n| normalize | −0.800 ± 0.200 |" in text
    titles = [line for line in text.splitlines() if line.startswith("###")]
    assert titles[0] == "### chosen by any criterion"
    assert titles[-1] == "### Notes"
    assert "- fairer: new by WEAT\n" in text
    assert "\n- protocol 'published'" in text


def test_json_has_all_cells_and_no_nan():
    text = json.dumps(study_tables.as_json(summary_of()), allow_nan=False)
    found = json.loads(text)
    assert found["complete"]
    assert found["family"] == 2
    assert len(found["cells"]) == 8
