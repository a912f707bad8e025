"""The plots of the site in Chromium: what is drawn, and what pointer and keyboard find."""

from __future__ import annotations

from typing import Any

import pytest
from site_pages import build

pytestmark = pytest.mark.browser
X = {"title": "bias", "better": "low"}
Y = {"title": "usefulness", "better": "high"}


def point(name: str, x: float | None, y: float, series: int = 0, **facts: Any) -> dict[str, Any]:
    """Return a point of a plot."""
    href = f"#/text/model/{name}"
    return {"name": name, "x": x, "y": y, "series": series, "unusable": None, "href": href} | facts


@pytest.fixture
def plot(site, visit):
    """Draw a plot on a page without other plots."""

    def draw(points: list[dict[str, Any]], width: int = 1400, touch: bool = False, **options: Any):
        page = visit(site, "#/empty", width=width, has_touch=touch)
        settings = {
            "label": "Bias against usefulness", "points": points, "x": X, "y": Y,
            "series": ["none", "normalize", "hard-debias"],
        } | options  # fmt: skip
        page.evaluate(
            """(options) => {
              for (const point of options.points) point.x ??= NaN;
              document.querySelector("main").append(harness.scatter(options));
            }""",
            settings,
        )
        page.wait_for_selector("main .plot-axes, main .notice", state="attached")
        return page

    return draw


def test_the_keyboard_finds_each_point_and_opens_its_page(plot) -> None:
    page = plot([point("b", 0.2, 0.8), point("a", 0.1, 0.7), point("c", 0.3, 0.6)])
    page.get_by_role("listbox").focus()
    page.keyboard.press("Home")
    option = page.get_by_role("option")
    assert option.inner_text().splitlines()[0].startswith("a ")
    page.keyboard.press("ArrowRight")
    assert "bias 0.200" in option.inner_text()
    page.keyboard.press("ArrowUp")
    assert option.inner_text().startswith("b "), "b is the most useful"
    page.keyboard.press("End")
    assert option.inner_text().startswith("c ")
    page.keyboard.press("Enter")
    page.wait_for_url("**#/text/model/c")


def test_the_front_is_of_usable_models_as_they_are(plot) -> None:
    page = plot(
        [
            point("best", 0.1, 0.9),
            point("better", -0.5, 0.95, unusable="noise"),
            point("mitigated", 0.0, 0.99, 1, base=0),
            point("worse", 0.2, 0.8),
            point("useful", 0.3, 0.97),
            point("none", None, 0.9),
        ]
    )
    assert page.locator(".plot-front").first.get_attribute("d").count("H") == 1
    assert page.locator(".plot-marks .front").get_attribute("d").count("M") == 2


@pytest.mark.parametrize("width", [390, 1400])
def test_a_thousand_models_are_few_elements_and_few_labels(width, plot) -> None:
    points = []
    for i in range(1000):
        x, y = (i * 37 % 1000) / 1000, (i * 91 % 1000) / 1000
        base = len(points)
        points.append(point(f"model-{i}", x, y, xEnds=[x - 0.1, x + 0.1], yEnds=[y - 0.1, y + 0.1]))
        points += [point(f"model-{i}", x / 2, y, series, base=base) for series in (1, 2)]
    page = plot(points, width)
    assert page.locator(".plot *").count() < 200
    labels = page.locator(".plot-labels text")
    assert 0 < labels.count() < 60
    boxes = labels.evaluate_all(
        "texts => texts.map((t) => t.getBoundingClientRect()).map((b) => [b.left, b.right])"
    )
    assert all(0 <= left <= right <= width for left, right in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_bias_against_published_quality_has_rho_and_a_point_a_model(
    tmp_path, visit, make_record
) -> None:
    records = [
        make_record(
            model__name=name, model__fingerprint=name, model__published={"MTEB": mteb},
            task__name=task, task__digest=task, metric="association-test", score="proportion",
            scenario=scenario, primary=scenario == "neutral", value=mteb / 100, bounds=(0.0, 1.0),
            ideal=0.5,
        )
        for name, mteb in (("a", 56.0), ("b", 71.0), ("c", 64.0))
        for task in ("gender-occupations", "age-traits")
        for scenario in ("neutral", "debiasing")
    ]  # fmt: skip
    page = visit(build(tmp_path, records), "#/text/benchmark/all")
    legend = page.locator(".plot-legend").inner_text()
    assert "neutral (ρ 1.00)" in legend
    assert "debiasing (ρ 1.00)" in legend
    page.get_by_role("listbox").focus()
    page.keyboard.press("End")
    assert "published MTEB score 71" in page.get_by_role("option").inner_text()
