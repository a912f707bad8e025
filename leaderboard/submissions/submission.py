"""`submission.json`: who ran what, when and under which licence; it is next to the records.

A folder `results/MODEL/FINGERPRINT` has the records of one model, a file `RUN.jsonl` a run, and one
`submission.json` with an entry for each run. So a second person can add runs of the same model
without changing the first person's entries.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import polars as pl
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from harness import folders, limits
from harness.encode.identity import UNNAMED
from harness.errors import InvalidFile, unreadable
from harness.results import record
from harness.results.folder import STUDY
from harness.results.reading import SetAside, Trust, judged
from harness.results.reading import mistakes as mistakes_of
from harness.results.record import ModelPart, Record

from ..boards import references
from ..claims import reading
from ..claims.reading import Claims
from . import withdrawn
from .init import PROJECT

ROOT = "results"
"""Folder of the records in a results repository."""
NAME = "submission.json"
RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}", re.ASCII)
"""Names of runs, and of their files without `.jsonl`."""


def _visible(text: str) -> str:
    """Return a text that has no control, zero-width or direction characters."""
    if code := hidden(text):
        raise ValueError(f"the character {code} is not allowed")
    if text != text.strip():
        raise ValueError("it begins or ends with a space")
    return text


def _time(text: str) -> str:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("not a time; expected such as 2026-01-31T12:00:00+00:00") from None
    if time.tzinfo is None:
        raise ValueError("a time without its zone; expected such as 2026-01-31T12:00:00+00:00")
    return text


def licence_of(text: str) -> str:
    """Return an SPDX expression as it is usually written; ValueError if it is none."""
    try:
        return canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        raise ValueError(
            "not an SPDX identifier; expected such as CC-BY-4.0, CC0-1.0 or LicenseRef-NAME"
        ) from None


class Submission(BaseModel):
    """A person's statements about a submitted run."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )

    submitted_by: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_visible)]
    """Person or organisation; the board may show the name."""
    created: Annotated[str, Field(max_length=40), AfterValidator(_time)]
    """Time of the run's last record, ISO 8601 with its zone."""
    command: Annotated[str, Field(min_length=1, max_length=4_000), AfterValidator(_visible)]
    """Command that repeats the run."""
    harness: Annotated[str, Field(max_length=50, pattern=r"^[0-9]+(\.[0-9A-Za-z+!-]+)*$")]
    """Version of the harness."""
    licence: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(licence_of)]
    """Licence of the results: an SPDX expression."""
    contact: Annotated[str, Field(max_length=200), AfterValidator(_visible)] | None = None
    """Address or page for questions; optional, and public."""


