"""The data files of a leaderboard and its downloads: contents, and hostile names."""

import csv
import io
import json
import math
import re
from pathlib import Path

import polars as pl
import pytest
import site_data

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import Claims, frame_of
from harness.leaderboard.site import rendering
from harness.leaderboard.site import writing as site
from harness.results.reading import SetAside

HOSTILE = '</script><img src=x onerror="window.hacked=1">{{123*457}}\'"&\\\u2028'


def write(records, folder, **settings) -> Path:
    claims = Claims(frame_of(records))
    return site.write(
        compile_boards(frame_of(records)), folder, title="T", claims=claims, **settings
    )


def board_of(records, folder):
    """Return the data of the board of texts after building the site."""
    write(records, folder)
    return site_data.read(folder, "data/text.js")


def test_a_name_is_no_formula_in_a_spreadsheet(tmp_path, make_record) -> None:
    records = [make_record(model__name="=HYPERLINK(1)", value=-1.0)]
    written = write(records, tmp_path)
    (row,) = csv.DictReader(io.StringIO(written.with_name(site.CSV).read_text("utf-8")))
    assert row["model"] == "'=HYPERLINK(1)"
    assert row["task:t"] == "-1.0"


def test_data_csv_and_parquet_have_the_same_numbers(tmp_path, make_many) -> None:
    written = write(make_many(), tmp_path)
    board = site_data.read(tmp_path, "data/text.js")
    details = site_data.read(tmp_path, "data/text-details.js")
    tasks = [task["name"] for task in board["tasks"]]
    value, gap, yardstick, measures = (
        site_data.grid(board, column)
        for column in (details["value"], details["gap"], details["yardstick"], board["measure"])
    )
    lines = {
        (line["model"], line["label"], line["task"]): line
        for line in pl.read_parquet(tmp_path / "records.parquet").to_dicts()
    }
    table = csv.DictReader(io.StringIO(written.with_name(site.CSV).read_text("utf-8")))
    by_row = {(row["model"], row["mitigator"]): row for row in table}
    assert len(by_row) == len(site_data.rows(board)) == 12
    for i, row in enumerate(site_data.rows(board)):
        for j, task in enumerate(tasks):
            line = lines[(*row, task)]
            if line["value"] is None:
                assert line["unseen"] == "void"
                assert (math.isnan(value[i, j]), by_row[row][f"task:{task}"]) == (True, "")
                continue
            assert value[i, j] == pytest.approx(line["value"], rel=1e-4), "four digits are shown"
            assert float(by_row[row][f"task:{task}"]) == pytest.approx(line["value"], rel=1e-5)
            expected = math.nan if line["measure"] is None else line["measure"]
            assert measures[i, j] == pytest.approx(expected, rel=1e-4, nan_ok=True)
            if line["measures"] == "bias":
                assert gap[i, j] == pytest.approx(line["gap"], rel=1e-3)
                assert yardstick[i, j] == line["yardstick"] == 1.0


def test_rows_of_a_model_follow_each_other_and_begin_without_a_mitigator(
    tmp_path, make_many
) -> None:
    board = board_of(make_many(), tmp_path)
    models, mitigators = board["rows"]["model"], board["rows"]["mitigator"]
    assert models == sorted(models)
    assert [mitigators[i] for i in range(0, 12, 4)] == [0, 0, 0]
    assert board["mitigators"][0]["label"] == "none"
    assert board["rows"]["role"][:2] == ["model", "mitigated"]


def test_ranks_stand_at_the_rows_of_their_models(tmp_path, make_rows) -> None:
    values = {"b": 0.5, "a": 1.0, "random-texts": 0.01}
    records = make_rows(
        {name: {f"t{i}": value for i in range(6)} for name, value in values.items()}
    )
    records = [
        r.model_copy(update={"task": r.task.model_copy(update={"family": r.task.name})})
        for r in records
    ]
    board = board_of(records, tmp_path)
    view = board["views"][0]
    assert (view["benchmark"], view["concept"], view["language"]) == ("all", "", "")
    ranks = site_data.of_rows(board, view["numbers"]["rank"])
    assert ranks == {("b", "none"): 1, ("a", "none"): 2, ("random-texts", "none"): 0}
    assert board["rows"]["role"] == ["model", "model", "reference"]
    assert view["tasks"] == [0, 1, 2, 3, 4, 5]


