"""Brings recorded values along when models get other fingerprints, and keep their vectors.

    python perf/fingerprints.py                            all models of the files
    python perf/fingerprints.py all-MiniLM-L6-v2 …         only these
    python perf/fingerprints.py OLD-FINGERPRINT=NEW …      without making a model
    python perf/fingerprints.py --file board.jsonl.gz …    other files than the repository's

Run it after a change of what a fingerprint covers. It writes the new fingerprints, and the ids and
checks that follow from them. It computes no value: where vectors change, evaluate again instead.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness import folders
from harness.errors import HarnessError, one_line
from harness.registry.registry import Registry
from harness.results.record import Record

ROOT = Path(__file__).parents[1]
FILES = (
    ROOT / "docs" / "figures" / "board.jsonl.gz",
    ROOT / "leaderboard" / "boards" / "references.jsonl.gz",
    ROOT / "tasks" / "validity.json",
)


def main() -> int:
    """Write the files that change, and say which."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="names of models, or OLD=NEW fingerprints")
    parser.add_argument("--file", type=Path, nargs="+", default=FILES, help="files of values")
    arguments = parser.parse_args()
    stated = dict(text.split("=", 1) for text in arguments.models if _is_pair(text))
    names = {text for text in arguments.models if not _is_pair(text)}
    contents = {file: read(file) for file in arguments.file}
    if names or not stated:
        recorded = [pair for content in contents.values() for pair in models(content)]
        if unknown := names - {name for name, _ in recorded}:
            sys.exit(f"no file has a value of {', '.join(sorted(unknown))}")
        stated |= changed(pair for pair in recorded if pair[0] in names or not names)
    for file, content in contents.items():
        after = brought_along(content, stated)
        if after != content:
            raw = after.encode()
            is_packed = file.suffix == ".gz"
            folders.write_atomically(file, gzip.compress(raw, 9, mtime=0) if is_packed else raw)
            print(f"wrote {file}")
    return 0


def read(file: Path) -> str:
    """Return the text of a file."""
    content = file.read_bytes()
    return (gzip.decompress(content) if file.suffix == ".gz" else content).decode()


def models(content: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the fingerprint of the model of each value."""
    for value in _values(content):
        model = value["model"]
        if isinstance(model, dict):
            yield model["name"], model["fingerprint"]
        else:
            yield model, value["fingerprint"]


def changed(recorded: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the fingerprint that a model has now, by the recorded one; only where they differ."""
    prints: dict[str, set[str]] = {}
    for name, fingerprint in recorded:
        prints.setdefault(name, set()).add(fingerprint)
    registry, found = Registry(), {}
    for name, old in sorted(prints.items()):
        try:
            info = registry.embedder(name).info
        except HarnessError as error:
            print(f"kept {name}: {one_line(error)}")
            continue
        if info.hosted:
            print(f"kept {name}: hosted")
            continue
        for fingerprint in sorted(old - {info.fingerprint}):
            print(f"{name}: {fingerprint} is now {info.fingerprint}")
            found[fingerprint] = info.fingerprint
    return found


def brought_along(content: str, prints: Mapping[str, str]) -> str:
    """Return values with other fingerprints, by the old ones, and nothing else changed."""
    if not _is_of_records(content):
        for old, new in prints.items():
            content = content.replace(
                f'"fingerprint": {json.dumps(old)}', f'"fingerprint": {json.dumps(new)}'
            )
        return content
    lines = content.splitlines(keepends=True)
    after = [_line(line, prints) for line in lines]
    return "".join(sorted(after) if lines == sorted(lines) else after)


def _line(line: str, prints: Mapping[str, str]) -> str:
    old = json.loads(line)["model"]["fingerprint"]
    if old not in prints:
        return line
    record = Record.model_validate_json(line)
    model = record.model.model_copy(update={"fingerprint": prints[old]})
    record = record.model_copy(update={"model": model})
    return record.model_copy(update={"id": record.identity()}).line()


def _values(content: str) -> Iterable[Mapping[str, Any]]:
    if _is_of_records(content):
        return map(json.loads, content.splitlines())
    values = json.loads(content)
    return values.values() if isinstance(values, dict) else values


def _is_of_records(content: str) -> bool:
    return content.startswith('{"schema"')


def _is_pair(text: str) -> bool:
    # A name with options has "=" after "?" only.
    return "=" in text.partition("?")[0]


if __name__ == "__main__":
    sys.exit(main())
