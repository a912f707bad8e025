"""Who publishes a board, and the pages that say so: Submit, Data, Cite and About.

`board.yaml` is where the maintainers say who they are: strict YAML beside `withdrawn.yaml`, in the
folder of the results or in the folder above it. Every key may be left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import polars as pl
from pydantic import AfterValidator, Field

import harness
from harness.commands import cite
from harness.errors import UsageError
from harness.task import yaml_files
from harness.task.schema import Strict

from ..boards.board import Board
from ..boards.findings import count
from ..submissions import withdrawn
from ..submissions.submission import Submission, hidden, licence_of
from .registered import Registered
from .static_pages import Page, Site, site_address

NAME = "board.yaml"
TITLE = "Bias in embeddings"
BIBLIOGRAPHY = "cite.bib"
_WEB = re.compile(r"https?://[^\s\"'<>`\\]+")
_MAIL = re.compile(r"[^\s@<>\"'`\\]+@[^\s@<>\"'`\\]+\.[^\s@<>\"'`\\]+")


def _line(text: str) -> str:
    if not text.strip() or hidden(text):
        raise ValueError("expected one line of visible text")
    return text.strip()


def _address(text: str) -> str:
    if not _WEB.fullmatch(text):
        raise ValueError(f"expected the address of a page, such as https://…, not '{text}'")
    return text


def _folder(text: str) -> str:
    try:
        return site_address(text)
    except UsageError:
        raise ValueError(
            f"expected the address of a folder, such as https://example.org/board/, not '{text}'"
        ) from None


def _contact(text: str) -> str:
    if not (_WEB.fullmatch(text) or _MAIL.fullmatch(text)):
        raise ValueError(f"expected an address of e-mail or of a page, not '{text}'")
    return text


Line = Annotated[str, Field(max_length=200), AfterValidator(_line)]


class BoardFile(Strict):
    """The content of `board.yaml`."""

    title: Line | None = None
    """Title of the board."""
    publisher: Line | None = None
    """Who publishes it: a person or an organisation."""
    contact: Annotated[str, AfterValidator(_contact)] | None = None
    """Where to write to: an address of e-mail, or of a page."""
    url: Annotated[str, AfterValidator(_folder)] | None = None
    """Address of the built site, for search engines, badges and citations."""
    repository: Annotated[str, AfterValidator(_address)] | None = None
    """Address of the repository that collects the results."""
    licence: Annotated[str, AfterValidator(licence_of)] | None = None
    """Licence of the board's numbers, an SPDX expression."""
    about: Annotated[str, Field(max_length=10_000)] = ""
    """Text for the page About; an empty line ends a paragraph."""


def read(results: Iterable[Path]) -> tuple[BoardFile, str]:
    """Return the `board.yaml` of results, and a notice if there are several, of which one counts.

    Raises
    ------
    InvalidFile
        If it has a mistake; the message has the line, the key, and what would be right.
    """
    files = withdrawn.find(results, NAME)
    if not files:
        return BoardFile(), ""
    others = ", ".join(f"'{file}'" for file in files[1:])
    notice = f"'{files[0]}' says who publishes the board; {others} not" if others else ""
    return yaml_files.load(files[0]).validate(BoardFile), notice


EXAMPLES = {"publisher": "Your name", "contact": "you@example.org", "licence": "CC0-1.0"}
"""What every visitor asks of a board, with examples."""


def unsaid(who: BoardFile) -> list[str]:
    """Return which of `EXAMPLES` a board does not say; a repository is a contact."""
    is_said = (who.publisher, who.contact or who.repository, who.licence)
    return [name for name, text in zip(EXAMPLES, is_said, strict=True) if not text]


def advice(who: BoardFile, results: Iterable[Path]) -> str:
    """Return a line for the maintainer on what `board.yaml` does not say; empty if it says all."""
    missing = unsaid(who)
    if not missing:
        return ""
    file = next(
        (f"'{file}'" for file in withdrawn.find(results, NAME)), f"{NAME} beside the results"
    )
    lines = ", ".join(f"'{name}: {EXAMPLES[name]}'" for name in missing)
    return f"the board does not say its {_joined(missing)}: add lines such as {lines} to {file}"


