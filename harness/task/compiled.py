"""What was read from task files, kept on disk between runs.

The documents in a folder of YAML files are kept here, and the inputs of tasks by
`compiled_inputs.py`. That saves time and nothing else: what is missing, damaged, or made from other
files is read from the task files again.

A file in the folder `compiled` of the cache folder is a line with the digest of the rest, and the
rest. Nothing in it is run. It is written under a temporary name and renamed, so that readers never
see a part of it; what a crash of the machine leaves behind does not fit the digest.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from harness import folders
from harness.digest import SIZE, TICK, digest, identity
from harness.errors import DiskError, InvalidFile
from harness.task import yaml_files
from harness.task.yaml_files import Document, shared

FORMAT = 2
"""Version of the files. Those of another version are not read."""
SUFFIX = ".compiled"


def folder() -> Path:
    """Return the folder of the files."""
    return folders.cache() / "compiled"


def read(path: Path) -> bytes | None:
    """Return the content of a file; None if there is none, or it is damaged."""
    try:
        with path.open("rb") as file:
            check, content = file.readline(), file.read()
    except OSError:
        return None
    folders.note_use(path)
    return content if check == _check(content) else None


def write(path: Path, content: bytes) -> None:
    """Write a file; a disk that is full or not writable only costs the time to read again."""
    # Not synced: the digest tells whether all of the content has arrived.
    with contextlib.suppress(DiskError):
        folders.write_atomically(path, b"".join([_check(content), content]), is_synced=False)


def _check(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=SIZE).hexdigest().encode() + b"\n"


# The documents in a folder of task files.


State: TypeAlias = tuple[int, ...]
"""What the file system says of a file."""
_KNOWN: dict[Path, Documents] = {}
"""What this process has read, so that all registries share documents and what was made of them."""


def documents_in(root: Path, kind: str, roots: Sequence[Path]) -> Documents:
    """Return the kept documents of a folder; parameters as those of `Documents`."""
    documents = Documents(root, kind, roots)
    known = _KNOWN.setdefault(documents.path, documents)
    known.look_again()
    return known


def document(path: Path, kind: str) -> Document:
    """Return a parsed file, as `yaml_files.shared` does; callers must not change its data."""
    documents = documents_in(path.parent, kind, ())
    kept = documents.get(path)
    if kept is not None:
        return kept[0]
    read_now = shared(path)
    documents.add(path, read_now, [read_now])
    documents.save()
    return read_now


@dataclass(frozen=True)
class Head:
    """What lists show of a valid task, and names select it by.

    Parameters
    ----------
    name, version, title, measures, category, concept, language, kinds, tags, large
        As in a task file.
    """

    name: str
    version: int
    title: str
    measures: str
    category: str
    concept: str | None
    language: str
    kinds: tuple[str, ...]
    tags: tuple[str, ...]
    large: bool


def head_of(document: Document) -> Head:
    """Return the head of a task.

    Raises
    ------
    InvalidFile
        If the file has a mistake in it.
    """
    if isinstance(document, KeptDocument) and document.head is not None:
        return document.head
    from harness.task.schema import TaskFile

    file = document.validate(TaskFile)
    return Head(**{field.name: getattr(file, field.name) for field in fields(Head)})


def _valid_head(document: Document) -> Head | None:
    with contextlib.suppress(InvalidFile):
        return head_of(document)
    return None


def _code() -> str:
    """Return what changes with the code that reads and checks files, and with the packages."""
    folders_ = [Path(yaml_files.__file__).parent, Path(folders.__file__).parent]
    files = sorted(path for folder in folders_ for path in folder.glob("*.py"))
    return digest([*([str(file), *identity(file.stat())] for file in files), installed()])


@functools.cache
def installed() -> str:
    """Return a digest of the state of the folders of packages; installing anything changes it."""
    states = []
    for place in sys.path[1:]:  # the first is that of the script, or the current one
        with contextlib.suppress(OSError):
            states.append([place, *identity(Path(place).stat())])
    return digest(states)


@dataclass
class _Entry:
    """The documents of one file, and the state of it and the files that it includes."""

    states: Mapping[str, State]
    documents: list[Document]


class KeptDocument(Document):
    """A document whose data is decoded when it is first used.

    Its lines are read again when an error needs them.
    """

    head: Head | None = None
    """What lists show, if it is a valid task."""
    encoded: bytes = b""
    """Its data as JSON."""

    def __getattr__(self, name: str) -> Any:
        if name == "data":
            value: Any = json.loads(self.encoded)
        elif name == "places":
            value = shared(self.path, *self.roots).places
        else:
            raise AttributeError(name)
        self.__dict__[name] = value
        return value


class Documents:
    """The documents of one kind in a folder.

    Parameters
    ----------
    root
        The folder.
    kind
        Kind of the files.
    roots
        Folders that hold all files that they may name.
    """

    def __init__(self, root: Path, kind: str, roots: Sequence[Path]) -> None:
        self.root, self.kind, self.roots = root, kind, tuple(roots)
        self.path = folder() / f"documents-{digest([str(root), kind, *map(str, roots)])}{SUFFIX}"
        self._has_heads = kind == "task"
        self._is_changed = False
        self._states: dict[str, State | None] = {}

    @functools.cached_property
    def _entries(self) -> dict[str, _Entry]:
        return self._read()

    def look_again(self) -> None:
        """Look at the state of each file again."""
        self._states.clear()

    def get(self, path: Path) -> list[Document] | None:
        """Return the documents of a file that has not changed; None if they are not kept."""
        entry = self._entries.get(str(path))
        if entry is None:
            return None
        if any(self._state(name) != state for name, state in entry.states.items()):
            return None
        return entry.documents

    def add(self, path: Path, document: Document, documents: Sequence[Document]) -> None:
        """Keep the documents of a file that was just read."""
        states: dict[str, State] = {}
        for file in document.stamps:
            state = self._state(str(file))
            # A file that changed a moment ago may change again within the same tick.
            if state is None or state[-1] / 1e9 + TICK > time.time():
                return
            states[str(file)] = state
        self._entries[str(path)] = _Entry(states, list(documents))
        self._is_changed = True

    def save(self) -> None:
        """Write what was added."""
        if not self._is_changed:
            return
        self._is_changed = False
        content: dict[str, Any] = {}
        bodies: list[bytes] = []
        for path, entry in self._entries.items():
            encoded = [_encoded(document) for document in entry.documents]
            if all(encoded):
                heads = [_valid_head(document) for document in entry.documents if self._has_heads]
                facts = itertools.zip_longest(entry.documents, heads, encoded)
                content[path] = [
                    entry.states,
                    [[doc.name, head and vars(head), len(body)] for doc, head, body in facts],
                ]
                bodies += encoded
        header = json.dumps([FORMAT, _code(), content]).encode()
        write(self.path, b"".join([header, b"\n", *bodies]))

    def _read(self) -> dict[str, _Entry]:
        content = read(self.path)
        if content is None:
            return {}
        header, _, bodies = content.partition(b"\n")
        version, code, files = json.loads(header)
        if [version, code] != [FORMAT, _code()]:
            return {}
        entries, start = {}, 0
        for path, (states, several) in files.items():
            documents: list[Document] = []
            for name, head, size in several:
                body = bodies[start : start + size]
                documents.append(self._document(Path(path), name, head, body))
                start += size
            its_states = {file: tuple(state) for file, state in states.items()}
            entries[path] = _Entry(its_states, documents)
        return entries

    def _document(
        self, path: Path, name: Any, head: dict[str, Any] | None, body: bytes
    ) -> Document:
        kept = object.__new__(KeptDocument)
        facts = {"name": name, "path": path, "roots": self.roots, "stamps": {}, "_models": {}}
        kept.__dict__.update(facts, encoded=body)
        if head is not None:
            lists = {key: tuple(head[key]) for key in ("kinds", "tags")}
            kept.__dict__["head"] = Head(**head | lists)
        return kept

    def _state(self, name: str) -> State | None:
        """Return what changes with a file; None if there is no such file, or it is not known."""
        if name not in self._states:
            self._states[name] = None
            if os.name != "nt":  # Windows has no time of change
                with contextlib.suppress(OSError, ValueError):
                    self._states[name] = tuple(identity(Path(name).stat()))
        return self._states[name]


def _encoded(document: Document) -> bytes:
    """Return the data of a document as JSON; nothing if JSON has not all of its values."""
    if isinstance(document, KeptDocument):
        return document.encoded
    with contextlib.suppress(TypeError, ValueError):  # a date, or no number
        text = json.dumps(document.data, allow_nan=False)
        if json.loads(text) == document.data:
            return text.encode()
    return b""
