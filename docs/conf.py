"""How the documentation is built: `make docs`."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import harness

sys.path.insert(0, str(Path(__file__).parent))
import pages  # beside this file

project = "Embedding Bias Harness"
author = "The Embedding Bias Harness authors"
release = version = harness.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_click",
    "myst_nb",
]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "jupyter_execute"]
default_role = "py:obj"  # `name` in a docstring links where there is such a name
nitpicky = False  # types of signatures are linked where they can be

# Markdown that reads the same in a repository's file viewer.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebook holds its outputs; a test runs it

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_type_aliases = {name: name for name in ("Codes", "Floats", "Reals", "Rows", "Vectors")}
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "pydata_sphinx_theme"
html_title = f"{project} {release}"
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,  # more do not fit one row beside the search
}

HERE = Path(__file__).parent / "reference"
LISTS = {
    "python": ("Python interface", "Everything public of the package `harness`."),
    "metrics": ("Metrics", "`harness list metrics` lists them with those of other packages."),
    "mitigators": (
        "Mitigators",
        "`harness list mitigators` lists them with those of other packages.",
    ),
}
"""Lists that are written from the registry: a new method gets its page without an edit here."""
SKLEARN = "set_fit_request, set_transform_request"
"""Methods that scikit-learn adds to every estimator."""


def listed() -> dict[str, dict[str, str]]:
    """Return, for each list, the import path of each name."""
    registry = harness.Registry()
    return {
        "python": {name: f"harness.{name}" for name in harness.__all__ if "__" not in name},
        "metrics": {name: s.target.replace(":", ".") for name, s in registry.metrics.items()},
        "mitigators": {name: s.target.replace(":", ".") for name, s in registry.mitigators.items()},
    }


def write_lists(app: Sphinx) -> None:
    """Write the lists, and a page for each of their entries."""
    for page, paths in listed().items():
        title, text = LISTS[page]
        entries = "\n".join(f"{page}/{name}" for name in paths)
        (HERE / page).mkdir(exist_ok=True)
        toctree = f"```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```"
        (HERE / f"{page}.md").write_text(f"# {title}\n\n{text}\n\n{toctree}\n", encoding="utf-8")
        for name, path in paths.items():
            module, _, attribute = path.rpartition(".")
            value = getattr(importlib.import_module(module), attribute)
            kind = "class" if isinstance(value, type) else "function"
            lines = [name, "=" * len(name), "", f".. auto{kind}:: {path}"]
            if kind == "class":
                lines += [
                    "   :members:",
                    "   :exclude-members: set_fit_request, set_transform_request",
                ]
            (HERE / page / f"{name}.rst").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_benchmarks(app: Sphinx) -> None:
    """Write the page of the benchmarks."""
    from harness.run.tasks import check_benchmark, list_tasks

    registry = harness.Registry()
    entries = list_tasks(registry)
    titles = {entry.file.name: entry.file.title for entry in entries}
    lines = [
        "# Benchmarks",
        "",
        "`harness list benchmarks` lists them with those of other packages.",
    ]
    for document in registry.benchmark_files.values():
        file = check_benchmark(entries, document)
        lines += ["", f"## {file.name}", "", f"{file.title}. Version {file.version}.", ""]
        lines += [file.description, ""]
        lines += [f"Please cite: {file.citation}.", ""] if file.citation else []
        lines += ["| task | version | what it measures |", "| --- | ---: | --- |"]
        lines += [f"| `{name}` | {n} | {titles[name]} |" for name, n in file.tasks.items()]
    (HERE / "benchmarks.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_tasks(app: Sphinx) -> None:
    """Write the page of the tasks, a table for each category."""
    from harness.run.tasks import list_tasks

    files = [entry.file for entry in list_tasks(harness.Registry())]
    lines = ["# Tasks", "", "`harness list tasks` lists them with those of other packages."]
    for category in sorted({file.category for file in files}):
        lines += ["", f"## {category}", ""]
        lines += ["| task | version | what it measures | kind | ranked | language | metric |"]
        lines += ["| --- | ---: | --- | --- | --- | --- | --- |"]
        lines += [
            f"| `{file.name}` | {file.version} | {file.title} | {file.measures} "
            f"| {'no' if file.not_ranked else 'yes'} | {file.language} | `{file.primary.metric}` |"
            for file in files
            if file.category == category
        ]
    (HERE / "tasks.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def fill_in(app: Sphinx, name: str, source: list[str]) -> None:
    """Fill in the tables of a page."""
    source[0] = pages.for_site(source[0])


def escape(app: Sphinx, *arguments: Any) -> None:
    """Escape what reStructuredText reads as markup in plain text: `|x|` and `weat-*`."""
    lines = arguments[-1]
    for i, line in enumerate(lines):
        if "``" not in line:
            lines[i] = re.sub(r"(?<!\\)([|*])", r"\\\1", line)


def setup(app: Sphinx) -> None:
    """Write the lists before Sphinx looks for pages."""
    app.connect("builder-inited", write_lists)
    app.connect("builder-inited", write_benchmarks)
    app.connect("builder-inited", write_tasks)
    app.connect("source-read", fill_in)
    app.connect("autodoc-process-docstring", escape, priority=400)  # before napoleon
    app.connect("sphinx-click-process-description", escape)
