"""The cells of an evaluation's tables."""

from __future__ import annotations

import pytest
from score_records import record, similarity, void

from harness.results import formats, tables
from harness.results.formats import Sentences
from harness.results.record import NOT_STATED, IntervalPart, UnseenPart


def section(*records):
    (found,) = tables.sections(records)
    return found


def cells(*records):
    """Return the cells of the only row."""
    (row,) = section(*records).rows
    return row.cells


def test_bias_usefulness_and_controls_stand_apart_for_each_model():
    records = [
        similarity("sts", "none", 0.5),
        record("weat", "none", 1.0),
        record("flowers", "none", 1.0, measures="control"),
        record("weat", "none", 1.0, model="other"),
    ]
    found = [(s.model, s.measures, [row.task for row in s.rows]) for s in tables.sections(records)]
    assert found == [
        ("m", "bias", ["weat"]),
        ("m", "usefulness", ["sts"]),
        ("m", "control", ["flowers"]),
        ("other", "bias", ["weat"]),
    ]


def test_columns_keep_their_order_if_the_first_tasks_lack_some():
    found = section(
        record("a", "z"), record("b", "y"), record("b", "z"), record("c", "none"), record("c", "y"),
        record("d", "w"),
    )  # fmt: skip
    assert found.columns == ("none", "y", "z", "w")


def test_different_weights_of_one_name_are_never_in_one_table():
    older, newer = record("a", "none", 1.0), record("a", "none", 2.0)
    prints = ["object-11111111", "object-22222222"]
    found = tables.sections(
        r.model_copy(update={"model": r.model.model_copy(update={"fingerprint": p})})
        for r, p in zip((older, newer), prints, strict=True)
    )
    assert [(s.model, s.rows[0].cells[0].value) for s in found] == [
        ("m [11111111]", 1.0),
        ("m [22222222]", 2.0),
    ]


def test_a_cell_has_its_change_from_none_and_its_interval():
    interval = {"low": 0.1, "high": 0.9, "level": 0.95, "method": "bootstrap"}
    none, mitigated = cells(record(value=1.0), record("t", "x", 0.4, interval=interval))
    assert none.change is None
    assert mitigated.change == pytest.approx(-0.6)
    assert (mitigated.interval.low, mitigated.interval.high) == (0.1, 0.9)


def test_a_task_that_was_not_run_has_no_cell_and_a_void_score_has_no_value():
    found = section(record("a", "none"), record("a", "x", None, reason="r"), record("b", "none"))
    assert [cell and cell.value for cell in found.rows[0].cells] == [1.0, None]
    assert found.rows[0].cells[1] is not None
    assert found.rows[1].cells[1] is None


def void_lines(*records, verbose=False):
    parts = tables.report(tables.sections(records), verbose=verbose).parts
    lines = [line for part in parts if isinstance(part, Sentences) for line in part.lines]
    return [line for line in lines if line.startswith("void")]


def test_rows_that_are_void_for_one_reason_are_one_line():
    lack = "{}% of '{}' has no vector"
    scores = [
        record("a", value=None, reason=lack.format(30, "x")),
        record("a", "m", None, reason=lack.format(30, "x")),
        record("b", value=None, reason=lack.format(40, "y")),
        record("b", "m", None, reason=lack.format(40, "y")),
        record("c"),
        record("c", "m", None, reason="other"),
    ]
    assert void_lines(*scores) == ["void: a, b: … of … has no vector", "void under m: c: other"]
    (table, *_) = tables.report(tables.sections(scores)).parts
    assert [row[0] for row in table.rows] == ["c"]


@pytest.mark.parametrize(
    ("values", "best"),
    [
        ((1.0, 0.5, -0.2), 2),  # nearest to 0, not lowest
        ((1.0, 0.5, 0.5001), None),  # equal when shown
        ((1.0, 0.5, -0.5), None),
        ((0.1, 0.5, None), 0),
        ((0.1, None, None), None),  # nothing to compare with
    ],
)
def test_the_value_nearest_to_the_ideal_is_best_unless_there_is_a_tie(values, best):
    row = cells(*(record("t", f"m{i}", value, reason="r") for i, value in enumerate(values)))
    assert [i for i, cell in enumerate(row) if cell.is_best] == ([] if best is None else [best])


