"""Milliseconds that a board takes in Chromium: to open, search, sort, filter and choose tasks.

    python perf/board_browser.py SITE [--rows 10000] [--repeat 5]

SITE is what `harness leaderboard build` or `python perf/board.py` wrote. The same is measured
again on a copy whose models are repeated until it has that many rows. Needs playwright and
chromium.

Each time starts with the event, in the page. `drawn` ends with the next frame: the table shows
what was asked for. `settled` ends with the last change of the page: the plot and what is read
aloud follow after a pause of 150 ms, so that they slow down nobody who types. `CPU` is how long
the page's main thread worked until then: the number to look at on a machine with other work.
Opening starts with the navigation.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from harness.leaderboard.site.payload import END, TYPES, column, script
from harness.leaderboard.site.writing import data_path

BUDGETS = {
    "opening": 1000.0,
    **dict.fromkeys(("search", "sort", "filter", "new choice of tasks"), 100.0),
}
"""In ms."""
QUIET = 400
"""Milliseconds without a change after which an action has ended."""
WATCH = """
  window.settled = (start) => new Promise((resolve) => {
    let last = performance.now();
    let timer = 0;
    let drawn = 0;
    const done = () => { observer.disconnect(); resolve([drawn, last - start]); };
    const seen = () => {
      clearTimeout(timer);
      requestAnimationFrame(() => setTimeout(() => {
        last = performance.now();
        drawn ||= last - start;
      }, 0));
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
  window.named = (text) => [...document.querySelectorAll("main label")].find(
    (label) => label.textContent.trim() === text).control;
  addEventListener("DOMContentLoaded", () => {
    window.opened = window.settled(0);
    new MutationObserver((_, observer) => {
      window.ready ??= performance.now();
      observer.disconnect();
    }).observe(document.documentElement, { attributeFilter: ["data-ready"] });
  });
""".replace("QUIET", str(QUIET))
ACTIONS = {
    "search": """() => act(() => {
        const field = document.querySelector("main input[type=search]");
        field.value = "m1";
        field.dispatchEvent(new Event("input", { bubbles: true }));
    })""",
    "search: nothing": """() => act(() => {
        const field = document.querySelector("main input[type=search]");
        field.value = "";
        field.dispatchEvent(new Event("input", { bubbles: true }));
    })""",
    "sort": """() => act(() => document.querySelectorAll("main thead button")[2].click())""",
    "filter": """() => act(() => named("Only complete rows").click())""",
    "unfold all": """() => act(() => named("Show all mitigators").click())""",
    "new choice of tasks": """() => act(() => {
        document.querySelector("main .tasks .boxes input").click();
    })""",
    "scroll to the end": """() => act(() => {
        const place = document.querySelector("main .virtual");
        place.scrollTop = place.scrollHeight;
    })""",
    "open a model": """() => act(() => document.querySelector("main .virtual tbody a").click())""",
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


def measure(site: Path, repeat: int) -> tuple[str, dict[str, list[list[float]]]]:
    """Return what the board is, and of each action the times in ms: drawn, settled and CPU."""
    from playwright import sync_api

    times: dict[str, list[list[float]]] = {}
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for _ in range(repeat):
            page = chromium.new_page(viewport={"width": 1400, "height": 900})
            page.add_init_script(WATCH)
            cdp = page.context.new_cdp_session(page)
            cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto((site / "index.html").as_uri())
            page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
            _, settled = page.evaluate("opened")
            ready = page.evaluate("ready")
            times.setdefault("opening", []).append([ready, max(ready, settled), _cpu(cdp)])
            for name, action in ACTIONS.items():
                before = _cpu(cdp)
                drawn, settled = page.evaluate(action)
                times.setdefault(name, []).append([drawn, settled, _cpu(cdp) - before])
            page.close()
        chromium.close()
    boards = [board for _, board in _boards(site)]
    rows = max(len(board["rows"]["model"]) for board in boards)
    tasks = max(len(board["tasks"]) for board in boards)
    return f"{rows:,} rows × {tasks} tasks", times


def print_table(measured: tuple[str, dict[str, list[list[float]]]], *, budgets: bool) -> None:
    """Print the medians of each action beside its budget."""
    title, times = measured
    heads = ("drawn ms", "settled ms", "CPU ms", "budget ms")
    print(f"{title:24}", *(f"{head:>10}" for head in heads[: 4 if budgets else 3]))
    for name, values in times.items():
        medians = [median(column) for column in zip(*values, strict=True)]
        if budgets and name in BUDGETS:
            medians.append(BUDGETS[name])
        print(f"{name:24}", *(f"{value:10.0f}" for value in medians))


def _cpu(cdp: Any) -> float:
    """Return the milliseconds that the page's main thread has worked."""
    metrics = {m["name"]: m["value"] for m in cdp.send("Performance.getMetrics")["metrics"]}
    return 1000 * float(metrics["TaskDuration"])


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
        for key in ("mitigator", "role", "meaning", "recoverability"):
            places[key] = places[key] * times
        for key in ("unusable", "uneven"):
            places[key] = {
                str(i * old + int(row)): why
                for i in range(times)
                for row, why in places[key].items()
            }
        for benchmark in board["benchmarks"]:
            for key in [key for key in benchmark if "rank_" in key]:
                benchmark[key] = benchmark[key] * times
        gaps = _numbers(board["gap"])
        board["gap"] = column(gaps + rng.normal(scale=0.02, size=(times, gaps.size)), "f32")
        for key in ("gap_error", "yardstick", "yardstick_error", "flags"):
            board[key] = column(np.tile(_numbers(board[key]), times), board[key]["type"])
        build = _build(site)
        content = b"".join(script(name, board)) + END.format(build).encode()
        (folder / data_path(name, build)).write_bytes(content)
    return folder


def _boards(site: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the name and the contents of the data file of each board."""
    return [
        (entry["data"], _contents(site, entry["data"]))
        for entry in _contents(site, "data/site.js")["boards"]
    ]


def _build(site: Path) -> str:
    """Return the id of the build that wrote the page."""
    page = (site / "index.html").read_text("utf-8")
    return page.partition('<meta name="build" content="')[2].partition('"')[0]


def _numbers(packed: dict[str, str]) -> Any:
    """Return the numbers of a column, as `data.js` reads them."""
    kind = np.dtype(TYPES[packed["type"]])
    planes = np.frombuffer(base64.b64decode(packed["data"]), dtype="u1").reshape(kind.itemsize, -1)
    return np.ascontiguousarray(planes.T).view(kind).reshape(-1)


def _contents(site: Path, file: str) -> dict[str, Any]:
    text = (site / data_path(file, _build(site))).read_text("utf-8")
    quoted = text.partition("JSON.parse('")[2].rpartition("'")[0]
    contents: dict[str, Any] = json.loads(re.sub(r"\\(.)", r"\1", quoted))
    return contents


if __name__ == "__main__":
    main()
