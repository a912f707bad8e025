"""A frame of claims has the facts of its records."""

from collections.abc import Callable
from typing import Any

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
    assert (line["unseen"], line["value_on_all"]) == ("unseen texts", 0.0)
    assert line["family"] == "weat"
    assert (line["label"], line["limit"], line["file"]) == ("none", None, None)
    assert line["tables"] == '{"pairs": "tables/x.tsv"}'


def test_a_line_has_the_score_that_is_judged(make_record: Callable[..., Record]) -> None:
    interval = {"low": 0.0, "high": 1.0, "level": 0.95, "method": "jackknife"}
    floor = {
        "mean": 0.1, "sd": 0.2, "centre": 0.3, "spread": 0.4, "draws": 9, "shuffled": "sides",
    }  # fmt: skip
    record = make_record(
        value=-0.5, p_value=0.9, n=80, details={"reversed": True, "undone": "flat"},
        unseen={"kind": "held-out fit", "value": 0.5, "p_value": 0.01, "n": 60},
        unseen_interval=interval, unseen_floor=floor,
    )  # fmt: skip
    (line,) = frame_of([record]).to_dicts()
    assert (line["unseen"], line["value"], line["value_on_all"]) == ("held-out fit", 0.5, -0.5)
    assert (line["p_value"], line["n"], line["low"], line["floor"]) == (0.01, 60, 0.0, 0.1)
    assert (line["reversed"], line["undone"]) == (False, False)


def test_what_is_not_judged_has_no_value_and_the_reason(
    make_record: Callable[..., Record], void: dict[str, Any]
) -> None:
    (line,) = frame_of([make_record(value=0.5, **void)]).to_dicts()
    assert (line["value"], line["reason"]) == (None, "no unseen words")


def test_no_records_are_an_empty_frame() -> None:
    assert dict(frame_of([]).schema) == SCHEMA
