"""The example notebook prints what it shows."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from .conftest import ROOT


def outputs(notebook: Any) -> list[list[str]]:
    """Return the plain text of each cell's outputs."""
    return [
        [
            output.get("data", {}).get("text/plain") or output.get("text", "")
            for output in cell.outputs
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_the_notebook_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat  # of the extra `docs`, which the quick tests do without
    from ipykernel.kernelspec import write_kernel_spec
    from nbclient import NotebookClient

    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    write_kernel_spec(tmp_path / "jupyter" / "kernels" / "this")
    stored = nbformat.read(ROOT / "docs" / "example.ipynb", as_version=4)
    nbformat.validate(stored)
    run = copy.deepcopy(stored)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(run, kernel_name="this", timeout=300, resources=resources).execute()
    assert outputs(run) == outputs(stored)
