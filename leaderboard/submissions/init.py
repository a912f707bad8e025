"""Writes a repository of results: guides, a checklist and workflows from `repository/`.

Placeholders of the templates are in angle brackets: `<title>`, `<title option>` and `<version>`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import harness
from harness import folders
from harness.errors import UsageError
from harness.results.formats import markdown_text

TEMPLATES = Path(__file__).parent / "repository"


@dataclass(frozen=True)
class Written:
    """The files of a new repository.

    Parameters
    ----------
    files
        Paths of the new files.
    kept
        Paths of files that existed, and are not changed.
    """

    files: tuple[Path, ...]
    kept: tuple[Path, ...]


def init(folder: Path, *, title: str) -> Written:
    """Write the files of a results repository into a folder; existing files are not changed.

    Raises
    ------
    UsageError
        If the title has a line break or another control character, or `folder` is a file.
    DiskError
        If a file cannot be written.
    """
    if not title.strip() or not title.isprintable():
        raise UsageError("the title is not one line of text; expected such as 'Bias of embeddings'")
    if folder.is_file():
        raise UsageError(f"'{folder}' is a file; name a folder")
    files, kept = [], []
    for path, text in _filled(title):
        file = folder / path
        if file.exists() or file.is_symlink():
            kept.append(file)
            continue
        folders.write_atomically(file, text.encode())
        files.append(file)
    return Written(tuple(files), tuple(kept))


def _filled(title: str) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each file."""
    values = {
        "<version>": harness.__version__,
        "<title option>": f"--title {shlex.quote(title)}",
        "<title>": markdown_text(title),
    }
    for template in sorted(TEMPLATES.rglob("*")):
        if template.is_file():
            text = template.read_text("utf-8")
            for placeholder, value in values.items():
                text = text.replace(placeholder, value)
            yield template.relative_to(TEMPLATES), text
