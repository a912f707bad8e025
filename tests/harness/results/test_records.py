"""Records as a sequence and as data frames."""

from __future__ import annotations

import itertools
import json

import pytest
from score_records import record

import harness
from harness.embedder import MockEmbedder
from harness.results.record import FloorPart, IntervalPart
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
    assert [float(cell.split()[0].strip("•†")) for cell in row[3:]] == [
        pytest.approx(record.value, abs=5e-4)
        for record in records
        if record.primary and record.model.name == "toy-letters"
    ]
    for fact in ("toy-letters: bias", "toy-words: bias", f"{len(records)} records"):
        assert fact in page


FLOOR = FloorPart(mean=0.1, sd=0.1, centre=0.0, spread=0.1, draws=9, shuffled="sides")
ENDS = IntervalPart(low=0.2, high=0.9, level=0.95, method="jackknife")


def test_frames_have_the_distances_leaks_and_reasons_that_records_have():
    """For each kind of ideal, bounds, floor and unit, to the last digit."""
    records = Records(
        [
            made.model_copy(update={"task": made.task.model_copy(update={"unranked": unranked})})
            for measures, ideal, bounds, value, floor, unit, overlap, unranked in itertools.product(
                ("bias", "usefulness", "control"),
                (0.0, 0.5, "higher", "lower"),
                ((0.0, 1.0), (-2.0, 2.0), (None, None)),
                (0.3, 1.7, None),
                (None, FLOOR),
                (None, 0.25),
                ((), ("she", "he")),
                ("", "a reason"),
            )
            for made in [
                record(
                    value=value, reason="void", measures=measures, ideal=ideal, bounds=bounds,
                    floor=floor, unit=unit, overlap=overlap,
                )
            ]
        ]
    )  # fmt: skip
    frame = records.to_polars()
    assert frame["distance"].to_list() == [r.distance for r in records]
    assert frame["above_floor"].to_list() == [r.above_floor for r in records]
    assert frame["left_out"].to_list() == [r.left_out for r in records]
    assert frame["leak"].to_list() == [r.is_leak for r in records]
    assert frame["overlap"].unique().sort().to_list() == [0, 2]
    assert frame["left_out"].n_unique() == 8


def test_frames_have_what_a_value_is_judged_by():
    made = record(interval=ENDS, floor=FLOOR, unit=0.5, n=12, clusters=4, p_value=0.02)
    (row,) = Records([made]).rows()
    expected = {
        "low": 0.2, "high": 0.9, "level": 0.95, "interval_method": "jackknife", "floor": 0.1,
        "unit": 0.5, "n": 12, "clusters": 4, "p_value": 0.02, "version": 1, "reason": None,
        "left_out": None, "above_floor": pytest.approx(1.8), "distance": 0.5, "leak": False,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


def test_the_means_of_records_are_those_of_the_tables():
    records = Records(
        [
            *(record(task, "none", 1.0) for task in "abc"),
            *(record(task, "x", 0.5) for task in "ab"),
            record("c", "x", 0.0, overlap=("she",)),
        ]
    )
    none, mitigated = records.means()
    assert (none["mean"], none["n"], none["of"]) == (pytest.approx(0.5), 3, 3)
    assert (mitigated["mean"], mitigated["n"], mitigated["of"]) == (pytest.approx(0.25), 2, 3)
    assert none["change"] is None
    change = mitigated["change"]
    assert (change["difference"], change["tasks"]) == (pytest.approx(-0.25), 2)
    assert change["sentence"].startswith("on these 2 tests: ")
    assert mitigated["left_out"] == {"leak (†)": ["c"]}