def test_a_control_among_the_mitigators_is_never_best_and_said_to_be_one():
    planted = [record(task, "plant", 0.1) for task in "ab"]
    part = planted[0].mitigator.model_copy(update={"control": True})
    found = section(
        *(
            record(task, column, value)
            for task in "ab"
            for column, value in (("none", 1.0), ("x", 0.5))
        ),
        *(line.model_copy(update={"mitigator": part}) for line in planted),
    )
    for row in (*found.rows, *found.foot):
        assert [cell.is_best for cell in row.cells] == [False, True, False]
    assert "plant: a control, no mitigation" in tables.legend([found], intervals=False)


def test_only_bias_and_controls_have_stars():
    assert cells(record(p_value=0.002))[0].stars == "**"
    assert cells(record(p_value=0.002, measures="control"))[0].stars == "**"
    assert cells(similarity("s", "none", 0.5, p_value=1e-9))[0].stars == ""


def test_without_a_one_sided_test_an_association_is_reversed_if_its_sign_is_not_that_of_none():
    row = cells(record(value=0.5), record("t", "x", -0.4), record("t", "y", 0.1))
    assert [cell.is_reversed for cell in row] == [False, True, False]


@pytest.mark.parametrize(("alternative", "sign"), [("greater", 1), ("less", -1)])
def test_with_a_one_sided_test_the_direction_that_it_tests_counts(alternative, sign):
    more = {"p_value": 0.5, "details": {"alternative": alternative}}
    against, along = cells(record(value=-0.5 * sign, **more), record("t", "x", 0.4 * sign, **more))
    assert against.is_reversed
    assert not along.is_reversed
    assert section(record(**more)).one_sided == ("weat",)


def test_a_metric_that_says_whether_an_association_is_reversed_is_believed():
    """A change of the sign by chance is no reversal, and a reversal keeps its stars."""
    by_chance = {"p_value": 0.4, "details": {"alternative": "two-sided", "reversed": False}}
    clearly = {"p_value": 0.023, "details": {"alternative": "two-sided", "reversed": True}}
    row = cells(
        record(value=1.5),
        record("t", "x", -0.2, **by_chance),
        record("t", "y", -1.1, **clearly),
    )
    assert [cell.is_reversed for cell in row] == [False, False, True]
    assert row[2].stars == "*"
    assert section(record(**clearly)).one_sided == ()


def test_the_mean_of_a_column_is_over_its_own_tasks_and_its_change_over_shared_ones():
    found = section(
        record("a", "none", 2.0), record("a", "x", -1.0),
        record("b", "none", 1.0), record("b", "x", 0.0),
        record("c", "none", 0.5),
        record("d", "none", 0.5), record("d", "x", 0.5, bounds=(None, None)),
    )  # fmt: skip
    none, mitigated = found.mean.cells
    assert (none.value, none.counts) == (pytest.approx(0.5), "4 of 4")
    # d has no yardstick
    assert (mitigated.value, mitigated.counts) == (pytest.approx(0.25), "2 of 3")
    assert not mitigated.is_best, "the tasks are others"
    assert mitigated.change is None
    change = found.changes["x"]
    assert (change.base, change.model, change.tasks) == pytest.approx((0.75, 0.25, 2))


def test_a_change_stands_beside_no_mean_that_it_is_not_of():
    """Both have two of three tasks, and one in common."""
    found = section(
        record("a", "none", 2.0), record("a", "x", 0.2, unseen=void()),
        record("b", "none", 1.0), record("b", "x", 0.8),
        record("c", "none", None, reason="r"), record("c", "x", 0.4),
    )  # fmt: skip
    none, mitigated = found.mean.cells
    assert (none.counts, mitigated.counts) == ("2 of 3", "2 of 3")
    assert mitigated.change is None
    assert found.changes["x"].shown == "-0.100"


def test_the_mean_of_columns_with_the_same_tasks_has_its_change_beside():
    found = section(
        record("a", "none", 2.0), record("a", "x", -1.0),
        record("b", "none", 1.0), record("b", "x", 0.0),
    )  # fmt: skip
    assert "2 of 2" in found.mean.task
    none, mitigated = found.mean.cells
    assert (none.value, mitigated.value) == pytest.approx((0.75, 0.25))
    assert mitigated.change == pytest.approx(-0.5)
    assert mitigated.is_best


