"""Badges of models: a picture and a small page for cards elsewhere."""

import re
from xml.etree import ElementTree

import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.leaderboard.site import writing
from harness.leaderboard.site.badges import Badge, badges
from harness.leaderboard.site.rendering import slug

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<b>&amp;\x00]]>\"'[x](y)"


def badge(**changes) -> Badge:
    facts = {
        "model": "m",
        "kind": "text",
        "benchmark": "all",
        "title": "All tasks",
        "ranked": 6,
        "bias": (1.1234, 0.9, 1.3),
        "places": "1–3",
        "reference": "ref",
    }
    return Badge(**facts | changes)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "bias 1.12 [0.90, 1.30] · rank 1–3 of 6"),
        ({"bias": (1.1234, None, None)}, "bias 1.12 · rank 1–3 of 6"),
        ({"bias": (-0.004, -0.5, 0.25)}, "bias 0.00 [−0.50, 0.25] · rank 1–3 of 6"),
        ({"places": ""}, "not ranked"),
    ],
)
def test_a_badge_has_the_bias_and_the_set_of_ranks(changes, text) -> None:
    assert badge(**changes).text == text


def test_the_picture_is_svg_of_text_without_a_script() -> None:
    root = ElementTree.fromstring(badge(model=HOSTILE).svg())
    assert root.tag == f"{SVG}svg"
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= {
        *("svg", "title", "clipPath", "rect", "g", "text"),
    }
    assert not any(name.startswith("on") for node in root.iter() for name in node.attrib)
    assert root.findall(f".//{SVG}text")[1].text == badge().text
    assert "<b>&amp;\ufffd]]>" in root.findtext(f"{SVG}title")


def test_snippets_are_escaped() -> None:
    texts = badge(model=HOSTILE).snippets("https://bias.example/")
    name = slug(HOSTILE)
    assert texts["Markdown"].endswith(
        f"(https://bias.example/badge/{name}.svg)](https://bias.example/model/{name}.html)"
    )
    assert "](y)" not in texts["Markdown"]
    for text in (texts["HTML"], texts["iframe"]):
        assert set(re.findall("<(/?[a-z]+)", text)) <= {"a", "/a", "img", "iframe", "/iframe"}
    assert f"https://bias.example/embed/{name}.html" in texts["iframe"]


def test_a_board_has_a_badge_and_a_small_page_for_each_model(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 0.25, "y": 1.0}, HOSTILE: {"x": 0.5, "y": 1.0}})
    boards = compile_boards(frame_of(records))
    writing.write(boards, tmp_path, title="T", built="today")
    names = {"a", slug(HOSTILE)}
    assert {path.stem for path in (tmp_path / "badge").iterdir()} == names
    assert {path.stem for path in (tmp_path / "embed").iterdir()} == names
    assert badges(boards)["a"].text.endswith("rank 1 of 2")
    page = (tmp_path / "embed" / f"{slug(HOSTILE)}.html").read_text("utf-8")
    assert "<b>" not in page
    assert "<script" not in page
    assert f'href="../model/{slug(HOSTILE)}.html"' in page
    model = (tmp_path / "model" / "a.html").read_text("utf-8")
    assert '<h2 id="badge">' in model
    assert "ADDRESS-OF-THIS-SITE/badge/a.svg" in model


def test_the_numbers_of_a_badge_are_those_of_the_benchmark_that_the_board_opens_on(
    make_rows,
) -> None:
    records = make_rows({"a": {"x": 0.25, "y": 1.0}, "b": {"x": 0.5, "y": 1.0}})
    (board,) = compile_boards(frame_of(records))
    rows = {row["model"]: row for row in board.rows.iter_rows(named=True)}
    for name, shown in badges([board]).items():
        row = rows[name]
        assert shown.bias == pytest.approx((row["bias"], row["bias_low"], row["bias_high"]))
        assert shown.places == str(row["rank"])
        assert shown.ranked == 2


def test_the_small_page_fits_its_frame(tmp_path, visit, make_rows) -> None:
    records = make_rows({"a" * 60: {"x": 0.25, "y": 1.0}, "b": {"x": 0.5, "y": 1.0}})
    writing.write(compile_boards(frame_of(records)), tmp_path, title="T" * 30, built="today")
    page = visit(tmp_path / "index.html")
    for path in (tmp_path / "embed").iterdir():
        page.set_viewport_size({"width": 420, "height": 190})
        page.goto(path.as_uri())
        size = page.evaluate("[document.documentElement.scrollWidth, document.body.scrollHeight]")
        assert size[0] <= 420
        assert size[1] <= 190
