"""`harness eval` killed, or on a full disk, at each step, and then run once more."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from disk import Tree, failing, kills, restore, tree

from harness.commands import main
from harness.results.folder import read

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
EVAL = ["eval", "-m", "random-words", "-t", "tiny.yaml", "--results", "results", "--samples"]


def content(folder: Path) -> dict[str, object]:
    """Return the records by id, and the names of the files beside theirs."""
    found: dict[str, object] = {
        r.id: (r.value, r.interval, r.p_value) for r in read([folder]).records
    }
    names = (name for name in tree(folder) if not re.search(r"runs/|\.lock$|\.tmp$", name))
    return found | dict.fromkeys(names)


@pytest.mark.posix
def test_after_a_kill_or_a_full_disk_the_next_run_is_whole(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", "cache")
    (tmp_path / "tiny.yaml").write_text(json.dumps(TASK), "utf-8")
    before = tree(tmp_path)
    states = kills(tmp_path, lambda: main.run(EVAL))
    whole = content(tmp_path / "results")
    assert any(isinstance(value, tuple) for value in whole.values())

    def ends_whole(left: Tree | None, when: str) -> None:
        if left is not None:
            restore(left, tmp_path)
        assert main.run(EVAL) == 0, when
        assert content(tmp_path / "results") == whole, when

    for i, (step, left) in enumerate(states):
        if step == "rename" or i % 5 == 0:
            ends_whole(left, f"killed at step {i} ({step})")
    for i in range(0, len(states), 5):
        restore(before, tmp_path)
        capsys.readouterr()
        with failing(i) as disk:
            code = main.run([*EVAL, "--quiet"])
        errors = capsys.readouterr().err.strip()
        assert code in (0, 1), errors
        assert len(errors.splitlines()) == code, f"disk full at step {i} ({disk.failed}): {errors}"
        ends_whole(None, f"disk full at step {i} ({disk.failed})")
