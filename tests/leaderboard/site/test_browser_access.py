"""Pages for everybody: axe, small windows, long names, paper, in a real Chromium."""

from __future__ import annotations

import pytest
from site_pages import addresses, go

pytestmark = pytest.mark.browser
SMALL, LARGE = 390, 1400


@pytest.fixture(scope="module")
def problems_of():
    """Return a function: what axe-core calls moderate, serious or critical on a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def problems(page) -> list[str]:
        # `preload` fetches the style sheet, which the pages' policy refuses
        response = axe.run(page, options={"preload": False, "resultTypes": ["violations"]}).response
        return [
            f"{violation['id']}: {node['html'][:200]}"
            for violation in response["violations"]
            if violation["impact"] != "minor"
            for node in violation["nodes"]
        ]

    return problems


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", LARGE),
        pytest.param("dark", SMALL, marks=pytest.mark.long),
        pytest.param("light", SMALL, marks=pytest.mark.long),
        pytest.param("dark", LARGE, marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing_on_any_page(width, scheme, site, visit, problems_of) -> None:
    page = visit(site, width=width, color_scheme=scheme)
    for address in addresses(page):
        go(page, address)
        assert problems_of(page) == [], address
    for path in (site.parent / f"{name}.html" for name in ("submit", "data", "cite", "about")):
        page.goto(path.as_uri())
        for fold in page.locator("details").all():
            fold.evaluate("fold => { fold.open = true; }")
        assert problems_of(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize("width", [LARGE, SMALL])
def test_no_page_is_wider_than_the_window(width, site, visit) -> None:
    page = visit(site, width=width)
    for address in addresses(page):
        go(page, address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_every_table_has_a_caption_and_header_cells_with_a_scope(site, visit) -> None:
    page = visit(site)
    for address in addresses(page):
        go(page, address)
        tables = page.locator("main table").evaluate_all(
            """tables => tables.map((table) => [
              Boolean(table.caption?.textContent.trim() || table.getAttribute("aria-label")),
              [...table.querySelectorAll("th")].every((cell) => cell.scope),
              table.querySelectorAll("thead th[scope=col]").length > 0,
            ])"""
        )
        assert all(all(facts) for facts in tables), (address, tables)
