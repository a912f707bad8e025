"""`harness cite`: BibTeX of what a results folder was made with.

A text that names its papers is the `References` section of a docstring, or the `source` of a task
or concept. The entries are those of the file `references.bib` in folders of tasks, so that a plugin
brings its own. A text that no entry answers becomes an entry of its own, so that nothing is lost.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments
from harness.printing import echo

if TYPE_CHECKING:
    from harness.registry.registry import Registry
    from harness.results.records import Records
    from harness.task.schema import Table, TaskFile

FILE = "references.bib"
"""Name of the file with the entries, in a folder of tasks."""
HARNESS = "embedding-bias-harness"
_ENTRY = re.compile(r"^@(\w+)\s*\{\s*([^,\s]+)\s*,.*?^\}", re.DOTALL | re.MULTILINE)
_FIELD = r'^\s*{}\s*=\s*[{{"](.*?)["}}],?\s*$'
_SECTION = re.compile(
    r"^References\n-+\n(.*?)(?:\n\n[A-Z][\w ]*\n-+\n|\Z)", re.DOTALL | re.MULTILINE
)
_OWN = re.compile("our own|written for (this|the) harness", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """An entry of a bibliography.

    Parameters
    ----------
    key
        The name that a document cites it by.
    text
        The entry, as it is written.
    title, surname, year
        Title without braces, surname of the first author, and year; empty if it has none.
    """

    key: str
    text: str
    title: str = ""
    surname: str = ""
    year: str = ""

    def is_named_by_title(self, text: str) -> bool:
        """Return whether a text has the title, or the whole words before its colon."""
        head = self.title.split(":")[0].strip()
        searched = head if len(head.split()) > 2 else _plain_words(self.title)
        return bool(searched) and f" {_plain_words(searched)} " in f" {_plain_words(text)} "

    def is_named_by_year(self, text: str) -> bool:
        """Return whether a text has the first author and, before the next bracket, the year."""
        if not self.surname or not self.year:
            return False
        surname = rf"(?<![\w-])(?<!and ){re.escape(self.surname)}(?![\w-])"
        return bool(re.search(rf"{surname}[^();\d]{{0,160}}\(?{self.year}\b", text))


@click.command("cite")
@click.argument("paths", nargs=-1, type=arguments.PlaceType())
@arguments.copied("paths")
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write, such as paper.bib.",
)
@arguments.include
@arguments.overwrite
def command(
    paths: tuple[Path, ...], out: Path | None, include: Sequence[Path], overwrite: bool
) -> None:
    """Print BibTeX of the metrics, mitigators, tasks and data of the results in PATHS.

    PATHS are results folders or files.  [default: results] Comments say which entries belong to
    what. The harness itself is the first entry.

    \b
    harness cite results --out references.bib
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import folders
    from harness.commands.results import notices, read_selected
    from harness.registry.registry import Registry

    arguments.refuse_to_replace(out, overwrite=overwrite)
    records = read_selected(paths)
    text = bibliography(records, Registry(include=include), include)
    if out is None:
        echo(text, nl=False)
    else:
        folders.write_atomically(out, text.encode())
        echo(f"wrote {out}", err=True)
    notices(records)


def bibliography(records: Records, registry: Registry, include: Sequence[Path] = ()) -> str:
    """Return the BibTeX of what records were made with.

    Parameters
    ----------
    records
        The records.
    registry
        Where their metrics, mitigators, tasks and concepts are looked up.
    include
        Folders with a bibliography, besides those of the plugins.
    """
    known = _read(registry, include)
    cited: dict[str, Entry] = {HARNESS: _harness(records)}
    lines = [f"% harness: {HARNESS}"]
    files = _tasks(records, registry)
    for kind, name, text in _texts(records, registry, files):
        if text is None:
            lines.append(f"% {kind} {name}: is not installed here")
            continue
        entries = entries_of(text, known) or _unknown(kind, name, text)
        cited |= {entry.key: entry for entry in entries}
        keys = ", ".join(entry.key for entry in entries) or "names no paper"
        lines.append(f"% {kind} {name}: {keys}")
    for name, entry in _data(files):
        cited[entry.key] = entry
        lines.append(f"% data of {name}: {entry.key}")
    return "\n".join([*lines, "", *(f"{entry.text}\n" for entry in cited.values())])


def papers(
    sources: Mapping[str, str], registry: Registry, include: Sequence[Path] = ()
) -> dict[str, list[Entry]]:
    """Return the entries of the papers that the sources of tasks name.

    Parameters
    ----------
    sources
        The `source` of each task by its name.
    registry, include
        As of `bibliography`.
    """
    known = _read(registry, include)
    of_text = {text: entries_of(text, known) for text in set(sources.values())}
    return {
        name: of_text[text] or _unknown("task", name, text)
        for name, text in sources.items()
        if text
    }


def entries_of(text: str, known: Sequence[Entry]) -> list[Entry]:
    """Return the entries that a text names, by their title, or else by first author and year.

    Parameters
    ----------
    text
        What names papers in prose: `Caliskan, Bryson and Narayanan (2017), Semantics …`.
    known
        The entries to choose from.
    """
    by_title = [entry for entry in known if entry.is_named_by_title(text)]
    found = {(entry.surname, entry.year) for entry in by_title}
    authors = [(entry.surname, entry.year) for entry in known]
    by_year = [
        entry
        for entry, author in zip(known, authors, strict=True)
        if author not in found and authors.count(author) == 1 and entry.is_named_by_year(text)
    ]
    return [entry for entry in known if entry in by_title or entry in by_year]


def references(function: Any) -> str:
    """Return the section `References` of a docstring; empty if it has none."""
    match = _SECTION.search(inspect.getdoc(function) or "")
    return " ".join(match[1].split()) if match else ""