def test_of_two_records_of_a_cell_the_newest_counts():
    old = record(value=0.1, created="2026-01-01T00:00:00Z")
    new = record(value=0.2, created="2026-01-02T00:00:00Z")
    assert [cell.value for cell in cells(new, old)] == [0.2]


def unseen(value, kind="unseen texts", **more):
    return UnseenPart(kind=kind, value=value, **more)


def test_none_alone_is_shown_on_all_texts_and_beside_a_mitigator_as_it_is_judged():
    ends = {"level": 0.95, "method": "jackknife"}
    none = record(
        "t", "none", 1.0, p_value=0.001, interval=IntervalPart(low=0.8, high=1.2, **ends),
        unseen=unseen(0.6, p_value=0.03), unseen_interval=IntervalPart(low=0.1, high=0.9, **ends),
    )  # fmt: skip
    mitigated = record("t", "x", -0.5, p_value=0.2, unseen=unseen(0.4, p_value=0.04))
    (alone,) = cells(none)
    assert (alone.value, alone.stars, alone.interval.low) == (1.0, "**", 0.8)
    beside, other = cells(none, mitigated)
    assert (beside.value, beside.stars, beside.interval.low) == (0.6, "*", 0.1)
    assert (other.value, other.stars, other.interval) == (0.4, "*", None)
    assert other.change == pytest.approx(-0.2)
    assert other.is_best
    assert not other.is_reversed, "on all texts it is"
    # Another model has its own table.
    of_other = record("t", "none", 1.0, model="other", unseen=unseen(0.6))
    values = [s.rows[0].cells[0].value for s in tables.sections([none, mitigated, of_other])]
    assert values == [0.6, 1.0]


def test_what_is_not_judged_is_void_with_its_reason_and_never_best_or_reversed():
    found = section(
        record("t", "none", 1.0, p_value=0.001),
        record("t", "x", -1e-4, p_value=0.001, unseen=void("too few pairs")),
    )
    none, mitigated = found.rows[0].cells
    assert (none.value, none.stars, none.is_best) == (1.0, "**", False)
    assert mitigated == tables.Cell(None, reason="too few pairs")
    lines = formats.plain_text(tables.report([found])).splitlines()
    assert "void under x: t: too few pairs" in lines


def test_what_is_not_judged_counts_in_no_mean_and_is_named():
    found = section(
        *(record(task, "none", 1.0) for task in "abcd"),
        *(record(task, "x", 0.0, unseen=void()) for task in "abc"),
        record("d", "x", 0.5),
    )
    assert [cell.counts for cell in found.mean.cells] == ["4 of 4", "1 of 4"]
    assert found.changes["x"].difference == pytest.approx(-0.25)
    (line,) = tables.left_out_lines(found.means, verbose=True)
    assert line == "x: not in the mean of 4 scores: 3 void (a, b, c)"


def test_a_mitigator_that_states_no_fit_is_shown_and_does_not_rank():
    found = section(
        *(record(task, "none", 1.0) for task in "ab"),
        record("a", "x", 0.0, unseen=unseen(0.2, "fit not stated")),
        record("b", "x", 0.0, unseen=unseen(0.4)),
    )
    assert [row.cells[1].value for row in found.rows] == [0.2, 0.4]
    assert [cell.counts for cell in found.mean.cells] == ["2 of 2", "1 of 2"]
    assert found.means["x"].left_out == {NOT_STATED: ("a",)}
    assert found.changes["x"].tasks == 1
    (line,) = tables.judged_lines(found.judged)
    assert line.endswith(
        ": of 2 scores 1 on texts without words of the fit (none, too), 1 by a fit that is not "
        "stated, which does not rank"
    )


def test_a_line_says_how_mitigators_are_judged_once_for_equal_ones():
    kinds = {"unseen texts": 35, "held-out fit": 3, "void": 6}
    assert tables.judged_lines({"x": kinds, "y": dict(kinds), "z": {"void": 1}, "w": {}}) == [
        "x, y: fitted and judged on different words: of 44 scores 35 on texts without words of "
        "the fit (none, too), 3 by a fit without words of the task, 6 not judged",
        "z: fitted and judged on different words: of 1 score 1 not judged",
    ]
    found = section(
        *(record(task, "none", 1.0, unseen=unseen(1.0)) for task in "ab"),
        *(record(task, "x", 0.0, unseen=unseen(0.5)) for task in "ab"),
        record("b", "y", 0.0, unseen=void()),
    )
    assert found.judged == {"x": {"unseen texts": 2}, "y": {"void": 1}}
    alone = section(*(record(task, "none", 1.0, unseen=unseen(1.0)) for task in "ab"))
    assert alone.judged == {}


