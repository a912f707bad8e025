"""Concepts beside a file: a task or study that is named by its path may name them."""

from __future__ import annotations

import copy
from pathlib import Path

from harness.registry import discovery
from harness.registry.files import SUBFOLDERS
from harness.registry.registry import Registry


def with_concepts_beside(registry: Registry, path: Path) -> Registry:
    """Return a registry that looks up concepts beside a file first, then as `registry` does.

    Parameters
    ----------
    registry
        A registry, which stays as it is.
    path
        A file, or a folder of files. The nearest folder `concepts` counts: in its own folder, else
        in the one above, since a family of tasks has a folder of its own.
    """
    folder = (path if path.is_dir() else path.parent).resolve()
    for place in (folder, folder.parent):
        if (place / SUBFOLDERS["concept"]).is_dir():
            break
    else:
        return registry
    beside = Registry(discovery.Plugins(()), include=[place])
    concepts = copy.copy(registry.concept_files)
    concepts.owners = concepts.owners | beside.concept_files.owners
    clashes = {name: e for name, e in concepts.clashes.items() if name not in beside.concept_files}
    concepts.clashes = clashes | beside.concept_files.clashes
    concepts.update(beside.concept_files)
    for notice in beside.notices:
        registry.note(notice)
    found = copy.copy(registry)
    found.concept_files = concepts
    return found
