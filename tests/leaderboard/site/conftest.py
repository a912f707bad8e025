"""A real Chromium for the tests of the site, and the site that most of them open."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from site_pages import build, many_families, ready

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page; at the end, check that no page logged anything or left its folder."""
    problems: list[str] = []
    contexts = []

    def open_page(
        index: Path | str, hash_: str = "", *, width: int = 1400, height: int = 900, **settings: Any
    ) -> Any:
        address = index.as_uri() if isinstance(index, Path) else index
        home = address.rpartition("/")[0]
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on(
            "request",
            lambda request: (
                request.url.startswith((home, "data:", "blob:"))
                or problems.append(f"fetched {request.url}")
            ),
        )
        page.goto(address + hash_)
        ready(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, make_many: Any, make_record: Any) -> Path:
    """The page of a site with a board of words and one of texts."""
    records = [*make_many("word", 1), *many_families(make_record)]
    return build(tmp_path_factory.mktemp("site"), records)
