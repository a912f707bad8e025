"""`harness new`: writes a working stub with its test."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.registry.catalogue import Catalogue

KINDS = ("model", "metric", "mitigator", "task")
STUBS = Path(__file__).parents[1] / "stubs"
"""Templates with placeholders in angle brackets, such as `<name>`."""
MODEL = "glove-6b-50d"
"""Model of the example commands: small, and needs no model hub."""
SUMMARIES = {
    "model": "letter frequencies",
    "metric": "difference of two mean cosine similarities",
    "mitigator": "subtracts the mean of the definitional pairs",
    "task": "",
}
"""What `harness list` says of a stub."""


@click.command("new")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder to write into.  [default: the current folder]",
)
def command(kind: str, name: str, out: Path) -> None:
    """Write a package with a working model, metric or mitigator, or a task file.

    \b
    harness new metric my-metric && pip install -e ./harness-my-metric
    harness new task my-task && harness validate my-task.yaml
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import folders
    from harness.errors import UsageError

    if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name == "none" or iskeyword(name):
        raise UsageError(
            f"invalid name '{name}': use lower-case letters, digits and '-', begin with a letter, "
            "and use neither 'none' nor a Python keyword"
        )
    _check_free(kind, name)
    stub = Stub(kind, name, out)
    existing = [out / path for path in stub.files if (out / path).exists()]
    if existing:
        raise UsageError(f"'{existing[0]}' exists already; nothing was written")
    for path, template in stub.files.items():
        folders.write_atomically(out / path, stub.filled(template).encode())
        click.echo(out / path)
    click.echo("\nnext: " + "\n      ".join(stub.next_steps))


@dataclass(frozen=True)
class Stub:
    """The files of a stub.

    Parameters
    ----------
    kind
        One of `KINDS`.
    name
        The name that users type.
    out
        Folder to write into.
    """

    kind: str
    name: str
    out: Path

    @property
    def function(self) -> str:
        """The name as a Python identifier: of the module, and of a metric's function."""
        return self.name.replace("-", "_")

    @property
    def package(self) -> str:
        """The name of the package's distribution and folder."""
        return f"harness-{self.name}"

    @property
    def files(self) -> dict[str, str]:
        """The template of each file, by the file's path below `out`."""
        if self.kind == "task":
            return {f"{self.name}.yaml": "task.yaml", f"test_{self.function}.py": "test_task.py"}
        module = f"harness_{self.function}"
        files = {
            f"{self.package}/README.md": "readme.md",
            f"{self.package}/pyproject.toml": "pyproject.toml",
            f"{self.package}/{module}/__init__.py": (
                "plugin_model.py" if self.kind == "model" else "plugin.py"
            ),
            f"{self.package}/{module}/{self.function}.py": f"{self.kind}.py",
            f"{self.package}/tests/test_{self.function}.py": f"test_{self.kind}.py",
        }
        if self.kind == "metric":  # a metric needs a task that uses it
            files[f"{self.package}/example-task.yaml"] = "metric_task.yaml"
        return files

    @property
    def next_steps(self) -> list[str]:
        """Commands that a user runs after the files were written."""
        if self.kind == "task":
            file = shlex.quote(str(self.out / f"{self.name}.yaml"))
            return [
                f"harness validate {file}",
                f"harness eval --model {MODEL} --tasks {file}",
            ]
        path = self.out / self.package
        folder = shlex.quote(str(path) if path.is_absolute() else f"./{path}")
        return [
            f"pip install -e {folder}",
            f"harness show {self.kind} {self.name}",
            f"python -m pytest {folder}",
            self._evaluation(folder),
        ]

    def filled(self, template: str) -> str:
        """Return the text of a template with its placeholders filled in."""
        text = (STUBS / f"{template}.txt").read_text(encoding="utf-8")
        for placeholder, value in self._values().items():
            text = text.replace(f"<{placeholder}>", value)
        return text

    def _values(self) -> dict[str, str]:
        """Return the text of each placeholder."""
        class_name = "".join(part.capitalize() for part in self.name.split("-"))
        spec = {"model": "Embedder"}.get(self.kind, self.kind.capitalize())
        return {
            "name": self.name,
            "kind": self.kind,
            "package": self.package,
            "module": f"harness_{self.function}",
            "function": self.function,
            "Class": class_name,
            "hook": f"harness_{spec.lower()}s",
            "Spec": f"{spec}Spec",
            "target": self.function if self.kind == "metric" else class_name,
            "summary": SUMMARIES[self.kind],
            "evaluation": self._evaluation("."),
        }

    def _evaluation(self, folder: str) -> str:
        """Return the command that prints a first score; `folder` is the package."""
        if self.kind == "model":
            return f"harness eval --model {self.name} --tasks seat-c6"
        if self.kind == "mitigator":
            return (
                f"harness eval --model {MODEL} --mitigator none --mitigator {self.name} "
                "--tasks weat-6"
            )
        return f"harness eval --model {MODEL} --tasks {folder}/example-task.yaml"


def _check_free(kind: str, name: str) -> None:
    """Raise an error if something installed has the name."""
    from harness.errors import UsageError
    from harness.registry.registry import Registry

    registry = Registry()
    catalogues: dict[str, Catalogue[Any]] = {
        "model": registry.embedders,
        "metric": registry.metrics,
        "mitigator": registry.mitigators,
        "task": registry.task_files,
    }
    owner = catalogues[kind].owners.get(name)
    if owner:
        raise UsageError(f"the {kind} '{name}' exists already in {owner}; choose another name")
