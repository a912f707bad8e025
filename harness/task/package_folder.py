"""The folder of an installed package, found without importing it or the packages around it.

A folder without `__init__.py` is no package here: any folder in the working directory would be one.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from harness import user_files


def package_folder(package: str) -> Path | None:
    """Return the folder of a package; None if no package of this name is installed."""
    parent, _, name = package.rpartition(".")
    if parent and parent not in sys.modules:  # find_spec would import it
        above = package_folder(parent)
        folder = above / name if above else None
        return folder if folder and user_files.is_file(folder / "__init__.py") else None
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations or spec.origin is None:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
