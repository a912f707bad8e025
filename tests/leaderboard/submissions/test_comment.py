"""The comment on a pull request: whatever a submission says stays text."""

from __future__ import annotations

import re
from html import unescape

from markdown_it import MarkdownIt

from harness.leaderboard.submissions import check
from harness.leaderboard.submissions.check import Checked
from harness.printing import printable
from harness.results.reading import SetAside

HOSTILE = (
    "@everybody",
    "[prize](https://evil.example)",
    "![x](https://evil.example/x.png)",
    "https://evil.example www.evil.example",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</code></td><b>bold</b>",
    "a | b | c",
    "`` ` `` ```",
    "**bold** _it_ ~~x~~ #1 GH-1 $x$ :tada:",
    "&lt;b&gt; &#60;",
    "line\nbreak\r\n\n# heading",
    "\u202eabc\u200b",
    "=1+1",
    "ää 模型",
)


def rendered(text: str) -> str:
    """Return the HTML of a comment."""
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(text)


def checked_of(*problems: SetAside) -> Checked:
    return Checked(problems, (), (), 0)


def test_a_problem_stays_in_its_block_of_code():
    for name in HOSTILE:
        checked = checked_of(SetAside(f"results/{name}.jsonl", 3, f"the name {name} is wrong"))
        html = rendered(check.comment_markdown(checked))
        assert set(re.findall(r"</?([a-z0-9]+)", html)) == {"h3", "pre", "code"}, name
        (block,) = re.findall(r"<code[^>]*>(.*?)</code>", html, re.DOTALL)
        assert unescape(block) == printable(str(checked.problems[0])) + "\n"
