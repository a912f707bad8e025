"""Records as a sequence and as data frames."""

from __future__ import annotations

import itertools
import json

import pytest
from score_records import record, void

import harness
from harness.embedder import MockEmbedder
from harness.results.columns import Columns
from harness.results.record import FloorPart, IntervalPart, UnseenPart
from harness.results.records import NotRun, Records


@pytest.fixture
def records(registry):
    return harness.evaluate(
        MockEmbedder(), ["toy-places", "toy-ratings"], registry=registry, concept=None
    )


def test_records_are_a_sequence(records):
    assert len(records) == 4
    assert list(records)[1] == records[1]
    assert isinstance(records[1:3], Records)
    assert list(records[1:3]) == list(records)[1:3]
    assert repr(records) == "<4 records of 1 model>"


def test_both_data_frames_have_one_row_per_record(records):
    polars, pandas = records.to_polars(), records.to_pandas()
    assert polars.columns == list(pandas.columns)
    assert polars.height == len(pandas) == 4
    assert polars["value"].to_list() == pandas["value"].tolist() == [r.value for r in records]
    assert polars["task"].to_list() == ["toy-places"] * 3 + ["toy-ratings"]
    assert polars["id"].n_unique() == 4
    assert polars.filter(polars["primary"])["score"].to_list() == ["gap", "correlation"]


def test_frames_tell_settings_apart_and_have_parameters_as_json(registry):
    mitigators = ["none", "toy-shift?k=1", "toy-shift?k=2+toy-polite"]
    records = harness.evaluate(
        "toy-letters", "toy-places", mitigators, registry=registry, concept="toy-place"
    )
    frame = records.to_polars().unique("mitigator", maintain_order=True)
    assert frame["mitigator"].to_list() == ["none", "toy-shift", "toy-shift?k=2+toy-polite"]
    assert frame["mitigator_name"].to_list() == ["none", "toy-shift", "toy-shift+toy-polite"]
    assert [json.loads(text) for text in frame["mitigator_params"]] == [
        {},
        {"k": 1},
        {"toy-shift": {"k": 2}, "toy-polite": {"word": "please"}},
    ]


def test_no_records_make_an_empty_frame():
    assert Records([]).to_polars().height == 0
    assert len(Records([]).to_pandas()) == 0


def test_a_slice_keeps_all_that_is_known_of_the_run():
    facts = {"notices": ["careful"], "missed": ["a"], "texts": 5, "encoded": 3, "reused": 2}
    part = Records([], not_run=[NotRun("m", "none", "a", "no", "data")], **facts)[:0]
    assert part.not_run == (NotRun("m", "none", "a", "no", "data"),)
    assert {name: getattr(part, name) for name in facts} == facts | {
        "notices": ("careful",),
        "missed": ("a",),
    }


def cells_of(page):
    """Return the texts of each row of the tables of a page."""
    import xml.etree.ElementTree as ET

    root = ET.fromstring(f"<div>{page}</div>")
    return [["".join(cell.itertext()).strip() for cell in row] for row in root.iter("tr")]


def test_a_notebook_shows_the_table_of_the_command(registry):
    records = harness.evaluate(
        ["toy-letters", "toy-words"],
        "toy-places",
        ["none", "toy-shift?k=2"],
        registry=registry,
        concept="toy-place",
    )
    page = records._repr_html_()
    header, row, *_ = cells_of(page)
    assert header == ["task", "score", "ideal", "none", "toy-shift?k=2"]
    assert row[:3] == ["toy-places", "gap", "0"]
    judged = [r.judged() for r in records if r.primary and r.model.name == "toy-letters"]
    assert [cell.split()[0].strip("•") for cell in row[3:]] == [
        "void" if r.value is None else f"{r.value:.3f}" for r in judged
    ]
    for fact in ("toy-letters: bias", "toy-words: bias", f"{len(records)} records"):
        assert fact in page


FLOOR = FloorPart(mean=0.1, sd=0.1, centre=0.0, spread=0.1, draws=9, shuffled="sides")
ENDS = IntervalPart(low=0.2, high=0.9, level=0.95, method="jackknife")


UNSEEN = UnseenPart(kind="unseen texts", value=0.7, p_value=0.3, n=8, reversed=True)
NOT_STATED = UnseenPart(kind="fit not stated", value=0.3)


