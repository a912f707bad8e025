"""`harness review`: a sheet for a reader of a task's language, and the signed review.

A sheet is plain text, a block a text. Nothing in it is quoted, escaped or indented, so that no
editor, no apostrophe and no word such as `no` changes its meaning, as YAML and tables would allow.
The filled sheet becomes a review in the file `_reviews.yaml` beside the task, which includes it. So
one place has the reviews of a folder, and files with several tasks need no change for each.

What is mended changes the task: its version is raised, and the review is of the new version. A
review without mends is of the version that was read, and changes no score.
"""

from __future__ import annotations

import dataclasses
import datetime
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments
from harness.printing import echo

if TYPE_CHECKING:
    from harness.registry.registry import Registry
    from harness.task.data_files import Row, Tables
    from harness.task.schema import Review, Source, TaskFile
    from harness.task.yaml_files import Document

REVIEWS = "_reviews.yaml"
"""The file with the reviews of a folder of tasks."""
HEADER = "# Reviews of the tasks in this folder; `harness review` adds to them.\n"
VERDICTS = ("accept", "mend", "drop")
LINE_BREAK = "⏎"
"""Stands for a line break inside a text."""
_ITEM = re.compile(r"\[(\d+)\]")
_FIELD = re.compile(r"(\w+):(.*)")
_PLACEHOLDER = re.compile(r"\{[^}]*\}")
INSTRUCTIONS = """\
# A sheet for a reader of the language. Fill in a verdict for every text:
#   accept   it is right: its category, its usual word, the form that people use
#   mend     it is wrong; write the right text after 'mend:'
#   drop     it cannot be mended, or its stereotype is unknown in the country
# What 'text' and 'original' say is for reading only. 'remark' is for whatever you want to say.
# Words in braces, such as {text}, are filled in by the harness: keep them.
"""


