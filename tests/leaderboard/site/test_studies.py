"""Pages of studies: contents, escaping of names, and errors."""

import csv
import io
import json
import re
from html import unescape

import click
import numpy as np
import pytest
import site_data
from board_records import board_records
from click.testing import CliRunner

import harness.leaderboard
from harness.errors import DiskError, UsageError
from harness.leaderboard.site import studies
from harness.leaderboard.site.rendering import assets_folder
from harness.leaderboard.site.studies import LANE, WIDTH, drawings
from harness.leaderboard.site.writing import write
from harness.study import study_tables
from harness.study.study_record import StudyRecord

HOSTILE = "</script><img src=x onerror='window.hacked=1'>{{7*7}}\"&"
PAGE = "studies/small-glove.html"


def command(*arguments) -> click.testing.Result:
    group = click.Group(context_settings={"help_option_names": ["-h", "--help"]})
    harness.leaderboard.harness_commands(group)
    return CliRunner().invoke(group, ["leaderboard", "build", *map(str, arguments)])


def build(records, folder, boards=()) -> str:
    """Return the page of the first study, after building the site."""
    compiled = studies.compile_studies(records, [])
    write(boards, folder, title="T", built="today", studies=compiled)
    return (folder / compiled[0].page).read_text("utf-8")


def rows(page: str, table: str) -> list[list[str]]:
    """Return the text of the cells of a table by row."""
    found = re.search(rf'data-name="{table}">(.*?)</table>', page, re.DOTALL)
    return [
        [
            unescape(re.sub(r"<[^>]*>", "", cell)).strip()
            for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        ]
        for row in re.findall(r"<tr>(.*?)</tr>", found[1], re.DOTALL)
    ]