def of_version(version, *arguments, **more):
    made = record(*arguments, digest=f"{arguments[0]} {version}", **more)
    return made.model_copy(update={"task": made.task.model_copy(update={"version": version})})


def test_a_score_of_an_older_version_is_marked_and_compared_with_nothing():
    found = section(
        of_version(1, "a", "none", 1.0), of_version(2, "a", "x", 0.25),
        of_version(2, "b", "none", 1.0), of_version(2, "b", "x", 0.5),
    )  # fmt: skip
    old, new = found.rows[0].cells
    assert (old.mark, new.mark, new.change, new.is_best) == ("‡", "", None, False)
    assert [cell.counts for cell in found.mean.cells] == ["1 of 2", "2 of 2"]
    assert found.changes["x"].difference == pytest.approx(-0.25)
    assert any(line.startswith("‡") for line in tables.legend([found], intervals=False))


def test_the_latest_of_several_seeds_is_shown_and_the_legend_says_so():
    found = section(record(value=1.0), record(value=0.5, seed=1), record("u"))
    assert found.several_seeds == 1
    assert any("several seeds" in line for line in tables.legend([found], intervals=False))
    assert not any("seeds" in line for line in tables.legend([section(record())], intervals=False))


def test_a_task_counts_by_its_primary_score_where_it_is_there():
    records = [
        *(record(task, "none", 1.0) for task in "ab"),
        *(record(task, "none", 2.0, score="p", primary=False) for task in "ab"),
    ]
    assert section(*records).mean.cells[0].value == pytest.approx(0.5)
    (mean,) = [section(*records[2:]).mean]
    assert mean.cells[0].value == pytest.approx(1.0)
    assert mean.task == "mean bias of these scores (2 of 2)"


def prompted(values, *, task="t", **more):
    """Return records of a model `m` and of its variants, by prompt; None is its own."""
    records = []
    for prompt, value in values.items():
        name = "m" if prompt is None else f"m?prompt={prompt}"
        base = record(task, value=value, model=name, **more)
        model = base.model.model_copy(update={"base": "" if prompt is None else "m"})
        records.append(base.model_copy(update={"model": model}))
    return records


def test_the_spread_over_prompts_stands_beside_the_value_of_the_base():
    own, *variants = tables.sections(prompted({None: 0.2, "": 0.1, "text: ": 0.6}))
    spread = own.rows[0].cells[0].spread
    assert (spread.low, spread.high, spread.n) == (0.1, 0.6, 3)
    assert spread.sd == pytest.approx((0.07) ** 0.5)  # of 0.2, 0.1 and 0.6, around 0.3
    assert [section.base for section in variants] == ["m", "m"]
    assert all(cell.spread is None for section in variants for cell in section.cells)


def test_void_values_and_other_mitigators_are_in_no_spread():
    records = prompted({None: 0.2, "": None, "text: ": 0.6})
    records += prompted({None: 0.3, "": 0.5}, mitigator="a")
    cells = tables.sections(records)[0].rows[0].cells
    assert [(cell.spread.low, cell.spread.high, cell.spread.n) for cell in cells] == [
        (0.2, 0.6, 2),
        (0.3, 0.5, 2),
    ]


def test_tables_of_variants_are_left_out_unless_all_are_asked_for():
    sections = tables.sections(prompted({None: 0.2, "": 0.1, "text: ": 0.6}))
    short = formats.plain_text(tables.report(sections, verbose=False))
    assert "0.200 0.100 to 0.600, sd 0.265" in short
    assert "low to high, sd: over 3 neutral prompts of the model" in short
    assert "m?prompt=" not in short
    assert "--verbose shows them" in short
    full = formats.plain_text(tables.report(sections, verbose=True))
    assert "m?prompt=text: : bias" in full
    assert "--verbose" not in full
