"""What the page says is what the commands say."""

from pathlib import Path

import harness.leaderboard.site
from harness.results.record import LEAK, LEAK_MEANS

BUNDLE = Path(harness.leaderboard.site.__file__).parent / "assets" / "board.js"


def test_the_page_says_of_a_leak_what_the_tables_of_the_commands_say() -> None:
    assert f'"{LEAK} {LEAK_MEANS}"' in BUNDLE.read_text("utf-8")