class SubmissionFile(BaseModel):
    """The content of a `submission.json`."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True,
        serialize_by_alias=True,
    )  # fmt: skip

    schema_version: Literal[1] = Field(alias="schema")
    """Version of this schema."""
    runs: Annotated[dict[str, Submission], Field(min_length=1, max_length=1_000)]
    """An entry for each `RUN.jsonl` beside the file, by RUN."""


def place(*, model: str, fingerprint: str, run: str) -> PurePosixPath:
    """Return the place of a record in a results repository, by its model, fingerprint and run.

    The parts of the path are those of `folders.safe_name`: no name leaves its folder.
    """
    parts = (folders.safe_name(name) for name in (model, fingerprint))
    return PurePosixPath(ROOT, *parts, f"{folders.safe_name(run)}.jsonl")


def read(folder: Path) -> dict[str, Submission]:
    """Return the entries of the `submission.json` in a folder, by run.

    Raises
    ------
    InvalidFile
        If it is not a plain file, or is invalid; `mistakes` has all mistakes.
    """
    path = folder / NAME
    if path.is_symlink():
        raise InvalidFile("a link; links are not followed", path=path)
    content = folders.read_bytes(path, limits.SUBMISSION_BYTES)
    file, mistakes = mistakes_of(content, SubmissionFile)
    if file is None:
        first, *further = (InvalidFile(text, path=path, key=key) for key, text in mistakes)
        first.further = tuple(further)
        raise first
    for run in file.runs:
        if not RUN.fullmatch(run):
            problem = f"{run[:50]!r} is no name of a run; letters, digits and ._- are allowed"
            raise InvalidFile(problem, path=path, key="runs")
    return file.runs


def of_files(files: Iterable[str]) -> dict[str, Submission]:
    """Return what submitters say of the runs in files of records, by file.

    Files without a valid `submission.json` beside them have nothing.
    """
    found: dict[str, Submission] = {}
    runs: dict[Path, dict[str, Submission]] = {}
    for file in files:
        folder = Path(file).parent
        if folder not in runs:
            runs[folder] = {}
            with contextlib.suppress(InvalidFile):
                runs[folder] = read(folder) if (folder / NAME).is_file() else {}
        run = runs[folder].get(Path(file).stem)
        if run is not None:
            found[file] = run
    return found


def write(folder: Path, runs: Mapping[str, Submission]) -> Path:
    """Write the `submission.json` of a folder, entries sorted by run, and return its path.

    Raises
    ------
    DiskError
        If it cannot be written.
    """
    path = folder / NAME
    folders.write_atomically(path, text(runs).encode())
    return path


def text(runs: Mapping[str, Submission]) -> str:
    """Return the text of a `submission.json`, entries sorted by run."""
    file = SubmissionFile.model_validate({"schema": 1, "runs": dict(sorted(runs.items()))})
    return folders.json_text(file.model_dump(mode="json", exclude_none=True))


# The files of a submission: its runs, and files that do not belong there.
#
# `results/MODEL/FINGERPRINT` has files `RUN.jsonl`, each with its strongest items in a file
# `RUN.samples.jsonl` if it has any, and one `submission.json`, and nothing else. Figures are pages,
# which may contain scripts. Tables cannot be checked, and all samples are too large. Studies have
# no registered task to compare their records with. Links are not followed, and only plain files are
# opened.


_DEEPEST = 2
"""Folders below the root: the model and the fingerprint."""
_PACK = "; `harness results pack` writes what is"


@dataclass(frozen=True)
class Tree:
    """The files of a submission.

    Parameters
    ----------
    root
        The folder that was read: `results` of a repository, or a part of it.
    whole
        Whether this is a whole repository: a folder with `results` and other files. `harness
        results pack` writes no other files.
    runs
        Files of records, sorted.
    samples
        Files of strongest items, sorted.
    folders
        The folders `FINGERPRINT`, sorted.
    problems
        Files that do not belong here.
    """

    root: Path
    whole: bool
    runs: tuple[Path, ...]
    samples: tuple[Path, ...]
    folders: tuple[Path, ...]
    problems: tuple[SetAside, ...]


def tree(path: Path) -> Tree:
    """Return the files of a results repository or of a part of it, which may be one file.

    Raises
    ------
    InvalidFile
        If the path does not exist.
    """
    if not os.path.lexists(path):
        raise unreadable(path)
    has_root = os.path.lexists(path / ROOT)
    whole = has_root and any(entry.name != ROOT for entry in os.scandir(path))
    root = path / ROOT if has_root else path
    if root.is_symlink():
        return Tree(
            root, whole, (), (), (), (_tree_problem(root, "a link; links are not followed"),)
        )
    if root.is_dir():
        found = list(_visit(root, _depth(root)))
    else:
        found = [root] if _is_run(root) else [_tree_problem(root, "not a RUN.jsonl or a folder")]
    files = sorted(item for item in found if isinstance(item, Path))
    samples = tuple(file for file in files if _is_samples(file))
    runs = tuple(file for file in files if file not in samples)
    parents = tuple(sorted({file.parent for file in files}))
    problems = tuple(item for item in found if isinstance(item, SetAside))
    return Tree(root, whole, runs, samples, parents, problems)


def _depth(root: Path) -> int:
    """Return the depth of `root` below the folder `results`, judged by the places of its files."""
    if root.name == ROOT:
        return 0
    if any(entry.is_file(follow_symlinks=False) for entry in os.scandir(root)):
        return _DEEPEST
    below = [entry.path for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
    has_files = (
        any(entry.is_file(follow_symlinks=False) for entry in os.scandir(folder))
        for folder in below
    )
    return 1 if any(has_files) else 0


def _visit(folder: Path, depth: int) -> Iterator[Path | SetAside]:
    """Yield the runs in a folder with their items, and a problem for each file out of place."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = folder / entry.name
        if entry.is_symlink():
            yield _tree_problem(path, "a link; links are not followed")
        elif entry.name.startswith("."):
            yield _tree_problem(path, "hidden; remove it")
        elif folders.safe_name(entry.name) != entry.name:
            yield _tree_problem(path, "not a safe name: letters, digits and ._- are allowed")
        elif entry.is_dir(follow_symlinks=False):
            if depth < _DEEPEST:
                yield from _visit(path, depth + 1)
            else:
                yield _tree_problem(path, "a folder in the place of a file" + _PACK)
        elif not entry.is_file(follow_symlinks=False):
            yield _tree_problem(path, "not a plain file")
        elif depth < _DEEPEST:
            yield _tree_problem(path, f"files lie in {ROOT}/MODEL/FINGERPRINT" + _PACK)
        elif _is_run(path) or _is_samples(path):
            yield path
        elif entry.name != NAME:
            yield _tree_problem(path, f"only RUN.jsonl and {NAME} are taken" + _PACK)


