"""Hostile files of others, each with the command that reads it, and a sentinel that watches.

`watch` runs all of them in a process of its own: an audit hook cannot be taken out again.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

SECRET_NAME, SECRET = "AWS_SECRET_CANARY", "wJalrXUtnFEMI-canary"
ELSEWHERE = "elsewhere.txt"
"""A file above the folder of the hostile file; no variant may read it."""
SEND = f"base_url=http://127.0.0.1:9/v1&key={SECRET_NAME}"
HASH = "0" * 64
EVIL_MODEL = {
    "evil/modules.json": '[{"idx": 0, "name": "0", "path": "", "type": "evil.Evil"}]',
    "evil/config.json": '{"model_type": "evil", "auto_map": {"AutoModel": "evil.Evil"}}',
    "evil/evil.py": "import os\nos.system('true')\n",
}
"""A model folder with its own code."""
STUDY: dict[str, Any] = {
    "name": "mine",
    "version": 1,
    "title": "Mine",
    "models": ["random-words"],
    "concept": "gender",
    "mitigators": {"hard-debias": {}},
    "measures": {"ECT": {"metric": "ect"}},
    "folds": 2,
    "inner_folds": 2,
    "inputs": {
        "targets_1": {"table": "concept.definitional_pairs", "column": "second"},
        "targets_2": {"table": "concept.definitional_pairs", "column": "first"},
        "attributes": {"words": ["family", "career"]},
    },
}
TASK: dict[str, Any] = {
    "name": "mine",
    "version": 1,
    "title": "Mine",
    "category": "gender",
    "metrics": {"ect": {}},
    "primary": {"metric": "ect", "score": "coherence"},
    "inputs": {
        "targets_1": {"words": ["he", "man"]},
        "targets_2": {"words": ["she", "woman"]},
        "attributes": {"words": ["family", "career"]},
    },
}
FROM_TABLE = {**TASK["inputs"], "attributes": {"table": "t", "column": "word"}}


@dataclass(frozen=True)
class Hostile:
    """A file that asks for what it may not have.

    Parameters
    ----------
    name
        What it is, in a few words.
    files
        Content by path, in a folder of its own.
    command
        The command that reads it there.
    fact
        What the line that refuses it must say.
    links
        Target of each link by its path.
    """

    name: str
    files: dict[str, str]
    command: tuple[str, ...]
    fact: str
    links: dict[str, str] = field(default_factory=dict)


@dataclass
class Seen:
    """What a command did: its exit code, its lines, and what the sentinel saw."""

    code: int = 0
    lines: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)


def variants() -> Iterator[Hostile]:
    """Yield all hostile files."""
    yield from _studies()
    yield from _run_files()
    yield from _tasks()
    yield from _others()


MODELS = {
    "own code": ("sentence-transformers:./evil?trust_remote_code=true", "runs code"),
    "own code, encoded value": ("./evil?trust_remote_code=%74rue", "runs code"),
    "own code of the hub": ("someone/evil?trust_remote_code=true", "runs code"),
    "own code, not asked for": ("sentence-transformers:./evil", "own Python code"),
    "capital option": ("sentence-transformers:./evil?TRUST_REMOTE_CODE=true", "runs code"),
    "secret to a host": (f"openai:x?{SEND}", SECRET_NAME),
    "default key": ("openai:text-embedding-3-small", "uses a key"),
    "registered hosted model": ("text-embedding-3-small", "uses a key"),
    "a key itself": (f"openai:x?key={SECRET}", "key=***"),
    "nested address": (f"bag-of-words:openai:x?{SEND}", "uses a key"),
    "address as a model": ("http://127.0.0.1:9/model", "unknown model provider"),
}
"""Names of models, and what is said of them."""
LINKS = {"link.txt": f"../{ELSEWHERE}"}
MITIGATORS = {
    "secret to a host": (f"anonymize?engine=llm&model=x&{SEND}", SECRET_NAME),
    "in a chain": (f"normalize+anonymize?engine=llm&model=x&{SEND}", SECRET_NAME),
}


def _yaml(content: dict[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False)


def _studies() -> Iterator[Hostile]:
    def study(name: str, fact: str, **changes: Any) -> Hostile:
        files = EVIL_MODEL | {"mine.yaml": _yaml(STUDY | changes)}
        return Hostile(f"study: {name}", files, ("study", "run", "mine.yaml"), fact, LINKS)

    yield study("own code", "runs code", models=[MODELS["own code"][0]])
    chain = MITIGATORS["in a chain"][0]
    yield study("mitigator", SECRET_NAME, mitigators={"row": {"mitigator": chain}})
    grid = {"engine": ["llm"], "key": [SECRET_NAME], "base_url": ["http://127.0.0.1:9/v1"]}
    yield study("grid", SECRET_NAME, mitigators={"anonymize": {"grid": grid}})
    table = {"t": {"url": "https://127.0.0.1:9/t.tsv", "sha256": HASH}}
    yield study("table", "address", tables=table)
    model = {"models": [f"openai:x?{SEND}"]}
    include = {"mine.yaml": "include: _part.yaml\n", "_part.yaml": _yaml(STUDY | model)}
    yield Hostile("study: included", include, ("study", "run", "mine.yaml"), "_part.yaml:5:")
    installed = {"t/studies/mine.yaml": _yaml(STUDY | model)}
    command = ("study", "run", "mine", "--include", "t")
    yield Hostile("study: of a folder", installed, command, SECRET_NAME)


def _run_files() -> Iterator[Hostile]:
    def run(name: str, fact: str, command: str = "eval", **content: Any) -> Hostile:
        file = {"models": ["random-words"], "tasks": ["weat-6"]} | content
        words = (command, "mine.yaml") if command == "validate" else (command, "-c", "mine.yaml")
        files = EVIL_MODEL | {"mine.yaml": _yaml(file)}
        return Hostile(f"run file, {command}: {name}", files, words, fact, LINKS)

    for name, (model, fact) in MODELS.items():
        yield run(name, fact, models=[model])
    for name, (mitigator, fact) in MITIGATORS.items():
        yield run(f"mitigator, {name}", fact, mitigators=["none", mitigator])
    for command in ("plan", "validate"):
        yield run("own code", "runs code", command, models=[MODELS["own code"][0]])
        yield run("mitigator", SECRET_NAME, command, mitigators=[MITIGATORS["in a chain"][0]])
    yield run("engine", "unknown engine", engine="os:system")
    yield run("metric", "unknown metric", metrics=["os:system"])
    text = "models: !!python/object/apply:os.system ['true']\n"
    yield Hostile("run file: tag", {"mine.yaml": text}, ("eval", "-c", "mine.yaml"), "tag")


def _tasks() -> Iterator[Hostile]:
    def task(name: str, fact: str, command: tuple[str, ...] = (), **changes: Any) -> Hostile:
        words = command or ("eval", "-m", "random-words", "-t", "mine.yaml")
        return Hostile(f"task: {name}", {"mine.yaml": _yaml(TASK | changes)}, words, fact, LINKS)

    def table(name: str, fact: str, command: tuple[str, ...] = (), **table: Any) -> Hostile:
        return task(name, fact, command, inputs=FROM_TABLE, tables={"t": table})

    address = {"url": "https://127.0.0.1:9/t.tsv", "sha256": HASH}
    for command in ("eval -m random-words -t mine.yaml", "data fetch mine --include ."):
        yield table(f"address, {command}", "address", tuple(command.split()), **address)
    yield table("address of a file", "invalid url", url="file:///etc/passwd", sha256=HASH)
    yield table("file elsewhere", "'/etc/passwd'", file="/etc/passwd")
    yield table("link", "is not in the folder", file="link.txt")
    words = ("validate", "mine.yaml")
    yield table("package", "evil_canary", words, file="t.tsv", package="evil_canary.sub")
    rows = {"columns": ["word"], "rows": [["a"]]}
    for name, fact, maker, given in (
        ("maker with a key", "uses a key", "sample", {"key": SECRET_NAME}),
        ("maker of code", "unknown table maker", "os:system", {}),
    ):
        made = {"made_from": "rows", "made_by": maker, "options": given}
        yield task(name, fact, inputs=FROM_TABLE, tables={"rows": rows, "t": made})
    yield task(
        "option of a metric", "uses a key", metrics={"ect": {"options": {"key": SECRET_NAME}}}
    )
    yield task("metric of code", "unknown metric", metrics={"os:system": {}})
    yield task("include", "is not in the folder", include="/etc/passwd")
    each = {"each": [{"n": 1, "place": "https://127.0.0.1:9/t.tsv"}], "name": "mine-${n}"}
    filled = TASK | each | {"tables": {"t": {"url": "${place}", "sha256": HASH}}}
    words = ("eval", "-m", "random-words", "-t", "mine.yaml")
    yield Hostile("task: each", {"mine.yaml": _yaml(filled)}, words, "address")
    text = _yaml(TASK) + "description: !!python/name:os.system\n"
    yield Hostile("task: tag", {"mine.yaml": text}, ("validate", "mine.yaml"), "tag")


def _others() -> Iterator[Hostile]:
    concept = {"t/concepts/mine.yaml": "name: mine\ninclude: ../../elsewhere.yaml\n"}
    command = ("validate", "t/concepts/mine.yaml")
    yield Hostile("concept: include", concept, command, "is not in the folder")
    concept = {"mine.yaml": "name: mine\ndefinitional_pairs: !!python/object/new:os.system [x]\n"}
    yield Hostile("concept: tag", concept, ("validate", "mine.yaml"), "tag")
    benchmark = {"name": "mine", "version": 1, "title": "Mine", "tasks": {"../elsewhere": 1}}
    for command in (("validate", "mine.yaml"), ("eval", "-m", "random-words", "-t", "mine.yaml")):
        files = {"mine.yaml": _yaml(benchmark)}
        yield Hostile(f"benchmark: {command[0]}", files, command, "tasks.../elsewhere")


def submission(folder: Path) -> tuple[str, ...]:
    """Write a submission whose records name hostile things; return the command that checks it."""
    from submission_records import changed, write

    from harness.leaderboard.boards import references

    record = next(r for r in references.shipped() if r.model.name == "random-words")
    names = [("model__name", model) for model, _ in MODELS.values()]
    names += [("mitigator__label", mitigator) for mitigator, _ in MITIGATORS.values()]
    folder.mkdir(parents=True)
    content = json.loads(record.line())
    write(folder, [changed(content, run="r1", **{key: value}) for key, value in names])
    return ("results", "check", str(folder), "--json")


_WATCHED = (
    *("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"),
    *("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn"),
)


def watch(folder: Path) -> dict[str, Seen]:
    """Run each variant in a new process, in a folder of its own; return what was seen, by name."""
    environment = {**os.environ, SECRET_NAME: SECRET, "OPENAI_API_KEY": SECRET,
                   "VOYAGE_API_KEY": SECRET, "HF_HUB_OFFLINE": "1",
                   "HARNESS_CACHE": str(folder / "cache"),
                   "PYTHONPATH": str(Path(__file__).parent)}  # fmt: skip
    done = subprocess.run(
        [sys.executable, __file__, str(folder)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return {name: Seen(**seen) for name, seen in json.loads(done.stdout).items()}


def _run_all(folder: Path) -> dict[str, Seen]:
    from harness.commands.main import run

    seen: dict[str, Seen] = {}
    now = Seen()
    secrets = {SECRET_NAME, "OPENAI_API_KEY", "VOYAGE_API_KEY"}
    look_up = type(os.environ).__getitem__

    def looked_up(environment: Any, name: str) -> str:
        if name in secrets:
            now.events.append(f"environment {name}")
        return look_up(environment, name)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _WATCHED:
            now.events.append(f"{event} {arguments!r:.200}")
        elif event == "open" and str(arguments[0]).endswith((ELSEWHERE, "evil.py", "passwd")):
            now.events.append(f"open {arguments[0]}")
        elif event == "import" and str(arguments[0]).startswith("evil"):
            now.events.append(f"import {arguments[0]}")

    def watched(name: str, command: tuple[str, ...]) -> None:
        nonlocal now
        now = seen[name] = Seen()
        with (
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            now.code = run(list(command))
        now.lines = [line for text in (out, err) for line in text.getvalue().splitlines()]
        now = Seen()

    type(os.environ).__getitem__ = looked_up
    sys.addaudithook(hook)
    for i, variant in enumerate(variants()):
        place = folder / str(i) / "inside"
        for name, text in variant.files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        for name, target in variant.links.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).symlink_to(target)
        (place.parent / "folder").mkdir()
        (place.parent / ELSEWHERE).write_text(f"{SECRET} 1 2 3\n")
        os.chdir(place)
        watched(variant.name, variant.command)
    watched("submission", submission(folder / "submission"))
    return seen


if __name__ == "__main__":
    result = _run_all(Path(sys.argv[1]))
    os.chdir(tempfile.gettempdir())
    print(json.dumps({name: asdict(seen) for name, seen in result.items()}))