@click.command("review")
@click.argument("task", shell_complete=arguments.complete("task"))
@click.option("--language", help="Language, such as nl: which completes the name TASK.")
@click.option(
    "--sheet",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A filled sheet to read.",
)
@click.option("--reviewer", metavar="NAME", help="Who read the texts, and signs.")
@click.option("--about", default="", help="What to know of the reader, such as 'native speaker'.")
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path),
    help="File to write the sheet to.  [default: print it]  With --sheet, a folder for a copy of "
    "the task.  [default: the task's own folder; a copy if that is an installed package]",
)
@arguments.include
@arguments.trust
def command(
    task: str,
    language: str | None,
    sheet: Path | None,
    reviewer: str | None,
    about: str,
    out: Path | None,
    include: tuple[Path, ...],
    trust: tuple[Path, ...],
) -> None:
    """Print a sheet of a task's texts for a reader of its language, or sign a filled one.

    TASK is a task, a file, or the beginning of a name that --language completes. With --sheet, the
    review is written beside the task, in _reviews.yaml; mended texts raise the task's version.

    \b
    harness review crows-pairs --language nl --out sheet.txt
    harness review crows-pairs-nl --sheet sheet.txt --reviewer "A. Reader"
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import folders
    from harness.errors import UsageError
    from harness.registry.registry import Registry

    document, registry = _task(Registry(include=include, trust=trust), task, language)
    registry.check_task(document)
    if sheet is None:
        if reviewer is not None:
            raise UsageError("--reviewer signs a filled sheet: add --sheet FILE")
        text = Sheet.of(document, registry).text()
        if out is None:
            echo(text.rstrip("\n"))
        else:
            arguments.refuse_to_replace(out, overwrite=False)
            folders.write_atomically(out, text.encode())
            echo(f"wrote {out}")
        return
    if not (reviewer or "").strip():
        raise UsageError('a review is signed: add --reviewer "NAME"')
    review = Sheet.of(document, registry).review(sheet, by=(reviewer or "").strip(), about=about)
    signed = Signed(document, registry, review)
    signed.check()
    for line in signed.write(out):
        echo(line)


def _task(registry: Registry, name: str, language: str | None) -> tuple[Document, Registry]:
    """Return the task of a name, or of a beginning of a name and a language, and its registry."""
    from harness.errors import UsageError
    from harness.registry.registry import named_tasks
    from harness.task.schema import TaskFile

    known = registry.task_files.owners
    is_beginning = name not in known and f"{name}-{language}" in known
    found, registry = named_tasks(registry, f"{name}-{language}" if is_beginning else name)
    spoken = {part.validate(TaskFile).language: part for part in found}
    if language is not None and language not in spoken:
        raise UsageError(
            f"'{name}' is in {', '.join(spoken)}; no task '{name}-{language}' is known"
        )
    if len(found) > 1 and language is None:
        raise UsageError(f"'{name}' has {len(found)} tasks: add --language, such as {min(spoken)}")
    return found[0] if language is None else spoken[language], registry


@dataclass(frozen=True)
class Item:
    """A text of a task that a reader judges.

    Parameters
    ----------
    text
        The text: a word, a cell of a table, or a template.
    place
        Where the task has it.
    original
        What it was translated from; empty if the task does not say.
    """

    text: str
    place: str
    original: str = ""


def items_of(document: Document, registry: Registry) -> list[Item]:
    """Return the texts that a task was written with, each once, in the order of the task.

    Words of its concept are left out, since other tasks share them.

    Raises
    ------
    Unavailable
        If the data of the task is missing.
    """
    from harness.task.data_files import Tables
    from harness.task.inputs import Inputs
    from harness.task.schema import TaskFile

    file = document.validate(TaskFile)
    concept = None if file.concept is None else registry.concept(file.concept)
    paths = registry.data.provide(file.tables, document)
    tables = Tables(document, file, concept, registry.table_maker, paths)
    originals = _originals(tables, file)
    inputs = Inputs(tables)
    found: dict[str, Item] = {}
    for key, source in file.sources():
        scenario = file.scenarios.get(str(key[1])) if key[0] == "scenarios" else None
        templates = file.templates | (scenario.templates if scenario else {})
        if source.number or source.vocabulary:
            continue
        for item in _of_source(inputs, tables, source, key, templates, originals):
            found.setdefault(item.text, item)
    for name, template in _templates(file):
        for text in [template] if isinstance(template, str) else template:
            now = file.mended.get(text, text)
            if any(map(str.isalnum, _PLACEHOLDER.sub("", now))):
                found.setdefault(now, Item(now, f"template {name}"))
    return list(found.values())


def _of_source(
    inputs: Any,
    tables: Tables,
    source: Source,
    key: tuple[str | int, ...],
    templates: Mapping[str, Any],
    originals: Mapping[tuple[str, str], str],
) -> Iterator[Item]:
    from harness.task.inputs import columns

    if (source.set or source.table or "").startswith("concept."):
        return
    rows: Sequence[Row] = inputs.rows_of(source, key, templates)
    if source.table is None:
        place = f"set {source.set}" if source.set else f"input {key[-1]}"
        yield from (Item(str(row["text"]), place) for row in rows)
        return
    used = [source.column]
    if source.template is not None:
        used = columns(templates.get(source.template, ()), rows[0], source.column)
    shown = _as_written(tables, source.table, used)
    shown = shown if all(column in rows[0] for column in shown) else used
    by = tables.file.originals.key if tables.file.originals else ""
    for row in rows:
        within = ", ".join(f"{column} {row[column]}" for column in source.where)
        for column in shown:
            if isinstance(text := row.get(column), str) and text:
                place = f"table {source.table}, {column}" + f" ({within})" * bool(within)
                yield Item(text, place, originals.get((str(row.get(by)), column), ""))


def _as_written(tables: Tables, name: str, used: Sequence[str]) -> list[str]:
    """Return the columns from which table makers made those that are used.

    A reader judges the sentences of a pair, and not the words that a table maker cuts from them.
    """
    table = tables.file.tables.get(name)
    if table is None or table.made_from is None:
        return list(used)
    known = tables.rows(table.made_from, ("tables", name, "made_from"))[0]
    named = [value for value in table.options.values() if isinstance(value, str) and value in known]
    made = [column for column in used if column not in known]
    if made and not named:
        return list(used)
    of_parent = [column for column in used if column in known] + (named if made else [])
    return _as_written(tables, table.made_from, list(dict.fromkeys(of_parent)))


def _originals(tables: Tables, file: TaskFile) -> dict[tuple[str, str], str]:
    """Return the original of each cell, by the row's key and the column."""
    if file.originals is None:
        return {}
    key, place = file.originals.key, ("originals", "table")
    return {
        (str(row.get(key)), column): cell
        for row in tables.rows(file.originals.table, place)
        for column, cell in row.items()
        if isinstance(cell, str)
    }