def read_entries(text: str) -> list[Entry]:
    """Return the entries of a bibliography, each of which ends with a brace on a line of its own.

    Parameters
    ----------
    text
        BibTeX.
    """
    entries = []
    for match in _ENTRY.finditer(text):
        fields = {
            name: found[1] if (found := re.search(_FIELD.format(name), match[0], re.M)) else ""
            for name in ("author", "title", "year")
        }
        surname = re.split(",| and ", fields["author"])[0].strip("{} ")
        title = re.sub("[{}]", "", fields["title"])
        entries.append(Entry(match[2], match[0], title, surname, fields["year"]))
    return entries


def _read(registry: Registry, include: Sequence[Path]) -> list[Entry]:
    """Return the entries of all folders of tasks; the first with a key counts."""
    from harness import folders, limits

    entries: dict[str, Entry] = {}
    installed = registry.plugins.results("harness_task_folders")
    for folder in (*(folder for _, folder in installed), *include):
        path = Path(folder) / FILE
        if path.is_file():
            for entry in read_entries(folders.read_text(path, limits.YAML_BYTES)):
                entries.setdefault(entry.key, entry)
    return list(entries.values())


def _texts(
    records: Records, registry: Registry, files: Mapping[str, TaskFile | None]
) -> Iterator[tuple[str, str, str | None]]:
    """Yield kind, name and text of what records were made with; None for what is not here."""
    from harness import names
    from harness.errors import HarnessError

    stages = {
        stage.name: None
        for label in dict.fromkeys(record.mitigator.name for record in records)
        for stage in names.chain_stages(label)
    }
    parts: dict[str, tuple[Iterable[str], Callable[[str], str | None]]] = {
        "metric": (
            dict.fromkeys(record.metric for record in records),
            lambda name: references(registry.metric(name).function),
        ),
        "mitigator": (
            stages,
            lambda name: " ".join(
                references(type(stage)) for stage in registry.mitigator(name).mitigators
            ),
        ),
        "task": (files, lambda name: file.source if (file := files[name]) else None),
        "concept": (
            dict.fromkeys(record.concept for record in records if record.concept),
            lambda name: registry.concept(name).source,
        ),
    }
    for kind, (found, text_of) in parts.items():
        for name in sorted(found):
            try:
                yield kind, name, text_of(name)
            except HarnessError:
                yield kind, name, None


def _task(registry: Registry, name: str) -> TaskFile:
    """Return the file of a task by its name."""
    from harness.run.tasks import select

    return select(registry, [name])[0].file


def _tasks(records: Records, registry: Registry) -> dict[str, TaskFile | None]:
    """Return the file of each task by its name; None for one that is not here."""
    from harness.errors import HarnessError

    files: dict[str, TaskFile | None] = {}
    for name in sorted({record.task.name for record in records}):
        try:
            files[name] = _task(registry, name)
        except HarnessError:
            files[name] = None
    return files


def _data(files: Mapping[str, TaskFile | None]) -> Iterator[tuple[str, Entry]]:
    """Yield the files that tasks read, with the names of the tasks."""
    seen: dict[str, tuple[Table, list[str]]] = {}
    for name, file in files.items():
        for table in file.tables.values() if file else ():
            if place := table.file or table.place:
                seen.setdefault(table.sha256 or place, (table, []))[1].append(name)
    for table, tasks in seen.values():
        place = str(table.file or table.place)
        facts = {"licence or terms": table.terms.rstrip("."), "SHA-256": table.sha256}
        fields = {"title": f"Data file {place}", "url": table.url or ""}
        fields["note"] = ", ".join(f"{name} {value}" for name, value in facts.items() if value)
        key = "data-" + re.sub(r"[^a-z0-9]+", "-", place.lower()).strip("-")
        text = entry_text("misc", key, {name: value for name, value in fields.items() if value})
        yield ", ".join(dict.fromkeys(tasks)), Entry(key, text)


def _harness(records: Records) -> Entry:
    """Return the entry of the harness, with the versions that made the records."""
    versions = sorted({record.environment.harness for record in records})
    return harness_entry(versions, str(max(record.created for record in records))[:4])


def harness_entry(versions: Sequence[str], year: str) -> Entry:
    """Return the entry of the harness in some versions."""
    fields = {
        "author": "{The Embedding Bias Harness authors}",
        "title": "{Embedding Bias Harness}",
        "year": year,
        "note": f"Version {', '.join(versions)}",
    }
    return Entry(HARNESS, entry_text("misc", HARNESS, fields))


def _unknown(kind: str, name: str, text: str) -> list[Entry]:
    """Return an entry that holds the text, if it names a paper that no entry answers."""
    if not re.search(r"\b(1[89]|20)\d\d\b", text) or _OWN.search(text):
        return []
    key = re.sub(r"[^a-z0-9]+", "-", f"{kind}-{name}".lower()).strip("-")
    fields = {"title": f"{kind} {name}", "note": text}
    if named := re.match(r"([^()]+?)\s*\(((?:1[89]|20)\d\d)\)", text):
        fields = {"author": f"{{{named[1]}}}", **fields, "year": named[2]}
    return [Entry(key, entry_text("misc", key, fields))]


def entry_text(kind: str, key: str, fields: Mapping[str, str]) -> str:
    """Return an entry of BibTeX; values are text, but for braces."""
    escaped = {
        name: value if name == "url" else re.sub(r"([&%$#_])", r"\\\1", value)
        for name, value in fields.items()
    }
    lines = [f"  {name} = {{{value}}}," for name, value in escaped.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _plain_words(text: str) -> str:
    """Return the words of a text in lower case, with single spaces and no marks."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
