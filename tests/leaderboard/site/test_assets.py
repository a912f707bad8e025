"""The scripts of the site share one scope: no name is defined twice."""

import re
from collections import Counter
from pathlib import Path

import harness.leaderboard.site
from harness.results.record import LEAK, LEAK_MEANS

ASSETS = Path(harness.leaderboard.site.__file__).parent / "assets"
DEFINED = re.compile(r"^(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)


def test_no_two_scripts_define_the_same_name() -> None:
    names = Counter(
        name for path in ASSETS.rglob("*.js") for name in DEFINED.findall(path.read_text("utf-8"))
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_a_script_is_short_enough_to_read() -> None:
    for path in ASSETS.rglob("*.js"):
        assert len(path.read_text("utf-8").splitlines()) <= 300, path


def test_the_page_says_of_a_leak_what_the_tables_of_the_commands_say() -> None:
    assert f'"{LEAK} {LEAK_MEANS}"' in (ASSETS / "cell_table.js").read_text("utf-8")
