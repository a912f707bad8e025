"""Static pages, which need no script: of each model, task, mitigator, benchmark and concept.

Search engines and previews read them; `index.html` is the interactive page. Computes no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from markupsafe import escape

from harness.errors import UsageError
from harness.folders import BuiltFolder
from harness.results.formats import NOTHING

from ..boards.board import Board
from ..boards.findings import count, ordinal
from .documents import (
    BenchmarkOnBoard,
    ConceptOnBoard,
    Document,
    Effect,
    Mean,
    MeanEffect,
    MitigatorOnBoard,
    ModelOnBoard,
    OnBoard,
    Place,
    TaskOnBoard,
    path_of,
)
from .rendering import MADE_BY, short, template

FIRST = 50
"""Most models of a board on the home page, which the script replaces."""

# What a page shows.


class Link(NamedTuple):
    """A link."""

    text: str
    href: str
    """The address, as seen from the page."""

    def __html__(self) -> str:
        """Return it for a template; both texts are escaped."""
        return f'<a href="{escape(self.href)}">{escape(self.text)}</a>'


class Range(NamedTuple):
    """A number with its interval."""

    text: str
    range: str

    def __html__(self) -> str:
        """Return it for a template."""
        return f'{escape(self.text)} <span class="range">{escape(self.range)}</span>'


class Bar(NamedTuple):
    """A bar, and a mark on its axis, in percent of the width of the axis."""

    width: float
    mark: float

    def __html__(self) -> str:
        """Return it for a template."""
        return (
            '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<rect width="{self.width:g}" height="10"/><path d="M{self.mark:g} 0v10"/></svg>'
        )


Content: TypeAlias = str | Link | Bar | Range
"""What a cell of a table holds; templates escape every text of it."""


@dataclass(frozen=True)
class Table:
    """A table of a page; one without rows is left out.

    Parameters
    ----------
    caption
        What its numbers are, with their unit.
    columns
        Title and class of each column; the first holds the headers of the rows.
    rows
        Cells.
    summary
        Of a table that is folded: what stands in its place.
    """

    caption: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Content]]
    summary: str = ""

    @property
    def lines(self) -> Iterator[tuple[Content, Iterator[tuple[str, Content]]]]:
        """Yield the header of each row, and its other cells with their classes."""
        styles = [style for _, style in self.columns[1:]]
        for head, *cells in self.rows:
            yield head, zip(styles, cells, strict=True)


@dataclass(frozen=True)
class Section:
    """A part of a page; what is empty is left out.

    Parameters
    ----------
    title
        Its heading.
    texts
        Paragraphs.
    facts
        Names and values.
    tables
        Tables.
    interactive
        Path of the interactive page that shows the same.
    is_wide
        Whether it takes the whole width of the page.
    level
        Of its heading.
    style
        Class of its paragraphs.
    """

    title: str = ""
    texts: Sequence[str] = ()
    facts: Sequence[tuple[str, Content]] = ()
    tables: Sequence[Table] = ()
    interactive: str = ""
    is_wide: bool = False
    level: int = 2
    style: str = ""


LISTS = {
    "model": "Models",
    "task": "Tasks",
    "mitigator": "Mitigators",
    "benchmark": "Benchmarks",
    "concept": "Concepts",
}
"""Kinds of pages, and titles of their lists."""


class MenuLink(NamedTuple):
    """A link of the menu."""

    text: str
    path: str
    """Path in the site; on the interactive page that of `page` stands in its place."""
    page: str = ""
    """Name of the interactive page of the shown board that has the same; empty if none has."""


class MenuGroup(NamedTuple):
    """Links of the menu that belong together."""

    label: str
    style: str
    """Class of the list."""
    links: Sequence[MenuLink]


def menu_of(kinds: Iterable[str]) -> list[MenuGroup]:
    """Return the menu of every page; the interactive page draws the same (`scripts/app.js`).

    Parameters
    ----------
    kinds
        Kinds of embeddings of the boards.
    """
    lists = ("benchmark", "task", "mitigator", "concept")
    about = ("Submit", "Data", "Cite", "About")
    groups = [
        MenuGroup(
            "Kind of embedding",
            "kinds",
            [MenuLink(title_of(kind), f"index.html#/{kind}", "home") for kind in kinds],
        ),
        MenuGroup(
            "Pages of the board",
            "",
            [
                MenuLink(LISTS[kind], f"{kind}/index.html", "" if kind == "concept" else kind)
                for kind in lists
            ],
        ),
        MenuGroup("Help", "", [MenuLink("How to read it", "reading.html")]),
        MenuGroup(
            "About this board",
            "leads",
            [MenuLink(title, f"{title.lower()}.html") for title in about],
        ),
    ]
    return [group for group in groups if group.links]


@dataclass(frozen=True)
class Site:
    """What all pages of a site have in their heads and feet.

    Parameters
    ----------
    title
        Title of the site.
    built
        Date of the build.
    url
        Address of the folder of the site, with a slash at its end; empty if it is not known.
    menu
        The menu, as of `menu_of`.
    """

    title: str
    built: str
    url: str = ""
    menu: Sequence[MenuGroup] = ()

    def address(self, path: str) -> str:
        """Return the canonical address of a page."""
        folder, _, name = path.rpartition("/")
        if name != "index.html":
            return self.url + path
        return f"{self.url}{folder}/" if folder else self.url


@dataclass(frozen=True)
class Page:
    """A page that is read without a script.

    Parameters
    ----------
    path
        Where it is in the site, such as `model/e5-small.html`.
    title
        Its heading, and its title in searches.
    description
        What it says, in one or two sentences.
    template
        Name of its template, which extends `base.html.j2`.
    content
        What the template needs.
    kind, name
        What it is about, such as `model` and the name of the model; empty for other pages.
    """

    path: str
    title: str
    description: str
    template: str
    content: Mapping[str, Any]
    kind: str = ""
    name: str = ""

    def html(self, site: Site) -> str:
        """Return the text of the page."""
        return template(self.template).render(
            self.content,
            page=self,
            site=site,
            root="../" * self.path.count("/"),
            generator=MADE_BY,
        )


def site_address(text: str) -> str:
    """Return the address of a site's folder, with a slash at its end.

    Raises
    ------
    UsageError
        If it is no address of a folder on the web.
    """
    try:
        parts = urlsplit(text)
        is_address = parts.scheme in ("https", "http") and bool(parts.hostname)
        is_address = is_address and "@" not in parts.netloc and parts.port != 0
    except ValueError:  # such as a port that is no number
        is_address = False
    has_other = not text.isascii() or not text.isprintable() or set(text) & set(" \"'<>\\?#")
    if not is_address or has_other:
        raise UsageError(
            f"--url {text!r} is not the address of a folder on the web; "
            "expected such as https://example.org/board/"
        )
    return text.removesuffix("index.html").rstrip("/") + "/"


# The pages of documents.


ABOUT = "Social bias in word and text embeddings, mitigators of it, and what those cost."
"""What a leaderboard is."""
UNITS = {
    "bias": "Times as strong as its yardstick, such as flowers with pleasant words; 0 is fair",
    "usefulness": "Usefulness from 0 to 1; more is better",
    "control": "A control: times as strong as its yardstick; it does not rank",
}
"""What the number of a task counts, by what the task measures."""


class _Known(NamedTuple):
    """What pages say of other documents: tasks and benchmarks by board and name."""

    tasks: Mapping[tuple[str, str], TaskOnBoard]
    benchmarks: Mapping[tuple[str, str], BenchmarkOnBoard]


class _Drawn(NamedTuple):
    """What a page shows of one board."""

    title: str
    description: str
    texts: Sequence[str]
    sections: Sequence[Section]
    query: str = ""
    """The address of the interactive page, where it is not that of the kind and name."""


def pages_of(documents: Mapping[str, Sequence[Document]]) -> Iterator[Page]:
    """Yield a list of each kind of document, and the page of each document.

    Parameters
    ----------
    documents
        As of `documents.documents_of`.
    """
    known = _Known(
        {
            (part.kind, document.name): part
            for document in documents["task"]
            for part in document.boards
            if isinstance(part, TaskOnBoard)
        },
        {
            (part.kind, document.name): part
            for document in documents["benchmark"]
            for part in document.boards
            if isinstance(part, BenchmarkOnBoard)
        },
    )
    for kind, of_kind in documents.items():
        yield _list(kind, of_kind)
        for document in of_kind:
            yield _page(document, known)


def home_page(title: str, boards: Iterable[Board], models: Sequence[Document]) -> Page:
    """Return the home page; without its script it has the answers and the first ranked models."""
    boards = _by_ranked(boards)
    sections = []
    for board in boards:
        ranked = [line for line in _models_on(models, board.kind) if line[1].not_ranked is None]
        first = _first(FIRST, len(ranked), "ranked model")
        caption = f"{first}, the least biased first"
        sections.append(
            Section(
                title=title_of(board.kind),
                texts=[board.first.finding],
                style="lead",
                tables=[_filled(_models_table(ranked[:FIRST], caption, root=""))],
            )
        )
    answer = boards[0].first.finding if boards else ""
    return Page(
        path="index.html",
        title=title,
        description=_cut(f"{ABOUT} {answer}"),
        template="index.html.j2",
        content={"sections": sections},
    )


def _by_ranked(boards: Iterable[Board]) -> list[Board]:
    """Return the boards, that with most ranked models first, as the interactive page has them."""
    return sorted(boards, key=lambda board: -board.first.ranked())


def _page(document: Document, known: _Known) -> Page:
    """Return the page of a document."""
    title, description = document.name, ""
    sections: list[Section] = []
    several = len(document.boards) > 1
    for part in document.boards:
        drawn = _drawn(document.name, part, known)
        title, description = drawn.title, description or drawn.description
        query = drawn.query or f"/{document.kind}/{quote(document.name, safe='')}"
        sections.append(
            Section(
                title=title_of(part.kind) if several else "",
                texts=drawn.texts,
                style="lead",
                interactive=f"index.html#/{part.kind}{query}",
            )
        )
        level = 3 if several else 2
        sections += [
            replace(section, level=level, tables=[_filled(table) for table in section.tables])
            for section in drawn.sections
            if section.texts or section.facts or any(table.rows for table in section.tables)
        ]
    return Page(
        path=document.path,
        title=title,
        description=_cut(description),
        template="entity.html.j2",
        content={
            "trail": [(LISTS[document.kind], f"{document.kind}/index.html")],
            "sections": sections,
        },
        kind=document.kind,
        name=document.name,
    )


def _drawn(name: str, part: OnBoard, known: _Known) -> _Drawn:
    """Return what a page shows of one board."""
    match part:
        case ModelOnBoard():
            return _model(name, part, known)
        case TaskOnBoard():
            return _task(part)
        case MitigatorOnBoard():
            return _mitigator(name, part)
        case BenchmarkOnBoard():
            return _benchmark(part, known)
        case ConceptOnBoard():
            return _concept(name, part, known)


def _model(name: str, part: ModelOnBoard, known: _Known) -> _Drawn:
    standing = standing_of(part, known.benchmarks[part.kind, part.first].title)
    numbers = []
    if part.bias.value is not None:
        unit = "it is the reference, 0 is fair" if name == part.reference else _unit(part.reference)
        numbers.append(f"Bias {_in_line(_range(part.bias))}: {unit}.")
    if part.usefulness.value is not None:
        numbers.append(f"Usefulness {_in_line(_range(part.usefulness))}: 1 is the best possible.")
    most = max([1.5, *part.concepts.values()])
    concepts = [
        (_entity("concept", concept), _score(bias), Bar(*(_percent(x / most) for x in (bias, 1))))
        for concept, bias in sorted(part.concepts.items(), key=lambda item: -item[1])
    ]
    standings = [
        (
            _entity(
                "benchmark",
                line.benchmark,
                known.benchmarks[part.kind, line.benchmark].title,
            ),
            *place_texts(line.bias),
            *place_texts(line.usefulness),
        )
        for line in part.benchmarks
    ]
    by_task = []
    for measures, unit in UNITS.items():
        own = [
            (known.tasks[part.kind, task], task, number)
            for task, number in part.tasks.items()
            if known.tasks[part.kind, task].measures == measures
        ]
        own.sort(key=lambda line: -abs(line[2]))
        by_task.append(
            Table(
                f"{unit}.",
                (("Task", "model"), ("Concept", ""), (measures.capitalize(), "number")),
                [
                    (_entity("task", name), task.facts["Concept"], _score(number))
                    for task, name, number in own
                ],
                summary=f"{measures.capitalize()}: {count(len(own), 'task')}",
            )
        )
    missing = Table(
        "Tasks without a number that counts.",
        (("Task", "model"), ("Reason", "notes")),
        [(_entity("task", task), reason) for task, reason in part.missing.items()],
        summary=f"Without a number: {count(len(part.missing), 'task')}",
    )
    facts = [(fact, _fact(fact, text)) for fact, text in part.facts.items()]
    sections = [
        Section(
            "By concept",
            tables=[
                Table(
                    f"Mean over methods; {_unit(part.reference)}. The mark of a bar is at 1.",
                    (("Concept", "model"), ("Bias", "number"), ("", "drawn")),
                    concepts,
                )
            ],
        ),
        Section(
            "In each benchmark",
            tables=[
                Table(
                    "Ranks on these tests, and the ranks between which the model is with 95 % "
                    "confidence.",
                    (
                        ("Benchmark", "model"),
                        *(("Rank by bias", "number"), ("could be", "number")),
                        *(("Rank by usefulness", "number"), ("could be", "number")),
                    ),
                    standings,
                )
            ],
        ),
        Section(
            "Under mitigators",
            texts=part.judged,
            tables=[_effects_table(part.mitigators, "mitigator", part.reference)],
            is_wide=True,
        ),
        Section("By task", texts=_elsewhere(part), tables=[*by_task, missing]),
        Section("About the model", facts=facts),
    ]
    texts = [standing, *numbers, *part.notes]
    description = f"{name}, {title_of(part.kind).lower()}. {' '.join([standing, *numbers])}"
    return _Drawn(name, description, texts, sections)


def _elsewhere(part: ModelOnBoard) -> list[str]:
    """Return a line on where the numbers of single tasks are, if the page has none."""
    if part.tasks or not part.has:
        return []
    return [
        f"The interactive board has the numbers of {count(part.has, 'task')}, and so has "
        "leaderboard.csv."
    ]


def _task(part: TaskOnBoard) -> _Drawn:
    texts = _paragraphs(part.description)
    if part.not_ranked:
        texts.append(f"Shown and not ranked: {part.not_ranked}.")
    number = {"bias": "Bias", "usefulness": "Usefulness"}.get(part.measures, "Control")
    table = Table(
        f"{UNITS[part.measures]}. {_first(len(part.values), part.models, 'model')}, with the 95 % "
        "intervals of the scores that have one.",
        (("Model", "model"), (number, "number"), ("Score", "number")),
        [
            (
                _link(line.model, line.path),
                _score(line.measure),
                _range(Mean(value=line.value, low=line.low, high=line.high)),
            )
            for line in part.values
        ],
    )
    sections = [
        Section(facts=[(name, _fact(name, text)) for name, text in part.facts.items()]),
        Section("Models", tables=[table]),
    ]
    what = {"bias": "bias", "usefulness": "usefulness"}.get(part.measures, "meaning, as a control,")
    description = f"A task that measures {what} in embeddings: {part.title}. {part.description}"
    return _Drawn(part.title, description, texts, sections)


def _mitigator(name: str, part: MitigatorOnBoard) -> _Drawn:
    sections = [
        Section(
            "On each model",
            texts=part.judged,
            tables=[
                _effects_table(
                    part.effects,
                    "model",
                    part.reference,
                    _first(len(part.effects), part.models, "model"),
                )
            ],
            is_wide=True,
        ),
        Section(
            "On average over models",
            tables=[_means_table(part.benchmarks, "benchmark", part.reference)],
            is_wide=True,
        ),
    ]
    description = f"{name}, a mitigator of bias in embeddings. {part.summary}"
    return _Drawn(name, description, [part.summary] if part.summary else [], sections)


def _benchmark(part: BenchmarkOnBoard, known: _Known) -> _Drawn:
    ranks = Table(
        f"{_first(len(part.ranks), part.models, 'model')} with a rank by bias or by usefulness, on "
        "the tasks of this benchmark. "
        f"Bias: {_unit(part.reference)}. Usefulness: 1 is the best possible. 'could be': the ranks "
        "between which the model is with 95 % confidence.",
        (
            ("Model", "model"),
            *(("Bias", "number"), ("Rank", "number"), ("could be", "number")),
            *(("Usefulness", "number"), ("Rank", "number"), ("could be", "number")),
        ),
        [
            (
                _link(line.model, line.path),
                _range(line.bias_mean),
                *place_texts(line.bias),
                _score(line.usefulness_mean),
                *place_texts(line.usefulness),
            )
            for line in part.ranks
        ],
    )
    sections = [
        Section("Models", tables=[ranks]),
        Section(
            "Mitigators",
            tables=[_means_table(part.mitigators, "mitigator", part.reference)],
            is_wide=True,
        ),
        Section("Tasks", tables=[_tasks_table(part.kind, part.tasks, known)], is_wide=True),
        Section(
            "About it",
            texts=part.notices,
            facts=[("Citation", part.citation)] if part.citation else [],
        ),
    ]
    texts = [*_paragraphs(part.description), part.finding]
    description = f"{part.title}: a benchmark of bias in embeddings. {part.finding}"
    return _Drawn(part.title, description, texts, sections)


def _concept(name: str, part: ConceptOnBoard, known: _Known) -> _Drawn:
    biases = Table(
        f"Bias by {name} of usable models without a mitigator; {_unit(part.reference)}. "
        f"{_first(len(part.biases), part.models, 'model')}, with 95 % intervals.",
        (("Model", "model"), ("Bias", "number")),
        [
            (
                _link(line.model, line.path),
                _range(Mean(value=line.bias, low=line.low, high=line.high)),
            )
            for line in part.biases
        ],
    )
    sections = [
        Section("Models", tables=[biases]),
        Section("Tasks", tables=[_tasks_table(part.kind, part.tasks, known)]),
    ]
    asked = f"{count(len(part.tasks), 'task')} ask for bias by {name} in {part.kind} embeddings."
    if len(part.tasks) == 1:
        asked = asked.replace("ask for", "asks for")
    texts = [asked, part.finding]
    title = f"Bias by {name}"
    query = f"?{urlencode({'concept': name})}"
    return _Drawn(title, f"{title} in embeddings. {' '.join(texts)}", texts, sections, query)


def _list(kind: str, documents: Sequence[Document]) -> Page:
    """Return the page that lists the documents of a kind."""
    sections = []
    boards = dict.fromkeys(part.kind for document in documents for part in document.boards)
    for board in boards:
        if kind == "model":
            models = _models_on(documents, board)
            table = _models_table(models, f"{count(len(models), 'model')}, ranked ones first")
        else:
            own = [
                (document, part)
                for document in documents
                for part in document.boards
                if part.kind == board
            ]
            table = Table(
                count(len(own), kind),
                ((LISTS[kind].removesuffix("s"), "model"), ("What it is", "notes")),
                [(_link(document.name, document.path), _subject(part)) for document, part in own],
            )
        sections.append(Section(title_of(board), tables=[_filled(table)]))
    title = LISTS[kind]
    return Page(
        path=f"{kind}/index.html",
        title=title,
        description=f"{title} of this leaderboard of bias in embeddings: {len(documents)}.",
        template="entity.html.j2",
        content={"trail": [], "sections": sections},
        kind=kind,
    )


def _subject(part: OnBoard) -> str:
    """Return in a few words what a page is about."""
    match part:
        case TaskOnBoard():
            return f"{part.title} ({part.measures})"
        case MitigatorOnBoard():
            return part.summary
        case BenchmarkOnBoard():
            return part.title
        case ConceptOnBoard():
            return count(len(part.tasks), "task")
    return ""


def _models_on(documents: Iterable[Document], kind: str) -> list[tuple[Document, ModelOnBoard]]:
    """Return the models on a board, the best first."""
    return [
        (document, part)
        for document in documents
        for part in document.boards
        if isinstance(part, ModelOnBoard) and part.kind == kind
    ]


def _models_table(
    models: Sequence[tuple[Document, ModelOnBoard]], caption: str, root: str = "../"
) -> Table:
    rows = []
    for document, part in models:
        place = deciding_place(part)
        rows.append(
            (
                _link(document.name, document.path, root),
                *place_texts(place),
                _range(part.bias),
                _range(part.usefulness),
                f"not ranked: {part.not_ranked}" if part.not_ranked else "",
            )
        )
    columns = [
        *(("Model", "model"), ("Rank", "number"), ("could be", "number")),
        *(("Bias", "number"), ("Usefulness", "number"), ("Note", "notes")),
    ]
    reference = models[0][1].reference if models else ""
    return Table(
        f"{caption}. Bias: {_unit(reference)}. Usefulness: 1 is the best possible. 95 % intervals.",
        columns,
        rows,
    )


def _tasks_table(kind: str, names: Sequence[str], known: _Known) -> Table:
    own = [(name, known.tasks[kind, name]) for name in names]
    return Table(
        count(len(own), "task"),
        (("Task", "model"), ("What it asks", "notes"), ("Measures", ""), ("Concept", "")),
        [
            (_entity("task", name), task.title, task.measures, task.facts["Concept"])
            for name, task in own
        ],
    )


def _effects_table(
    effects: Sequence[Effect],
    of: Literal["model", "mitigator"],
    reference: str,
    caption: str = "",
) -> Table:
    """Return a table of effects on single models, with a line for each model or mitigator."""
    lead = f"{caption}. " if caption else ""
    return Table(
        f"{lead}Bias on the tests of both: {_unit(reference)}. Changes have 95 % intervals, and in "
        "words what they show on these tests, and how many other ways to ask agree.",
        [
            (of.capitalize(), "model"),
            *((title, "number") for title in ("Bias without", "with it", "change")),
            ("What it shows", "notes"),
            ("Change in usefulness", "number"),
            ("Note", "notes"),
        ],
        [
            (
                _entity(of, getattr(effect, of)),
                _score(effect.base),
                _score(effect.bias),
                _change(effect),
                effect.verdict,
                _score(effect.usefulness, sign=True),
                f"not usable: {effect.unusable}" if effect.unusable else "",
            )
            for effect in effects
        ],
    )


def _change(effect: Effect) -> Content:
    """Return a change in bias: the difference of what is printed with the mitigator and without."""
    if effect.base is None or effect.bias is None:
        return NOTHING
    printed = round(effect.bias, 3) - round(effect.base, 3)
    return _range(replace(effect.change, value=printed), sign=True)


def _means_table(
    effects: Sequence[MeanEffect], of: Literal["benchmark", "mitigator"], reference: str
) -> Table:
    """Return a table of effects over models, with a line for each benchmark or mitigator."""
    return Table(
        "Over the models on which it is usable: on how many it is shown to leave less or more bias "
        f"on these tests, and the mean change; 1 is the bias of {reference}. Each line is over its "
        "own models.",
        [
            (of.capitalize(), "model"),
            *((title, "number") for title in ("Models", "usable", "less biased", "more biased")),
            *((title, "number") for title in ("Mean change in bias", "in usefulness")),
            *(("Mean over", "notes"), ("Note", "notes")),
        ],
        [
            (
                _entity(of, getattr(effect, of), effect.title if of == "benchmark" else ""),
                *(str(n) for n in (effect.models, effect.usable, effect.less, effect.more)),
                *(_score(mean, sign=True) for mean in (effect.change, effect.usefulness)),
                effect.over,
                effect.note or "",
            )
            for effect in effects
        ],
    )


def deciding_place(part: ModelOnBoard) -> Place:
    """Return the rank on the first benchmark; by usefulness where no task of it measures bias."""
    if part.not_ranked or not part.benchmarks:
        return Place(rank=None, low=None, high=None)
    first = part.benchmarks[0]
    return first.usefulness if first.bias.rank is None else first.bias


def standing_of(part: ModelOnBoard, benchmark: str) -> str:
    """Return a sentence on the rank of a model, and how sure it is.

    Parameters
    ----------
    part
        The model.
    benchmark
        Title of the first benchmark.
    """
    if part.not_ranked:
        return f"Not ranked: {part.not_ranked}."
    place, first = deciding_place(part), part.benchmarks[0]
    by = "usefulness" if place is first.usefulness else "bias"
    rank = f"Rank {place.rank} of {count(part.ranked, 'model')} by {by} on {benchmark}"
    if place.low is None or place.high is None:
        return f"{rank}; too few words and items to tell how sure this is."
    if place.low == place.high:
        return f"{rank}; these tests tell it apart from all others."
    low, high = ordinal(place.low), ordinal(place.high)
    return f"{rank}; on these tests it could be anywhere from {low} to {high}."


def _filled(table: Table) -> Table:
    """Return a table without the columns that have nothing in any row."""
    if not table.rows:
        return table
    by_column = zip(*table.rows, strict=True)
    kept = [
        i for i, cells in enumerate(by_column) if any(cell not in (NOTHING, "") for cell in cells)
    ]
    if len(kept) == len(table.columns):
        return table
    return replace(
        table,
        columns=[table.columns[i] for i in kept],
        rows=[[row[i] for i in kept] for row in table.rows],
    )


def _entity(kind: str, name: str, text: str = "") -> Link:
    return _link(text or name, path_of(kind, name))


def _link(text: str, path: str, root: str = "../") -> Link:
    """Return a link to a page of the site, seen from a page of an entity."""
    return Link(text, root + path)


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a description, without its marks of code."""
    return [part for part in text.replace("`", "").split("\n\n") if part.strip()]


