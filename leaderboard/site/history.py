"""What changed from build to build: changes.json, history.json, its page and its Atom feed.

An earlier build is a folder with its leaderboard.json, records.parquet and history.json. If nothing
changed since it, its own news and history stay, so that the same records give the same files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness import errors
from harness.digest import digest

from ..boards.board import ALL, Board
from ..boards.cells import BASELINES
from ..boards.findings import count, ordinal
from ..submissions.withdrawn import Decision
from .payload import SCHEMA
from .rendering import MADE_BY, legal, slug, template
from .static_pages import Page, Site, title_of

FILE = "changes.json"
HISTORY = "history.json"
PAGE = "history.html"
FEED = "feed.xml"
SAME = 1e-5
"""Values closer than this count as equal, since batches change scores by as much."""
LISTED = 500
"""Most changed values, and most changed ranks, that changes.json lists."""
KEPT = 400
"""Most builds in history.json: a year of daily builds, and a bit."""
SHOWN = 50
"""Most builds on the page and in the feed."""
NAMED = 5
"""Most names in a sentence on a build."""
_CELL = ("kind", "model", "fingerprint", "label", "params", "task")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


class Change(_Part):
    """A value that changed, is new or is gone."""

    model: str
    fingerprint: str
    mitigator: str
    task: str
    before: float | None
    now: float | None


class Build(_Part):
    """What changed in a build."""

    built: str = ""
    """When it was built."""
    since: str
    """When the earlier build was built; empty for the first."""
    models: list[str]
    """New models."""
    mitigators: list[str]
    """New mitigators."""
    tasks: list[str]
    """New tasks."""
    decisions: list[dict[str, str | None]] = []
    """Models and tasks that maintainers newly withdrew, replaced or renamed."""
    ranks: list[list[str | int | None]]
    """Board, benchmark, model, the rank before, and the rank now: the largest changes."""
    values: int
    """Number of changed values of models, mitigators and tasks that existed before."""

    def is_empty(self) -> bool:
        """Whether nothing changed."""
        lists = (self.models, self.mitigators, self.tasks, self.decisions, self.ranks)
        return not (any(lists) or self.values)

    @property
    def anchor(self) -> str:
        """Its name in addresses, which stays as long as the build is listed."""
        return f"build-{digest(self.model_dump())[:12]}"

    @property
    def time(self) -> str:
        """When it was built, as in RFC 3339; empty if that is not known."""
        found = re.fullmatch(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC", self.built)
        return f"{found[1]}T{found[2]}:00Z" if found else ""

    @property
    def title(self) -> str:
        """What changed, in a line."""
        lists = (("model", self.models), ("mitigator", self.mitigators), ("task", self.tasks))
        parts = [count(len(names), noun) for noun, names in lists if names]
        if not self.since:
            return f"The history begins: {', '.join(parts) or 'no models'}"
        parts = [f"new: {', '.join(parts)}"] if parts else []
        if self.decisions:
            parts.append(count(len(self.decisions), "decision of the maintainers",
                               "decisions of the maintainers"))  # fmt: skip
        if self.ranks:
            parts.append(count(len(self.ranks), "rank changed", "ranks changed"))
        if self.values:
            parts.append(count(self.values, "value changed", "values changed"))
        text = "; ".join(parts) or "nothing changed"
        return text[0].upper() + text[1:]

    @property
    def sentences(self) -> list[str]:
        """What changed, with names."""
        lists = (("Models", self.models), ("Mitigators", self.mitigators), ("Tasks", self.tasks))
        lines = [
            f"{f'New {noun.lower()}' if self.since else noun}: {errors.listed(names, NAMED)}."
            for noun, names in lists
            if names
        ]
        lines += [sentence(Decision(**line)) for line in self.decisions]  # type: ignore[arg-type]
        overall = [line for line in self.ranks if line[1] == ALL]
        if overall:
            moves = (f"{line[2]} {_move(line[3], line[4])}" for line in overall)
            lines.append(f"Ranks by bias on all tasks: {errors.listed(moves, NAMED)}.")
        if others := len(self.ranks) - len(overall):
            lines.append(f"{count(others, 'rank')} changed on other benchmarks.")
        if self.values:
            lines.append(f"{count(self.values, 'value', 'values')} changed.")
        return lines

    @property
    def moves(self) -> list[tuple[str, str, str]]:
        """The ranks by bias that changed: benchmark, model, and from where to where."""
        return [
            (f"{line[1]} ({title_of(str(line[0]))})", str(line[2]), _move(line[3], line[4]))
            for line in self.ranks
        ]


class Changes(Build):
    """The content of changes.json: what changed since the last build."""

    changed: list[Change]
    """The first of the changed values."""

    def news(self) -> dict[str, Any]:
        """Return the part that the page shows, and the history keeps."""
        return self.model_dump(exclude={"changed"})


class History(_Part):
    """The content of history.json."""

    schema_: Literal[1] = Field(alias="schema")
    builds: list[Build]
    """The builds in which something changed, the latest first."""

    def since(self, decision: Decision) -> str:
        """Return the day of a decision, or of the first build that knew of it; else empty."""
        own = _identity(asdict(decision))
        known = [b for b in self.builds if any(_identity(line) == own for line in b.decisions)]
        return decision.date or (known[-1].time[:10] if known else "")


def _identity(decision: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what makes a decision the same one, whatever is said of its reason."""
    return tuple(decision.get(key) for key in ("kind", "name", "became", "successor"))