def _is_run(path: Path) -> bool:
    if not path.is_file() or path.suffix != ".jsonl" or path.is_symlink():
        return False
    is_other = path.name.endswith((STUDY, record.SUFFIX))
    return not is_other and RUN.fullmatch(path.stem) is not None


def _is_samples(path: Path) -> bool:
    """Return whether a plain file has the name of a run's strongest items."""
    return path.name.endswith(record.SUFFIX) and bool(
        RUN.fullmatch(path.name.removesuffix(record.SUFFIX))
    )


def _tree_problem(path: Path, reason: str) -> SetAside:
    return SetAside(str(path), 0, reason)


# The repository that a submission joins. Nothing of it may change, and it decides names.


_DEPTH = 3
"""Parts of `MODEL/FINGERPRINT/RUN.jsonl`."""


@dataclass(frozen=True)
class Base:
    """A results repository. Without one, only the shipped reference models are known.

    Parameters
    ----------
    tree
        Its files; None without a repository.
    """

    tree: Tree | None = None

    @classmethod
    def of(cls, folder: Path | None) -> Base:
        """Return the repository in a folder."""
        return cls() if folder is None else cls(tree(folder))

    @cached_property
    def claims(self) -> Claims:
        """Its records, unjudged."""
        return reading.read([] if self.tree is None else self.tree.runs)

    @cached_property
    def withdrawn(self) -> list[Path]:
        """Its `withdrawn.yaml`."""
        return [] if self.tree is None else withdrawn.find([self.tree.root])

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The name of the model of each fingerprint, including the shipped reference models."""
        pairs = self.claims.frame.select("fingerprint", "model").cast(pl.String).unique()
        shipped = {r.model.fingerprint: r.model.name for r in references.shipped()}
        return dict(pairs.iter_rows()) | shipped

    @cached_property
    def fingerprints(self) -> Mapping[str, str]:
        """A fingerprint of each name of a model."""
        return {name: fingerprint for fingerprint, name in self.names.items()}

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of its records."""
        return frozenset(self.claims.frame["id"])

    def counterpart(self, path: Path) -> Path | None:
        """Return the file of the base in the same place as a file; None if there is none."""
        if self.tree is None:
            return None
        own = self.tree.root.joinpath(*path.absolute().parts[-_DEPTH:])
        return own if own.is_file() else None

    def has(self, path: Path) -> bool:
        """Return whether the base has the same file in the same place."""
        own = self.counterpart(path)
        return own is not None and filecmp.cmp(own, path, shallow=False)

    def has_problem(self, problem: SetAside, copy: Tree) -> bool:
        """Return whether a file that does not belong there is in the base, and so is not new."""
        if self.tree is None:
            return False
        path = Path(problem.file)
        own = self.tree.root / path.relative_to(copy.root)
        are_plain = all(p.is_file() and not p.is_symlink() for p in (own, path))
        return are_plain and filecmp.cmp(own, path, shallow=False)

    def removed(self, trees: Iterable[Tree]) -> Iterator[SetAside]:
        """Yield a problem for each file of the base that a changed copy lacks."""
        for copy in trees:
            if self.tree is None or not copy.whole:
                continue
            own = *self.tree.runs, *self.tree.samples, *(f / NAME for f in self.tree.folders)
            for file in own:
                path = copy.root / file.relative_to(self.tree.root)
                if file.is_file() and not path.is_file():
                    reason = (
                        "the base has it, and it is gone; only maintainers withdraw results (name "
                        f"{copy.root} if this is no copy of the base)"
                    )
                    yield SetAside(str(path), 0, reason)

    def changed(self, path: Path) -> Iterator[SetAside]:
        """Yield a problem if lines of a file of the base are changed or gone."""
        own = self.counterpart(path)
        if own is None:
            return
        lines = set(path.read_bytes().splitlines())
        gone = [
            number
            for number, line in enumerate(own.read_bytes().splitlines(), start=1)
            if line not in lines
        ]
        if gone:
            more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
            reason = f"line {gone[0]}{more} of the base is changed or gone; add a new run instead"
            yield SetAside(str(path), 0, reason)

    def changed_entries(
        self, path: Path, entries: Mapping[str, Submission], *, whole: bool
    ) -> Iterator[SetAside]:
        """Yield a problem for each entry of the base's `submission.json` that differs in this.

        A copy of the whole base must have all its entries.
        """
        own = self.counterpart(path)
        for run, entry in ({} if own is None else read(own.parent)).items():
            if entries.get(run, None if whole else entry) != entry:
                reason = f"runs.{run}: the entry of the base is changed or gone; restore it"
                yield SetAside(str(path), 0, reason)


