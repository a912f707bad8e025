"""The picture of a leaderboard in docs/figures: its first screen.

    harness leaderboard build results/ --out site/
    python docs/screenshots.py site/

Needs playwright and chromium. Look at the picture before you commit it.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FIGURES = Path(__file__).parent / "figures"


def main(site: Path) -> None:
    """Take the picture of a site."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        page = chromium.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
        page.goto((site / "index.html").absolute().as_uri() + "#/text")
        page.wait_for_selector("html[data-ready]", state="attached")
        page.screenshot(path=FIGURES / "leaderboard-wide-light.png")
        chromium.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