def _move(before: Any, now: Any) -> str:
    if before is None:
        return f"new at {ordinal(now)}"
    return f"{ordinal(before)} → {'not ranked' if now is None else ordinal(now)}"


def sentence(decision: Decision, date: str = "") -> str:
    """Return what became of a model or task, in a sentence."""
    who = f"{decision.kind.capitalize()} {decision.name}"
    if decision.fingerprint:
        who += f" ({decision.fingerprint})"
    became = {
        "renamed": f"is now called {decision.successor}",
        "superseded": f"is superseded by {decision.successor}",
        "withdrawn": "is withdrawn",
    }[decision.became]
    why = f": {decision.reason.rstrip('.')}" if decision.reason else ""
    return f"{who} {became}{why}{f' ({date})' if date else ''}."


class Notice(NamedTuple):
    """What a page says of a decision."""

    sentence: str
    successor: str
    path: str
    """Path of the page of the successor; empty if it has none."""


class Notices:
    """What became of models and tasks, for the pages of a site.

    Parameters
    ----------
    decisions
        The decisions.
    history
        The builds that knew of them.
    boards
        The boards, whose models and tasks have pages of their own.
    """

    def __init__(
        self, decisions: Iterable[Decision], history: History, boards: Sequence[Board]
    ) -> None:
        self._present = {
            "model": {name for board in boards for name in board.rows["model"]},
            "task": {name for board in boards for name in board.tasks["task"]},
        }
        self._of: dict[tuple[str, str], list[Decision]] = {}
        self._history = history
        for decision in decisions:
            self._of.setdefault((decision.kind, decision.name), []).append(decision)

    def of(self, kind: str, name: str) -> list[Notice]:
        """Return what is decided on a model or task."""
        notices = []
        for decision in self._of.get((kind, name), ()):
            text = sentence(decision, self._history.since(decision))
            successor = decision.successor or ""
            is_here = successor in self._present[kind]
            path = f"{kind}/{slug(successor)}.html" if is_here else ""
            notices.append(Notice(text, successor, path))
        return notices

    def tombstones(self) -> list[Page]:
        """Return the pages of what is withdrawn or renamed, and on no board."""
        return [
            Page(
                path=f"{kind}/{slug(name)}.html",
                title=name,
                description=sentence(decisions[0]),
                template="tombstone.html.j2",
                content={"notices": self.of(kind, name)},
                kind=kind,
                name=name,
            )
            for (kind, name), decisions in self._of.items()
            if name not in self._present[kind]
        ]


def kept(
    folder: Path,
    news: Changes | None,
    boards: Sequence[Board],
    decisions: Sequence[Decision],
    built: str,
) -> tuple[History, str]:
    """Return the history with this build, and a notice if that of earlier ones cannot be read.

    Parameters
    ----------
    folder
        Folder of the earlier build.
    news
        What changed since it, from `changes`.
    boards, decisions, built
        Of this build, for the beginning of a history.
    """
    path, notice = folder / HISTORY, ""
    builds: list[Build] = []
    try:
        if path.is_file():
            builds = History.model_validate_json(path.read_bytes()).builds
    except (OSError, ValidationError):
        notice = f"the history begins again: '{path}' cannot be read"
    if news is not None:
        latest = Build.model_validate(news.news() | {"ranks": news.ranks[:SHOWN]})
        builds = builds if latest in builds else [latest, *builds]
    elif not builds:
        decided = [asdict(decision) for decision in decisions]
        names = _names(boards, [])
        builds = [Build(built=built, since="", decisions=decided, ranks=[], values=0, **names)]
    return History(schema=1, builds=builds[:KEPT]), notice


def history_page(history: History, site: Site, *, has_changes: bool) -> Page:
    """Return the page of the history; `has_changes` says whether there is a changes.json."""
    return Page(
        path=PAGE,
        title="News",
        description=f"What changed on this board, from build to build: {site.title}.",
        template="history.html.j2",
        content={
            "builds": history.builds[:SHOWN],
            "more": max(0, len(history.builds) - SHOWN),
            "has_changes": has_changes,
        },
    )


def feed(history: History, site: Site, publisher: str) -> str:
    """Return the history as an Atom feed (RFC 4287); it needs the address of the site."""
    builds = [build for build in history.builds[:SHOWN] if build.time]
    return legal(
        template("feed.xml.j2").render(
            site=site, builds=builds, publisher=publisher, generator=MADE_BY, page=PAGE, feed=FEED
        )
    )


