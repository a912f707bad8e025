"""Records as a sequence and as data frames."""

from __future__ import annotations

import json

import pytest

import harness
from harness.embedder import MockEmbedder
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


def test_a_column_of_values_is_numeric_even_if_its_first_values_are_null(records):
    first = records[0].model_copy(update={"value": None})
    frame = Records([first] * 200 + [records[0]]).to_polars()
    assert frame["value"].null_count() == 200
    assert frame["value"].dtype.is_numeric()


def test_no_records_make_an_empty_frame():
    assert Records([]).to_polars().height == 0
    assert len(Records([]).to_pandas()) == 0


def test_what_failed_and_what_was_skipped_are_the_two_parts_of_what_was_not_run():
    entries = (NotRun("m", "none", "a", "broke", "failed"), NotRun("m", "none", "b", "no", "data"))
    records = Records([], not_run=entries, notices=["careful"])
    assert records.not_run == entries
    assert (records.failed, records.skipped) == (entries[:1], entries[1:])
    assert (records[:0].not_run, records[:0].notices) == (entries, ("careful",))


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


def test_what_a_notebook_shows_is_escaped_and_tells_what_was_not_run(records):
    bad = "<script>alert(1)</script>"
    record = records[0].model_copy(
        update={"model": records[0].model.model_copy(update={"name": bad})}
    )
    entries = [NotRun("m", "none", bad, bad, "failed")]
    page = Records([record], not_run=entries, notices=[bad])._repr_html_()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 2
    assert "not run: 1" in page
    assert "0 records" in Records([])._repr_html_()


def test_a_column_of_samples_does_not_replace_a_fact_about_the_record(records):
    kept = records[0].keeping({}, {}, [{"text": "nurse", "score": 0.5}])
    (row,) = Records([kept]).samples()
    assert (row["score"], row["sample_score"], row["text"]) == (kept.score, 0.5, "nurse")
