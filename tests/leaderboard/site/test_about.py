"""`board.yaml`, and the pages Submit, Data, Cite and About."""

import re
from pathlib import Path

import pytest
from submission_records import good_records
from submission_records import write as write_submission

from harness.commands.main import run
from harness.errors import InvalidFile
from harness.leaderboard.site import about
from harness.leaderboard.submissions import init

WHO = """\
title: Bias in our embeddings
publisher: Ada & Bob <b>
contact: ada@bias.example
url: https://bias.example/board
repository: https://git.example/board
licence: cc0-1.0
about: |
  First <i>paragraph</i>.

  Second paragraph.
"""


@pytest.fixture
def repository(tmp_path) -> Path:
    write_submission(tmp_path, good_records("a"))
    (tmp_path / about.NAME).write_text(WHO)
    return tmp_path


@pytest.fixture
def site(repository) -> Path:
    site = repository / "site"
    assert run(["leaderboard", "build", str(repository / "results"), "--out", str(site)]) == 0
    return site


def text_of(site: Path, name: str) -> str:
    return (site / f"{name}.html").read_text("utf-8")


def test_about_says_who_publishes_the_board_under_which_licences(site) -> None:
    page = text_of(site, "about")
    assert "Ada &amp; Bob &lt;b&gt;" in page
    assert '<a href="mailto:ada@bias.example">' in page
    assert '<a href="https://git.example/board"' in page
    assert "CC0-1.0" in page
    assert "CC-BY-4.0 (1 run)" in page, "the licence of the submitted results"
    assert "Ada Example" in page, "who submitted them"
    assert "First &lt;i&gt;paragraph&lt;/i&gt;." in page
    assert page.count('<p class="description">') == 2


def test_submit_leads_into_the_repository(site) -> None:
    page = text_of(site, "submit")
    assert "git clone https://git.example/board board" in page
    assert "harness results check submission --base board" in page
    assert "social-bias-words" in page


def test_data_lists_each_file_with_its_size_and_columns(site) -> None:
    page = text_of(site, "data")
    names = re.findall(r'<th scope="row"><a href="([^"]+)">', page)
    assert names == ["leaderboard.csv", "leaderboard.json", "records.parquet", "cite.bib"]
    for name in names:
        size = about.size_text((site / name).stat().st_size)
        assert re.search(rf'{re.escape(name)}</a></th><td class="number">{size}</td>', page)
    assert "<code>yardstick_error</code>" in page
    columns = page.split("<h2>Columns</h2>")[1]
    assert "<td></td>" not in columns, "each column has a meaning"


def test_cite_has_the_board_the_harness_and_the_papers(site) -> None:
    text = (site / "cite.bib").read_text("utf-8")
    assert "title = {{Bias in our embeddings}}" in text
    assert "url = {https://bias.example/board/}" in text
    assert "@misc{embedding-bias-harness," in text
    assert "Semantics derived automatically" in text, "the paper of WEAT"
    page = text_of(site, "cite")
    assert "Bias in our embeddings" in page
    assert "Caliskan 2017" in page


def test_a_board_that_says_nothing_says_so_once_and_tells_its_maintainer(tmp_path, capsys) -> None:
    write_submission(tmp_path, good_records("a"))
    site = tmp_path / "site"
    assert run(["leaderboard", "build", str(tmp_path / "results"), "--out", str(site)]) == 0
    page = text_of(site, "about").split("<details>")[0]
    assert "This board does not say its publisher, contact and licence." in page
    assert "not stated" not in page
    line = "the board does not say its publisher, contact and licence: add lines such as"
    assert line in capsys.readouterr().err
    submit = text_of(site, "submit")
    assert "This board does not say where to send results. You can" in submit
    assert "harness leaderboard build results --out site" in submit


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("titel: x", 1, "did you mean 'title'"),
        ("title: ok\nurl: bias.example", 2, "such as https://example.org/board/"),
        ("url: javascript:alert(1)", 1, "the address of a folder"),
        ("repository: ftp://x", 1, "the address of a page"),
        ("contact: nobody", 1, "an address of e-mail or of a page"),
        ("licence: mine", 1, "SPDX"),
        ('title: "a\\nb"', 1, "one line of visible text"),
        ("title: [a]", 1, "title"),
        ("about: !!python/object/apply:os.system ['true']", 1, "unsupported tag"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(tmp_path, text, line, words) -> None:
    (tmp_path / about.NAME).write_text(text)
    with pytest.raises(InvalidFile, match=re.escape(words)) as error:
        about.read([tmp_path])
    assert error.value.line == line
    assert "\n" not in str(error.value)


def test_a_new_repository_has_a_valid_board_yaml(tmp_path) -> None:
    init.init(tmp_path, title='It\'s: "ours"', pinned="git+https://x.example/h@v1.0")
    who, _ = about.read([tmp_path])
    assert who.title == 'It\'s: "ours"'
    text = (tmp_path / about.NAME).read_text()
    commented = re.sub("^# (?=[a-z]+:)", "", text, flags=re.M)
    (tmp_path / about.NAME).write_text(commented)
    who, _ = about.read([tmp_path])
    assert who.repository
