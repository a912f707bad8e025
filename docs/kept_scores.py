"""The scores of real models that are kept for the documentation, and the tables made of them.

`docs/figures/board.jsonl.gz` holds them; `python docs/pages.py --keep results/` writes it from the
results folders of the commands in docs/findings.md and docs/languages.md.
"""

from __future__ import annotations

import functools
import gzip
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import findings
import polars as pl

from harness.leaderboard import building
from harness.leaderboard.boards.board import Board
from harness.names import NONE
from harness.plugins.validity.command import number
from harness.registry.registry import Registry
from harness.results import formats
from harness.results.folder import read_results
from harness.results.ratios import CLEAR
from harness.results.record import Record
from harness.run.tasks import list_tasks
from harness.task.schema import TaskFile

KEPT = Path(__file__).parent / "figures" / "board.jsonl.gz"
SIGNIFICANT = 0.05
MODELS = 2
"""Real models that must pass the yardstick of a task, so that its language ranks."""
LANGUAGES = {"universal": "control", "gender": "gender"}
"""Scenarios of the association tests in many languages that have a table of their own."""
_DETAILS = ("alternative", "reversed", "undone")
"""Details that a board reads."""
_DIGITS = 4
"""Significant digits of the deviations that are kept."""


def keep(results: Sequence[Path]) -> None:
    """Write the records that the tables need into the file of kept scores.

    They replace those of the same models and tasks; what is kept of others stays.
    """
    records = [record for record in read_results(*results) if _is_kept(record)]
    new = {(record.model.name, record.task.name) for record in records}
    kept = [r for r in Scores().records if (r.model.name, r.task.name) not in new]
    lines = sorted(_small(record).line() for record in (*kept, *records))
    KEPT.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))


def _is_kept(record: Record) -> bool:
    """Return whether a table needs a record; unit length changes no cosine."""
    return record.mitigator.label != "normalize" and (record.primary or _is_of_languages(record))


def _small(record: Record) -> Record:
    """Return a record without what no table shows."""
    details = {key: record.details[key] for key in _DETAILS if key in record.details}
    deviations = {
        unit: (_rounded(gap), _rounded(yardstick))
        for unit, (gap, yardstick) in record.deviations.items()
    }
    small: dict[str, Any] = {"run": "board", "details": details, "samples": None, "tables": {}}
    return record.model_copy(update=small | {"deviations": deviations})


def _rounded(deviation: float) -> float:
    return float(f"{deviation:.{_DIGITS}g}")