def text_of(page: str) -> str:
    """Return the visible text of a page in one line."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.fixture
def results(tmp_path, make_study):
    """A results folder with a study and nothing else."""
    path = tmp_path / "results" / "small.study.jsonl"
    path.parent.mkdir()
    path.write_text("".join(record.line() for record in make_study()))
    return path.parent


def test_studies_alone_make_a_site(results, tmp_path) -> None:
    result = command(results, "--out", tmp_path / "site", "--title", "Ours")
    assert result.exit_code == 0, result.output
    assert "study 'small' on glove: 6 rows in 4 folds\n" in result.stdout
    (entry,) = site_data.read(tmp_path / "site")["studies"]
    assert (entry["page"], entry["title"]) == (PAGE, "A small study")
    assert site_data.read(tmp_path / "site")["boards"] == []
    assert json.loads((tmp_path / "site/leaderboard.json").read_text())["boards"] == []
    page = (tmp_path / "site" / PAGE).read_text("utf-8")
    assert '<a class="brand" href="../index.html">Ours</a>' in page


def test_boards_and_studies_share_a_site(results, tmp_path) -> None:
    (results / "m.jsonl").write_text(board_records(["good"], ["seat-c6"])[0].line())
    assert command(results, "--out", tmp_path / "site").exit_code == 0
    data = site_data.read(tmp_path / "site")
    assert [board["kind"] for board in data["boards"]] == ["text"]
    assert [study["page"] for study in data["studies"]] == [PAGE]
    assert not (tmp_path / "studies").exists()
    assert not (tmp_path / "figures").exists()


def test_arrows_mark_what_is_fairer_than_the_baseline(tmp_path, make_study) -> None:
    table = rows(build(make_study(), tmp_path), "changes")
    assert table[0] == ["Chosen by", "Mitigator", "WEATless is fairer", "ECTmore is fairer"]
    assert [row[0] for row in table if len(row) == 4] == ["Chosen by", "WEAT", "ECT"]
    cells = {row[-3]: row[-2:] for row in table[1:6]}
    assert list(cells) == ["normalize", "hard-debias (baseline)", "good", "bad", "same"]
    assert [cell[-4:] for cell in cells["good"]] == ["(↑*)"] * 2
    assert [cell[-4:] for cell in cells["bad"]] == ["(↓*)"] * 2
    assert [cell[-3:] for cell in cells["same"]] == ["(=)"] * 2
    assert cells["good"][0].startswith("−0.7"), "smaller distance from fair"
    assert cells["good"][1].startswith("0.7"), "higher score"
    assert re.fullmatch(r"−0\.\d{3} ± 0\.\d{3}", cells["hard-debias (baseline)"][0])


def test_the_page_has_the_question_the_set_up_and_the_results(tmp_path, make_study) -> None:
    records = make_study(rope=0.05)
    page = build(records, tmp_path)
    text = text_of(page)
    (study,) = studies.compile_studies(records, [])
    summary = study.summary
    assert any("absent" in note for note in summary.notes), "a word without a vector"
    for part in (
        "A small study", "Which removes more?", "12 pairs of the concept gender-12, in 4 folds",
        "2 inner folds of the pairs", "length 1", "hard-debias (baseline)",
        summary.test, *summary.statement, *summary.notes, *study_tables.legend(summary),
    ):  # fmt: skip
        assert part in text, part
    assert "Published protocol" not in text
    assert rows(page, "chosen") == [
        ["Mitigator", "Chosen by", "Value", "Folds", "Others"],
        ["good", "WEAT", "k=0", "2 of 4", "k=1: 2"],
        ["good", "ECT", "k=1", "2 of 4", "k=0: 2"],
    ]
    tests = rows(page, "tests")
    assert [row[1] for row in tests[1:]] == [*["good"] * 2, *["bad"] * 2, *["same"] * 2] * 2
    assert tests[1][-1] == "fairer"
    assert len(tests[1]) == 13, "with three probabilities for the region of practical equivalence"
    assert rows(page, "measures")[2] == [
        "ECT",
        "ect",
        "coherence",
        "1",
        "the score",
        "in each fold, less its floor",
        "career",
    ]


def test_the_table_ends_with_its_floor_and_what_its_tests_detect(tmp_path, make_study) -> None:
    records = make_study()
    (study,) = studies.compile_studies(records, [])
    page = build(records, tmp_path)
    (changes, _) = study_tables.changes(study.summary)
    assert [row for row, *_ in changes.foot] == ["floor", "detectable"]
    shown = [row for row in rows(page, "changes") if row[0] in ("floor", "detectable")]
    assert shown[:2] == [list(row) for row in changes.foot]
    detectable = study.summary.cells["WEAT", "good", "WEAT"].detectable
    assert float(rows(page, "tests")[1][-2]) == pytest.approx(detectable, abs=1e-3)


def test_criteria_with_equal_choices_share_one_table(tmp_path, make_study) -> None:
    records = [
        one.model_copy(update={"judged": dict.fromkeys(one.judged, one.judged["WEAT"])})
        for one in make_study()
    ]
    page = build(records, tmp_path)
    assert "all criteria (WEAT, ECT)" in text_of(page)
    assert [row[0] for row in rows(page, "changes") if len(row) == 4] == ["Chosen by", "any"]
    assert len(rows(page, "tests")) == 1 + 3 * 2


def test_the_published_protocol_has_a_warning(tmp_path, make_study) -> None:
    records = make_study(protocol="published")
    assert '<p class="notice protocol"><b>Published protocol.' in build(records, tmp_path)
    assert "; published protocol" in site_data.read(tmp_path)["studies"][0]["line"]


def test_an_unfinished_study_has_a_page_that_says_so(tmp_path, make_study) -> None:
    page = build(make_study()[:-1], tmp_path)
    assert "incomplete" in text_of(page)
    assert "; incomplete" in site_data.read(tmp_path)["studies"][0]["line"]
    one_fold = build(make_study()[:6], tmp_path / "one")
    assert {cell[-3:] for row in rows(one_fold, "changes")[3:6] for cell in row[-2:]} == {"(?)"}


def test_a_study_of_the_baseline_alone_has_no_comparisons(tmp_path, make_study) -> None:
    page = build(make_study(rows=("none", "normalize", "hard-debias")), tmp_path)
    assert "There is no comparison" in page
    assert "All comparisons" not in page


def test_the_csv_and_the_records_have_the_numbers_of_the_page(tmp_path, make_study) -> None:
    page = build(make_study(), tmp_path)
    assert '<a href="small-glove.csv" download>' in page
    assert '<a href="small-glove.study.jsonl" download>' in page
    table = list(csv.DictReader(io.StringIO((tmp_path / "studies/small-glove.csv").read_text())))
    (entry,) = json.loads((tmp_path / "leaderboard.json").read_text())["studies"]
    assert len(table) == len(entry["cells"]) == 2 * 6 * 2
    good = next(line for line in table if line["row"] == "good")
    shown = next(row for row in rows(page, "changes") if "good" in row)
    assert shown[-2].startswith(f"−{abs(float(good['mean'])):.3f} ± {float(good['sd']):.3f}")
    assert (good["verdict"], good["verdict_holm"]) == ("better", "better")
    again = studies.read([tmp_path])
    assert {one.id for one in again.records} == {one.id for one in make_study()}


def test_hostile_texts_are_escaped_everywhere(tmp_path, make_study) -> None:
    plain = build(make_study(), tmp_path / "plain")
    page = build(make_study(text=HOSTILE), tmp_path / "hostile")
    assert "<img" not in page
    assert "{{7*7}}" in page, "shown unchanged"
    assert page.count("<script") == plain.count("<script")
    assert page.count("</script") == plain.count("</script")
    text = text_of(page)
    for part in ("A small study", "Which removes more?", "good", "WEAT", "k", "absent"):
        assert part + HOSTILE in text, part
    files = [path.name for path in (tmp_path / "hostile").rglob("*")]
    assert all(re.fullmatch(r"[\w.-]+", name) for name in files)


def test_a_javascript_url_is_not_linked(tmp_path, make_study) -> None:
    records = [
        one.model_copy(
            update={"model": one.model.model_copy(update={"url": "javascript:alert(1)"})}
        )
        for one in make_study()
    ]
    assert "javascript" not in re.sub(
        r"<script.*?</script>", "", build(records, tmp_path), flags=16
    )


def test_a_name_is_no_formula_in_a_spreadsheet(tmp_path, make_study) -> None:
    measures = {"=HYPERLINK(1)": make_study()[0].study.measures["WEAT"].model_dump()}
    build(make_study(measures=measures, criteria=("=HYPERLINK(1)",)), tmp_path)
    table = list(csv.DictReader(io.StringIO((tmp_path / "studies/small-glove.csv").read_text())))
    assert {line["measure"] for line in table} == {"'=HYPERLINK(1)"}
    assert table[4]["mean"].startswith("-0."), "numbers stay numbers"


def test_each_study_on_each_model_has_its_own_files(tmp_path, make_study) -> None:
    records = [
        record
        for name, model in (("a-b", "c"), ("a", "b-c"), ("A", "b c"), ("a", "../x"), ("A", "B-C"))
        for record in make_study(name=name, model=model)
    ]
    found = studies.compile_studies(records, [])
    names = [one.name.lower() for one in found]
    assert len(set(names)) == 5
    assert "a-.._x" in names
    assert all(re.fullmatch(r"a-[\w.-]+", name) for name in names)


def test_the_order_of_files_and_records_changes_nothing(tmp_path, make_study) -> None:
    records = [*make_study(), *make_study(model="md")]
    build(records, tmp_path / "a")
    build(records[::-1], tmp_path / "b")
    for one in (PAGE, "studies/small-md.csv", "index.html", "leaderboard.json"):
        assert (tmp_path / "a" / one).read_bytes() == (tmp_path / "b" / one).read_bytes(), one


def test_the_page_has_no_script_and_a_policy_that_allows_none(tmp_path, make_study) -> None:
    page = build(make_study(), tmp_path)
    assert "<script" not in page
    assert not re.search(r"<style|\sstyle=|\son\w+=", page)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; style-src 'self'")
    style = f"{assets_folder()}/style.css"
    assert f'<link rel="stylesheet" href="../{style}">' in page
    assert (tmp_path / style).is_file()
    assert len(page) < 100_000
    assert not list(tmp_path.rglob("plotly*"))


def test_each_fold_has_a_point_and_each_line_its_mean(tmp_path, make_study) -> None:
    records = make_study(text="<i>")
    (study,) = studies.compile_studies(records, [])
    page = build(records, tmp_path)
    weat, ect = drawings(study.summary)
    assert weat.title.startswith("WEAT<i>: ")
    assert [line.label for line in weat.lines] == [
        "none", "normalize", "hard-debias<i>",
        "good<i>, chosen by WEAT<i>", "good<i>, chosen by ECT<i>", "bad<i>", "same<i>",
    ]  # fmt: skip
    assert [len(line.points) for line in (*weat.lines, *ect.lines)] == [4] * 14
    assert page.count("<circle") == 14 * 4
    good = weat.lines[3]
    assert good.number == pytest.approx(0.2, abs=0.02)
    assert good.mean == pytest.approx(np.mean([x for x, _ in good.points]), abs=0.1)
    for line in weat.lines:
        assert all(0 < x < WIDTH and abs(y - line.y) < LANE / 2 for x, y in line.points)
    assert weat.lines[-1].y < weat.bottom < weat.height


@pytest.mark.parametrize("values", [[], [0.0], [3.0, 3.0], [-1e-9, 1e-9], [-7.5, 1234.0]])
def test_an_axis_spans_its_values(values) -> None:
    ticks = studies._ticks(np.array(values))
    assert 2 <= len(ticks) <= 8
    assert all(ticks[0] <= value <= ticks[-1] for value in values)


def test_nothing_is_fetched_from_the_network(tmp_path, make_study) -> None:
    assert re.findall(r'(?:src|href)="[^"]*//[^"]*"', build(make_study(), tmp_path)) == []


def test_a_line_that_is_no_record_of_a_study_is_left_out(results, tmp_path, make_study) -> None:
    broken = results / "broken.study.jsonl"
    broken.write_text('{"schema":1}\n')
    result = command(results, "--out", tmp_path / "site")
    assert result.exit_code == 0, result.output
    (line,) = [line for line in result.stderr.splitlines() if "broken.study.jsonl:1: " in line]
    assert "left out" in line
    (results / "small.study.jsonl").unlink()
    assert isinstance(command(results, "--out", tmp_path / "other").exception, UsageError)


def test_a_torn_last_line_is_reported_and_skipped(results, tmp_path) -> None:
    with (results / "small.study.jsonl").open("a") as file:
        file.write('{"schema":1,"id":"')
    result = command(results, "--out", tmp_path / "site")
    assert result.exit_code == 0
    assert "torn" in result.stderr
    assert "torn" in site_data.read(tmp_path / "site")["notices"][0]


def test_older_copies_in_a_site_within_the_results_are_ignored(results) -> None:
    assert command(results, "--out", results / "site").exit_code == 0
    file = results / "small.study.jsonl"
    newer = [
        record.model_copy(update={"created": record.created.replace("2026-01", "2026-02")})
        for record in studies.read([file]).records
    ]
    file.write_text("".join(record.line() for record in newer))
    assert {one.created[:7] for one in studies.read([results]).records} == {"2026-02"}


def test_a_page_of_another_origin_is_not_replaced(results, tmp_path) -> None:
    page = tmp_path / "site" / PAGE
    page.parent.mkdir(parents=True)
    page.write_text("mine")
    assert isinstance(command(results, "--out", tmp_path / "site").exception, DiskError)
    assert page.read_text() == "mine"
    assert not (tmp_path / "site/index.html").exists()


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("changes", [{"held_out": []}, {"judged": 1e308}])
def test_a_study_that_cannot_be_computed_is_set_aside(make_study, changes) -> None:
    good, records = make_study(), [json.loads(r.line()) for r in make_study(name="huge")]
    for record in records:
        for part in record["judged"].values():
            part["values"] |= dict.fromkeys(part["values"], changes.get("judged", 0.5))
        record["held_out"] = changes.get("held_out", record["held_out"])
    notices: list[str] = []
    wrong = [StudyRecord.model_validate_json(json.dumps(record)) for record in records]
    found = studies.compile_studies([*good, *wrong], notices)
    assert [study.summary.study.name for study in found] == ["small"]
    (line,) = notices
    assert "'huge'" in line


@pytest.mark.parametrize("changes", [{"folds": 10**9}, {"repeats": 0}, {"alpha": 5}, {"rope": -1}])
def test_what_no_study_has_is_no_record_of_one(make_study, changes) -> None:
    content = json.loads(make_study()[0].line())
    content["study"] |= changes
    with pytest.raises(ValueError, match=next(iter(changes))):
        StudyRecord.model_validate_json(json.dumps(content))
