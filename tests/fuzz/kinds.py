"""What is fuzzed: each kind of input, how it is read, and inputs to start from."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness import tasks

TASKS = Path(tasks.__file__).parent


def _none() -> Iterator[bytes]:
    return iter(())


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    Parameters
    ----------
    name
        Its name, and that of its folder in the corpus.
    suffix
        End of the names of its files.
    read
        Reads an input as the harness does.
    seeds
        Returns further inputs to start from.
    is_own_word
        Whether the input is what a user types, which may name any file.
    """

    name: str
    suffix: str
    read: Callable[[Path], object]
    seeds: Callable[[], Iterator[bytes]] = _none
    is_own_word: bool = False


@functools.cache
def _registry() -> Any:
    from harness.registry.registry import Registry

    return Registry()


def _load(path: Path) -> Any:
    from harness.registry.discovery import load_file
    from harness.task import yaml_files

    yaml_files._PARSED.clear()  # 10,000 files would fill the memory
    return load_file(path)


def _task(path: Path) -> None:
    document = _load(path)
    task = _registry().resolve(document)
    assert task.digest
    list(task.texts())


def _concept(path: Path) -> None:
    from harness.concept import Concept

    _load(path).validate(Concept)


def _benchmark(path: Path) -> None:
    from harness.task import schema

    schema.check_benchmark(_load(path), {"weat-6": 1, "ws-353": 1, "name-triplets": 1})


def _study(path: Path) -> None:
    from harness.study.study import resolve

    resolve(_load(path), _registry())


def _run(path: Path) -> None:
    from harness.run.settings import asked_in_file, read_run_file

    read_run_file(path)
    asked_in_file(_load(path), _registry()).check()


def _paper(path: Path) -> None:
    from harness.plugins.reproduction.rows import Paper

    _load(path).validate(Paper)


def _table(path: Path) -> None:
    """Read a table that says in its first line how it is read."""
    from pydantic import ValidationError

    from harness.task import data_files
    from harness.task.schema import Table

    head, _, content = path.read_bytes().partition(b"\n")
    try:
        settings = json.loads(head)
        suffix = settings.pop("suffix", ".tsv")
        table = Table(file="x", **settings)
    except (ValueError, TypeError, AttributeError, ValidationError, RecursionError):
        suffix, table = ".tsv", Table(file="x")
    if suffix not in (".tsv", ".csv", ".jsonl", ".tsv.gz", ".jsonl.gz"):
        suffix = ".tsv"
    file = path.with_name(f"table-{path.stem}{suffix}")
    file.write_bytes(content)
    try:
        data_files.parse_table(table, file)
    finally:
        file.unlink()


def _own_records(path: Path) -> None:
    from harness.results import jsonl
    from harness.results.record import Record

    list(jsonl.read(path, Record, []))


def _claims(path: Path) -> None:
    from harness.leaderboard.claims import facts, reading, trust

    claims = reading.read([path])
    trust.trusted(claims, facts.known(claims.frame["task"].unique().to_list()))


def _submission(path: Path) -> None:
    from harness.leaderboard.submissions import submission

    folder = path.with_suffix("")
    folder.mkdir()
    file = folder / submission.NAME
    path.rename(file)
    try:
        submission.read(folder)
    finally:
        file.unlink()
        folder.rmdir()


def _withdrawn(path: Path) -> None:
    from harness.leaderboard.submissions import withdrawn

    withdrawn.read(path)


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="surrogateescape")


def _model(path: Path) -> None:
    _registry().models.find(_text(path))


def _mitigator(path: Path) -> None:
    _registry().mitigator(_text(path))


def _segment(path: Path) -> None:
    from harness.store import segment

    try:
        read = segment.read(path, "f")
        segment.check(read)
    except (segment.Damaged, segment.Foreign):
        pass


def _vectors(path: Path) -> None:
    from harness.plugins.embedders.vectors import vectors_file

    vectors_file.vectors_file(str(path)).encode(["he"])


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
    import tempfile

    from harness.store import segment

    with tempfile.TemporaryDirectory() as folder:
        keys = np.array([[1, 2], [3, 4]], dtype=np.uint64)
        path = segment.write(Path(folder), "f", keys, np.ones((2, 3), dtype=np.float32))
        yield path.read_bytes()


def _zipped_tables() -> Iterator[bytes]:
    rows = gzip.compress(b"word\tside\na\t1\n", mtime=0)
    yield b'{"suffix": ".tsv.gz"}\n' + rows
    yield b'{"suffix": ".jsonl.gz"}\n' + gzip.compress(b'{"a": 1}\n', mtime=0)


def _binary_vectors() -> Iterator[bytes]:
    binary = io.BytesIO(b"")
    binary.write(b"2 3\n")
    for word in (b"he", b"she"):
        binary.write(word + b" " + np.ones(3, dtype=np.float32).tobytes() + b"\n")
    yield binary.getvalue()
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
    kind.name: kind
    for kind in (
        Kind("task", ".yaml", _task, _shipped("[wscn]*/*.yaml", 6_000)),
        Kind("concept", ".yaml", _concept, _shipped("concepts/*.yaml", 6_000)),
        Kind("benchmark", ".yaml", _benchmark, _shipped("benchmarks/*.yaml")),
        Kind("study", ".yaml", _study, _shipped("studies/*.yaml", 8_000)),
        Kind("reproduction", ".yaml", _paper, _shipped("reproduction/*.yaml", 60_000)),
        Kind("run", ".yaml", _run),
        Kind("table", ".bin", _table, _zipped_tables),
        Kind("records", ".jsonl", _own_records),
        Kind("claims", ".jsonl", _claims),
        Kind("submission", ".json", _submission),
        Kind("withdrawn", ".yaml", _withdrawn),
        Kind("model-name", ".txt", _model, is_own_word=True),
        Kind("mitigator-name", ".txt", _mitigator, is_own_word=True),
        Kind("segment", ".safetensors", _segment, _segments),
        Kind("vectors", ".vec", _vectors, _binary_vectors),
    )
}
"""All kinds by name."""
