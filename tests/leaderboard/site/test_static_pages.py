"""Pages that are read without a script: addresses, content, and hostile names."""

import re

import pytest

from harness.leaderboard.site.rendering import slug

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


@pytest.mark.parametrize("name", HOSTILE)
def test_a_slug_is_a_file_name_everywhere(name) -> None:
    text = slug(name)
    assert re.fullmatch(r"[a-z0-9_][a-z0-9._-]{0,68}", text)
    assert not text.endswith(".")
    devices = ("con", "prn", "aux", "nul", "index", "com1", "lpt1")
    assert text.partition(".")[0] not in devices


def test_names_that_differ_have_slugs_that_differ() -> None:
    names = [*HOSTILE, *(slug(name) for name in HOSTILE), "All-MiniLM", "all-minilm", "ALL-MINILM"]
    different = set(names)
    assert len({slug(name) for name in different}) == len(different)


def test_a_plain_name_is_its_own_slug() -> None:
    assert slug("e5-small_v2.1") == "e5-small_v2.1"
    assert re.fullmatch("all-minilm-l6-v2-[0-9a-f]{8}", slug("all-MiniLM-L6-v2"))