def _joined(names: Sequence[str]) -> str:
    """Return names with commas between, and `and` before the last."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


class File(NamedTuple):
    """A file to download."""

    name: str
    size: str
    content: str
    columns: Sequence[tuple[str, str, str]] = ()
    """Name, type and meaning of each column of a table."""


def pages(
    who: BoardFile,
    boards: Sequence[Board],
    registered: Registered,
    submissions: Sequence[Submission],
    files: Sequence[File],
    entries: Sequence[tuple[str, str]],
    site: Site,
) -> list[Page]:
    """Return the pages Submit, Data, Cite and About.

    Parameters
    ----------
    who
        Who publishes the board.
    boards, registered
        What it shows.
    submissions
        What submitters say of their runs.
    files
        The files to download.
    entries
        What the page Cite shows, from `bibliography`.
    site
        Head of the pages.
    """
    kinds: dict[tuple[str, str], list[str]] = {}
    for board in boards:
        for part in board.benchmarks:
            if part.version is not None:
                kinds.setdefault((part.name, part.title), []).append(board.kind)
    benchmarks = [(" and ".join(of), *names) for names, of in kinds.items()]
    tasks = [task for board in boards for task in board.tasks["task"]]
    licences = [registered.tasks[task].licence for task in tasks if task in registered.tasks]
    is_mail = who.contact is not None and _MAIL.fullmatch(who.contact) is not None

    def page(name: str, title: str, description: str, **content: Any) -> Page:
        return Page(
            path=f"{name}.html",
            title=title,
            description=f"{description} {site.title}.",
            template=f"{name}.html.j2",
            content={"who": who, "mail": who.contact if is_mail else None, **content},
        )

    return [
        page(
            "submit",
            "Submit a model",
            "How to get a model on this board:",
            benchmarks=benchmarks,
            runs=[(board.kind, board.benchmarks[0].title, _run_for(board)) for board in boards],
        ),
        page("data", "Data", "The files of this board, with their columns:", files=files),
        page(
            "cite",
            "Cite",
            "BibTeX of this board, of the harness and of the tasks' papers:",
            entries=entries,
            file=BIBLIOGRAPHY,
        ),
        page(
            "about",
            "About",
            "What is measured, who publishes it, and under which licences:",
            unsaid=_joined(unsaid(who)) if unsaid(who) else "",
            paragraphs=[part for part in re.split(r"\n\s*\n", who.about.strip()) if part],
            counts=[_counts(board) for board in boards],
            submitters=sorted({line.submitted_by for line in submissions}),
            licences=_counted(line.licence for line in submissions),
            task_licences=_counted(licence or "not stated" for licence in licences),
            harness=harness.__version__,
        ),
    ]


def reading_page(
    boards: Sequence[Board], notices: Sequence[str], aside: Sequence[Mapping[str, Any]]
) -> Page:
    """Return the page that says what the words and marks of a board mean, and what it leaves out.

    Parameters
    ----------
    boards
        What the board shows.
    notices
        What is to be said of the build.
    aside
        The records that do not count: `reason`, `count` and `examples` of each kind.
    """
    environments: Counter[str] = Counter()
    for board in boards:
        environments.update(dict(board.environments))
    return Page(
        path="reading.html",
        title="How to read it",
        description="What the words, numbers and marks of this board mean.",
        template="reading.html.j2",
        content={
            "aside": aside,
            "notices": notices,
            "environments": sorted(environments.items(), key=lambda line: (-line[1], line[0])),
        },
    )


def _run_for(board: Board) -> str:
    """Return what a model is run on to be ranked on the benchmark that a board opens on."""
    first = board.benchmarks[0]
    return "all" if first.version is None else first.name


def bibliography(
    who: BoardFile, boards: Sequence[Board], registered: Registered, site: Site
) -> list[tuple[str, str]]:
    """Return titles and BibTeX: of the board, of the harness, and of each paper of its tasks."""
    versions = {text for board in boards for text in _versions(board)} or {harness.__version__}
    year = site.built[:4] if site.built[:4].isdecimal() else ""
    fields = {
        "title": f"{{{_plain(site.title)}}}",
        "author": f"{{{_plain(who.publisher)}}}" if who.publisher else "",
        "year": year,
        "howpublished": "Leaderboard of embeddings by the Embedding Bias Harness",
        "note": f"Built {_plain(site.built)}",
        "url": re.sub(r"[{}\\\s]", "", site.url),
    }
    key = f"leaderboard{re.sub(r'[^0-9]', '', site.built)[:8]}"
    board = cite.entry_text("misc", key, {name: text for name, text in fields.items() if text})
    papers: dict[str, tuple[cite.Entry, list[str]]] = {}
    for name in dict.fromkeys(task for board in boards for task in board.tasks["task"]):
        for entry in registered.papers.get(name, ()):
            papers.setdefault(entry.key, (entry, []))[1].append(name)
    return [
        ("This board", board),
        ("The harness", cite.harness_entry(sorted(versions), year).text),
        *((_paper(entry, tasks), entry.text) for entry, tasks in papers.values()),
    ]


def _paper(entry: cite.Entry, tasks: Sequence[str]) -> str:
    """Return a paper in a line, with the number of its tasks."""
    who = f"{entry.surname} {entry.year}".strip()
    what = ": ".join(part for part in (who, entry.title) if part) or tasks[0]
    return f"{what} ({count(len(tasks), 'task')})"


def _plain(text: str | None) -> str:
    """Return a text without what has a meaning in BibTeX."""
    return re.sub(r"[{}\\]", "", text or "")


def _versions(board: Board) -> list[str]:
    """Return the versions of the harness that wrote the records of a board."""
    found = (re.search(r"harness (\d[\w.+-]*)", text) for text, _ in board.environments)
    return [match[1] for match in found if match]


def _counts(board: Board) -> dict[str, Any]:
    """Return how much of everything is on a board."""
    ranked = board.tasks.filter(pl.col("not_ranked").is_null())
    bias = ranked.filter(measures="bias")
    return {
        "kind": board.kind,
        "models": board.rows.filter(role="model").height,
        "mitigators": board.rows.filter(~pl.col("control"), role="mitigated")[
            "mitigator"
        ].n_unique(),
        "bias": bias.height,
        "usefulness": ranked.filter(measures="usefulness").height,
        "concepts": sorted(set(bias["category"])),
        "languages": sorted(set(bias["language"])),
        "reference": board.reference,
    }


def _counted(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Return different texts with their numbers, the most frequent first."""
    return sorted(Counter(texts).items(), key=lambda line: (-line[1], line[0]))


