"""The pictures of a leaderboard in docs/figures: its first screen, wide and small, light and dark.

    harness leaderboard build results/ --out site/
    python docs/screenshots.py site/

Needs playwright and chromium. Look at the pictures before you commit them.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FIGURES = Path(__file__).parent / "figures"
SIZES = {"wide": (1400, 900), "small": (390, 1200)}


def main(site: Path) -> None:
    """Take the pictures of a site."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for name, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                page = chromium.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                page.goto((site / "index.html").absolute().as_uri() + "#/text")
                page.wait_for_selector("html[data-ready]", state="attached")
                page.screenshot(path=FIGURES / f"leaderboard-{name}-{scheme}.png")
                page.close()
        chromium.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
