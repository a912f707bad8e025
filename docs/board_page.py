"""The tables of docs/board.md and docs/downstream.md, from the scores of real models.

    python docs/board_page.py results/   # keeps the primary scores of results folders, and
                                         # writes the tables
    python docs/board_page.py            # writes the tables from the scores that are kept

The kept scores are `docs/figures/board.jsonl.gz`. A table stands between two comments with its
name; the text around it is written by hand.
"""

from __future__ import annotations

import gzip
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from harness import folders
from harness.leaderboard import building
from harness.leaderboard.boards.board import Board
from harness.names import NONE
from harness.registry.registry import Registry
from harness.results.correlation import Correlation, correlate
from harness.results.folder import read_results
from harness.run.tasks import list_tasks, select

DOCS = Path(__file__).parent
KEPT = DOCS / "figures" / "board.jsonl.gz"
PAGES = (DOCS / "board.md", DOCS / "downstream.md")
INTRINSIC, DOWNSTREAM = "social-bias-encoders", "downstream"
SHORT = {
    "openai:multilingual-e5-small?input_type=true": "multilingual-e5-small",
    "paraphrase-MiniLM-L3-v2?backend=onnx": "paraphrase-MiniLM-L3-v2",
}
"""Names of models as in the text around the tables."""
_DETAILS = ("alternative", "reversed", "undone")
"""Details that a board reads."""


def keep(results: Sequence[Path]) -> None:
    """Write the primary records of results folders into the file of kept scores."""
    lines = []
    for record in read_results(*results):
        if not record.primary:
            continue
        details = {key: record.details[key] for key in _DETAILS if key in record.details}
        small = {"run": "board", "details": details, "tables": {}, "figures": {}, "samples": None}
        lines.append(record.model_copy(update=small).line())
    KEPT.write_bytes(gzip.compress("".join(sorted(lines)).encode(), 9, mtime=0))


class Scores:
    """The kept scores, and the tables that are made of them.

    Parameters
    ----------
    folder
        An empty folder for the records.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "board.jsonl"
        self.file.write_bytes(gzip.decompress(KEPT.read_bytes()))
        self.registry = Registry()
        self.records = read_results(self.file)

    def board(self, benchmark: str, kind: str) -> Board:
        """Return the board of the tasks of a benchmark."""
        ranked = building.rank([self.file], self.registry, tasks=[benchmark])
        return next(board for board in ranked.boards if board.kind == kind)

    def models(self, benchmark: str, kind: str) -> str:
        """Return the table of models: bias above the floor, with intervals and ranks."""
        rows = self.board(benchmark, kind).rows.filter(mitigator=NONE)
        lines = [
            [
                _short(row["model"]),
                _number(row["bias"]),
                _ends(row["bias_low"], row["bias_high"]),
                _ranks(row),
                str(row["bias_tasks"] or "–"),
                _number(row["usefulness"]),
                _ends(row["usefulness_low"], row["usefulness_high"]),
                row["unusable"] or ("reference" if row["role"] == "reference" else ""),
            ]
            for row in rows.iter_rows(named=True)
        ]
        columns = ["", "bias", "95 % interval", "ranks", "tasks", "usefulness", "95 % interval", ""]
        return _table(columns, lines)

    def tasks(self, benchmark: str, kind: str) -> str:
        """Return the table of tasks: each model's value, and the floor of the first."""
        board = self.board(benchmark, kind)
        cells = board.cells.filter(
            pl.col("mitigator") == NONE, ~pl.col("model").str.starts_with("constant")
        )
        models = [m for m in board.rows["model"].unique(maintain_order=True) if m in cells["model"]]
        bias = board.tasks.filter(pl.col("measures") == "bias")
        lines = []
        for task in bias.sort("not_ranked", "task", nulls_last=False).iter_rows(named=True):
            of = {r["model"]: r for r in cells.filter(task=task["task"]).iter_rows(named=True)}
            shown = [of.get(model) for model in models]
            mark = "" if task["not_ranked"] is None else " *"
            ideal = str(task["ideal"]).removesuffix(".0")
            lines.append([f"`{task['task']}`{mark}", ideal, *map(_with_floor, shown)])
        return _table(["task", "fair", *map(_short, models)], lines)

    def correlations(self) -> str:
        """Return the table of the correlations of the intrinsic and the downstream benchmark."""
        return _table(
            ["over", "tasks", "points", "Spearman", "95 % interval", "Pearson"],
            [
                [
                    part.over,
                    f"{part.tasks[0]} and {part.tasks[1]}",
                    str(len(part.points)),
                    _number(part.spearman),
                    _interval(part),
                    _number(part.pearson),
                ]
                for part in self._correlated()
                if part.task is None
            ],
        )

    def correlations_by_task(self) -> str:
        """Return the table of the correlations of each downstream task."""
        parts = [part for part in self._correlated() if part.task is not None]
        by_task: dict[str, dict[str, Correlation]] = {}
        for part in parts:
            by_task.setdefault(str(part.task), {})[part.over] = part
        return _table(
            ["downstream task", "over models", "over mitigators", "95 % interval"],
            [
                [
                    f"`{task}`",
                    *(_number(of[kind].spearman) for kind in ("models", "mitigators")),
                    _interval(of["mitigators"]),
                ]
                for task, of in by_task.items()
            ],
        )

    def points(self) -> str:
        """Return the table of the models' means that are correlated."""
        part = self._correlated()[0]
        return _table(
            ["", INTRINSIC, DOWNSTREAM],
            [
                [_short(point.model), _number(point.a), _number(point.b)]
                for point in sorted(part.points, key=lambda point: point.a)
            ],
        )

    def _correlated(self) -> Sequence[Correlation]:
        entries = list_tasks(self.registry)
        required = {entry.file.name for entry in entries if entry.file.required}
        sides = (
            {entry.file.name for entry in select(self.registry, [name])}
            for name in (INTRINSIC, DOWNSTREAM)
        )
        records = [r for r in self.records if r.model.kind == "text"]
        return correlate(records, *sides, required).over


