"""Finds and checks model files in installed Python packages, without importing the packages."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from harness.errors import ModelError

from . import weight_files

INSTALL = 'pip install "embedding-bias-harness[models]"'
"""Command that installs the packages with model files."""


def folder(package: str) -> Path | None:
    """Return the folder of an installed package without running its code; None if not installed."""
    spec = importlib.util.find_spec(package)
    locations = None if spec is None else spec.submodule_search_locations
    return Path(locations[0]) if locations else None


def check(path: Path, sha256: str) -> None:
    """Raise ModelError if a file is missing or its SHA-256 differs from the published file's."""
    try:
        found = weight_files.sha256(path)
    except OSError as error:
        raise ModelError(
            f"'{path}' cannot be read ({error.strerror}); reinstall with {INSTALL}"
        ) from None
    if found != sha256:
        raise ModelError(
            f"'{path}' is not the published file: its SHA-256 is {found}, expected {sha256}; "
            f"reinstall with {INSTALL}"
        )
