"""What changed from build to build: changes.json, the news, history.json, its page and its feed."""

import json
import re
from xml.etree import ElementTree

import polars as pl
import pytest
import site_data

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import Claims, frame_of
from harness.leaderboard.site import history
from harness.leaderboard.site import writing as site
from harness.leaderboard.site.rendering import slug
from harness.leaderboard.submissions.withdrawn import Decision

ATOM = "{http://www.w3.org/2005/Atom}"
URL = "https://bias.example/board/"
HOSTILE = "<b>&amp;\x00\x1b]]>\"'"


def write(records, folder, *, built="today", **settings):
    boards = compile_boards(frame_of(records))
    claims = Claims(frame_of(records))
    site.write(boards, folder, title="T", claims=claims, built=built, **settings)
    file = folder / "changes.json"
    return json.loads(file.read_text()) if file.exists() else None


def builds(folder):
    return json.loads((folder / "history.json").read_text())["builds"]


@pytest.fixture
def one(make_rows):
    return make_rows({"a": {"x": 1.0}})


@pytest.fixture
def two(make_rows):
    return make_rows({"a": {"x": 1.0, "y": 0.5}})


def test_the_first_build_has_no_news(tmp_path, make_rows) -> None:
    assert write(make_rows({"a": {"x": 1.0}}), tmp_path) is None
    assert not (tmp_path / "changes.json").exists()
    assert "changes.json" not in site_data.read(tmp_path)["files"]


def test_news_are_new_names_changed_values_and_ranks(tmp_path, make_rows) -> None:
    before = make_rows({"a": {"x": 1.0}, "b": {"x": 0.5}})
    write(before, tmp_path)
    now = make_rows({"a": {"x": 0.25, "y": 0.5}, "b": {"x": 0.5, "y": 0.75}, "c": {"x": 1, "y": 1}})
    now = [r.model_copy(update={"model": r.model.model_copy(
        update={"fingerprint": r.model.name * 8})}) for r in now]  # fmt: skip
    before = [r.model_copy(update={"model": r.model.model_copy(
        update={"fingerprint": r.model.name * 8})}) for r in before]  # fmt: skip
    now += make_rows({"random-texts": {"x": 0.1}}, model__fingerprint="noise")
    write(before, tmp_path / "first")
    news = write(now, tmp_path / "second", since=tmp_path / "first")
    assert news["since"] == "today"
    assert (news["models"], news["mitigators"], news["tasks"]) == (["c"], [], ["y"])
    assert news["values"] == 1
    assert sorted(news["ranks"]) == [
        ["text", "all", "a", 2, 1],
        ["text", "all", "b", 1, 2],
        ["text", "all", "c", None, 3],
    ]
    content = json.loads((tmp_path / "second/changes.json").read_text())
    assert [(c["model"], c["task"], c["before"], c["now"]) for c in content["changed"]] == [
        ("a", "x", 1.0, 0.25)
    ]


def test_a_build_without_changes_keeps_the_news(tmp_path, make_rows) -> None:
    first, second = make_rows({"a": {"x": 1.0}}), make_rows({"a": {"x": 1.0, "y": 0.5}})
    assert write(first, tmp_path) is None
    assert write(first, tmp_path) is None, "nothing changed"
    news = write(second, tmp_path)
    assert news["tasks"] == ["y"]
    content = (tmp_path / "changes.json").read_bytes()
    assert write(second, tmp_path) == news
    assert (tmp_path / "changes.json").read_bytes() == content


def test_an_earlier_build_that_cannot_be_read_gives_a_notice(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}})
    broken = ("not JSON", "[]", '{"schema": 4}', '{"schema": 4, "built": 1, "boards": [{}]}')
    for content in broken:
        (tmp_path / "leaderboard.json").write_text(content)
        assert write(records, tmp_path) is None
        (notice,) = site_data.read(tmp_path)["notices"]
        assert "no news" in notice
    (tmp_path / "leaderboard.json").write_text('{"schema": 2}')
    assert write(records, tmp_path) is None
    assert "schema 2" in site_data.read(tmp_path)["notices"][0]
    (tmp_path / "records.parquet").write_bytes(b"broken")
    assert write(records, tmp_path) is None
    assert "no news" in site_data.read(tmp_path)["notices"][0]


def test_records_have_what_a_board_made_of_them(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}}) + make_rows({"a": {"x": 0.5}}, overlap=("she",),
                        mitigator__name="h", mitigator__fingerprint="h")  # fmt: skip
    other = [r.model_copy(update={"primary": False, "score": "auc"}) for r in records[:1]]
    other = [r.model_copy(update={"id": r.identity()}) for r in other]
    write([*records, *other], tmp_path)
    lines = pl.read_parquet(tmp_path / "records.parquet")
    shown = lines.select("label", "score", "value", "ranked", "measure", "leak").rows()
    assert shown == [
        ("h", "effect_size", 0.5, True, 0.25, True),
        ("none", "auc", 1.0, False, None, False),
        ("none", "effect_size", 1.0, True, 0.5, False),
    ]


