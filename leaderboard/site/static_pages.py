"""Static pages of models, tasks, mitigators, benchmarks and concepts, which need no script.

Each has its content as JSON beside it. Search engines, previews and programs read them; the
interactive page stays `index.html`. Computes no number: all come from the boards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from .rendering import MADE_BY, publish, template, text_of

SCHEMA = 1
"""Version of the JSON beside the pages, and of index.json."""
LINKS = (
    ("model/index.html", "Models"),
    ("task/index.html", "Tasks"),
    ("mitigator/index.html", "Mitigators"),
    ("benchmark/index.html", "Benchmarks"),
    ("concept/index.html", "Concepts"),
)
"""Path and text of each link in the head of every page."""


@dataclass(frozen=True)
class Site:
    """What all pages of a site have in their heads and feet.

    Parameters
    ----------
    title
        Title of the site.
    built
        Date of the build.
    url
        Address of the folder of the site, with a slash at its end; empty if it is not known.
    image
        Path of the picture that previews of its pages show; empty without one.
    links
        Path and text of each link in the head.
    """

    title: str
    built: str
    url: str = ""
    image: str = ""
    links: tuple[tuple[str, str], ...] = LINKS

    def address(self, path: str) -> str:
        """Return the canonical address of a page."""
        folder, _, name = path.rpartition("/")
        if name != "index.html":
            return self.url + path
        return f"{self.url}{folder}/" if folder else self.url


@dataclass(frozen=True)
class Page:
    """A page that is read without a script.

    Parameters
    ----------
    path
        Where it is in the site, such as `model/e5-small.html`.
    title
        Its heading, and its title in searches.
    description
        What it says, in one sentence.
    template
        Name of its template, which extends `base.html.j2`.
    content
        What the template needs.
    kind, name
        What it is about, such as `model` and the name of the model; empty for other pages.
    data
        Its content as JSON, written beside it; None if it has none.
    image
        Path of its picture; empty for that of the site.
    """

    path: str
    title: str
    description: str
    template: str
    content: Mapping[str, Any]
    kind: str = ""
    name: str = ""
    data: Mapping[str, Any] | None = None
    image: str = ""

    @property
    def data_path(self) -> str:
        """Return the path of its JSON."""
        return str(PurePosixPath(self.path).with_suffix(".json"))

    def html(self, site: Site) -> str:
        """Return the text of the page."""
        return template(self.template).render(
            self.content,
            page=self,
            site=site,
            root="../" * self.path.count("/"),
            generator=MADE_BY,
        )


def publish_pages(folder: Path, pages: Iterable[Page], site: Site) -> None:
    """Write pages with their JSON, and index.json, which lists them.

    Raises
    ------
    DiskError
        If a file cannot be written.
    """
    listed = []
    for page in pages:
        publish(folder / page.path, page.html(site))
        entry = {"kind": page.kind, "name": page.name, "title": page.title, "html": page.path}
        if page.data is not None:
            head = {"schema": SCHEMA, "built": site.built, "kind": page.kind, "name": page.name}
            publish(folder / page.data_path, text_of(head | dict(page.data)))
            entry["json"] = page.data_path
        listed.append(entry | {"description": page.description})
    index = {"schema": SCHEMA, "title": site.title, "built": site.built, "pages": listed}
    publish(folder / "index.json", text_of(index))
