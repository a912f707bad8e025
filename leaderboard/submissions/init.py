"""Writes a repository of results: guides, a checklist and workflows from `repository/`.

Placeholders of the templates are in angle brackets: `<title>`, `<title as yaml>`, `<requirement>`.
The requirement pins a harness that others can install: a wheel, which is copied into the
repository, an address, or a version of the package index if this harness came from there. Of a
harness that was installed from a folder, the wheel is made again of the installed files.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple
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
    requirement, wheel = _requirement(pinned) if pinned else _installed()
    contents = [(path, text.encode()) for path, text in _filled(title, requirement)]
    if wheel:
        contents.append((Path("wheels", wheel.name), wheel.content))
    files, kept = [], []
    for path, content in contents:
        file = folder / path
        if file.exists() or file.is_symlink():
            kept.append(file)
            continue
        folders.write_atomically(file, content)
        files.append(file)
    return Written(tuple(files), tuple(kept), requirement)


class Wheel(NamedTuple):
    """The name and the content of a wheel."""

    name: str
    content: bytes


def _installed() -> tuple[str, Wheel | None]:
    """Return what `_requirement` returns, of what this harness was installed from.

    Installers record it as PEP 610 says.
    """
    own = _distribution()
    text = own.read_text("direct_url.json")
    if text is None:
        return f"{PROJECT}=={own.version}", None
    direct = json.loads(text)
    url: str = direct["url"]
    if "vcs_info" in direct:
        within = f"#subdirectory={direct['subdirectory']}" if "subdirectory" in direct else ""
        vcs = direct["vcs_info"]
        return _requirement(f"{vcs['vcs']}+{url}@{vcs['commit_id']}{within}")
    if direct.get("dir_info", {}).get("editable"):
        raise UsageError(f"the harness was installed with -e; add --harness: {EXPECTED}")
    if "dir_info" in direct:
        wheel = _made_again()
        return f"./wheels/{wheel.name}", wheel
    if url.startswith("file:"):
        return _requirement(unquote(urlsplit(url).path))
    sha256 = direct.get("archive_info", {}).get("hashes", {}).get("sha256")
    return _requirement(f"{url}#sha256={sha256}" if sha256 else url)


def _distribution() -> Distribution:
    """Return the installed harness; a clone may have the metadata of a build beside it."""
    for found in distributions(name=PROJECT):
        if found.read_text("WHEEL"):
            return found
    raise UsageError(f"the harness is not installed; add --harness: {EXPECTED}")


def _made_again() -> Wheel:
    """Return the wheel that the installed files came from, as `RECORD` lists them."""
    own = _distribution()
    by_installer = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json")
    files = [f for f in own.files or () if f.hash and ".." not in f.parts]
    files = [f for f in files if not (".dist-info" in f.parts[0] and f.name in by_installer)]
    name = f"{PROJECT.replace('-', '_')}-{own.version}"
    record = f"{name}.dist-info/RECORD"
    lines = [[str(f), f"{f.hash.mode}={f.hash.value}", f.size] for f in files if f.hash]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([*lines, [record, "", ""]])
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(str(file), file.read_binary())
        archive.writestr(record, text.getvalue())
    return Wheel(f"{name}-py3-none-any.whl", content.getvalue())


def _requirement(pinned: str) -> tuple[str, Wheel | None]:
    """Return the line of `requirements.txt`, and the wheel that it names, if that is a file."""
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
    return f"./wheels/{name}", Wheel(name, Path(pinned).read_bytes())


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
