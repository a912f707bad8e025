"""Every command that writes: killed, or on a full disk, at each step, and then run once more.

After the second run the files equal those of an undisturbed run, dates and names of runs aside, and
no temporary file is left. The steps are those of `disk`. Where a command has more than 200, all its
renames are tried and 200 others.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import small_study
import submission_records
import tiny_corpus
import tiny_recipe
from disk import Tree, failing, kills

from harness.commands import main

pytestmark = pytest.mark.posix

MOST = 200
TASK = {
    "name": "tiny",
    "version": 1,
    "title": "Tiny",
    "category": "gender",
    "inputs": {
        "targets_1": {"words": ["he", "man"]},
        "targets_2": {"words": ["she", "woman"]},
        "attributes_1": {"words": ["career", "office"]},
        "attributes_2": {"words": ["home", "family"]},
    },
    "metrics": {"weat": {"options": {"permutations": 10}}},
    "primary": {"metric": "weat", "score": "effect_size"},
}
EVAL = ("eval", "-m", "random-words", "-t", "tiny.yaml", "--results", "results")
SCORE = ("corpus", "score", "-m", "vectors:vectors.txt", "-i", "pairs.jsonl", "-o", "scored.jsonl")
FAIRER = ("-i", "scored.jsonl", "-p", "80", "--holdout", "2", "-o", "corpora")
TRAIN = (
    *("train", "--base", "vectors:vectors.txt", "--corpus", "corpus", "--hidden", "4"),
    *("--epochs", "2", "--device", "cpu", "--out", "trained"),
)
WORDS = b"word,side\nhe,a\nshe,b\n"
URL = "https://data.example/words.csv"
_VARIES = re.compile(
    rb'"(?:run|created|check|seconds|built|date|updated|id)": ?("[^"]*"|[\d.]+),?'
    rb"|\d{4}-\d\d-\d\dT[\d:.+Z]+|\d{4}-\d\d-\d\d|[\d.]+ s\b"
)
_RUN = re.compile(r"\b[0-9a-f]{12}\b")
_TEMPORARY = re.compile(r"(^|/)\.[^/]*\.tmp($|/)|(^|/)\.generation($|/)|\.tmp$|\.part$")


@dataclass(frozen=True)
class Case:
    """A command.

    Parameters
    ----------
    name
        The command, and what is special about this run of it.
    command
        Its arguments; paths are relative to the folder of the case.
    prepare
        Writes what the command reads into the folder.
    ignored
        Folders whose files differ from run to run; temporary files are looked for there, too.
    """

    name: str
    command: tuple[str, ...]
    prepare: Callable[[Path], object]
    ignored: tuple[str, ...] = field(default=("cache",))


def _task(folder: Path) -> None:
    (folder / "tiny.yaml").write_text(json.dumps(TASK), "utf-8")


def _run(*arguments: str) -> int:
    return main.run(list(arguments))


def _results(folder: Path) -> None:
    _task(folder)
    assert _run(*EVAL, "--samples") == 0


def _submission(folder: Path) -> None:
    submission_records.write(folder / "submission", submission_records.good_records(tasks=3))
    submission_records.write(
        folder / "board", submission_records.good_records("other", run="r2", tasks=3)
    )


def _study(folder: Path) -> None:
    small_study.fill(folder, small_study.vectors())
    content = small_study.content(folder) | {"models": ["vectors:vectors.txt"]}
    small_study.write(folder / "study.yaml", content)


def _vectors(folder: Path) -> None:
    tiny_corpus.vectors(folder)


def _corpus(folder: Path) -> None:
    _vectors(folder)
    tiny_corpus.write(folder / "pairs.jsonl", tiny_corpus.pairs(20, seed=1))


def _scored(folder: Path) -> None:
    _corpus(folder)
    assert _run(*SCORE) == 0


def _splits(folder: Path) -> None:
    _vectors(folder)
    tiny_corpus.corpus(folder / "corpus", 24)


def _trained(folder: Path) -> None:
    _splits(folder)
    assert _run(*TRAIN) == 0


def _recipe(folder: Path) -> None:
    tiny_recipe.write(folder, pairs=30, seeds=[1], rows={"original": {}, "sub80": {"subtract": 80}})


def _fetched(folder: Path) -> None:
    """Write a task whose table is in the web."""
    table = {"url": URL, "sha256": hashlib.sha256(WORDS).hexdigest()}
    targets = {
        f"targets_{i}": {"table": "t", "column": "word", "where": {"side": side}}
        for i, side in ((1, "a"), (2, "b"))
    }
    task = TASK | {"tables": {"t": table}, "inputs": TASK["inputs"] | targets}
    (folder / "tasks").mkdir()
    (folder / "tasks" / "tiny.yaml").write_text(json.dumps(task), "utf-8")


def _nothing(folder: Path) -> None:
    pass


CASES = [
    Case("eval", (*EVAL, "--samples"), _task),
    Case("eval more", (*EVAL, "-M", "none", "-M", "normalize"), _results),
    Case("results merge", ("results", "merge", "submission", "--into", "board"), _submission),
    Case(
        "results pack",
        ("results", "pack", "results", "--out", "packed", "--by", "Ada", "--include", "."),
        _results,
    ),
    Case(
        "debias",
        ("debias", "-m", "vectors:vectors.txt", "-M", "normalize", "--out", "out.txt"),
        _vectors,
    ),
    Case(
        "debias gensim",
        ("debias", "-m", "vectors:vectors.txt", "-M", "normalize", "--out", "out.kv"),
        _vectors,
    ),
    Case("study", ("study", "run", "study.yaml", "--include", ".", "--results", "results"), _study),
    Case("cache prune", ("cache", "prune"), _results),
    Case("cache verify", ("cache", "verify"), _results),
    Case(
        "leaderboard build",
        ("leaderboard", "build", "results", "--include", ".", "--out", "site"),
        _results,
    ),
    Case(
        "leaderboard init",
        (
            "leaderboard",
            "init",
            "board",
            "--title",
            "B",
            "--harness",
            "git+https://x.example/h@0a1b",
        ),
        _nothing,
    ),
    Case("cite", ("cite", "results", "--out", "cited.bib", "--include", "."), _results),
    Case("results export", ("results", "export", "results", "--out", "scores.csv"), _results),
    Case("corpus score", SCORE, _corpus),
    Case("corpus subtract", ("corpus", "subtract", *FAIRER), _scored),
    Case("corpus augment", ("corpus", "augment", *FAIRER), _scored),
    Case("train", TRAIN, _splits),
    Case(
        "recipe",
        (
            *("train", "--recipe", "tiny.yaml", "--include", "tasks", "--trust"),
            *("--out", "recipe"),
        ),
        _recipe,
    ),
    Case("figure", ("figure", "trained/curves.json", "--out", "curves.svg"), _trained),
    Case(
        "compare",
        (
            *("compare", "-m", "random-words", "-M", "normalize", "-t", "tiny.yaml"),
            *("--results", "results", "--html", "verdict.html"),
        ),
        _task,
    ),
    Case(
        "data fetch",
        ("data", "fetch", "tiny", "--include", "tasks", "--trust", "--out", "data"),
        _fetched,
    ),
    Case("new", ("new", "metric", "mine", "--out", "mine"), _nothing),
]


def tree(folder: Path) -> Tree:
    """Return the files of a folder by path, and its folders as None."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def written(found: Tree, ignored: Iterable[str]) -> dict[str, Any]:
    """Return what a command wrote, without dates and names of runs."""
    return {
        _RUN.sub("RUN", path): content
        and _RUN.sub("RUN", _VARIES.sub(b"", content).decode("latin-1"))
        for path, content in found.items()
        if path.split("/")[0] not in ignored
        and not path.endswith(".lock")
        and "results/runs/" not in path  # a file of each run that began; its records name it
    }


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Case], Tree]:
    """Return a function that gives the files that a case starts from."""

    def prepare(case: Case) -> Tree:
        folder = tmp_path / case.name
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("HARNESS_CACHE", "cache")
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
        case.prepare(folder)
        return tree(folder)

    return prepare


