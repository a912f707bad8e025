"""What records say stays text, and no page leaves its folder: in a real Chromium."""

from __future__ import annotations

import functools
import http.server
import threading

import pytest
from hostile_submissions import SCRIPT, SUBMISSIONS, VICTIM
from site_pages import addresses, build, go, hostile
from submission_records import good_records, write

from harness.commands.main import run
from harness.results.record import Record

pytestmark = pytest.mark.browser
TEXTS = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror='window.hacked=1'>",
    "\"'`><svg onload=window.hacked=1>",
    "{{7*7}}${7*7}{%raw%}<%=7*7%>",
    "javascript:window.hacked=1//",
    '--><!--]]><![CDATA["],"x":[\\u003cscript>,\u2028\u2029',
    "?q=1&sort=model#/%00%2f..%ff/../\\",
    "\u202eevil\u200b\u0301\u0301" + "W" * 200,
)
HOSTILE = " ".join(TEXTS)


@pytest.fixture(scope="module")
def hostile_site(tmp_path_factory, make_many):
    """A site whose records have markup in every text that is free."""
    records = [
        Record.model_validate(
            hostile(record.model_dump(by_alias=True), HOSTILE)
            | {"tables": {HOSTILE: "../../x.tsv"}}
        )
        for record in [*make_many("word", 1), *make_many("text")]
    ]
    return build(tmp_path_factory.mktemp("hostile"), records)


@pytest.fixture(scope="module")
def command_site(tmp_path_factory):
    """What the command writes of three good models and the submissions that reach a board."""
    folder = tmp_path_factory.mktemp("command")
    for name in (VICTIM, "model-b", "model-c"):
        write(folder / "good", good_records(name))
    for i, submission in enumerate(SUBMISSIONS):
        if submission.board == "row" or "script" in submission.name:
            submission.make(folder / "hostile" / str(i))
    arguments = [folder / "good", folder / "hostile", "--out", folder / "site"]
    assert run(["leaderboard", "build", *map(str, arguments)]) == 0
    return folder / "site" / "index.html"


def test_every_page_opens_from_a_file_and_loads_nothing_else(site, visit) -> None:
    page = visit(site)
    for address in addresses(page):
        go(page, address)
        assert page.locator("main h1").count() == 1, address
        assert page.locator("h1").inner_text() != "No such page", address


def test_every_page_opens_from_a_server(site, visit) -> None:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=site.parent)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page = visit(f"http://127.0.0.1:{server.server_port}/{site.name}")
        for address in addresses(page):
            go(page, address)
    finally:
        server.shutdown()
        server.server_close()


def test_hostile_texts_are_shown_as_text_on_every_page(hostile_site, visit) -> None:
    page = visit(hostile_site)
    for address in addresses(page):
        go(page, address)
        assert page.locator("h1").inner_text() != "No such page", address
        foreign = page.evaluate(
            """() => [...document.body.querySelectorAll("*")].filter((element) =>
              ["IMG", "IFRAME", "OBJECT", "STYLE", "BASE", "FORM"].includes(element.tagName) ||
              [...element.attributes].some(({ name }) => name.startsWith("on")) ||
              /^\\s*(javascript|data|vbscript):/i.test(element.getAttribute("href") ?? "")
            ).map((element) => element.outerHTML.slice(0, 200))"""
        )
        assert foreign == [], address
        assert page.evaluate("window.hacked") is None, address
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address


def test_the_command_makes_a_safe_site_of_hostile_submissions(command_site, visit) -> None:
    assert command_site.stat().st_size < 100_000
    page = visit(command_site)
    for address in addresses(page):
        go(page, address)
        assert page.locator("h1").inner_text() != "No such page", address
        assert page.locator("main :is(img, iframe, script)").count() == 0, address
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
    names = page.evaluate(
        "harness.load('data/word.js').then((board) => board.models.map(({ name }) => name))"
    )
    assert {VICTIM, "model-b", "model-c"} <= set(names)
    page.goto((command_site.parent / "reading.html").as_uri())
    assert SCRIPT in page.locator("main").inner_text()
    assert page.locator("main :is(img, iframe, script)").count() == 0


@pytest.mark.parametrize(
    "address",
    [
        "#/text/model/nobody", "#/text/nothing", "#/nothing/at/all", "#//", "#/%E0%A4%A", "#/text/",
        "#/text/constructor/x", "#/__proto__", "#/text?benchmark=__proto__&sort=constructor",
        "#/text?q=%3Cimg%20src%3Dx%3E&tasks=-1,999,NaN,x&cols=%3Cb%3E&desc=2&leaks=x",
        "#/text/compare?rows=-1,99999,NaN", "#/text?q=" + "(" * 500,
        "#/text/model/<img src=x onerror='window.hacked=1'>",
    ],
)  # fmt: skip
def test_an_address_from_a_stranger_breaks_nothing(address, site, visit) -> None:
    page = visit(site, address)
    assert page.locator("main h1").count() == 1
    assert page.locator("main img").count() == 0


def test_the_policy_refuses_markup_styles_and_foreign_scripts(site, browser) -> None:
    page = browser.new_page()
    page.goto(site.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    refused = page.evaluate(
        """() => [
          () => { document.body.innerHTML = "<b>x</b>"; },
          () => { document.createElement("script").src = "x.js"; },
          () => { setTimeout("1"); },
          () => { document.write("x"); },
        ].map((act) => { try { act(); return false; } catch { return true; } })"""
    )
    assert refused == [True] * 4
    with pytest.raises(Exception, match="no data file"):
        page.evaluate("harness.load('https://example.org/x.js')")
    page.close()