def changes(
    boards: Sequence[Board],
    cells: pl.DataFrame | None,
    folder: Path,
    *,
    built: str = "",
    decisions: Sequence[Decision] = (),
) -> tuple[Changes | None, str]:
    """Return the changes since the build in a folder, and a notice if that build cannot be read.

    Parameters
    ----------
    boards
        The boards of this build.
    cells
        Contents of its records.parquet; None if it has none.
    built, decisions
        When this build was built, and what became of models and tasks in it.
    folder
        Folder of the earlier build. Without a leaderboard.json there is no earlier build, and there
        are no changes.
    """
    path = folder / "leaderboard.json"
    if not path.is_file():
        return None, ""
    try:
        base = json.loads(path.read_text("utf-8"))
        if base["schema"] != SCHEMA:
            return None, f"no news: '{path}' has schema {base['schema']}, this is {SCHEMA}"
        values, changed = _values(cells, folder / "records.parquet")
        new = Changes(
            built=built,
            since=base["built"],
            **_names(boards, base["boards"]),
            decisions=_decided(decisions, base.get("decisions", [])),
            ranks=_ranks(boards, base["boards"]),
            values=values,
            changed=changed,
        )
        earlier = folder / FILE
        if new.is_empty():
            is_kept = earlier.is_file()
            return Changes.model_validate_json(earlier.read_bytes()) if is_kept else None, ""
    except (OSError, ValueError, TypeError, KeyError, ValidationError, pl.exceptions.PolarsError):
        return None, f"no news: the build in '{folder}' cannot be read"
    return new, ""


def _names(boards: Sequence[Board], base: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the names of models, mitigators and tasks that no board of the base has."""
    rows = [row for board in base for row in board["rows"]]
    known = {row["fingerprint"] for row in rows}
    new = {
        "models": {
            model
            for board in boards
            for model, fingerprint in board.rows.filter(pl.col("role") != "reference")
            .select("model", "fingerprint")
            .unique()
            .iter_rows()
            if fingerprint not in known
        },
        "mitigators": {label for board in boards for label in board.rows["mitigator"].unique()}
        - {row["mitigator"] for row in rows}
        - {BASELINES[0]},
        "tasks": {task for board in boards for task in board.tasks["task"]}
        - {task["task"] for board in base for task in board["tasks"]},
    }
    return {key: sorted(names) for key, names in new.items()}


def _decided(
    decisions: Sequence[Decision], base: Sequence[Mapping[str, Any]]
) -> list[dict[str, str | None]]:
    """Return the decisions that the base does not know."""
    known = {_identity(line) for line in base}
    return [asdict(d) for d in decisions if _identity(asdict(d)) not in known]


def _ranks(
    boards: Sequence[Board], base: Sequence[Mapping[str, Any]]
) -> list[list[str | int | None]]:
    """Return the models whose rank changed on a benchmark of both builds, the largest first."""
    before = {
        (board["kind"], part["name"]): {line["fingerprint"]: line for line in part["ranks"]}
        for board in base
        for part in board["benchmarks"]
    }
    lines: list[tuple[int, list[str | int | None]]] = []
    for board in boards:
        names = board.rows.select("row", "model", "fingerprint")
        for part in board.benchmarks:
            old = before.get((board.kind, part.name))
            if old is None:
                continue
            ranked = part.ranks.join(names, on="row", maintain_order="left").to_dicts()
            new = {line["fingerprint"]: line for line in ranked}
            for fingerprint in sorted(old.keys() | new.keys()):
                line = new.get(fingerprint) or old[fingerprint]
                ranks = [build.get(fingerprint, {}).get("rank") for build in (old, new)]
                if ranks[0] != ranks[1]:
                    moved = abs((ranks[0] or 0) - (ranks[1] or 0))
                    lines.append((moved, [board.kind, part.name, line["model"], *ranks]))
    lines.sort(key=lambda line: -line[0])
    return [line for _, line in lines[:LISTED]]


def _values(cells: pl.DataFrame | None, file: Path) -> tuple[int, list[Change]]:
    """Return the number of values that changed, and the first of them."""
    if cells is None or not file.is_file():
        return 0, []
    now, before = (
        frame.filter("ranked").select(pl.col(_CELL).cast(pl.Categorical), "value").unique(_CELL)
        for frame in (cells, pl.read_parquet(file, columns=[*_CELL, "value", "ranked"]))
    )
    both = now.join(before, on=list(_CELL), suffix="_before")
    value, was = pl.col("value"), pl.col("value_before")
    differ = both.filter(
        (value.is_null() != was.is_null()) | ((value - was).abs() > SAME).fill_null(value=False)
    ).sort(pl.col(_CELL).cast(pl.String))
    lines = [
        Change(
            model=row["model"],
            fingerprint=row["fingerprint"],
            mitigator=row["label"],
            task=row["task"],
            before=row["value_before"],
            now=row["value"],
        )
        for row in differ.head(LISTED).iter_rows(named=True)
    ]
    return differ.height, lines
