"""The inputs of tasks, kept on disk between runs, so that no run makes their texts again.

Inputs are used again only if everything that they were made from is the same: the content of the
task file, its concept and its data, the code of the harness and of what the task names, and the
installed packages. `compiled.py` says what a file is like; after JSON, it has numbers.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness import folders
from harness.concept import Concept
from harness.digest import STARTED, TICK, digest, identity, remembered_sha256
from harness.metrics import Metric
from harness.task.compiled import FORMAT, SUFFIX, folder, installed, read, write
from harness.task.inputs import Input
from harness.task.schema import TaskFile, VocabularyPart


@dataclass(frozen=True)
class Inputs:
    """The inputs of a task as they were kept.

    Parameters
    ----------
    scenarios
        Inputs by name, by scenario. Scenarios share inputs as they did when they were made.
    digests
        The digest of the task, by that of its yardstick; an empty text stands for none.
    """

    scenarios: Mapping[str, Mapping[str, Input]]
    digests: Mapping[str, str]


def key_of(
    file: TaskFile,
    concept: Concept | None,
    metrics: Iterable[Metric],
    makers: Iterable[Callable[..., Any]],
    paths: Mapping[str, Path],
    limit: int | None,
) -> str | None:
    """Return the digest of all that the inputs of a task are made of; None if it is not known.

    Parameters
    ----------
    file, concept
        The task file and its concept.
    metrics, makers
        The metrics and table makers that it names.
    paths
        The file of each table that has one.
    limit
        Largest number of items of each set or table in a smoke run; None for all.
    """
    makers = list(makers)
    if not all(map(_reads_only_rows, makers)):
        return None
    code = [_code_of(thing) for thing in (Input, *makers)]
    code += [_code_of(metric.function) for metric in metrics if not metric.source]
    data = {name: [path.name, _sha256(path)] for name, path in paths.items()}
    if None in code or any(None in content for content in data.values()):
        return None
    return digest(
        [
            FORMAT,
            sys.version_info[:2],  # it decides which version of Unicode is known
            *dict.fromkeys(code),
            installed(),
            [metric.source for metric in metrics],
            file.model_dump_json(),
            concept and concept.model_dump_json(),
            data,
            limit,
        ]
    )


def read_inputs(name: str, key: str) -> Inputs | None:
    """Return the inputs of a task with this key; None if they were not kept."""
    content = read(folder() / _file_name(name, key))
    if content is None:
        return None
    header, texts, numbers = content.split(b"\n", 2)
    head = json.loads(header)
    kept = _Kept(texts, numbers, head["codes"])
    inputs = [kept.input(entry) for entry in head["inputs"]]
    scenarios = {
        scenario: {name: inputs[i] for name, i in by_name.items()}
        for scenario, by_name in head["scenarios"].items()
    }
    return Inputs(scenarios, head["digests"])


def write_inputs(name: str, key: str, inputs: Inputs) -> None:
    """Keep the inputs of a task, in place of those with another key."""
    of_task = [i for by_name in inputs.scenarios.values() for i in by_name.values()]
    distinct = list({id(input_): input_ for input_ in of_task}.values())
    index = {id(input_): i for i, input_ in enumerate(distinct)}
    texts: dict[str, int] = {}
    codes: list[np.ndarray[Any, Any]] = []
    floats: list[np.ndarray[Any, Any]] = []
    entries = []
    for input_ in distinct:
        numbers = () if input_.numbers is None else input_.numbers
        parts = [_indexes(input_.texts or (), texts), _indexes(input_.items, texts)]
        codes += [*parts, input_.clusters]
        floats.append(np.asarray(numbers, dtype="<f8"))
        entries.append(
            {
                "name": input_.name,
                "group": input_.group,
                "probe": input_.probe,
                "original": input_.original,
                "role": input_.role,
                "vocabulary": input_.vocabulary and input_.vocabulary.model_dump(),
                "sizes": [
                    -1 if input_.texts is None else len(input_.texts),
                    len(input_.items),
                    len(input_.clusters),
                    -1 if input_.numbers is None else len(input_.numbers),
                ],
            }
        )
    header = {
        "inputs": entries,
        "scenarios": {
            scenario: {name: index[id(input_)] for name, input_ in by_name.items()}
            for scenario, by_name in inputs.scenarios.items()
        },
        "digests": inputs.digests,
        "codes": sum(map(len, codes)),
    }
    try:
        # Half of a character stays as it is: JSON escapes it.
        lines = [json.dumps(part).encode() + b"\n" for part in (header, list(texts))]
    except (TypeError, ValueError):  # a value that JSON has not
        return
    arrays = [np.concatenate(codes).astype("<i4").tobytes(), np.concatenate(floats).tobytes()]
    path = folder() / _file_name(name, key)
    with contextlib.suppress(OSError):
        for old in path.parent.glob(_file_name(name, "?" * len(key))):
            old.unlink()
    write(path, b"".join([*lines, *arrays]))


def _file_name(name: str, key: str) -> str:
    return f"task-{folders.safe_name(name)}-{key}{SUFFIX}"


def _indexes(values: Sequence[str], known: dict[str, int]) -> np.ndarray[Any, Any]:
    """Return the index of each text in `known`, to which new ones are added."""
    indexes = (known.setdefault(text, len(known)) for text in values)
    return np.fromiter(indexes, dtype="<i4", count=len(values))


class _Kept:
    """The content of a file of inputs; its texts are decoded when the first is asked for."""

    def __init__(self, texts: bytes, numbers: bytes, n_codes: int) -> None:
        self._encoded = texts
        self._codes = np.frombuffer(numbers, dtype="<i4", count=n_codes)
        self._floats = np.frombuffer(numbers, dtype="<f8", offset=4 * n_codes)
        self._code = self._float = 0

    @functools.cached_property
    def texts(self) -> list[str]:
        """The distinct texts."""
        texts: list[str] = json.loads(self._encoded)
        self._encoded = b""
        return texts

    def input(self, entry: Mapping[str, Any]) -> Input:
        """Return the next input; `entry` is its part of the header."""
        n_texts, n_items, n_clusters, n_numbers = entry["sizes"]
        texts, items = self._next(n_texts), self._next(n_items)
        clusters = self._next(n_clusters).astype(np.int64)
        numbers = None
        if n_numbers >= 0:
            numbers = self._floats[self._float : self._float + n_numbers].astype(np.float64)
            self._float += n_numbers
        facts = {
            "name": entry["name"],
            "numbers": numbers,
            "clusters": clusters,
            "group": entry["group"],
            "probe": entry["probe"],
            "original": entry["original"],
            "vocabulary": entry["vocabulary"] and VocabularyPart(**entry["vocabulary"]),
            "role": entry["role"],
        }
        kept = object.__new__(_KeptInput)
        kept.__dict__.update(facts, _file=self, _texts=None if n_texts < 0 else texts, _items=items)
        return kept

    def _next(self, n: int) -> np.ndarray[Any, Any]:
        start, self._code = self._code, self._code + max(0, n)
        return self._codes[start : self._code]


class _KeptInput(Input):
    """An input whose texts are read when they are first used: a run that is done needs none."""

    def __getattr__(self, name: str) -> Any:
        if name not in ("texts", "items"):
            raise AttributeError(name)
        indexes = self.__dict__[f"_{name}"]
        if indexes is None:
            values = None
        else:
            texts = self.__dict__["_file"].texts
            values = tuple([texts[i] for i in indexes.tolist()])
        self.__dict__[name] = values
        return values


# What may change a task besides its files: code, and installed packages.


def _reads_only_rows(maker: Callable[..., Any]) -> bool:
    """Return whether a table maker is known to make its rows of nothing but its arguments.

    Those of the harness do, but for the one that reads the hub. Others may read anything.
    """
    package, _, name = maker.__module__.rpartition(".")
    return package == "harness.plugins.tables" and name != "hub_rows"


def _sha256(path: Path) -> str | None:
    try:
        return remembered_sha256(path)
    except OSError:
        return None


def _code_of(thing: Callable[..., Any]) -> str | None:
    """Return a digest of the code of the package of a function; None if it is not importable."""
    module = sys.modules.get(thing.__module__)
    found: Any = module
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    # What is made while a program runs may be something else in the next run.
    if found is not thing or module is None or thing.__module__ == "__main__":
        return None
    return _code_in(thing.__module__.partition(".")[0])


@functools.cache
def _code_in(package: str) -> str | None:
    """Return a digest of the state of all Python files of a package.

    None if one may have changed since it was imported.
    """
    # The harness has its parts in several folders, see `harness.plugins`.
    modules = [sys.modules.get(name) for name in (package, f"{package}.plugins")]
    files: set[Path] = set()
    for file in {module.__file__ for module in modules if module is not None and module.__file__}:
        is_package = Path(file).name == "__init__.py"
        files |= _python_files(Path(file).parent) if is_package else {Path(file)}
    try:
        states = {str(file): file.stat() for file in sorted(files)}
    except OSError:
        return None
    if not states or max(state.st_ctime for state in states.values()) + TICK > STARTED:
        return None
    return digest([[name, *identity(state)] for name, state in states.items()])


def _python_files(root: Path) -> set[Path]:
    return {
        Path(parent) / name
        for parent, _, names in os.walk(root)
        for name in names
        if name.endswith(".py")
    }
