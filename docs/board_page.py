"""The tables of board.md, downstream.md and languages.md, from the scores of real models.

    python docs/board_page.py results/   # keeps the scores of results folders that the tables
                                         # need, and writes the tables
    python docs/board_page.py            # writes the tables from the scores that are kept

The kept scores are `docs/figures/board.jsonl.gz`. A table stands between two comments with its
name; the text around it is written by hand.
"""

from __future__ import annotations

import functools
import gzip
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
from board_cells import (
    change,
    ends,
    ideal,
    in_units,
    interval,
    is_found,
    ranks,
    table,
    with_floor,
    with_p,
)

from harness import folders
from harness.leaderboard import building
from harness.leaderboard.boards.board import Board
from harness.names import NONE
from harness.plugins.validity.command import number
from harness.registry.registry import Registry
from harness.results.comparison import Correlation, Correlations, correlate, of_other_metrics
from harness.results.folder import read_results
from harness.results.record import Record
from harness.run.tasks import list_tasks, select

DOCS = Path(__file__).parent
KEPT = DOCS / "figures" / "board.jsonl.gz"
PAGES = (DOCS / "board.md", DOCS / "downstream.md", DOCS / "languages.md")
INTRINSIC, DOWNSTREAM = "social-bias-encoders", "downstream"
OTHER = "other metrics"
"""Intrinsic tasks that are scored by another metric than the downstream ones."""
LANGUAGES = {"universal": "control", "gender": "gender"}
"""Scenarios of the association tests in many languages that have a table of their own."""
_DETAILS = ("alternative", "reversed", "undone")
"""Details that a board reads."""


def keep(results: Sequence[Path]) -> None:
    """Write the records that the tables need into the file of kept scores."""
    lines = []
    for record in read_results(*results):
        if record.mitigator.label == "normalize":  # changes no cosine: its points are (0, 0)
            continue
        if not (record.primary or _is_of_languages(record)):
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
                row["model"],
                number(row["bias"]),
                ends(row["bias_low"], row["bias_high"]),
                ranks(row),
                str(row["bias_tasks"] or "–"),
                number(row["usefulness"]),
                ends(row["usefulness_low"], row["usefulness_high"]),
                row["unusable"] or ("reference" if row["role"] == "reference" else ""),
            ]
            for row in rows.iter_rows(named=True)
        ]
        columns = ["", "bias", "95 % interval", "ranks", "tasks", "usefulness", "95 % interval", ""]
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

    @functools.cache  # noqa: B019  # lives as long as the script
    def correlated(self, category: str | None, *, other_metrics: bool = False) -> Correlations:
        """Return correlations of the two benchmarks, or of their tasks of a category."""
        files = [entry.file for entry in list_tasks(self.registry)]
        required = {file.name for file in files if file.required}
        of_category = {file.name for file in files if category in (None, file.category)}
        intrinsic, downstream = (
            {entry.file.name for entry in select(self.registry, [name])} & of_category
            for name in (INTRINSIC, DOWNSTREAM)
        )
        records = [record for record in self.records if record.model.kind == "text"]
        if other_metrics:
            intrinsic = of_other_metrics(records, intrinsic, downstream)
        return correlate(records, intrinsic, downstream, required)

    def of_means(
        self, over: str, category: str | None, *, other_metrics: bool = False
    ) -> Correlation:
        """Return the correlation of the means of all tasks, over models or mitigators."""
        found = self.correlated(category, other_metrics=other_metrics)
        return next(part for part in found.over if (part.over, part.task) == (over, None))

    @functools.cached_property
    def metrics(self) -> dict[str, str]:
        """The metric of the primary score of each task."""
        return {record.task.name: record.metric for record in self.records if record.primary}

    def correlations(self) -> str:
        """Return the table of the correlations of the intrinsic and the downstream benchmark."""
        selections = {"all": (None, False), "gender": ("gender", False), OTHER: ("gender", True)}
        return table(
            ["over", "intrinsic tasks", "number", "points", "Spearman", "95 % interval"],
            [
                [
                    over,
                    label,
                    f"{part.tasks[0]} and {part.tasks[1]}",
                    str(len(part.points)),
                    number(part.spearman),
                    interval(part),
                ]
                for over in ("models", "mitigators")
                for label, (category, other_metrics) in selections.items()
                for part in [self.of_means(over, category, other_metrics=other_metrics)]
            ],
        )

    def correlations_by_task(self) -> str:
        """Return the table of the correlations of each downstream task, for gender."""
        every = self.correlated("gender").by_task
        other = self.correlated("gender", other_metrics=True).by_task
        columns = {
            f"over models, {OTHER}": (other, "models"),
            f"over mitigators, {OTHER}": (other, "mitigators"),
            "over mitigators, all metrics": (every, "mitigators"),
        }
        return table(
            ["downstream task", *(name for label in columns for name in (label, "95 % interval"))],
            [
                [
                    f"`{task}`",
                    *(
                        cell
                        for by_task, over in columns.values()
                        for cell in (
                            number(by_task[task][over].spearman),
                            interval(by_task[task][over]),
                        )
                    ),
                ]
                for task in other
            ],
        )

    def points(self) -> str:
        """Return the table of the means of each model that are correlated, for gender."""
        every = self.of_means("models", "gender").points
        other = self.of_means("models", "gender", other_metrics=True).points
        pairs = sorted(zip(every, other, strict=True), key=lambda pair: pair[0].a)
        return table(
            ["", INTRINSIC, OTHER, DOWNSTREAM],
            [
                [point.model, number(point.a), number(same.a), number(point.b)]
                for point, same in pairs
            ],
        )

    def changes(self) -> str:
        """Return the table of the mean changes by each mitigator, by metric, for gender."""
        by_metric: dict[str, dict[str, dict[str, list[float]]]] = {}  # metric, mitigator, model
        for task, parts in self.correlated("gender").by_task.items():
            metric = self.metrics[task]
            for point in parts["mitigators"].points:
                of_models = by_metric.setdefault(metric, {}).setdefault(point.mitigator, {})
                of_models.setdefault(point.model, []).append(point.b)
        mitigators = next(iter(by_metric.values()))
        return table(
            ["", *(f"`{metric}`" for metric in by_metric)],
            [
                [mitigator, *(change(of[mitigator].values()) for of in by_metric.values())]
                for mitigator in sorted(mitigators)
            ],
        )

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


def _is_of_languages(record: Record) -> bool:
    of_words = re.fullmatch(r"weathub-\w+", record.task.name)
    return bool(of_words) and record.scenario in LANGUAGES and record.score == "association"


def filled(page: str, scores: Scores) -> str:
    """Return a page with its tables written anew.

    A table is named `METHOD ARGUMENT …`, after a method of `Scores`.
    """

    def written(match: re.Match[str]) -> str:
        method, *arguments = match["name"].split()
        make: Callable[..., str] = getattr(scores, method)
        return f"{match['begin']}\n{make(*arguments)}\n{match['end']}"

    return re.sub(
        r"(?P<begin><!-- table: (?P<name>[\w:. -]+) -->\n).*?(?P<end><!-- end of table -->)",
        written,
        page,
        flags=re.DOTALL,
    )


def main(results: Sequence[Path]) -> None:
    """Keep the scores of results, if there are any, and write the tables of the pages."""
    if results:
        keep(results)
    with tempfile.TemporaryDirectory() as folder:
        scores = Scores(Path(folder))
        for page in PAGES:
            text = filled(page.read_text("utf-8"), scores)
            folders.write_atomically(page, text.encode())


if __name__ == "__main__":
    main([Path(path) for path in sys.argv[1:]])
