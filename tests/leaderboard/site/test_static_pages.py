"""Pages that are read without a script: addresses, content, and hostile names."""

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.errors import UsageError
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import Claims, frame_of
from harness.leaderboard.site import writing as site
from harness.leaderboard.site.documents import path_of
from harness.leaderboard.site.rendering import slug
from harness.leaderboard.site.static_pages import site_address

HOSTILE = (
    *("", ".", "..", "../../etc/passwd", "/", "\\", "con", "CON", "nul.txt", "com1", "index"),
    *(
        "a" * 1000,
        "ünïcode",
        "模型",
        "\u202egnp.exe",
        "\x00",
        "a/b",
        "a b",
        "A",
        "a",
        "-",
        "._",
        "%2e",
    ),
    *("<script>", "a\nb", "name-", "x-12345678", "x.json", "\ud800", "İ", "ﬀ", "COM¹", "aux-"),
)


def test_a_slug_is_a_file_name_everywhere() -> None:
    for name in HOSTILE:
        text = slug(name)
        assert re.fullmatch(r"[a-z0-9_][a-z0-9._-]{0,67}[a-z0-9_-]?", text), name
        assert text != "index", name


def test_names_that_differ_have_slugs_that_differ() -> None:
    different = {*HOSTILE, *(slug(name) for name in HOSTILE), "All-MiniLM", "all-minilm"}
    assert len({slug(name) for name in different}) == len(different)


def write(records, folder, **settings) -> Path:
    frame = frame_of(records)
    return site.write(compile_boards(frame), folder, title="T", claims=Claims(frame), **settings)


@pytest.fixture(scope="module")
def built(tmp_path_factory, make_many):
    """The site of three models under four mitigators, at an address."""
    folder = tmp_path_factory.mktemp("built")
    write(make_many(), folder, url="https://example.org/board/")
    return folder


def pages(folder) -> list[Path]:
    every = sorted([*folder.glob("*.html"), *folder.glob("*/*.html")])
    return [page for page in every if page != folder / "index.html"]


