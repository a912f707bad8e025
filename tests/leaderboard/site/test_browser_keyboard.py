"""The site without a mouse, and what an address keeps: in a real Chromium."""

from __future__ import annotations

import pytest
from site_pages import ready

pytestmark = pytest.mark.browser


def names(page) -> list[str]:
    """Return the models that the table shows, without their mitigators."""
    return page.locator("main .virtual tbody th[scope=row] a").all_inner_texts()


def focused(page) -> str:
    return page.evaluate("document.activeElement.textContent.trim()")


def tab_to(page, selector: str, most: int = 80) -> None:
    """Press Tab until an element that a selector matches has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not come to {selector}")


def test_the_first_tab_skips_to_the_content(site, visit) -> None:
    page = visit(site, "#/text")
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    assert page.locator(".skip").is_visible()
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_tab_comes_to_every_control_and_leaves_the_page(site, visit) -> None:
    page = visit(site, "#/text")
    seen = []
    for _ in range(200):
        page.keyboard.press("Tab")
        place = page.evaluate(
            """() => {
              const element = document.activeElement;
              if (element === document.body) return null;
              element.dataset.seen = "yes";
              const style = getComputedStyle(element);
              return [element.outerHTML.slice(0, 80), style.outlineStyle !== "none"];
            }"""
        )
        if place is None:
            break
        seen.append(place)
    assert place is None, "Tab never leaves the page"
    assert [element for element, outlined in seen if not outlined] == []
    missed = page.locator(
        "main :is(a[href], button, input, select, summary, [tabindex='0']):visible:not([data-seen])"
    ).evaluate_all(
        "elements => elements.filter((e) => !e.disabled && e.tabIndex >= 0 && e.type !== 'radio')"
        ".map((element) => element.outerHTML.slice(0, 120))"
    )
    assert missed == []


def test_enter_unfolds_a_model_and_opens_it_and_back_returns(site, visit) -> None:
    page = visit(site, "#/text")
    tab_to(page, "tbody [aria-expanded=false]")
    page.keyboard.press("Enter")
    page.wait_for_selector("tbody [aria-expanded=true]")
    assert page.evaluate("document.activeElement.matches('[aria-expanded=true]')")
    rows = page.locator("main .virtual tbody tr").all_inner_texts()
    assert any("hard-debias" in row for row in rows)
    tab_to(page, "tbody th a")
    model = focused(page)
    page.keyboard.press("Enter")
    page.wait_for_function("model => document.querySelector('h1').textContent === model", arg=model)
    ready(page)
    assert page.evaluate("document.activeElement.matches('h1')"), "a screen reader says where it is"
    page.go_back()
    page.wait_for_selector("main .virtual")
    ready(page)
    assert page.locator("tbody [aria-expanded=true]").count() == 1, "it is still unfolded"


def test_an_address_shows_the_same_to_somebody_else(site, visit) -> None:
    page = visit(site, "#/text")
    page.get_by_label("Search models and mitigators").fill("org/")
    page.locator("summary", has_text="Filters").click()
    page.get_by_role("combobox", name="Licence").select_option("mit")
    page.locator("thead button", has_text="Parameters").first.click()
    page.locator(".tasks summary").click()
    page.get_by_role("checkbox", name="age-weat", exact=True).check()
    page.wait_for_function("location.hash.includes('sort')")
    page.wait_for_timeout(300)
    shown = page.locator("main .virtual").inner_text()
    assert names(page)
    assert set(names(page)) <= {"org/a", "org/c", "org/e"}
    address = page.evaluate("location.hash")
    for word in ("q=org", "licence=mit", "sort=parameters"):
        assert word in address
    page.reload()
    ready(page)
    assert page.locator("main .virtual").inner_text() == shown
    other = visit(site, address, width=390)
    assert names(other) == names(page)
    assert other.get_by_role("combobox", name="Licence").input_value() == "mit"
