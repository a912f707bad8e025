"""What is fuzzed: each kind of input, how it is read, and inputs to start from."""

from __future__ import annotations

import bz2
import contextlib
import functools
import gzip
import json
import struct
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from harness import tasks
from harness.concept import Concept
from harness.leaderboard.claims import facts, reading, trust
from harness.leaderboard.submissions import submission, withdrawn
from harness.plugins.embedders.vectors import vectors_file
from harness.plugins.reproduction.rows import Paper
from harness.registry.discovery import load_file
from harness.registry.registry import Registry
from harness.results import jsonl
from harness.results.record import Record
from harness.run.settings import asked_in_file, read_run_file
from harness.store import segment
from harness.study import study
from harness.task import data_files, schema, yaml_files

TASKS = Path(tasks.__file__).parent
registry = functools.cache(Registry)


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    Parameters
    ----------
    suffix
        End of the names of its files.
    read
        Reads an input as the harness does.
    seeds
        Returns inputs to start from, besides those in `corpus/KIND/`.
    is_own_word
        Whether the input is what a user types, which may name any file.
    """

    suffix: str
    read: Callable[[Path], object]
    seeds: Callable[[], Iterator[bytes]] = lambda: iter(())
    is_own_word: bool = False


def _load(path: Path) -> Any:
    yaml_files._PARSED.clear()  # 10,000 files would fill the memory
    return load_file(path)


def _task(path: Path) -> None:
    task = registry().resolve(_load(path))
    assert task.digest
    list(task.texts())


def _run(path: Path) -> None:
    read_run_file(path)
    asked_in_file(_load(path), registry()).check()


def _table(path: Path) -> None:
    """Read a table that says in its first line how it is read."""
    head, _, content = path.read_bytes().partition(b"\n")
    try:
        settings = json.loads(head)
        suffix = settings.pop("suffix", ".tsv")
        table = schema.Table(file="x", **settings)
    except (ValueError, TypeError, AttributeError, ValidationError, RecursionError):
        suffix, table = ".tsv", schema.Table(file="x")
    if suffix not in (".tsv", ".csv", ".jsonl", ".tsv.gz", ".jsonl.gz"):
        suffix = ".tsv"
    file = path.with_name(f"table-{path.stem}{suffix}")
    file.write_bytes(content)
    try:
        data_files.parse_table(table, file)
    finally:
        file.unlink()


def _claims(path: Path) -> None:
    claims = reading.read([path])
    trust.trusted(claims, facts.known(claims.frame["task"].unique().to_list()))


def _submission(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path.rename(Path(folder) / submission.NAME)
        submission.read(Path(folder))


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="surrogateescape")


def _segment(path: Path) -> None:
    with contextlib.suppress(segment.Damaged, segment.Foreign):
        segment.read(path, "f")


def _shipped(pattern: str, most: int = 20_000) -> Callable[[], Iterator[bytes]]:
    """Return a function that yields shipped files, their includes merged in, as JSON."""

    def read() -> Iterator[bytes]:
        for path in sorted(TASKS.glob(pattern)):
            if not path.name.startswith("_"):
                content = json.dumps(_load(path).data, default=str).encode()
                if len(content) < most and b'"local"' not in content:
                    yield content

    return read


def _segments() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        keys = np.array([[1, 2], [3, 4]], dtype=np.uint64)
        path = segment.write(Path(folder), "f", keys, np.ones((2, 3), dtype=np.float32))
        yield path.read_bytes()


def _zipped_tables() -> Iterator[bytes]:
    rows = gzip.compress(b"word\tside\na\t1\n", mtime=0)
    yield b'{"suffix": ".tsv.gz"}\n' + rows
    yield b'{"suffix": ".jsonl.gz"}\n' + gzip.compress(b'{"a": 1}\n', mtime=0)


def _binary_vectors() -> Iterator[bytes]:
    row = np.ones(3, dtype=np.float32).tobytes() + b"\n"
    yield b"2 3\nhe " + row + b"she " + row
    yield b"2 3\nhe 1 2 3\nshe 4 5 6\n"
    yield b"he 1 2 3\nshe 4 5 6\n"
    yield b"he\t1,2,3\nshe\t4,5,6"
    yield bz2.compress(b"he 1 2 3\nshe 4 5 6\n")
    yield _fasttext_model()


def _fasttext_model() -> bytes:
    """Return a model of two words, four n-grams and three dimensions."""
    header = struct.pack("<2i12id", 793712314, 12, 3, 5, 5, 1, 5, 1, 2, 2, 4, 3, 6, 100, 1e-4)
    words = b"".join(word + struct.pack("<qb", 9, 0) for word in (b"he\0", b"she\0"))
    matrix = struct.pack("<?2q", False, 6, 3) + np.ones(18, dtype="<f4").tobytes()
    outputs = struct.pack("<?2q", False, 2, 3) + np.ones(6, dtype="<f4").tobytes()
    return header + struct.pack("<3i2q", 2, 2, 0, 18, -1) + words + matrix + outputs


KINDS = {
    "task": Kind(".yaml", _task, _shipped("[wscn]*/*.yaml", 6_000)),
    "concept": Kind(
        ".yaml", lambda path: _load(path).validate(Concept), _shipped("concepts/*.yaml", 6_000)
    ),
    "benchmark": Kind(
        ".yaml",
        lambda path: schema.check_benchmark(_load(path), {"weat-6": 1, "name-triplets": 1}),
        _shipped("benchmarks/*.yaml"),
    ),
    "study": Kind(
        ".yaml",
        lambda path: study.resolve(_load(path), registry()),
        _shipped("studies/*.yaml", 8_000),
    ),
    "reproduction": Kind(
        ".yaml", lambda path: _load(path).validate(Paper), _shipped("reproduction/*.yaml", 60_000)
    ),
    "run": Kind(".yaml", _run),
    "table": Kind(".bin", _table, _zipped_tables),
    "records": Kind(".jsonl", lambda path: list(jsonl.read(path, Record, []))),
    "claims": Kind(".jsonl", _claims),
    "submission": Kind(".json", _submission),
    "withdrawn": Kind(".yaml", withdrawn.read),
    "model-name": Kind(".txt", lambda path: registry().models.find(_text(path)), is_own_word=True),
    "mitigator-name": Kind(
        ".txt", lambda path: registry().mitigator(_text(path)), is_own_word=True
    ),
    "segment": Kind(".safetensors", _segment, _segments),
    "vectors": Kind(
        ".vec",
        lambda path: vectors_file.vectors_file(str(path)).encode(["he"]),
        _binary_vectors,
    ),
}
"""All kinds by name."""