def test_flags_say_what_is_special_about_a_value(tmp_path, make_record) -> None:
    plain = {"value": 1.0, "p_value": 0.5}
    special = {
        "reversed": {"details": {"reversed": True}},
        "missing": {"coverage": {"asked": 10, "found": 9}},
        "truncated": {"coverage": {"asked": 10, "found": 10, "truncated": 3}},
        "outside": {"value": 9.0},
        "significant": {"p_value": 0.01},
        "plain": {},
    }
    records = [
        make_record(task__name=name, task__digest=name, **(plain | changes))
        for name, changes in special.items()
    ]
    board = board_of(records, tmp_path)
    (flags,) = site_data.grid(board, board["flags"])
    bits = dict(zip([task["name"] for task in board["tasks"]], flags.tolist(), strict=True))
    assert bits == {"reversed": 64 + 2, "missing": 64 + 4, "truncated": 64 + 8, "outside": 64 + 16,
                    "significant": 64 + 32, "plain": 64}  # fmt: skip


def test_the_details_say_why_there_is_no_value(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"y": 1.0}})
    records += make_rows({"b": {"x": None}}, reason="all texts have the same vector")
    board = board_of(records, tmp_path)
    details = site_data.read(tmp_path, "data/text-details.js")
    reasons = [
        [details["reasons"][i] for i in row] for row in site_data.grid(board, details["reason"])
    ]
    assert [task["name"] for task in board["tasks"]] == ["x", "y"]
    assert reasons == [["", "not run"], ["all texts have the same vector", ""]]


def test_a_hostile_text_is_data_and_no_part_of_the_page(tmp_path, make_record) -> None:
    records = [
        make_record(
            model__name=HOSTILE, model__url="javascript:alert(1)", mitigator__name=mitigator,
            mitigator__params={"<img src=x>": "'", "__proto__": 1},
            mitigator__fingerprint=mitigator, mitigator__concept=HOSTILE,
            task__name=HOSTILE + task, task__title=HOSTILE,
            task__digest=HOSTILE + task, task__measures=task, category=HOSTILE, language=HOSTILE,
            scenario=HOSTILE, metric=HOSTILE, score=HOSTILE, value=value, reason=HOSTILE,
            coverage={"asked": 2, "found": 1, "missing": (HOSTILE,)},
            environment={"harness": HOSTILE, "python": HOSTILE, "platform": HOSTILE,
                         "device": HOSTILE, "packages": {"<img>": "'"}},
        )
        for mitigator, value in (("none", 1.0), (HOSTILE, 0.5), (HOSTILE * 2, None))
        for task in ("bias", "usefulness")
    ]  # fmt: skip
    board = board_of(records, tmp_path / "hostile")
    write([make_record()], tmp_path / "plain")
    pages = [(tmp_path / name / "index.html").read_bytes() for name in ("hostile", "plain")]
    starts = [re.findall(rb"<[a-z0-9]+", page) for page in pages]
    assert set(starts[0]) <= set(starts[1]), "a text of a record makes no element"
    assert [found.count(b"<script") for found in starts] == [1, 1]
    assert board["models"][0]["name"] == HOSTILE
    assert {task["title"] for task in board["tasks"]} == {HOSTILE}
    assert "__proto__" in board["mitigators"][-1]["params"]


def test_the_page_loads_its_own_files_alone(tmp_path, make_record) -> None:
    page = write([make_record()], tmp_path).read_text("utf-8")
    assert len(page) < 100_000
    assert "http://" not in page
    assert "https://" not in page
    assert "default-src 'none'" in page
    scripts = [part.split('"')[0] for part in page.split('<script src="')[1:]]
    assert scripts == [f"{rendering.assets_folder()}/board.js"]
    assert (tmp_path / scripts[0]).is_file()
    assert page.count("<script") == 1, "no script in the page itself"