class Reader(HTMLParser):
    """What a page links to and shows; fails if its elements are not nested."""

    VOID = frozenset({"meta", "link", "br", "img", "rect", "path"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert not self.open, "an element is not closed"

    def handle_starttag(self, tag, attributes) -> None:
        values = dict(attributes)
        self.tags.append(tag)
        self.links += [values[key] for key in ("href", "src") if values.get(key)]
        assert not [key for key in values if key == "style" or key.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.texts.append(data.strip())


def test_each_model_task_mitigator_benchmark_and_concept_has_a_page(built) -> None:
    counts = {"model": 3, "task": 9, "mitigator": 3, "benchmark": 1, "concept": 4}
    for kind, count in counts.items():
        assert len(list((built / kind).glob("*.html"))) == count + 1, "with the list of them"


def test_a_page_has_the_numbers_of_leaderboard_json(built) -> None:
    board = json.loads((built / "leaderboard.json").read_text("utf-8"))["boards"][0]
    for row in board["rows"]:
        if row["mitigator"] == "none":
            text = (built / path_of("model", row["model"])).read_text("utf-8")
            interval = f"{row['bias']:.3f} ({row['bias_low']:.3f} to {row['bias_high']:.3f})"
            assert f"Bias {interval.replace('-', '−')}" in text
            assert f"Usefulness {row['usefulness']:.3f}" in text
            assert f"{row['bias:gender']:.3f}" in text


def test_a_page_of_a_mitigator_has_each_model_without_it_and_with_it(built) -> None:
    board = json.loads((built / "leaderboard.json").read_text("utf-8"))["boards"][0]
    text = (built / path_of("mitigator", "hard-debias")).read_text("utf-8")
    for effect in board["effects"]:
        if effect["mitigator"] == "hard-debias":
            base, model = (f"{effect[name]:.3f}" for name in ("base", "model"))
            change = f"{float(model) - float(base):+.3f}".replace("-", "−")
            line = text.partition(f">{effect['on']}</a>")[2].partition("</tr>")[0]
            assert all(part in line for part in (base, model, change)), "to the last digit"
    titles = re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', text)
    assert titles[:4] == ["Model", "Bias without", "with it", "change"]


def test_a_model_has_a_badge_with_its_bias_and_set_of_ranks(built, tmp_path, make_many) -> None:
    board = json.loads((built / "leaderboard.json").read_text("utf-8"))["boards"][0]
    row = next(r for r in board["rows"] if (r["model"], r["mitigator"]) == ("e5-small", "none"))
    badge = ElementTree.parse(built / "badge" / "e5-small.svg")
    text = badge.getroot().attrib["aria-label"]
    ends = f"[{row['bias_low']:.2f}, {row['bias_high']:.2f}]"
    assert f"e5-small: bias {row['bias']:.2f} {ends}, rank " in text
    assert text.endswith(f"{row['rank']} of 3")
    shown = html.unescape((built / path_of("model", "e5-small")).read_text("utf-8"))
    at = "https://example.org/board/"
    assert f"]({at}badge/e5-small.svg)]({at}model/e5-small.html)" in shown
    write(make_many(), tmp_path)
    shown = (tmp_path / path_of("model", "e5-small")).read_text("utf-8")
    assert "https://ADDRESS-OF-THIS-SITE/badge/e5-small.svg" in shown


def test_a_page_is_valid_needs_no_script_and_its_links_lead_somewhere(built) -> None:
    for page in [built / "index.html", *pages(built)]:
        text = page.read_text("utf-8")
        reader = Reader(text)
        assert [tag for tag in reader.tags if tag in ("h1", "title", "main")] == [
            "title", "main", "h1"]  # fmt: skip
        assert "script" not in reader.tags or page.name == "index.html"
        for link in reader.links:
            if not link.startswith(("#", "https:", "data:")):
                assert (page.parent / link.partition("#")[0]).is_file(), (page, link)
        assert '<meta name="description" content="' in text
        assert "Content-Security-Policy" in text
        assert len(text) < 100_000


def test_hostile_names_are_texts_of_their_own_pages(tmp_path, make_record) -> None:
    evil = '</script><img src=x onerror="window.hacked=1">{{7*7}}\'"&'
    names = [evil, "../../index", "A", "a", "con", "模型", "=1"]
    records = [
        make_record(model__name=name, model__fingerprint=f"{i:032}", model__url=f"javascript:{i}",
                    model__licence=evil, task__name=evil, task__title=evil, category=evil,
                    mitigator__name=mitigator, mitigator__fingerprint=mitigator, value=0.1)
        for i, name in enumerate(names) for mitigator in ("none", evil)
    ]  # fmt: skip
    write(records, tmp_path, url="https://example.org/")
    assert len(list((tmp_path / "model").glob("*.html"))) == len(names) + 1
    assert not (tmp_path.parent / "index.html").exists()
    for page in [tmp_path / "index.html", *pages(tmp_path)]:
        reader = Reader(page.read_text("utf-8"))
        assert "onerror" not in reader.tags
        assert reader.tags.count("img") == (page.parent.name == "model" and page.stem != "index")
        assert not [link for link in reader.links if link.startswith("javascript")]
    assert evil in Reader((tmp_path / path_of("model", evil)).read_text("utf-8")).texts


@pytest.mark.parametrize(
    "url",
    ["example.org", "ftp://example.org/", "https://", "https://a b/", "https://x.org:99999/",
     "https://u:p@x.org/", "https://x.org/?a=1", "https://x.org/#a", "javascript:alert(1)", "",
     'https://x.org/"', "https://ü.example/"],
)  # fmt: skip
def test_what_is_no_address_of_a_folder_is_refused(url) -> None:
    with pytest.raises(UsageError, match="expected such as"):
        site_address(url)