LONGEST = 200
"""Most characters of a description."""


def _cut(text: str) -> str:
    """Return a description in one line that previews can hold."""
    line = " ".join(text.replace("`", "").split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rpartition(" ")[0] + "…"


def _fact(name: str, text: str) -> Content:
    """Return a fact, as a link if it is an address."""
    is_address = text.startswith(("https://", "http://")) and not set(text) & set(" \t\n")
    return Link(text, text) if is_address and name in ("Web page", "Source") else text


def title_of(kind: str) -> str:
    """Return the title of the board of a kind of embeddings."""
    return f"{kind.capitalize()} embeddings"


def _unit(reference: str) -> str:
    return f"1 is as biased as {reference}, 0 is fair"


def _first(shown: int, of: int, noun: str) -> str:
    """Return how many there are, and how many of them are shown."""
    return count(of, noun) if shown >= of else f"The first {shown} of {of:,} {noun}s"


def _percent(share: float) -> float:
    return round(100 * min(max(share, 0.0), 1.0), 1)


def _score(value: float | None, *, sign: bool = False) -> str:
    """Return a number with three decimals, as the interactive page does."""
    if value is None:
        return NOTHING
    if abs(value) >= 1e6:
        return f"{value:.2e}".replace("-", "\N{MINUS SIGN}")
    return short(value, sign=sign)


def _range(mean: Mean, *, sign: bool = False) -> Content:
    text = _score(mean.value, sign=sign)
    if mean.value is None or mean.low is None or mean.high is None:
        return text
    return Range(text, f"{_score(mean.low, sign=sign)} to {_score(mean.high, sign=sign)}")


def _in_line(content: Content) -> str:
    """Return a number with its interval in a line of text."""
    return f"{content.text} ({content.range})" if isinstance(content, Range) else str(content)


def place_texts(place: Place) -> tuple[str, str]:
    """Return a rank, and the set that holds the true one."""
    rank = NOTHING if place.rank is None else str(place.rank)
    if place.low is None or place.high is None:
        return rank, NOTHING
    return rank, str(place.low) if place.low == place.high else f"{place.low}–{place.high}"


def publish_pages(files: BuiltFolder, pages: Iterable[Page], site: Site) -> None:
    """Write pages.

    Raises
    ------
    DiskError
        If a file cannot be written.
    """
    for page in pages:
        files.write(page.path, page.html(site))
