"""The command line, with a cache of its own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from harness.commands import main
from harness.registry import discovery


@pytest.fixture
def harness(capsys, tmp_path, monkeypatch):
    """Run a command line: `harness("reproduce", "--no-run").out`."""
    monkeypatch.setattr(main.group, "commands", dict(main.group.commands))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        capsys.readouterr()
        code = main.run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    yield run
    discovery.installed.cache_clear()
