"""Tables of results on terminals of different widths."""

from __future__ import annotations

import pytest
from score_records import many, record

from harness.commands import result_tables
from harness.results import formats, tables


@pytest.fixture
def shown(capsys):
    """Print the tables of records and return the lines."""

    def run(records, width, *, intervals=False):
        formats.show(tables.report(tables.sections(records), intervals=intervals), width)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return run


def headers(lines):
    return [line.split() for line in lines if line.split()[:1] in (["task"], ["mitigator"])]


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("n_mitigators", [1, 4, 12])
@pytest.mark.parametrize("longest", ["", "?centre=true&k=2+normalize"])
def test_no_table_is_wider_than_the_terminal_and_no_cell_is_lost(
    shown, width, n_mitigators, longest
):
    records = many(n_mitigators, longest=longest)
    for intervals in (False, True):
        lines = shown(records, width, intervals=intervals)
        assert max(map(len, lines)) <= width
        assert not any("…" in line for line in lines)
        text = "\n".join(lines)
        for r in records:
            if r.task.measures == "bias":
                assert f"{r.value:.3f}**" in text
        for i in range(1, n_mitigators):
            assert f"mitigator-{i}" in text


def test_a_split_table_repeats_the_tasks_in_each_part(shown):
    lines = shown(many(12), 80)
    tasks = [line.split()[0] for line in lines if line.lstrip().startswith("association-")]
    assert len(tasks) > 8
    assert all(tasks.count(f"association-{t}") == tasks.count("association-0") for t in range(8))


def test_other_scenarios_are_shown_apart(capsys):
    records = [
        record(),
        record(scenario="positive", primary=False, value=0.25),
        record(score="p", primary=False),
    ]
    result_tables.show_other_scenarios(records, intervals=False, width=None)
    text = capsys.readouterr().out
    assert "0.250" in text
    assert "1.000" not in text
