"""Folders of task files: what is in them that is no task is skipped with a line."""

from __future__ import annotations

import os

import pytest

from harness.errors import InvalidFile
from harness.registry import discovery
from harness.registry.registry import Registry
from harness.run.tasks import list_tasks

TASK = """\
name: mine
version: 1
title: Mine
category: places
inputs: {a: {words: [x]}}
metrics: {toy-gap: {}}
primary: {metric: toy-gap, score: gap}
"""


def listed(folder):
    """Return the names of the tasks in a folder, and the notices."""
    registry = Registry(discovery.Plugins(()), include=[folder])
    return [entry.file.name for entry in list_tasks(registry)], registry.notices


@pytest.mark.posix
def test_what_is_no_file_is_skipped_with_a_line(write, tmp_path):
    write("tasks/mine.yaml", TASK)
    folder = tmp_path / "tasks"
    (folder / "folder.yaml").mkdir()
    os.mkfifo(folder / "pipe.yaml")
    (folder / "zero.yaml").symlink_to("/dev/zero")
    (folder / "out.yaml").symlink_to(write("out.yaml", TASK.replace("mine", "out")))
    (folder / "gone.yaml").symlink_to("absent")
    (folder / "loop.yaml").symlink_to("loop.yaml")
    (folder / "wide.yaml").write_bytes(TASK.encode("utf-16"))
    (folder / "nul.yaml").write_bytes(b"name: \0")
    (folder / "deep.yaml").write_text("[" * 30_000)
    (folder / os.fsdecode(b"\xff.yaml")).write_text(TASK.replace("mine", "caf"))
    names, notices = listed(folder)
    assert names == ["caf", "mine"]
    skipped = ("folder", "pipe", "zero", "out", "gone", "loop", "wide", "nul", "deep")
    for name in skipped:
        (notice,) = [notice for notice in notices if f"{folder}/{name}.yaml" in notice]
        assert "\n" not in notice
    assert len(notices) == len(skipped)


def test_a_file_named_by_its_path_may_name_files_of_its_folder_of_tasks(write):
    write("shared.yaml", "title: t")
    path = write("family/mine.yaml", "include: ../shared.yaml\nname: x\n")
    with pytest.raises(InvalidFile, match="is not in the folder"):
        discovery.load_file(path)
    write("concepts/c.yaml", "name: c")
    assert discovery.load_file(path).data == {"name": "x", "title": "t"}
    study = write("studies/mine.yaml", "include: ../family/mine.yaml\n")
    assert discovery.load_file(study).data == {"name": "x", "title": "t"}