def test_a_task_says_what_its_gap_is_compared_with(tmp_path, make_record) -> None:
    useful = {"task__name": "s", "task__digest": "s", "task__measures": "usefulness"}
    board = board_of([make_record(), make_record(**useful)], tmp_path)
    facts = ("yardstick_of", "reference_ratio")
    tasks = {task["name"]: tuple(task[name] for name in facts) for task in board["tasks"]}
    assert tasks == {"t": ("yardstick-sentences", 1.0), "s": (None, None)}


def test_an_uneven_yardstick_is_in_the_data_with_its_reason(tmp_path, make_record) -> None:
    contrasts = dict.fromkeys("abcdefg", 0.1) | {"flowers": 2.0}
    board = board_of([make_record(contrasts=contrasts)], tmp_path)
    assert board["rows"]["uneven"] == {"0": "'flowers' gives 74 % of yardstick-sentences"}


def test_what_was_set_aside_is_grouped_by_reason(tmp_path, make_record) -> None:
    lines = [
        SetAside("a.jsonl", i, f"the value {i}.5 of 'x{i}' is outside its bounds") for i in (3, 4)
    ]
    lines.append(SetAside("b.jsonl", 0, "not \x1b[31mUTF-8"))
    first, second = rendering.grouped(lines)
    assert first.line() == (
        "a.jsonl:3: the value 3.5 of 'x3' is outside its bounds (2 alike, the first is shown)"
    )
    assert second.line() == "b.jsonl: not \ufffd[31mUTF-8"
    records = [make_record()]
    claims = Claims(frame_of(records), tuple(lines))
    site.write(compile_boards(frame_of(records)), tmp_path, title="T", claims=claims)
    assert json.loads((tmp_path / "leaderboard.json").read_text())["aside"] == [
        {"reason": first.reason, "count": 2, "examples": ["a.jsonl:3", "a.jsonl:4"]},
        {"reason": second.reason, "count": 1, "examples": ["b.jsonl"]},
    ]


def test_the_same_records_give_the_same_bytes(tmp_path, make_many, monkeypatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    for name, records in (("a", make_many()), ("b", make_many()[::-1]), ("a", make_many())):
        write(records, tmp_path / name)
    files = {name: sorted((tmp_path / name).rglob("*")) for name in "ab"}
    assert [f.name for f in files["a"]] == [f.name for f in files["b"]]
    for one, other in zip(files["a"], files["b"], strict=True):
        assert one.is_dir() or one.read_bytes() == other.read_bytes(), one.name
    assert site_data.read(tmp_path / "a")["built"] == "2026-01-01 00:00 UTC"


def test_facts_of_a_registered_model_come_from_its_card(tmp_path, make_record) -> None:
    from harness.leaderboard.claims import facts
    from harness.leaderboard.site.registered import registered
    from harness.registry.registry import Registry

    known = registered(Registry(), facts.known(["seat-c6"]))
    records = [
        make_record(model__name=name, model__fingerprint=name, model__licence="WTFPL",
                    model__dimensions=1, model__url="https://evil.example", task__name="seat-c6",
                    task__version=3)
        for name in ("all-MiniLM-L6-v2", "somebody")
    ]  # fmt: skip
    write(records, tmp_path, registered=known)
    board = site_data.read(tmp_path, "data/text.js")
    first, second = board["models"]
    assert (first["licence"], first["dimensions"]) == ("Apache-2.0", 384)
    assert "evil" not in first["url"]
    assert (second["licence"], second["dimensions"]) == ("WTFPL", 1)
    (task,) = board["tasks"]
    assert task["description"]
    assert task["licence"]
    assert len(task["examples"]["targets_1"]) == 3
    assert task["validity"]["result"] == "valid"
    assert board["benchmarks"][0]["licences"] == [task["licence"]]