# Whether others can repeat the scores of a model: its exact weights must be known and available.
#
# A fingerprint of the harness covers hashes of the weights, or the model's exact construction. It
# does not state where the weights are:
#
# ========================  ========================================  ==============================
# model                     what its fingerprint covers               who can repeat it
# ========================  ========================================  ==============================
# registered                SHA-256 of its files                      everybody; its card has a page
# id on a hub               SHA-256 of its files, with the revision   everybody
# local folder, vectors     SHA-256 of the files                      who has them; it needs a page
# hosted                    host, name and settings                   uncertain: it may change
# Python object             its weights or a text of its author       who has the object
# object without identity   nothing: new in each run                  nobody: refused
# mock of the tests         nothing of a model                        nobody: refused
# ========================  ========================================  ==============================
#
# Scores that nobody can repeat are refused. If others may lack something, there is a warning with
# its reason, for a maintainer to consider.


_HASH = re.compile(r"(^|-)[0-9a-f]{32,64}$")
_HOSTED = ("openai-",)
"""Providers of models with secret weights."""
_OBJECTS = ("object-", "sentence-transformer-object-", "words-")
"""Models that were passed as Python objects."""


def refusal(model: ModelPart, registered: Mapping[str, str]) -> str:
    """Return why nobody could repeat the scores of a model; empty if somebody can.

    Parameters
    ----------
    model
        The description of the model in a record.
    registered
        The plugin and package of each registered model, by the model's name.
    """
    if model.fingerprint.startswith(UNNAMED):
        return (
            "nothing identifies this object, so nobody can repeat its scores; give it a text "
            "'fingerprint' that changes with its vectors, and run it again"
        )
    if model.name in registered or _HASH.search(model.fingerprint):
        return ""
    return (
        "the fingerprint has no hash of the weights, and the model is not registered; use one of "
        "the harness's providers, or a fingerprint that ends with a hash"
    )


def warning(model: ModelPart, registered: Mapping[str, str]) -> str:
    """Return why others may be unable to repeat the scores of a model; empty if they can."""
    if model.fingerprint.startswith(_HOSTED):
        return "it is hosted, and may change without a new name; its scores are of that day"
    owner = registered.get(model.name, "")
    if owner and f"({PROJECT} " not in owner and not _HASH.search(model.fingerprint):
        return (
            f"a board that lacks its plugin {owner} refuses it, since its fingerprint does not end "
            "with a hash of 32 to 64 hexadecimal digits"
        )
    if model.name in registered or model.revision:
        return ""
    if model.fingerprint.startswith(_OBJECTS):
        return "a Python object: only who has its code and weights can repeat its scores"
    if model.url is None:
        return "neither a revision nor a page (url): others may be unable to find its weights"
    return ""


# The lines of a file of records, read strictly: each problem has its line and its key.


@dataclass(frozen=True)
class Lines:
    """The lines of a file of records.

    Parameters
    ----------
    records
        The valid records by line, from 1.
    problems
        The problems, at most one a line.
    readable
        Whether the file as a whole can be read as lines of records.
    """

    records: dict[int, Record]
    problems: tuple[SetAside, ...]
    readable: bool = True