def _templates(file: TaskFile) -> Iterator[tuple[str, Any]]:
    used = {source.template for _, source in file.sources()}
    parts = [file.templates, *(scenario.templates for scenario in file.scenarios.values())]
    for part in parts:
        yield from ((name, template) for name, template in part.items() if name in used)


@dataclass
class _Block:
    """What a sheet says of one text."""

    number: int
    line: int
    fields: dict[str, tuple[str, int]] = field(default_factory=dict)

    def value(self, name: str) -> str:
        return self.fields.get(name, ("", 0))[0]

    def line_of(self, name: str) -> int:
        return self.fields.get(name, ("", self.line))[1]


@dataclass(frozen=True)
class Sheet:
    """The sheet of a task.

    Parameters
    ----------
    task, version, language, yardstick
        As in the task file.
    items
        The texts.
    """

    task: str
    version: int
    language: str
    yardstick: str | None
    items: Sequence[Item]

    @classmethod
    def of(cls, document: Document, registry: Registry) -> Sheet:
        """Return the sheet of a task as it is now."""
        from harness.task.schema import NO_YARDSTICK, TaskFile

        file = document.validate(TaskFile)
        yardstick = None if file.yardstick == NO_YARDSTICK else file.yardstick
        items = items_of(document, registry)
        return cls(file.name, file.version, file.language, yardstick, items)

    @property
    def digest(self) -> str:
        """A digest of the texts."""
        from harness.digest import digest

        return digest([item.text for item in self.items])

    def text(self) -> str:
        """Return the sheet to fill in."""
        advice = f"harness review {self.yardstick}"
        lines = [
            f"task: {self.task}",
            f"version: {self.version}",
            f"language: {self.language}",
            f"texts: {len(self.items)}",
            f"digest: {self.digest}",
            *([f"# Its yardstick needs a reader, too: {advice}"] if self.yardstick else []),
        ]
        for number, item in enumerate(self.items, 1):
            lines += ["", f"[{number}] {item.place}", f"text: {_shown(item.text)}"]
            if item.original:
                lines.append(f"original: {_shown(item.original)}")
            lines += ["verdict:", "mend:", "remark:"]
        return INSTRUCTIONS + "\n".join(lines) + "\n"

    def review(self, path: Path, *, by: str, about: str = "") -> Review:
        """Return the review that a filled sheet holds.

        Raises
        ------
        InvalidFile
            If the sheet is of other texts, or a verdict is missing or contradicts itself.
        """
        from harness.errors import InvalidFile
        from harness.task.schema import Review

        header, blocks = _blocks(path)
        self._check_header(header, path)
        if [block.number for block in blocks] != list(range(1, len(self.items) + 1)):
            problem = f"expected the texts [1] to [{len(self.items)}], each once and in order"
            raise InvalidFile(problem, path=path)
        without = [
            block for block in blocks if not block.value("verdict") and not block.value("mend")
        ]
        if without:
            problem = (
                f"{len(without)} of {len(blocks)} texts have no verdict, the first is "
                f"[{without[0].number}]: write {', '.join(VERDICTS[:-1])} or {VERDICTS[-1]}"
            )
            raise InvalidFile(problem, path=path, line=without[0].line_of("verdict"))
        mended, remarks = {}, {}
        for block, item in zip(blocks, self.items, strict=True):
            new = _judged(block, item, path)
            if new is not None:
                mended[item.text] = new
            if remark := block.value("remark"):
                remarks[item.text] = remark
        return Review(
            by=by,
            about=about,
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            version=self.version + bool(mended),
            texts=len(self.items),
            digest=self.digest,
            mended=mended,
            remarks=remarks,
        )

    def _check_header(self, header: Mapping[str, tuple[str, int]], path: Path) -> None:
        from harness.errors import InvalidFile

        for key, value in (("task", self.task), ("version", str(self.version)),
                           ("digest", self.digest)):  # fmt: skip
            held, line = header.get(key, ("", 1))
            if held != value:
                what = "other texts" if key == "digest" else f"{key} {held or 'unknown'}"
                problem = (
                    f"a sheet of {what}; here is {self.task}, version {self.version}: "
                    "print a new sheet"
                )
                raise InvalidFile(problem, path=path, line=line)