MEANINGS: Mapping[str, str] = {
    "board": "word or text",
    "kind": "word or text",
    "row": "identifies the row",
    "model": "name of the model",
    "label": "mitigator with its options",
    "mitigator": "name of the mitigator; none without one",
    "role": "model, mitigated or reference",
    "control": "whether the mitigator is a control that mitigates nothing",
    "fingerprint": "digest of the weights and settings",
    "params": "options of the mitigator, JSON",
    "fitted_on": "concept that the mitigator was fitted on",
    "revision": "revision of the weights",
    "mitigator_fingerprint": "digest of the fitted mitigator",
    "unusable": "why it is not usable; empty if it is",
    "unranked": "why it has no rank by bias",
    "usefulness_unranked": "why it has no rank by usefulness",
    "methods": "number of methods of the bias",
    "direction": "stereotype, against it, or neither",
    "uneven": "why its yardstick may have been boosted",
    "bias": "0 is fair, 1 as biased as the reference model",
    "usefulness": "mean over families; 1 is the ideal",
    "meaning": "how well it tells words apart by definition",
    "recoverability": "what a classifier recovers",
    "rank": "by bias, from 1",
    "usefulness_rank": "by usefulness, from 1",
    "task": "name of the task",
    "version": "version of the task",
    "digest": "digest of its content",
    "measures": "bias, usefulness or control",
    "category": "concept or kind of usefulness",
    "family": "of bias the method, of usefulness the category and the method",
    "language": "ISO 639",
    "scenario": "variant of the texts",
    "metric": "name of the metric",
    "score": "name of the score",
    "primary": "whether it stands for the task",
    "seed": "seed of the run",
    "unseen": "how a bias is judged: on unseen texts, by a held-out fit, or not",
    "value": "the score that is judged",
    "value_on_all": "the score on all texts",
    "reason": "why there is no value",
    "ideal": "fair value, or higher or lower",
    "low_bound": "lowest possible value",
    "high_bound": "highest possible value",
    "unit": "distance that counts as 1",
    "p_value": "of the null hypothesis of no difference",
    "alternative": "of the test",
    "low": "lower end of the interval",
    "high": "its upper end",
    "level": "of the interval",
    "floor": "score by chance",
    "floor_sd": "its standard deviation",
    "gap": "mean difference of cosines, towards the stereotype",
    "gap_error": "its standard error",
    "yardstick": "gap of contrasts that have nothing to do with the concept",
    "yardstick_error": "its standard error",
    "power": "2 for gaps of squares",
    "n": "number of items",
    "asked": "texts asked for",
    "found": "texts with a vector",
    "truncated": "texts that were cut",
    "created": "when, UTC",
    "run": "identifies the run",
    "word_share": "share of texts with a word of the mitigator's fit",
    "harness": "version of the harness",
    "measure": "gap over yardstick, or usefulness",
    "ranked": "whether it is a cell of a board",
    "aside": "why the value does not count",
    "url": "page of the model",
    "dimensions": "length of a vector",
    "parameters": "number of weights",
    "superseded_by": "the model to use in its place",
}
"""What columns of the files to download mean."""
_ENDS = {"_low": "lower end of the interval or range", "_high": "its upper end",
         "_tasks": "number of tasks"}  # fmt: skip


def columns_of(frame: pl.DataFrame) -> list[tuple[str, str, str]]:
    """Return name, type and meaning of the columns of a table; those of tasks are one line."""
    lines: dict[str, tuple[str, str, str]] = {}
    for name, kind in frame.schema.items():
        head, _, rest = name.partition(":")
        if rest:
            what = "the score on a task" if head == "task" else f"{head} by concept or kind"
            lines.setdefault(head + ":", (f"{head}:…", _type(kind), what))
            continue
        end = next((text for end, text in _ENDS.items() if name.endswith(end)), "")
        lines[name] = (name, _type(kind), MEANINGS.get(name, end))
    return list(lines.values())


def _type(kind: pl.DataType) -> str:
    if kind == pl.Boolean:
        return "true or false"
    if kind.is_numeric():
        return "whole number" if kind.is_integer() else "number"
    return "text"


def size_text(size: int) -> str:
    """Return a number of bytes as text."""
    for unit in ("bytes", "kB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size = round(size / 1000)
    return f"{size:,} MB"