def read_record_lines(path: Path) -> Lines:
    """Return the records of a file, and the problems of its other lines."""
    size = path.stat().st_size
    if size > limits.SUBMITTED_RECORDS_BYTES:
        return _refused(path, limits.too_many(size, limits.SUBMITTED_RECORDS_BYTES))
    content = path.read_bytes()
    if not content.strip():
        return _refused(path, "no record in it")
    if b"\0" in content:
        before = content.count(b"\n", 0, content.index(b"\0"))
        return _refused(path, "a NUL byte; it is no text", before + 1)
    records: dict[int, Record] = {}
    problems = []
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        result = judged(line, Record, Trust.SUBMITTED)
        if isinstance(result, Record):
            records[number] = result
        elif result is not None:
            problems.append(SetAside(str(path), number, result[1]))
    if not content.endswith(b"\n"):
        last = content.count(b"\n") + 1
        problems.append(SetAside(str(path), last, "torn: the last line has no end; run it again"))
    return Lines(records, tuple(problems))


def _refused(path: Path, reason: str, line: int = 0) -> Lines:
    return Lines({}, (SetAside(str(path), line, reason),), readable=False)


# Texts in records that must not be published: paths of a machine, scripts, and hidden characters.
#
# Every page and every comment escapes what it shows. This is a second line of defence: nobody
# writes a script into a name by mistake.


_PATH = re.compile(
    r"(?<![\w.:/~-])(?:/(?:home|Users|root|mnt|media|tmp|var|opt|data|scratch|private)/"
    r"|~/|file://|[A-Za-z]:\\|\\\\\w)"
)
"""The beginning of a path of a machine, but not the path in the address of a page."""
_TAG = re.compile(r"<\s*[A-Za-z/!?]|&#|javascript:", re.IGNORECASE)
_PAGE = re.compile(r"https?://[^\s\"'<>`\\]+", re.IGNORECASE)
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
"""Unicode categories of characters that cannot be seen, or that change a line or its direction."""
_QUOTED = (
    *("coverage", "withheld", "unseen", "word_overlap", "details", "options", "prompts", "reason"),
)
"""Parts of a record that repeat texts of tasks and prompts, which may hold any character."""
_NAMES = re.compile(
    r"run|model\.(name|aliases|revision|fingerprint|licence|superseded_by)|"
    r"mitigator\.(name|label|concept|fingerprint|method)|environment\..*|"
    r"category|concept|language|scenario|metric|score|task\.(name|family)"
)
_STARTS = re.compile(r"run|model\.(name|aliases)|mitigator\.(name|label)")
"""Names with which tables begin a cell."""


def problems(content: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the key and the problem of each text that must not be published.

    Parameters
    ----------
    content
        A record or an entry of `submission.json`, as JSON types.
    key
        Its key in the record.
    """
    if isinstance(content, str):
        if reason := _problem(key, content):
            yield key, reason
    elif isinstance(content, dict):
        for name, item in content.items():
            below = f"{key}.{name}" if key else name
            if reason := _problem("", name):
                yield f"a key in {key or 'the record'}", reason
            else:
                yield from problems(item, below)
    elif isinstance(content, list | tuple):
        for item in content:
            yield from problems(item, key)


def hidden(text: str) -> str:
    """Return the first invisible character of a text, as `U+200B`; empty if there is none."""
    if text.isascii() and text.isprintable():
        return ""
    character = next((c for c in text if unicodedata.category(c) in _HIDDEN), None)
    return "" if character is None else f"U+{ord(character):04X}"


@lru_cache(maxsize=100_000)
def _problem(key: str, text: str) -> str:
    """Return the problem of a text; empty if there is none."""
    if match := _PATH.search(text):
        return f"a path of a machine ('{match[0]}…'); leave the folder out"
    if key.split(".", 1)[0] in _QUOTED or key == "model.prompts":
        return ""
    if code := hidden(text):
        return f"the character {code}, which cannot be seen; leave it out"
    if match := _TAG.search(text):
        return f"'{match[0]}', as in a page or script; leave it out"
    if _NAMES.fullmatch(key) and len(text) > limits.SUBMITTED_NAME_CHARACTERS:
        most = limits.SUBMITTED_NAME_CHARACTERS
        return f"a name of {limits.too_many(len(text), most, 'characters')}"
    if _STARTS.fullmatch(key) and not text[:1].isalnum():
        return f"it begins with {text[:1]!r}; a name begins with a letter or digit"
    if key == "model.url" and not _PAGE.fullmatch(text):
        return "not the address of a page; https://… is expected"
    return ""
