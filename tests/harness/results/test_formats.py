"""An evaluation's tables in the formats of other programs."""

from __future__ import annotations

import csv
import io
import re

from score_records import many, record, void

from harness.results import formats
from harness.results.formats import Report, Table, comma_separated
from harness.results.tables import beside, legend, report, sections


def latex(sections):
    return formats.latex(report(sections, best=formats.BOLD))


def markdown(sections):
    return formats.markdown(report(sections, best=formats.BOLD))


INTERVAL = {"low": -0.25, "high": 1.5, "level": 0.9, "method": "bootstrap"}


def test_latex_has_a_tabular_of_booktabs_for_each_section():
    text = latex(sections(many(3)))
    assert text.count(r"\begin{tabular}{lllrrr}") == text.count(r"\end{tabular}") == 2
    assert text.count(r"\caption{") == text.count(r"\label{tab:") == 2
    assert len(set(re.findall(r"\\label\{(.*?)\}", text))) == 2
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert rule in text
    assert r"\textbf{1.300}$^{**}$ ($-$0.200) \\" in text


def test_latex_and_markdown_escape_names():
    records = [record("a_b&c|d", r"x\y<z>", 1.0), record("e", r"x\y<z>", -1.0)]
    text = latex(sections(records))
    assert r"a\_b\&c|d & effect\_size" in text
    assert r"x\textbackslash{}y$<$z$>$" in text
    assert r"| a\_b&c\|d |" in markdown(sections(records))
    assert r"x\\y&lt;z&gt;" in markdown(sections(records))


def test_intervals_replace_changes():
    tables = sections([record(interval=INTERVAL), record("t", "x", 0.5, interval=INTERVAL)])
    cell = tables[0].rows[0].cells[1]
    assert beside(cell, intervals=False) == "(-0.500)"
    assert beside(cell, intervals=True) == "[-0.25, 1.50]"
    assert any("90%" in line for line in legend(tables, intervals=True))


def test_csv_quotes_what_a_spreadsheet_would_run():
    text = comma_separated([{"name": "=1+1", "value": -1.5, "params": {"k": 2}}])
    (line,) = csv.DictReader(io.StringIO(text))
    assert line == {"name": "'=1+1", "value": "-1.5", "params": '{"k": 2}'}


def test_html_escapes_titles_cells_and_lines():
    page = formats.html(Report("<s>", [Table("<u>", ["<i>"], [["<b>"]])]))
    assert not {"<i>", "<b>", "<u>", "<s>"} & set(page.split())
    assert page.count("&lt;") == 4


def test_what_would_break_a_line_becomes_a_space_and_what_acts_is_seen():
    text = formats.plain_text(Report("", [Table("", ["a", "b"], [["x\ny\x1b[1m", "z"]])]))
    assert [line.split() for line in text.splitlines()][-2] == [
        "x",
        "y\N{REPLACEMENT CHARACTER}[1m",
        "z",
    ]


JUDGED = [
    *(record(task, "none", 1.0, p_value=0.001) for task in "ab"),
    record("a", "x", 0.1, p_value=0.001, unseen=void("too few pairs")),
    record("b", "x", 0.5, p_value=0.001),
]


def test_markdown_and_a_terminal_show_a_score_that_is_not_judged_as_void():
    assert "| a | effect\\_size | 0 | 1.000\\*\\* | void |" in markdown(sections(JUDGED))
    plain = formats.plain_text(report(sections(JUDGED)))
    (line,) = [line for line in plain.splitlines() if line.split()[:1] == ["a"]]
    assert line.split() == ["a", "effect_size", "0", "1.000**", "void"]
    assert "void under x: a: too few pairs" in plain.splitlines()
    assert "judged" not in formats.plain_text(report(sections(JUDGED[:2])))
