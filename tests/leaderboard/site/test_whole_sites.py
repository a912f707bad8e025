"""A site is one build at every step of writing it, and in a browser that has parts of two."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import site_data
from disk import failing
from site_pages import ready

from harness.errors import DiskError
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import Claims, frame_of
from harness.leaderboard.site import writing

Tree = dict[str, bytes | None]
Build = Callable[[Path], None]
AGAIN = "A part of this page is gone: the board was built anew. It is loaded again."


@pytest.fixture(scope="module")
def first(make_record: Any) -> Build:
    """Return a function that builds a site of texts into a folder."""
    return builder(make_record, ("model-a", "model-b"), ("text",))


@pytest.fixture(scope="module")
def second(make_record: Any) -> Build:
    """Return a function that builds a site of other models: texts and words."""
    return builder(make_record, ("model-c", "model-d"), ("text", "word"))


def builder(make_record: Any, models: Any, kinds: Any) -> Build:
    records = [
        make_record(
            model__name=model, model__fingerprint=model, model__kind=kind,
            task__name=task, task__digest=task, task__title=task,
            task__measures="bias" if task == "weat-10" else "usefulness", value=value,
        )
        for i, model in enumerate(models)
        for kind in kinds
        for task, value in (("weat-10", float(i)), ("similarity", 0.5))
    ]  # fmt: skip

    def build(folder: Path) -> None:
        frame = frame_of(records)
        writing.write(
            compile_boards(frame), folder, title=f"Board of {models[0]}", built="today",
            claims=Claims(frame),
        )  # fmt: skip

    return build


def tree(folder: Path) -> Tree:
    """Return the files of a folder, and its folders as None."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def is_read(folder: Path) -> tuple[str, set[str]]:
    """Return what a browser reads from index.html: the title of the site, and its models.

    All that index.html names must be there, and each data file is of its build.
    """
    page = (folder / "index.html").read_text("utf-8")
    for loaded in re.findall(r'(?:src|href)="(assets/[^"]+)"', page):
        assert (folder / loaded).stat().st_size > 1000
    contents = site_data.read(folder)
    models: set[str] = set()
    for entry in contents["boards"]:
        board = site_data.read(folder, entry["data"])
        site_data.read(folder, entry["details"])
        models |= {model["name"] for model in board["models"]}
    return contents["title"], models


A = ("Board of model-a", {"model-a", "model-b"})
B = ("Board of model-c", {"model-c", "model-d"})


@pytest.fixture
def undisturbed(tmp_path: Path, first: Build, second: Build) -> tuple[Tree, Tree]:
    """The files of the first site, and those of the second one that was built over it."""
    first(tmp_path / "undisturbed")
    before = tree(tmp_path / "undisturbed")
    second(tmp_path / "undisturbed")
    return before, tree(tmp_path / "undisturbed")


def test_the_second_build_removes_the_first_and_nothing_else(
    tmp_path: Path, undisturbed: tuple[Tree, Tree], second: Build
) -> None:
    second(tmp_path / "new")
    assert tree(tmp_path / "undisturbed") == undisturbed[1]
    built_over, alone = (
        {path.replace(site_data.build_of(folder), "ID") for path in tree(folder)}
        for folder in (tmp_path / "undisturbed", tmp_path / "new")
    )
    assert built_over == alone
    assert len(list((tmp_path / "undisturbed" / "data").iterdir())) == 1


def test_a_disk_that_is_full_at_some_steps_leaves_the_old_build(
    tmp_path: Path, undisturbed: Any, first: Build, second: Build
) -> None:
    folder = tmp_path / "site"
    for k in itertools.count(step=47):
        first(folder)
        try:
            with failing(k) as disk:
                second(folder)
        except DiskError:
            assert tree(folder) == undisturbed[0], disk.failed
            assert [path.name for path in tmp_path.glob(".*")] == []
        else:  # nothing failed, or what needs no room: a removal, a folder that is there
            assert tree(folder) == undisturbed[1]
            if disk.failed is None:
                break
    assert k > 47


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[[Path, str], Any]]:
    """Open a page that may lack files; `loads` of it counts how often it was loaded."""
    contexts = []

    def open_page(folder: Path, address: str = "") -> Any:
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.loads = []
        page.on("load", lambda loaded: page.loads.append(loaded.url))
        page.goto((folder / "index.html").as_uri() + address)
        return page

    yield open_page
    for context in contexts:
        context.close()


def text_of(page: Any) -> str:
    """Return what the page shows once it is drawn."""
    ready(page)
    text: str = page.inner_text("body")
    return text


@pytest.mark.parametrize("file", ["site", "text"])
def test_data_of_another_build_is_not_shown_and_the_page_is_loaded_again_once(
    tmp_path: Path, first: Build, second: Build, opened: Any, file: str
) -> None:
    first(tmp_path / "first")
    second(tmp_path / "second")
    file = f"data/{file}.js"
    mixed, other = (site_data.path(tmp_path / name, file) for name in ("first", "second"))
    shutil.copyfile(other, mixed)
    page = opened(tmp_path / "first")
    page.wait_for_selector(f"text={AGAIN}")
    page.wait_for_selector(f"text={file} is of another build than this page")
    assert page.locator("h1").inner_text() == "The page cannot be shown"
    assert "model-" not in page.inner_text("main")
    page.wait_for_timeout(2000)  # longer than a second time would take
    assert len(page.loads) == 2


def test_a_page_whose_data_are_gone_says_so_and_shows_the_new_build(
    tmp_path: Path, first: Build, second: Build, opened: Any
) -> None:
    first(tmp_path)
    page = opened(tmp_path)
    assert "model-a" in text_of(page)
    second(tmp_path)
    page.evaluate("location.hash = '#/text/task/weat-10'")  # it has details
    page.wait_for_selector(f"text={AGAIN}")
    assert "model-c" not in page.inner_text("main")
    page.wait_for_selector("text=model-c")
    assert "model-a" not in text_of(page)
    assert len(page.loads) == 2
