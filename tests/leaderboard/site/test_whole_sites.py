"""A site is one build at every step of writing it, and in a browser that has parts of two."""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import site_data
from disk import failing, power_cuts
from site_pages import ready

from harness.errors import DiskError
from harness.folders import STAGING
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import Claims, frame_of
from harness.leaderboard.site import writing
from harness.leaderboard.site.studies import compile_studies

Tree = dict[str, bytes | None]
Build = Callable[[Path], None]
AGAIN = "A part of this page is gone: the board was built anew. It is loaded again."


@pytest.fixture(scope="module")
def first(make_record: Any, make_study: Any) -> Build:
    """Return a function that builds a site of texts and a study into a folder."""
    return builder(make_record, ("model-a", "model-b"), ("text",), make_study())


@pytest.fixture(scope="module")
def second(make_record: Any) -> Build:
    """Return a function that builds a site of other models: texts and words, without a study."""
    return builder(make_record, ("model-c", "model-d"), ("text", "word"))


def builder(make_record: Any, models: Any, kinds: Any, studies: Any = ()) -> Build:
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
            claims=Claims(frame), studies=compile_studies(studies, []),
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
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where the system has one: each step is synced, hundreds of times."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        yield Path(folder)


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
    assert built_over - {"changes.json"} == alone
    assert len(list((tmp_path / "undisturbed" / "data").iterdir())) == 1


def test_data_files_of_builds_without_an_id_are_removed(tmp_path: Path, first: Build) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/text.js").write_text("harnessData(\"data/text.js\",JSON.parse('{}'));")
    (tmp_path / "data/mine.js").write_text("let mine;")
    first(tmp_path)
    assert sorted(path.name for path in (tmp_path / "data").glob("*.js")) == ["mine.js"]


def check_kills(step: int, tmp_path: Path, undisturbed: Any, first: Build, second: Build) -> int:
    """Check each state, or every `step`-th one, that a kill or a power cut can leave."""
    root, found = tmp_path / "root", tmp_path / "found"
    first(root)
    seen, states = set[str](), set[frozenset[tuple[str, bytes | None]]]()
    for cut in power_cuts(root, lambda: second(root)):
        state = frozenset(cut.tree.items())
        if state in states:
            continue
        states.add(state)
        if len(states) % step:
            continue
        cut.restore(found)
        for path, content in tree(found).items():  # each file is whole in itself
            if STAGING not in path:
                assert content in [build.get(path, b"") for build in undisturbed], (path, cut)
        read = is_read(found)
        assert read in (A, B), cut
        seen.add(read[0])
        second(found)
        assert tree(found) == undisturbed[1], cut
    assert seen == {A[0], B[0]}
    return len(states)


def test_a_kill_at_some_steps_leaves_one_build_and_the_next_run_cleans_up(
    tmp_path: Path, undisturbed: Any, first: Build, second: Build
) -> None:
    check_kills(37, tmp_path, undisturbed, first, second)


@pytest.mark.long
def test_a_kill_at_any_step_leaves_one_build_and_the_next_run_cleans_up(
    tmp_path: Path, undisturbed: Any, first: Build, second: Build
) -> None:
    assert check_kills(1, tmp_path, undisturbed, first, second) > 150


def check_full_disk(
    step: int, tmp_path: Path, undisturbed: Any, first: Build, second: Build
) -> int:
    """Check a disk that is full at each step, or at every `step`-th one."""
    first(tmp_path / "first")
    for k in itertools.count(step // 2, step):
        folder = tmp_path / "site"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "first", folder)
        message = ""
        with failing(k) as disk:
            try:
                second(folder)
            except DiskError as error:
                message = str(error)
        assert "\n" not in message
        if message and "finishes it" not in message:
            assert tree(folder) == undisturbed[0], disk.steps[-1]
        assert is_read(folder) in (A, B)
        if disk.failed is None:
            return k
        second(folder)
        assert tree(folder) == undisturbed[1], disk.steps[-1]
    raise AssertionError


def test_a_disk_that_is_full_at_some_steps_leaves_the_old_build(
    tmp_path: Path, undisturbed: Any, first: Build, second: Build
) -> None:
    check_full_disk(47, tmp_path, undisturbed, first, second)


@pytest.mark.long
def test_a_disk_that_is_full_at_any_step_leaves_the_old_build(
    tmp_path: Path, undisturbed: Any, first: Build, second: Build
) -> None:
    assert check_full_disk(1, tmp_path, undisturbed, first, second) > 100


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


def test_a_browser_shows_one_build_after_a_kill(
    tmp_path: Path, first: Build, second: Build, opened: Any
) -> None:
    first(tmp_path / "root")
    shown = {text_of(opened(tmp_path / "root"))}
    cuts = list(power_cuts(tmp_path / "root", lambda: second(tmp_path / "root")))
    shown.add(text_of(opened(tmp_path / "root")))
    assert len(shown) == 2
    switch = next(
        i for i, cut in enumerate(cuts) if cut.tree["index.html"] == cuts[-1].tree["index.html"]
    )
    for cut in (cuts[switch // 2], cuts[switch - 1], cuts[switch], cuts[switch + 10]):
        assert text_of(opened(cut.restore(tmp_path / "found"))) in shown, cut


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