class Scores:
    """The kept scores, and the tables that are made of them."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()  # as long as the scores are used
        self.file = Path(self.folder.name) / "board.jsonl"
        self.file.write_bytes(gzip.decompress(KEPT.read_bytes()))
        self.registry = Registry()
        self.records = read_results(self.file)

    def board(self, benchmark: str, kind: str) -> Board:
        """Return the board of the tasks of a benchmark."""
        ranked = building.rank([self.file], self.registry, tasks=[benchmark])
        return next(board for board in ranked.boards if board.kind == kind)

    def models(self, benchmark: str, kind: str) -> str:
        """Return the table of models: bias with intervals, and ranks."""
        rows = self.board(benchmark, kind).rows.filter(mitigator=NONE)
        lines = [
            [
                row["model"],
                number(row["bias"]),
                ends(row["bias_low"], row["bias_high"]),
                ranks(row),
                str(row["bias_tasks"] or "–"),
                number(row["usefulness"]),
                ends(row["usefulness_low"], row["usefulness_high"]),
                row["unranked"] or ("reference" if row["role"] == "reference" else ""),
            ]
            for row in rows.iter_rows(named=True)
        ]
        columns = ["", "bias", "95 % interval", "ranks", "tasks"]
        columns += ["usefulness", "95 % interval", ""]
        return table(columns, lines)

    def tasks(self, benchmark: str, kind: str) -> str:
        """Return the table of tasks: each model's value with its floor."""
        board = self.board(benchmark, kind)
        is_constant = pl.col("model").cast(pl.String).str.starts_with("constant")
        cells = board.cells.filter(pl.col("mitigator") == NONE, ~is_constant)
        models = [m for m in board.rows["model"].unique(maintain_order=True) if m in cells["model"]]
        bias = board.tasks.filter(pl.col("measures") == "bias")
        lines = []
        for task in bias.sort("not_ranked", "task", nulls_last=False).iter_rows(named=True):
            of = {r["model"]: r for r in cells.filter(task=task["task"]).iter_rows(named=True)}
            shown = [of.get(model) for model in models]
            mark = "" if task["not_ranked"] is None else " *"
            name = f"`{task['task']}`{mark}"
            lines.append([name, ideal(task["ideal"]), *map(with_floor, shown)])
        return table(["task", "fair", *models], lines)

    def mitigations(self) -> str:
        """Return the table of mitigations, on words that they never saw."""
        return findings.table(self.found)

    def answers(self) -> str:
        """Return which mitigation holds on each kind of model."""
        return findings.answers(self.found)

    @functools.cached_property
    def found(self) -> list[findings.Finding]:
        """What each mitigator does to each model."""
        return findings.findings(self.records)

    def ranking_languages(self) -> str:
        """Return the table of the languages that rank, and of what the next ones lack."""
        yardsticks: dict[str, dict[str, set[str]]] = {}  # models that pass, by task
        for record in self.records:
            t = None if record.ratio is None else record.ratio.t
            is_real = not record.model.name.startswith(("random-", "constant-"))
            if record.primary and record.mitigator.label == NONE and t is not None and is_real:
                of_task = yardsticks.setdefault(record.language or "", {})
                passing = of_task.setdefault(record.task.name, set())
                if t >= CLEAR:
                    passing.add(record.model.name)
        files = {entry.file.name: entry.file for entry in list_tasks(self.registry)}
        lines = []
        for language, of_task in sorted(yardsticks.items()):
            for name, models in sorted(of_task.items()):
                file = files.get(name)
                if language == "en" or file is None or file.measures != "bias":
                    continue
                yardstick = files.get(file.yardstick or "")
                lacking = _lacking(file, yardstick, len(models))
                lines.append(
                    [
                        language,
                        f"`{name}`",
                        "; ".join(review.by for review in file.own_reviews) or "none",
                        f"`{yardstick.name}`" if yardstick else "its own items",
                        ", ".join(sorted(models)) or "none",
                        f"lacks {' and '.join(lacking)}" if lacking else "**ranks**",
                    ]
                )
        columns = ["language", "task", "read by", "yardstick", "models that pass it", ""]
        return formats.markdown_grid(columns, lines)

    def languages_without_yardstick(self) -> str:
        """Return the languages whose tasks have no yardstick, in one line."""
        files = [entry.file for entry in list_tasks(self.registry)]
        of_bias = {file.language for file in files if file.measures == "bias"} - {"en"}
        known = {
            record.language
            for record in self.records
            if record.ratio and record.ratio.t is not None
        }
        return ", ".join(sorted(of_bias - known)) + "\n"

    def languages(self, *models: str) -> str:
        """Return the table of languages: control and gender of each model, in units of spread."""
        cells = self._of_languages()
        columns = [f"{label}, {model}" for model in models for label in LANGUAGES.values()]
        lines = [
            [
                language,
                *(
                    in_units(cells.get((model, language, scenario)))
                    for model in models
                    for scenario in LANGUAGES
                ),
            ]
            for language in sorted({language for _, language, _ in cells})
        ]
        return table(["language", *columns], lines)

    def controls(self, *models: str) -> str:
        """Return the table of the number of languages in which each model passes the control."""
        cells = self._of_languages()
        languages = sorted({language for _, language, _ in cells})
        lines = []
        for model in models:
            control, gender = (
                {code for code in languages if is_found(cells.get((model, code, scenario)))}
                for scenario in LANGUAGES
            )
            numbers = [len(languages), len(control), len(gender & control), len(gender - control)]
            lines.append([model, *map(str, numbers)])
        columns = ["", "languages", "control passed", "of these with gender", "gender elsewhere"]
        return table(columns, lines)

    def language(self, code: str, *models: str) -> str:
        """Return the table of all tasks in a language, a model a column."""
        of_task: dict[str, dict[str, Record]] = {}  # by task and model
        for record in self.records:
            if record.language == code and record.mitigator.label == NONE:
                task = f"`{record.task.name}`"
                if _is_of_languages(record):
                    task += f", {LANGUAGES[record.scenario]}"
                of_task.setdefault(task, {})[record.model.name] = record
        lines = [
            [task, ideal(next(iter(of.values())).ideal), *(with_p(of.get(m)) for m in models)]
            for task, of in sorted(of_task.items())
        ]
        return table(["task", "fair", *models], lines)

    def _of_languages(self) -> dict[tuple[str, str, str], Record]:
        """Return the associations in many languages by model, language and scenario."""
        return {
            (record.model.name, record.language or "", record.scenario): record
            for record in self.records
            if _is_of_languages(record) and record.mitigator.label == NONE
        }


