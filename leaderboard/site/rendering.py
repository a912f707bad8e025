"""Templates and number formats of the pages that Python writes; templates escape every text."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

import harness
from harness import folders
from harness.errors import DiskError
from harness.printing import printable
from harness.results.reading import LONGEST_REASON, SetAside

if TYPE_CHECKING:
    import jinja2


GENERATOR = "Embedding Bias Harness leaderboard"
"""Text in the head of every page, which identifies pages of the harness."""
MADE_BY = f"{GENERATOR} {harness.__version__}"
ASSETS = Path(__file__).parent / "assets"
"""The bundle of the scripts, and the styles."""
_FOLDER = Path(__file__).parent / "templates"


@functools.cache
def assets_folder() -> str:
    """Return the path of the bundle and the styles in a site: its name is a digest of them.

    A page and what it loads are so always of one version.
    """
    content = hashlib.blake2b(digest_size=8)
    for file in sorted(ASSETS.iterdir()):
        content.update(file.name.encode() + file.read_bytes())
    return f"assets/{content.hexdigest()}"


@functools.cache
def _environment() -> jinja2.Environment:
    """Return what compiles templates, each once."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["assets"] = assets_folder()
    return environment


def template(name: str) -> jinja2.Template:
    """Return a template of this package; it escapes every value but `Markup`.

    `assets` in it is the path of the bundle and the styles, relative to the site.
    """
    return _environment().get_template(name)


def short(value: float, *, sign: bool = False, digits: int = 3) -> str:
    """Return a number with some decimals and a minus sign (not a hyphen); never `−0.000`."""
    text = format(round(value, digits) + 0.0, f"{'+' if sign else ''}.{digits}f")
    return text.replace("-", "−")


# The names of pages in addresses.


LONGEST_SLUG = 60
"""Longest slug without its hash."""
LIST = "index"
"""Name of the page that lists those of a kind."""
_HASHED = re.compile(r"-[0-9a-f]{8}\Z")


def slug(name: str) -> str:
    """Return the name of a page in addresses, for any name.

    It has lower-case letters of ASCII, digits, `.`, `-` and `_`. It ends with a hash of the name if
    it is not the name itself, so that names that differ only in case or in what an address cannot
    hold have different pages. It depends on nothing but the name, so an address lasts.
    """
    base = re.sub(r"[^a-z0-9._-]+", "-", name.lower())[:LONGEST_SLUG].strip(".-_")
    if name and base == name and name != LIST and not _HASHED.search(name):
        return name
    end = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{base or 'name'}-{end}"


DIGITS = 6
"""Significant digits of the numbers in CSV and JSON."""


def significant(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose floats have `DIGITS` significant digits."""
    return frame.with_columns(pl.col(pl.Float64).round_sig_figs(DIGITS))


# Groups records that were set aside by reason, for the command and for the page.


EXAMPLES = 5
"""Largest number of places that a group lists."""
GROUPS = 200
"""Largest number of groups, so that an invalid file cannot fill the page."""
OTHERS = "other reasons"
PLACES = 4
"""Parts of `results/MODEL/FINGERPRINT/RUN.jsonl`, which the page shows of an absolute path."""
_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|[0-9a-f]{8,}|-?\d+(\.\d+)?(e-?\d+)?")
"""Parts in which similar reasons differ: names, ids and numbers."""


@dataclass(frozen=True)
class Group:
    """Lines that were set aside for similar reasons.

    Parameters
    ----------
    reason
        The first of the reasons.
    count
        Number of lines.
    examples
        Places of the first lines: file and line.
    """

    reason: str
    count: int
    examples: tuple[str, ...]

    def line(self) -> str:
        """Return one line for the user."""
        more = f" ({self.count:,} alike, the first is shown)" if self.count > 1 else ""
        place = f"{self.examples[0]}: " if self.examples else ""
        return f"{place}{self.reason}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Return what the page shows."""
        examples = [_public(place) for place in self.examples]
        return {"reason": self.reason, "count": self.count, "examples": examples}


def grouped(entries: Iterable[SetAside]) -> list[Group]:
    """Return the groups of records that were set aside, the most frequent reason first."""
    groups: dict[str, list[SetAside]] = {}
    counts: dict[str, int] = {}
    for line in entries:
        key = _VARYING.sub("…", line.reason)[:LONGEST_REASON]
        if key not in groups and len(groups) >= GROUPS:
            key = OTHERS
        counts[key] = counts.get(key, 0) + 1
        examples = groups.setdefault(key, [])
        if len(examples) < EXAMPLES:
            examples.append(line)
    return [
        Group(
            reason=printable(groups[key][0].reason, LONGEST_REASON) if key != OTHERS else key,
            count=counts[key],
            examples=tuple(
                printable(line.place, LONGEST_REASON) for line in groups[key] if line.file
            ),
        )
        for key in sorted(groups, key=lambda key: -counts[key])
    ]


def _public(place: str) -> str:
    """Return a place without folders of this machine, for the page."""
    path = PurePath(place)
    return "/".join(path.parts[-PLACES:]) if path.is_absolute() else place


# A page that is not of a leaderboard is never replaced.


def check_ours(folder: Path, sources: Iterable[Path]) -> None:
    """Check that a leaderboard may replace a folder: nothing is there, or a leaderboard.

    Raises
    ------
    DiskError
        If it has other files, or cannot be read.
    """
    page = folder / "index.html"
    try:
        if not folder.exists() or not {path.name for path in folder.glob("[!.]*")} - {"CNAME"}:
            return
        with page.open(encoding="utf-8", errors="replace") as file:
            is_ours = GENERATOR in file.read(2000)
    except FileNotFoundError:
        is_ours = False
    except OSError as error:
        raise DiskError(f"cannot read '{page}' ({error.strerror})") from None
    if not is_ours or any(folders.is_inside(source, folder) for source in sources):
        raise DiskError(
            f"'{folder}' has files that `harness leaderboard build` has not written, and is not "
            "replaced; choose another --out"
        )


def legal(text: str) -> str:
    """Return a text without characters that XML 1.0 forbids, which names may have."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def text_of(content: Any) -> str:
    """Return JSON for a file."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"