def restore(files: Tree, folder: Path) -> None:
    """Make a folder hold these files, and no others."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path, content in sorted(files.items()):
        if content is None:
            (folder / path).mkdir(parents=True, exist_ok=True)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)


def chosen(steps: list[str], most: int) -> list[int]:
    """Return the steps to try: all, or all renames and some of the others, evenly."""
    renames = [i for i, step in enumerate(steps) if step == "rename"]
    others = [i for i, step in enumerate(steps) if step != "rename"]
    if len(steps) <= most:
        return list(range(len(steps)))
    return sorted({*renames, *others[:: max(1, -(-len(others) // most))]})


def check(case: Case, files: Tree, most: int) -> Iterator[str]:
    """Yield what is wrong after a kill or a full disk at each step."""
    folder = Path.cwd()
    restore(files, folder)
    states: list[tuple[str, Tree]] = []
    kills(folder, lambda: _run(*case.command), states)
    undisturbed = written(tree(folder), case.ignored)
    names = [step for step, _ in states]
    seen = set()
    for i in chosen(names, most):
        step, state = states[i]
        if (key := frozenset(state.items())) in seen:
            continue
        seen.add(key)
        restore(state, folder)
        _run(*case.command)
        yield from differences(f"killed at step {i} ({step})", case, undisturbed)
    for i in chosen(names, max(1, most // 4)):
        restore(files, folder)
        if names[i] == "remove":  # needs no room
            continue
        with failing(i) as disk:
            _run(*case.command)
        if disk.failed is None:
            break
        _run(*case.command)
        yield from differences(f"disk full at step {i} ({disk.failed})", case, undisturbed)


def differences(when: str, case: Case, undisturbed: dict[str, Any]) -> Iterator[str]:
    """Yield what is left or differs in the working directory."""
    found = tree(Path.cwd())
    # `harness cache prune` removes what a killed run left in the stores of embeddings.
    left = [path for path in found if _TEMPORARY.search(path)]
    if left:
        yield f"{when}: left {left[:3]}"
    now = written(found, case.ignored)
    if paths := [
        path
        for path in sorted(now.keys() | undisturbed.keys())
        if now.get(path, ...) != undisturbed.get(path, ...)
    ]:
        yield f"{when}: differs in {paths[:4]}"


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_after_a_kill_or_a_full_disk_the_next_run_is_whole(case, prepared, web):
    web.pages[URL] = WORDS
    found = list(check(case, prepared(case), MOST))
    assert not found, "\n".join(found)


def test_after_a_kill_or_a_full_disk_some_commands_are_whole(prepared, web):
    """A sample of the test above, for each run of the tests."""
    sample = {"data fetch": 6, "corpus score": 3}
    web.pages[URL] = WORDS
    for name, most in sample.items():
        (case,) = (case for case in CASES if case.name == name)
        found = list(check(case, prepared(case), most))
        assert not found, "\n".join(found)