def _lacking(file: TaskFile, yardstick: TaskFile | None, passing: int) -> list[str]:
    """Return what a task lacks, so that its language ranks by it."""
    lacking = [f"a rank: {file.unranked}"] if file.unranked else []
    if not file.is_reviewed:
        lacking.append("a reader of its texts")
    if yardstick is not None and not yardstick.is_reviewed:
        lacking.append("a reader of its yardstick")
    if passing < MODELS:
        lacking.append(f"{MODELS - passing} more model" + "s" * (MODELS - passing > 1))
    return lacking


def _is_of_languages(record: Record) -> bool:
    of_words = re.fullmatch(r"weathub-\w+", record.task.name)
    return bool(of_words) and record.scenario in LANGUAGES and record.score == "association"


def table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; all columns but the first are aligned to the right."""
    head = "| " + " | ".join(columns) + " |\n"
    rule = "| --- |" + " ---: |" * (len(columns) - 1) + "\n"
    return head + rule + "".join("| " + " | ".join(line) + " |\n" for line in lines)


def ideal(value: float | str) -> str:
    """Return the ideal of a score."""
    return str(value).removesuffix(".0")


def ends(low: float | None, high: float | None) -> str:
    """Return the ends of an interval."""
    return "–" if low is None or high is None else f"{number(low)} to {number(high)}"


def ranks(row: dict[str, Any]) -> str:
    """Return the rank of a row of a board with its range."""
    low, high = row["rank_low"], row["rank_high"]
    if row["rank"] is None:
        return "–"
    return f"{row['rank']}" if low is None else f"{row['rank']} ({low} to {high})"


def with_floor(cell: dict[str, Any] | None) -> str:
    """Return a value and, in brackets, its floor: what shuffled sides show on average."""
    if cell is None or cell["value"] is None:
        return "–"
    floor = "" if cell["floor"] is None else f" ({number(cell['floor'])})"
    return f"{number(cell['value'])}{floor}"


def is_found(record: Record | None) -> bool:
    """Return whether an association goes the expected way, with p < .05."""
    if record is None or record.value is None or record.p_value is None:
        return False
    return record.value > 0 and record.p_value < SIGNIFICANT


def in_units(record: Record | None) -> str:
    """Return an association in units of the spread of all cosines, its floor and its p-value."""
    if record is None or record.value is None or record.floor is None or record.unit is None:
        return "–"
    value, floor = record.value / record.unit, record.floor.mean / record.unit
    return f"{number(value, 2)} ({number(floor, 2)}; {p_value(record)})"


def with_p(record: Record | None) -> str:
    """Return a value with its floor and its p-value."""
    if record is None or record.value is None:
        return "–"
    floor = f"{number(record.floor.mean)}; " if record.floor else ""
    return f"{number(record.value)} ({floor}{p_value(record)})"


def p_value(record: Record) -> str:
    """Return the p-value of a score."""
    if record.p_value is None:
        return "no p"
    return "p < .001" if record.p_value < 0.001 else f"p {number(record.p_value)}"
