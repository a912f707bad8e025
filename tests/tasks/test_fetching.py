"""Every data file that shipped tasks fetch, large ones apart, from a local server that is the web.

The server sends the real files where HARNESS_DATA has them, and made-up ones elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from harness.commands import main
from harness.registry.registry import Registry
from harness.task.data_files import DataFiles
from harness.task.schema import TaskFile

LOCAL = Path(os.environ.get("HARNESS_DATA", "no such folder"))


@pytest.fixture
def tables():
    """The tables of the shipped tasks that are fetched, by local path."""
    files = [document.validate(TaskFile) for document in Registry().task_files.values()]
    each = [table for file in files if not file.large for table in file.tables.values()]
    found = {table.local: table for table in each if table.url}
    assert len(found) > 40
    assert len({(t.local, t.sha256) for t in each if t.url}) == len(found)  # one file, one content
    assert not any(table.member for table in found.values())
    return found


@pytest.fixture
def alone(web, tmp_path, monkeypatch):
    """A machine with that web, an empty cache and no folder of data."""
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return web


def content(table):
    copy = LOCAL / table.local
    return copy.read_bytes() if copy.is_file() else f"made up: {table.url}".encode()


def test_every_file_arrives_and_a_second_run_makes_no_request(alone, tables, tmp_path):
    contents = {table.local: content(table) for table in tables.values()}
    served = {
        name: table.model_copy(
            update={
                "sha256": hashlib.sha256(contents[name]).hexdigest(),
                "size": len(contents[name]),
            }
        )
        for name, table in tables.items()
    }
    alone.pages = {table.url: contents[name] for name, table in tables.items()}
    document = next(iter(Registry().task_files.values()))
    paths = DataFiles().provide(served, document)
    assert {name: path.read_bytes() for name, path in paths.items()} == contents
    assert sorted(alone.requests) == sorted(alone.pages)
    assert {
        path.relative_to(tmp_path / "cache" / "data").as_posix() for path in paths.values()
    } == {*contents}
    assert DataFiles().provide(served, document) == paths
    assert len(alone.requests) == len(contents)


def test_the_command_fetches_every_file_that_the_web_has_and_names_all_others(
    alone, tables, capsys
):
    there = {name: table for name, table in tables.items() if (LOCAL / name).is_file()}
    alone.pages = {table.url: content(table) for table in there.values()}
    code = main.run(["data", "fetch"])
    assert code == (0 if set(there) == set(tables) else 1)
    lines = [line for line in capsys.readouterr().err.splitlines() if "missing" in line]
    assert len(lines) == code
    assert all(f"'{name}'" in lines[0] for name in set(tables) - set(there))
    assert main.run(["data", "status", "--json"]) == 0
    states = {row["file"]: row["state"] for row in json.loads(capsys.readouterr().out)}
    assert {name for name, state in states.items() if state == "fetched"} == set(there)
    requests = len(alone.requests)
    assert main.run(["data", "fetch", *([] if there == tables else ["weat"])]) == 0
    assert len(alone.requests) == requests