def test_the_history_has_each_build_in_which_something_changed(tmp_path, one, two) -> None:
    write(one, tmp_path, built="2026-03-01 10:00 UTC")
    write(one, tmp_path, built="2026-03-02 10:00 UTC")
    write(two, tmp_path, built="2026-03-03 10:00 UTC")
    latest, first = builds(tmp_path)
    assert (latest["built"], latest["since"]) == ("2026-03-03 10:00 UTC", "2026-03-02 10:00 UTC")
    assert (latest["models"], latest["tasks"]) == ([], ["y"])
    assert (first["built"], first["since"]) == ("2026-03-01 10:00 UTC", "")
    assert (first["models"], first["tasks"]) == (["a"], ["x"])
    page = (tmp_path / "history.html").read_text()
    assert page.index("2026-03-03 10:00 UTC") < page.index("2026-03-01 10:00 UTC")
    assert "New tasks: y." in page


def test_a_build_says_which_ranks_changed(tmp_path, make_rows) -> None:
    before = make_rows({"a": {"x": 1.0}, "b": {"x": 0.5}})
    now = make_rows({"a": {"x": 0.25}, "b": {"x": 0.5}})
    for day, records in enumerate((before, now), start=1):
        own = [r.model_copy(update={"model": r.model.model_copy(
            update={"fingerprint": r.model.name * 8})}) for r in records]  # fmt: skip
        write(own, tmp_path, built=f"2026-03-0{day} 10:00 UTC")
    page = (tmp_path / "history.html").read_text()
    assert "Ranks by bias on all tasks: a 2nd → 1st, b 1st → 2nd." in page
    assert "1 value changed." in page
    rows = re.findall(r'<tr><th scope="row".*?>(.*?)</th><td>(.*?)</td><td>(.*?)</td>', page)
    assert rows == [
        ("a", "all (Text embeddings)", "2nd → 1st"), ("b", "all (Text embeddings)", "1st → 2nd")
    ]  # fmt: skip


def test_the_history_goes_from_folder_to_folder_with_since(tmp_path, one, two) -> None:
    write(one, tmp_path / "first", built="2026-03-01 10:00 UTC")
    write(two, tmp_path / "second", built="2026-03-02 10:00 UTC", since=tmp_path / "first")
    assert [build["tasks"] for build in builds(tmp_path / "second")] == [["y"], ["x"]]


def test_the_same_records_give_the_same_history_and_feed(tmp_path, one, two) -> None:
    for records in (one, two, two):
        write(records, tmp_path / "a", built="2026-03-01 10:00 UTC", url=URL)
    before = [(tmp_path / "a" / name).read_bytes() for name in ("history.json", "feed.xml")]
    write(two, tmp_path / "a", built="2026-04-01 10:00 UTC", url=URL)
    assert [(tmp_path / "a" / n).read_bytes() for n in ("history.json", "feed.xml")] == before


def test_the_history_is_bounded(tmp_path, one, two, monkeypatch) -> None:
    monkeypatch.setattr(history, "KEPT", 3)
    for day, records in enumerate([one, two] * 3, start=1):
        write(records, tmp_path, built=f"2026-03-0{day} 10:00 UTC")
    assert len(builds(tmp_path)) <= 3


def test_a_history_that_cannot_be_read_begins_again_with_a_notice(tmp_path, one) -> None:
    write(one, tmp_path)
    for content in ("[]", "{", '{"schema": 2, "builds": []}', '{"schema": 1, "builds": [1]}'):
        (tmp_path / "history.json").write_text(content)
        write(one, tmp_path)
        (notice,) = site_data.read(tmp_path)["notices"]
        assert notice.startswith("the history begins again: ")
        assert len(builds(tmp_path)) == 1


def test_the_feed_is_atom_and_needs_the_address_of_the_site(tmp_path, one, two) -> None:
    write(one, tmp_path, built="2026-03-01 10:00 UTC")
    assert not (tmp_path / "feed.xml").exists()
    assert "feed.xml" not in (tmp_path / "history.html").read_text()
    write(two, tmp_path, built="2026-03-02 11:30 UTC", url=URL)
    feed = ElementTree.parse(tmp_path / "feed.xml").getroot()
    assert feed.tag == f"{ATOM}feed"
    assert feed.findtext(f"{ATOM}id") == URL
    assert feed.findtext(f"{ATOM}updated") == "2026-03-02T11:30:00Z"
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    links = {link.get("rel"): link.get("href") for link in feed.findall(f"{ATOM}link")}
    assert links == {"self": f"{URL}feed.xml", "alternate": URL}
    entries = feed.findall(f"{ATOM}entry")
    assert [e.findtext(f"{ATOM}updated") for e in entries] == [
        "2026-03-02T11:30:00Z",
        "2026-03-01T10:00:00Z",
    ]
    for entry in entries:
        place = entry.findtext(f"{ATOM}id")
        anchor = place.removeprefix(f"{URL}history.html#")
        assert f'id="{anchor}"' in (tmp_path / "history.html").read_text()
        assert entry.findtext(f"{ATOM}title")
        assert entry.findtext(f"{ATOM}content")
    head = (tmp_path / "index.html").read_text()
    assert '<link rel="alternate" type="application/atom+xml"' in head


