"""One answer: real records say the same in every command and export, to the last printed digit.

A reader of the records returns what it says of rows and of pairs of rows, as `Answer`s; all are
compared with `Records.means` and with `harness compare`. A new place that prints numbers is one
more reader.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from harness.leaderboard import building
from harness.registry.registry import Registry
from harness.results import formats, tables
from harness.results.comparison import compare
from harness.results.folder import ResultsFile, read_results
from harness.results.record import NO_REFERENCE, Record
from harness.results.records import Records

STORED = Path(__file__).parent / "two_models.jsonl.gz"
BOARD = Path(__file__).parents[3] / "docs" / "figures" / "board.jsonl.gz"
ENCODERS = "all-MiniLM-L6-v2", "bag-of-words:glove-6b-50d"
TURNED = {"more": "less", "less": "more"}


def read(path, wanted=lambda content: True):
    lines = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    return [Record.model_validate(content) for content in lines if wanted(content)]


def two_models():
    return read(STORED), ENCODERS


def one_model_as_a_mitigator_of_the_other():
    records = read(STORED)
    first = records[0]
    mitigator = first.mitigator.model_copy(update={"name": "m", "label": "m", "fingerprint": "m"})
    as_mitigator = {"model": first.model, "mitigator": mitigator}
    records = [
        r if r.model.name == ENCODERS[0] else r.model_copy(update=as_mitigator) for r in records
    ]
    return records, ("none", "m")


def a_model_and_its_mitigation():
    names = "none", "hard-debias"

    def is_wanted(content):
        return content["model"]["name"] == ENCODERS[0] and content["mitigator"]["label"] in names

    return read(BOARD, is_wanted), names


@pytest.fixture(
    params=[
        two_models,
        one_model_as_a_mitigator_of_the_other,
        a_model_and_its_mitigation,
    ]
)
def stored(request, tmp_path, monkeypatch):
    """A folder of real records, and the names of the two rows in it."""
    monkeypatch.setenv("COLUMNS", "400")
    records, rows = request.param()
    ResultsFile(tmp_path / "results", "real").add(records)
    return tmp_path / "results", rows


def compared(harness, folder, base, model):
    """The lines of a comparison by what they measure and are of, from JSON."""
    arguments = "compare", "--recorded", base, model, "-r", folder
    (content,) = json.loads(harness(*arguments, "--json").out)
    lines = {(line["measures"], line["name"]): line for line in content["verdict"]["differences"]}
    return lines, harness(*arguments).out


def rows_of(text, *columns):
    """The rows of the tables of a text that have some columns, by the first one."""
    rows, header = {}, None
    for line in text.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if set(columns) <= set(cells):
            header = cells
        elif header and len(cells) == len(header):
            rows[header[0], cells[0]] = dict(zip(header, cells, strict=True))
    return rows


def words(text):
    """The lines of a text, whatever its tables are drawn with."""
    return {" ".join(line.replace("─", "").split()) for line in text.splitlines()}


def ends(line, digits=3, sign=""):
    if line["low"] is None:
        return "–"
    return f"[{line['low']:{sign}.{digits}f}, {line['high']:{sign}.{digits}f}]"


def test_a_comparison_is_the_same_in_both_orders_and_each_row_adds_up(harness, stored):
    folder, (a, b) = stored
    (found, text), (back, _) = (compared(harness, folder, *pair) for pair in ((a, b), (b, a)))
    printed = rows_of(text, "verdict", "base", "model", "difference")
    page = folder / "page.html"
    again = "compare", "--recorded", a, b, "-r", folder, "--markdown", "--html", page
    others = harness(*again).out.replace("\\", ""), html.unescape(page.read_text())
    assert found.keys() == back.keys() == printed.keys()
    for key, line in found.items():
        assert line["model"] - line["base"] == pytest.approx(line["difference"], abs=1e-12)
        other = back[key]
        assert (line["base"], line["model"]) == pytest.approx((other["model"], other["base"]))
        assert line["difference"] == pytest.approx(-other["difference"])
        verdict, *what = line["verdict"].split(" ", 1)
        assert other["verdict"] == " ".join([TURNED.get(verdict, verdict), *what])
        assert line["agree"] == other["agree"]
        row = printed[key]
        assert Decimal(row["model"]) - Decimal(row["base"]) == Decimal(row["difference"])
        assert (row["base"], row["model"]) == (f"{line['base']:.3f}", f"{line['model']:.3f}")
        assert row["95% interval"] == ends(line, sign="+")
        if line["low"] is not None:
            assert (line["low"], line["high"]) == pytest.approx((-other["high"], -other["low"]))
        if line["name"] == "overall":
            for where in (text, *others):
                assert f"{line['measures']}: {line['sentence']}" in where
            assert row["difference"] in line["sentence"]


def test_means_and_changes_are_those_of_the_comparison_everywhere(harness, stored):
    folder, (a, b) = stored
    found, _ = compared(harness, folder, a, b)
    records = read_results(folder).select()
    means = records.means()
    average = harness("results", "show", "--average", folder)
    as_json = json.loads(harness("results", "show", "--average", folder, "--json").out)
    assert as_json == json.loads(json.dumps(means))
    sections = tables.sections(records)
    shown = harness("results", "show", folder).out
    report = formats.plain_text(tables.report(sections, verbose=False), 400)
    feet = {line for line in words(report) if line.startswith("mean ")}
    assert feet
    assert feet <= words(shown)
    exported = harness("results", "export", folder, "--format", "markdown").out.replace("\\", "")
    for mean in means:
        overall = found[mean["measures"], "overall"]
        side = "base" if a in (mean["model"], mean["mitigator"]) else "model"
        if mean["n"] == overall["tasks"]:
            assert mean["mean"] == pytest.approx(overall[side], abs=1e-12)
        if change := mean["change"]:
            assert change == pytest.approx(overall, abs=1e-12)
            for text in (shown, average.out, exported):
                assert change["sentence"] in text
        names = [mean["model"], mean["mitigator"], mean["name"]]
        number = f"{mean['mean']:.3f}"
        row = [*names, number, ends(mean), f"{mean['n']} of {mean['of']}"]
        assert row in [re.split(r"\s{2,}", line.strip()) for line in average.out.splitlines()]
        for intervals in (False, True):
            (table,) = [
                part
                for part in tables.report(sections, intervals=intervals).parts
                if getattr(part, "title", "") == f"{mean['model']}: {mean['measures']}"
            ]
            cell = table.foot[0][table.columns.index(mean["mitigator"])]
            assert cell.number == number
            if cell.beside.startswith("["):
                assert cell.beside == ends(mean, digits=2)
            elif change and not cell.beside.endswith(f"of {mean['of']})"):
                base = table.foot[0][table.columns.index(a)]
                difference = Decimal(cell.beside.strip("()").replace("=", "0"))
                assert Decimal(cell.number) - Decimal(base.number) == difference


def test_the_reference_encoder_is_1_whatever_else_was_run():
    """A task of one's own has a yardstick, and no reference value: it is shown and counts not."""
    records, (_, other) = two_models()
    ratio = {"gap": 0.0, "reference_gap": None}
    own = [
        r.model_copy(
            update={
                "task": r.task.model_copy(update={"name": "mine", "digest": "mine"}),
                "ratio": r.ratio.model_copy(update=ratio),
            }
        )
        for r in (records[0], next(r for r in records if r.model.name == other))
    ]
    before, after = (Records(of).means() for of in (records, [*records, *own]))
    assert f"{before[0]['mean']:.3f}" == "1.000"
    for row, more in zip(before, after, strict=True):
        assert more["mean"] == pytest.approx(row["mean"], abs=1e-12)
        assert (more["n"], more["of"]) == (row["n"], row["of"] + 1)
        assert more["left_out"][NO_REFERENCE] == ["mine"]


