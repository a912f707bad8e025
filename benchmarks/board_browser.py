"""Milliseconds that a board takes in Chromium: to open, search, sort, filter and choose tasks.

    python benchmarks/board_browser.py SITE [--rows 10000] [--repeat 5]

SITE is what `harness leaderboard build` or `python benchmarks/board.py` wrote. The same is measured
again on a copy whose models are repeated until it has that many rows. Needs playwright and
chromium.

Each time starts with the event, in the page, and ends with the frame after the last change of the
page that follows it. Opening starts with the navigation.
"""

from __future__ import annotations

import argparse
import base64
import json
import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

OPENING, ACTION = 1000.0, 100.0
"""Budgets in ms."""
QUIET = 400
"""Milliseconds without a change after which an action has ended."""
WATCH = """
  window.settled = (start) => new Promise((resolve) => {
    let last = performance.now();
    let timer = 0;
    const done = () => { observer.disconnect(); resolve(last - start); };
    const seen = () => {
      clearTimeout(timer);
      requestAnimationFrame(() => setTimeout(() => { last = performance.now(); }, 0));
      timer = setTimeout(done, QUIET);
    };
    const observer = new MutationObserver(seen);
    observer.observe(document, { subtree: true, childList: true, attributes: true,
      characterData: true });
    seen();
  });
  window.act = (work) => {
    const start = performance.now();
    const settled = window.settled(start);
    work();
    return settled;
  };
  addEventListener("DOMContentLoaded", () => { window.opened = window.settled(0); });
""".replace("QUIET", str(QUIET))
ACTIONS = {
    "search": """() => act(() => {
        const field = document.querySelector("main input[type=search]");
        field.value = "m1";
        field.dispatchEvent(new Event("input", { bubbles: true }));
    })""",
    "sort": """() => act(() => {
        const buttons = [...document.querySelectorAll("main table thead button")];
        buttons[(window.turn = (window.turn ?? 1) + 1) % buttons.length].click();
    })""",
    "filter": """() => act(() => {
        const box = document.querySelector("main [data-filter] input[type=checkbox]");
        box.click();
    })""",
    "new choice of tasks": """() => act(() => {
        const boxes = document.querySelectorAll("main [data-tasks] input[type=checkbox]");
        boxes[(window.choice = (window.choice ?? 0) + 1) % boxes.length].click();
    })""",
    "scroll to the end": """() => act(() => {
        const place = document.querySelector("main [data-rows]") ?? document.scrollingElement;
        place.scrollTop = place.scrollTop ? 0 : place.scrollHeight;
    })""",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--rows", type=int, default=10_000, help="of the second, larger board")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    print_table(measure(arguments.site, arguments.repeat), budgets=True)
    with tempfile.TemporaryDirectory() as folder:
        larger = enlarged(arguments.site, Path(folder) / "site", arguments.rows)
        print_table(measure(larger, arguments.repeat), budgets=False)


def measure(site: Path, repeat: int) -> tuple[str, dict[str, list[float]]]:
    """Return what the board is, and the times of each action in ms."""
    from playwright import sync_api

    times: dict[str, list[float]] = {}
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for _ in range(repeat):
            page = chromium.new_page(viewport={"width": 1400, "height": 900})
            page.add_init_script(WATCH)
            page.goto((site / "index.html").as_uri())
            page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
            times.setdefault("opening", []).append(page.evaluate("opened"))
            for name, action in ACTIONS.items():
                times.setdefault(name, []).append(page.evaluate(action))
            heap = page.evaluate("performance.memory.usedJSHeapSize / 2 ** 20")
            times.setdefault("memory, MiB", []).append(heap)
            page.close()
        chromium.close()
    entries = [entry for _, entry in _boards(site)]
    rows = max(len(entry["rows"]["model"]) for entry in entries)
    tasks = max(len(entry["tasks"]) for entry in entries)
    return f"{rows:,} rows × {tasks} tasks", times


def print_table(measured: tuple[str, dict[str, list[float]]], *, budgets: bool) -> None:
    """Print the median and the greatest time of each action beside its budget."""
    title, times = measured
    print(f"{title:32} {'median ms':>10} {'greatest':>10} {'budget':>8}")
    for name, values in times.items():
        budget = OPENING if name == "opening" else ACTION
        limit = f"{budget:8.0f}" if budgets and "memory" not in name else ""
        print(f"{name:32} {median(values):10.0f} {max(values):10.0f} {limit}".rstrip())


def enlarged(site: Path, folder: Path, rows: int) -> Path:
    """Copy a site; the models of each board are repeated until it has that many rows."""
    shutil.copytree(site, folder)
    rng = np.random.default_rng(0)
    for name, board in _boards(site):
        old = len(board["rows"]["model"])
        times = -(-rows // old)
        models = board["models"]
        board["models"] = [
            {**model, "name": f"{model['name']}-{i}"} for i in range(times) for model in models
        ]
        places = board["rows"]
        places["model"] = [i * len(models) + k for i in range(times) for k in places["model"]]
        for key in ("mitigator", "role"):
            places[key] = places[key] * times
        places["unusable"] = {
            str(i * old + int(row)): why
            for i in range(times)
            for row, why in places["unusable"].items()
        }
        for benchmark in board["benchmarks"]:
            for key in [key for key in benchmark if "rank_" in key]:
                benchmark[key] = benchmark[key] * times
        measures = np.frombuffer(base64.b64decode(board["measure"]["data"]), dtype="<f4")
        noise = rng.normal(scale=0.02, size=(times, measures.size)).astype("<f4")
        board["measure"]["data"] = base64.b64encode((measures + noise).tobytes()).decode()
        flags = base64.b64decode(board["flags"]["data"])
        board["flags"]["data"] = base64.b64encode(flags * times).decode()
        text = json.dumps(board, ensure_ascii=False, separators=(",", ":"))
        (folder / name).write_text(f"harnessData({json.dumps(name)},{text});\n", encoding="utf-8")
    return folder


def _boards(site: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the name and the contents of the data file of each board."""
    return [
        (entry["data"], _contents(site / entry["data"]))
        for entry in _contents(site / "data/site.js")["boards"]
    ]


def _contents(file: Path) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    contents: dict[str, Any] = json.JSONDecoder().raw_decode(text[text.index(",") + 1 :])[0]
    return contents


if __name__ == "__main__":
    main()