def test_the_id_of_an_entry_stays(tmp_path, one, two, make_rows) -> None:
    three = make_rows({"a": {"x": 1.0, "y": 0.5, "z": 0.5}})
    ids = []
    for day, records in enumerate((one, two, three), start=1):
        write(records, tmp_path, built=f"2026-03-0{day} 10:00 UTC", url=URL)
        feed = ElementTree.parse(tmp_path / "feed.xml").getroot()
        ids.append([e.findtext(f"{ATOM}id") for e in feed.findall(f"{ATOM}entry")])
    assert ids[2][1:] == ids[1]
    assert ids[1][1:] == ids[0]
    assert len(set(ids[2])) == 3


def test_hostile_names_are_text_in_the_feed_and_on_the_page(tmp_path, make_rows) -> None:
    records = make_rows({HOSTILE: {"x": 1.0}})
    write(records, tmp_path, built="2026-03-01 10:00 UTC", url=URL)
    feed = ElementTree.parse(tmp_path / "feed.xml").getroot()
    content = feed.findtext(f"{ATOM}entry/{ATOM}content")
    assert "<b>&amp;\ufffd\ufffd]]>" in content
    assert "<b>" not in (tmp_path / "history.html").read_text()


def decided(became, successor=None, name="old", **more) -> Decision:
    facts = {"reason": "wrong weights", "date": "", **more}
    return Decision("model", name, became, successor, **facts)


def test_a_withdrawn_model_keeps_a_page_with_the_reason_and_the_date(tmp_path, one) -> None:
    write(one, tmp_path, built="2026-03-01 10:00 UTC")
    decisions = [decided("withdrawn")]
    write(one, tmp_path, built="2026-03-02 10:00 UTC", decisions=decisions)
    write(one, tmp_path, built="2026-03-03 10:00 UTC", decisions=decisions)
    page = (tmp_path / "model" / "old.html").read_text()
    assert "Model old is withdrawn: wrong weights (2026-03-02)." in page
    assert "Model old is withdrawn: wrong weights." in (tmp_path / "history.html").read_text()
    (kept,) = site_data.read(tmp_path)["decisions"]
    assert (kept["date"], kept["reason"]) == ("2026-03-02", "wrong weights")
    listed = json.loads((tmp_path / "index.json").read_text())["pages"]
    assert "model/old.html" in [page["html"] for page in listed]


def test_the_page_of_a_renamed_model_leads_to_its_new_name(tmp_path, one) -> None:
    write(one, tmp_path, decisions=[decided("renamed", "a", date="2026-01-31")])
    page = (tmp_path / "model" / "old.html").read_text()
    assert "Model old is now called a: wrong weights (2026-01-31)." in page
    assert '<a href="../model/a.html">To a</a>' in page
    assert (tmp_path / "model" / "a.html").is_file()


def test_a_superseded_model_keeps_its_own_page_and_says_so(tmp_path, make_rows) -> None:
    records = make_rows({"old": {"x": 1.0}, "a": {"x": 0.5}})
    write(records, tmp_path, decisions=[decided("superseded", "a")])
    page = (tmp_path / "model" / "old.html").read_text()
    assert "Model old is superseded by a: wrong weights" in page
    assert '<a href="../model/a.html">To a</a>' in page
    assert "By task" in page


def test_a_tombstone_shows_hostile_texts_as_text(tmp_path, one) -> None:
    decisions = [decided("renamed", HOSTILE, HOSTILE * 2, reason=HOSTILE)]
    write(one, tmp_path, decisions=decisions)
    page = (tmp_path / "model" / f"{slug(HOSTILE * 2)}.html").read_text()
    assert re.search("<b>|<script", page) is None
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gone", "Withdrawn: wrong weights (2026-03-04)."),
        ("old", "Now called a."),
        ("a", "Superseded by b: slow."),
    ],
)
def test_the_interactive_page_says_what_became_of_a_model(
    tmp_path, visit, make_rows, name, words
) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 0.5}})
    decisions = [
        decided("withdrawn", name="gone", date="2026-03-04"),
        decided("renamed", "a", reason=""),
        decided("superseded", "b", name="a", reason="slow"),
    ]
    write(records, tmp_path, decisions=decisions)
    page = visit(tmp_path / "index.html", f"#/text/model/{name}")
    assert page.locator("h1").inner_text() == name
    assert page.locator("main .notice").first.inner_text() == words
    if name == "old":
        page.locator("main .notice a").click()
        assert page.locator("h1", has_text="a").first.inner_text() == "a"