def test_frames_have_the_distances_and_reasons_that_records_have():
    """For each kind of ideal, bounds, floor and unit, to the last digit."""
    records = Records(
        [
            made.model_copy(update={"task": made.task.model_copy(update={"unranked": unranked})})
            for measures, ideal, bounds, value, floor, unit, unseen, unranked in itertools.product(
                ("bias", "usefulness", "control"),
                (0.0, 0.5, "higher", "lower"),
                ((0.0, 1.0), (-2.0, 2.0), (None, None)),
                (0.3, 1.7, None),
                (None, FLOOR),
                (None, 0.25),
                (None, UNSEEN, NOT_STATED, void()),
                ("", "a reason"),
            )
            for made in [
                record(
                    value=value, reason="void", measures=measures, ideal=ideal, bounds=bounds,
                    floor=floor, unit=unit, unseen=unseen,
                )
            ]
        ]
    )  # fmt: skip
    frame = records.to_polars()
    assert frame["distance"].to_list() == [r.distance for r in records]
    assert frame["above_floor"].to_list() == [r.above_floor for r in records]
    assert frame["left_out"].to_list() == [r.left_out for r in records]
    assert frame["unseen"].to_list() == [r.unseen and r.unseen.kind for r in records]
    assert frame["unseen_value"].to_list() == [r.unseen and r.unseen.value for r in records]
    assert frame["left_out"].n_unique() == 8


def test_columns_are_judged_as_records_are():
    """In all that tables and frames read; the marks are in `unseen` of both."""
    floor, ends = FLOOR.model_copy(update={"mean": 0.2}), ENDS.model_copy(update={"low": 0.1})
    on_all = {"interval": ENDS, "floor": FLOOR, "p_value": 0.02, "n": 12, "unit": 0.5}
    records = [
        record(**on_all),
        record(**on_all, unseen=UNSEEN, unseen_interval=ends, unseen_floor=floor),
        record(**on_all, unseen=UNSEEN.model_copy(update={"kind": "held-out fit"})),
        record(**on_all, unseen=NOT_STATED, unseen_floor=floor),
        record(value=None, reason="too few", unseen=UNSEEN, unseen_interval=ends),
        record(**on_all, unseen=void(), withheld=("she",)),
        record(**on_all, measures="usefulness"),
    ]
    one_by_one = Records([r.judged() for r in records])
    at_once = Records(Columns.of(records).judged())
    without_marks = {"details": {}}
    assert list(at_once) == [r.model_copy(update=without_marks) for r in one_by_one]
    assert at_once.rows() == one_by_one.rows()
    assert [r.value for r in at_once] == [1.0, 0.7, 0.7, 0.3, 0.7, None, 1.0]
    assert [r.interval for r in at_once] == [ENDS, ends, None, None, ends, None, ENDS]
    assert [r.floor for r in at_once] == [FLOOR, floor, None, floor, None, None, FLOOR]
    assert one_by_one[1].details == {"reversed": True}
    assert [r.judged() for r in one_by_one] == list(one_by_one)


def test_frames_have_what_a_value_is_judged_by():
    made = record(interval=ENDS, floor=FLOOR, unit=0.5, n=12, clusters=4, p_value=0.02)
    (row,) = Records([made]).rows()
    expected = {
        "low": 0.2, "high": 0.9, "level": 0.95, "interval_method": "jackknife", "floor": 0.1,
        "unit": 0.5, "n": 12, "clusters": 4, "p_value": 0.02, "version": 1, "reason": None,
        "left_out": None, "above_floor": pytest.approx(1.8), "distance": 0.5, "unseen": None,
        "unseen_value": None, "withheld": 0,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


def test_the_means_of_records_are_those_of_the_tables():
    records = Records(
        [
            *(record(task, "none", 1.0) for task in "abc"),
            *(record(task, "x", 0.5) for task in "ab"),
            record("c", "x", 0.0, unseen=void()),
        ]
    )
    none, mitigated = records.means()
    assert (none["mean"], none["n"], none["of"]) == (pytest.approx(0.5), 3, 3)
    assert (mitigated["mean"], mitigated["n"], mitigated["of"]) == (pytest.approx(0.25), 2, 3)
    assert none["change"] is None
    change = mitigated["change"]
    assert (change["difference"], change["tasks"]) == (pytest.approx(-0.25), 2)
    assert change["sentence"].startswith("on these 2 tests: ")
    assert mitigated["left_out"] == {"void": ["c"]}