def test_a_blurred_method_leaves_both_sides_whatever_else_was_run():
    """As if it had not been run: a worst method that is blurred away moves nothing."""
    records, rows = two_models()

    def blurred(r):
        ratio = {"yardstick_error": abs(r.ratio.yardstick), "t": 1.0}
        return r.model_copy(update={"ratio": r.ratio.model_copy(update=ratio)})

    def sides(records):
        return [[r for r in records if r.model.name == row] for row in rows]

    for family in sorted({r.family for r in records}):
        rest = [r for r in records if r.family != family]
        blurry = [
            blurred(r) if (r.family, r.model.name) == (family, rows[1]) else r for r in records
        ]
        expected, found = Records(rest).means()[1], Records(blurry).means()[1]
        assert found["mean"] == pytest.approx(expected["mean"], abs=1e-9)
        assert (found["n"], found["of"]) == (expected["n"], len(records) / 2)
        expected, found = (
            compare(*sides(of)).verdict.overall("bias").row() for of in (rest, blurry)
        )
        assert found == pytest.approx(expected, abs=1e-9)


def with_prompts():
    names = "none", "hard-debias"

    def is_wanted(content):
        model, label = content["model"]["name"], content["mitigator"]["label"]
        return model.startswith(ENCODERS[0]) and label in names

    return read(BOARD, is_wanted), names


@pytest.mark.parametrize("known", [two_models, a_model_and_its_mitigation, with_prompts])
def test_a_board_says_what_the_terminal_says(harness, known, tmp_path):
    records, (a, b) = known()
    folder = tmp_path / "results"
    ResultsFile(folder, "real").add(records)
    (board,) = building.rank([folder], Registry()).boards
    view = next(v for v in board.views if (v.benchmark, v.concept, v.language) == ("all", "", ""))
    names = board.rows.select("row", "model", "mitigator")
    rows = {
        (row["model"], row["mitigator"]): row
        for row in view.rows.join(names, on="row").iter_rows(named=True)
    }
    means = [
        mean
        for mean in read_results(folder).means()
        if "?" not in mean["model"] and mean["measures"] != "control"
    ]
    assert means
    for mean in means:
        row, measures = rows[mean["model"], mean["mitigator"]], mean["measures"]
        said = row[measures], row[f"{measures}_low"], row[f"{measures}_high"]
        assert said == pytest.approx((mean["mean"], mean["low"], mean["high"]))
    found, _ = compared(harness, folder, a, b)
    overall = found["bias", "overall"]
    if known is two_models:
        ranges = {rows[name, "none"]["rank_low"] for name in (a, b)}
        is_apart = overall["low"] > 0 or overall["high"] < 0
        assert (len(ranges) == 2) == is_apart
    for effect in view.effects.iter_rows(named=True):
        said = effect["base"], effect["model"], effect["difference_low"], effect["difference_high"]
        terminal = tuple(overall[name] for name in ("base", "model", "low", "high"))
        assert said == pytest.approx(terminal, abs=1e-6)
        assert effect["difference"] == pytest.approx(effect["model"] - effect["base"], abs=1e-12)
