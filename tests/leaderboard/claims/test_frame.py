"""A frame of claims has the facts of its records."""

from collections.abc import Callable

from harness.leaderboard.claims.reading import SCHEMA, frame_of
from harness.results.record import Record


def test_a_record_is_a_line_with_its_facts(make_record: Callable[..., Record]) -> None:
    record = make_record(
        model__licence="MIT",
        model__languages=["en", "de"],
        mitigator__params={"b": 1, "a": [None]},
        details={"reversed": True, "alternative": "greater", "undone": "yes", "other": {"x": 1}},
        interval={"low": -0.5, "high": 0.5, "level": 0.95, "method": "bootstrap"},
        floor={
            "mean": 0.1, "sd": 0.2, "centre": 0.3, "spread": 0.4, "draws": 9, "shuffled": "sides",
        },
        overlap=("she",),
        tables={"pairs": "tables/x.tsv"},
        ideal="higher",
        bounds=(None, 1.0),
    )  # fmt: skip
    frame = frame_of([record])
    assert dict(frame.schema) == SCHEMA
    (line,) = frame.to_dicts()
    assert line["id"] == record.id
    assert line["params"] == '{"a": [null], "b": 1}'
    assert (line["licence"], line["languages"]) == ("MIT", '["en", "de"]')
    assert (line["reversed"], line["alternative"], line["undone"]) == (True, "greater", True)
    assert (line["low"], line["high"], line["level"]) == (-0.5, 0.5, 0.95)
    assert (line["floor"], line["floor_sd"]) == (0.1, 0.2)
    assert (line["ideal"], line["low_bound"], line["high_bound"]) == ("higher", None, 1.0)
    assert line["leaks"] is True
    assert line["family"] == "weat"
    assert (line["label"], line["limit"], line["file"]) == ("none", None, None)
    assert line["tables"] == '{"pairs": "tables/x.tsv"}'


def test_no_records_are_an_empty_frame() -> None:
    assert dict(frame_of([]).schema) == SCHEMA