def filled(page: str, scores: Scores) -> str:
    """Return a page with its tables written anew.

    A table is named `METHOD` or `METHOD BENCHMARK KIND`, after a method of `Scores`.
    """

    def table(match: re.Match[str]) -> str:
        method, *arguments = match["name"].split()
        make: Callable[..., str] = getattr(scores, method)
        return f"{match['begin']}\n{make(*arguments)}\n{match['end']}"

    return re.sub(
        r"(?P<begin><!-- table: (?P<name>[\w -]+) -->\n).*?(?P<end><!-- end of table -->)",
        table,
        page,
        flags=re.DOTALL,
    )


def _table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    head = "| " + " | ".join(columns) + " |\n"
    rule = "| --- |" + " ---: |" * (len(columns) - 1) + "\n"
    return head + rule + "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _short(model: str) -> str:
    return SHORT.get(model, model)


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    text = f"{value:.3f}".replace("-", "−")
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def _ends(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{_number(low)} to {_number(high)}"


def _interval(part: Correlation) -> str:
    return _ends(part.interval.low, part.interval.high) if part.interval else "–"


def _ranks(row: dict[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    if row["rank"] is None:
        return "–"
    return f"{row['rank']}" if low is None else f"{row['rank']} ({low} to {high})"


def _with_floor(cell: dict[str, Any] | None) -> str:
    """Return a value and, in brackets, its floor: what shuffled sides show on average."""
    if cell is None or cell["value"] is None:
        return "–"
    floor = "" if cell["floor"] is None else f" ({_number(cell['floor'])})"
    return f"{_number(cell['value'])}{floor}"


def main(results: Sequence[Path]) -> None:
    """Keep the scores of results, if there are any, and write the tables of the pages."""
    if results:
        keep(results)
    with tempfile.TemporaryDirectory() as folder:
        scores = Scores(Path(folder))
        for page in PAGES:
            if page.exists():
                text = filled(page.read_text("utf-8"), scores)
                folders.write_atomically(page, text.encode())


if __name__ == "__main__":
    main([Path(path) for path in sys.argv[1:]])
