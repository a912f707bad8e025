"""Writes a repository of results: guides, a checklist and workflows from `repository/`.

Placeholders of the templates are in angle brackets: `<title>`, `<title as yaml>`, `<requirement>`.
The requirement pins a harness that others can install: a wheel, which is copied into the
repository, an address, or a version of the package index if this harness came from there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from harness import folders
from harness.errors import UsageError
from harness.results.formats import markdown_text

TEMPLATES = Path(__file__).parent / "repository"
PROJECT = "embedding-bias-harness"
EXPECTED = (
    "expected git+https://HOST/PATH@COMMIT, or a wheel (FILE.whl or https://HOST/FILE.whl), as "
    "'pip wheel --no-deps -w . FOLDER' makes one of a folder of the harness"
)


@dataclass(frozen=True)
class Written:
    """The files of a new repository.

    Parameters
    ----------
    files
        Paths of the new files.
    kept
        Paths of files that existed, and are not changed.
    requirement
        The harness that the repository installs.
    """

    files: tuple[Path, ...]
    kept: tuple[Path, ...]
    requirement: str


def init(folder: Path, *, title: str, pinned: str | None = None) -> Written:
    """Write the files of a results repository into a folder; existing files are not changed.

    Parameters
    ----------
    folder
        The new repository.
    title
        Title of its board.
    pinned
        The harness that it installs: a wheel, or an address of a wheel or of a git commit; by
        default what this harness was installed from.

    Raises
    ------
    UsageError
        If the title has a line break or another control character, `folder` is a file, or others
        could not install what is pinned.
    DiskError
        If a file cannot be written.
    """
    if not title.strip() or not title.isprintable():
        raise UsageError("the title is not one line of text; expected such as 'Bias of embeddings'")
    if folder.is_file():
        raise UsageError(f"'{folder}' is a file; name a folder")
    requirement, wheel = _requirement(pinned or _installed_from())
    contents = [(path, text.encode()) for path, text in _filled(title, requirement)]
    if wheel:
        contents.append((Path("wheels", wheel.name), wheel.read_bytes()))
    files, kept = [], []
    for path, content in contents:
        file = folder / path
        if file.exists() or file.is_symlink():
            kept.append(file)
            continue
        folders.write_atomically(file, content)
        files.append(file)
    return Written(tuple(files), tuple(kept), requirement)


def _installed_from() -> str | None:
    """Return the wheel or address that this harness was installed from; None for an index.

    Installers record it as PEP 610 says.
    """
    text = distribution(PROJECT).read_text("direct_url.json")
    if text is None:
        return None
    direct = json.loads(text)
    url: str = direct["url"]
    if "vcs_info" in direct:
        within = f"#subdirectory={direct['subdirectory']}" if "subdirectory" in direct else ""
        return f"{direct['vcs_info']['vcs']}+{url}@{direct['vcs_info']['commit_id']}{within}"
    if "dir_info" in direct:
        raise UsageError(f"the harness was installed from a folder; add --harness: {EXPECTED}")
    if url.startswith("file:"):
        return unquote(urlsplit(url).path)
    sha256 = direct.get("archive_info", {}).get("hashes", {}).get("sha256")
    return f"{url}#sha256={sha256}" if sha256 else url


def _requirement(pinned: str | None) -> tuple[str, Path | None]:
    """Return the line of `requirements.txt`, and the wheel that it names, if that is a file."""
    if pinned is None:
        return f"{PROJECT}=={distribution(PROJECT).version}", None
    if not pinned.isprintable():
        raise UsageError(f"the harness to pin is not one line; {EXPECTED}")
    address = urlsplit(pinned)
    name = Path(address.path).name
    is_wheel = re.fullmatch(rf"{PROJECT.replace('-', '_')}-.+\.whl", name)
    if address.scheme == "git+file":
        raise UsageError(f"'{pinned}' is on this machine only; {EXPECTED}")
    if address.scheme.startswith("git+"):
        if "@" not in address.path:
            raise UsageError(f"'{pinned}' names no commit, and would change; {EXPECTED}")
        return f"{PROJECT} @ {pinned}", None
    if address.scheme == "https" and is_wheel:
        return f"{PROJECT} @ {pinned}", None
    if address.scheme or not is_wheel:
        raise UsageError(f"'{pinned}' is no harness that others can install; {EXPECTED}")
    if not Path(pinned).is_file():
        raise UsageError(f"the wheel '{pinned}' does not exist; add --harness: {EXPECTED}")
    return f"./wheels/{name}", Path(pinned)


def _filled(title: str, requirement: str) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each file."""
    values = {
        "<requirement>": requirement,
        "<title as yaml>": json.dumps(title, ensure_ascii=False),
        "<title>": markdown_text(title),
    }
    for template in sorted(TEMPLATES.rglob("*")):
        if template.is_file():
            text = template.read_text("utf-8")
            for placeholder, value in values.items():
                text = text.replace(placeholder, value)
            yield template.relative_to(TEMPLATES), text
