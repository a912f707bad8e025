"""Files of others are data: no code runs, nothing is contacted, and no secret is read."""

from __future__ import annotations

import hostile_files
import pytest
from hostile_files import Seen


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    """Return what the sentinel saw of each variant."""
    return hostile_files.watch(tmp_path_factory.mktemp("hostile"))


def test_nothing_is_run_contacted_or_read(seen):
    assert len(seen) > 40
    assert {name: s.events for name, s in seen.items() if s.events} == {}


def test_no_secret_is_printed(seen):
    said = {name: "\n".join(s.lines) for name, s in seen.items() if name != "submission"}
    assert [name for name, lines in said.items() if hostile_files.SECRET in lines] == []


def test_a_hostile_file_is_refused_in_one_line(seen):
    wrong = {}
    for variant in hostile_files.variants():
        lines, code = seen[variant.name].lines, seen[variant.name].code
        shows_all = variant.command[0] == "validate"
        of_command = [line for line in lines if line.startswith("harness: ")]
        is_refused = code in (1, 2) and any(variant.fact in line for line in lines)
        is_odd = any("Traceback" in line or "unexpected" in line for line in lines)
        if not is_refused or is_odd or not (shows_all or len(of_command) == 1):
            wrong[variant.name] = (code, lines)
    assert not wrong