def _shown(text: str) -> str:
    return text.replace("\n", LINE_BREAK)


def _blocks(path: Path) -> tuple[dict[str, tuple[str, int]], list[_Block]]:
    """Return what a sheet says before its first text, and of each text, with lines."""
    from harness import folders, limits
    from harness.errors import InvalidFile

    header: dict[str, tuple[str, int]] = {}
    blocks: list[_Block] = []
    content = folders.read_text(path, limits.YAML_BYTES).removeprefix("\ufeff")
    for number, raw in enumerate(content.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if start := _ITEM.match(line):
            blocks.append(_Block(int(start[1]), number))
            continue
        found = _FIELD.fullmatch(line)
        names = ("text", "original", "verdict", "mend", "remark")
        if found is None or (blocks and found[1].lower() not in names):
            problem = f"expected one of {', '.join(f'{name}:' for name in names)} in one line"
            raise InvalidFile(problem, path=path, line=number)
        fields = blocks[-1].fields if blocks else header
        fields[found[1].lower()] = (found[2].strip(), number)
    return header, blocks


def _judged(block: _Block, item: Item, path: Path) -> str | None:
    """Return what replaces a text; None if it is accepted."""
    from harness.errors import InvalidFile

    def mistake(problem: str, name: str) -> InvalidFile:
        return InvalidFile(f"[{block.number}]: {problem}", path=path, line=block.line_of(name))

    if block.value("text") != _shown(item.text).strip():
        raise mistake("'text' was changed; write the new text after 'mend:'", "text")
    new = block.value("mend").replace(LINE_BREAK, "\n")
    verdict = block.value("verdict").lower() or "mend"
    if verdict not in VERDICTS:
        raise mistake(f"'{verdict}' is no verdict; write {' or '.join(VERDICTS)}", "verdict")
    if verdict == "mend" and not new:
        raise mistake("to be mended, but 'mend:' is empty", "mend")
    if verdict != "mend" and new:
        problem = f"the verdict is '{verdict}', and 'mend:' has a text; remove one"
        raise mistake(problem, "mend")
    if verdict == "drop":
        return ""
    kept = sorted(_PLACEHOLDER.findall(item.text)) if item.place.startswith("template") else []
    if verdict == "mend" and kept and sorted(_PLACEHOLDER.findall(new)) != kept:
        raise mistake(f"the new text needs {' and '.join(kept)}", "mend")
    return new if verdict == "mend" and new != item.text else None


@dataclass(frozen=True)
class Signed:
    """A review that is to be written beside its task.

    Parameters
    ----------
    document
        The task as it is.
    registry
        Finds what it names.
    review
        The review.
    """

    document: Document
    registry: Registry
    review: Review

    @property
    def name(self) -> str:
        """The name of the task."""
        return str(self.document.name)

    def check(self) -> None:
        """Raise InvalidFile if the task as mended has a mistake in it."""
        if not self.review.mended:
            return
        reviews = self._with_others(self.document.data.get("reviews", {}))
        data = {**self.document.data, "reviews": reviews, "version": self.review.version}
        self.registry.resolve(dataclasses.replace(self.document, data=data))

    def write(self, out: Path | None) -> list[str]:
        """Write the review, and return what to tell: the files, and what is left to do.

        An installed package stays as it is; its task is copied, into `out` or a folder of its name.
        """
        from harness import folders

        path = self.document.path
        notes = []
        if out is not None or not _is_writable(path.parent):
            out = Path(path.parent.name) if out is None else out
            self._copy(out)
            notes.append(
                f"'{path.parent}' is an installed package or read-only: this is a copy. Send it to "
                f"the owner; `--tasks {out / path.name}` evaluates it"
                if not _is_writable(path.parent)
                else f"a copy: `--tasks {out / path.name}` evaluates it"
            )
            path = out / path.name
        text = self._task_text(path)
        reviews = path.parent / REVIEWS
        known = _known_reviews(reviews)
        contents = {reviews: _dumped(self._with_others(known))}
        if text is not None:
            contents[path] = text
        with folders.Generation(path.parent) as generation:
            for file, content in contents.items():
                generation.write(file.name, content)
        return [*(f"wrote {file}" for file in contents), *notes, *self._advice()]

    def _advice(self) -> Iterator[str]:
        from harness.task.schema import BenchmarkFile

        if not self.review.mended:
            return
        yield f"{self.name} has version {self.review.version} now, with other texts"
        for benchmark, document in sorted(self.registry.benchmark_files.items()):
            if self.name in document.validate(BenchmarkFile).tasks:
                yield f"raise its version in the benchmark {benchmark}, too"

    def _with_others(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return reviews by task with this one, in place of one of the same reader and version."""
        own = self.review.model_dump(mode="json", exclude_defaults=True)
        others = [
            other
            for other in known.get(self.name, ())
            if (other.get("by"), other.get("version")) != (own["by"], own["version"])
        ]
        return dict(sorted({**known, self.name: [*others, own]}.items()))

    def _copy(self, out: Path) -> None:
        """Copy the task's file, what it includes, and its data."""
        from harness.task import data_files
        from harness.task.schema import TaskFile

        folder = self.document.path.parent
        tables = self.document.validate(TaskFile).tables
        data = [held.path for held in data_files.of_tables(tables, self.document).values()]
        for file in [*self.document.stamps, self.document.path, *data]:
            if file is not None and file.is_relative_to(folder) and file.is_file():
                target = out / file.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                if not target.exists():
                    shutil.copyfile(file, target)

    def _task_text(self, path: Path) -> str | None:
        """Return the new text of the task's file; None if nothing in it changes."""
        from harness import folders, limits
        from harness.task import yaml_files

        text = old = folders.read_text(path, limits.YAML_BYTES)
        own, places = yaml_files.parse_yaml(path)
        lines = text.split("\n")
        if self.review.mended:
            version = f"version: {self.review.version}"
            if isinstance(own.get("version"), int):
                at = places["version",][1] - 1
                lines[at] = re.sub(r"version:\s*\d+", version, lines[at], count=1)
            elif "version" not in own:  # that of an included file, which other tasks share
                lines.insert(places["name",][1], version)
            else:
                raise self.document.error(
                    "texts were mended: raise the version of this task by hand, "
                    f"to {self.review.version}, and sign again",
                    ("version",),
                )
        names = own.get("include", [])
        names = names if isinstance(names, list) else [names]
        if REVIEWS not in names:
            include = f"include: [{', '.join([*names, REVIEWS])}]"
            if "include" in own:
                first = places["include",][1] - 1
                later = [line - 1 for key, (_, line) in places.items() if len(key) == 1]
                end = min((line for line in later if line > first), default=len(lines))
                rest = [
                    line for line in lines[first + 1 : end] if not line.lstrip().startswith("-")
                ]
                lines[first:end] = [include, *rest]
            else:
                first = min(line for key, (_, line) in places.items() if len(key) == 1) - 1
                lines.insert(first, include)
        text = "\n".join(lines)
        return None if text == old else text


def _is_writable(folder: Path) -> bool:
    """Return whether reviews may be written into a folder: not into an installed package."""
    is_package = {"site-packages", "dist-packages"} & {*folder.resolve().parts}
    return not is_package and os.access(folder, os.W_OK)


def _known_reviews(path: Path) -> Mapping[str, Any]:
    from harness.errors import InvalidFile
    from harness.task import yaml_files

    if not path.exists():
        return {}
    held: Any = yaml_files.parse_yaml(path)[0].get("reviews", {})
    if not isinstance(held, dict) or not all(isinstance(of, list) for of in held.values()):
        raise InvalidFile("expected 'reviews:' with a list of reviews by task", path=path)
    return held


def _dumped(reviews: Mapping[str, Iterable[Any]]) -> str:
    import yaml

    return HEADER + yaml.safe_dump(
        {"reviews": dict(reviews)}, allow_unicode=True, sort_keys=False, width=100
    )
