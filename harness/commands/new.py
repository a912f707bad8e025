"""`harness new`: writes a working stub with its test."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.printing import echo

if TYPE_CHECKING:
    from harness.registry.discovery import Catalogue

KINDS = ("plugin", "model", "metric", "mitigator", "task", "concept")
STUBS = Path(__file__).parents[1] / "stubs"
"""Templates with placeholders in angle brackets, such as `<name>`."""
MODEL = "glove-6b-50d"
"""Model of the example commands: small, and needs no model hub."""
_LANGUAGE = re.compile(r"-([a-z]{2})$")
"""Ends the name of a concept in another language, such as `gender-pt`."""
SUMMARIES = {
    "model": "letter frequencies",
    "metric": "difference of two mean cosine similarities",
    "mitigator": "subtracts the mean of the definitional pairs",
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
    """Write a package with a working model, metric or mitigator, or a task or concept file.

    `plugin` writes a package with all of these and a command of its own.

    \b
    harness new plugin my-lab && pip install -e ./harness-my-lab
    harness new metric my-metric && pip install -e ./harness-my-metric
    harness new task my-task && harness validate my-task.yaml
    harness new concept gender-pt && harness validate concepts/gender-pt.yaml
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
    files = stub.files
    existing = [out / path for path in files if (out / path).exists()]
    if existing:
        raise UsageError(f"'{existing[0]}' exists already; nothing was written")
    for path, text in files.items():
        folders.write_atomically(out / path, text.encode())
    for path in files:
        echo(out / path)
    echo("\nnext: " + "\n      ".join(stub.next_steps))


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
    def package(self) -> str:
        """The name of the package's distribution and folder."""
        return f"harness-{self.name}"

    @property
    def files(self) -> dict[str, str]:
        """The text of each file, by the file's path below `out`."""
        function = _identifier(self.name)
        if self.kind == "task":
            return {
                f"{self.name}.yaml": self._filled("task.yaml"),
                f"test_{function}.py": self._filled("test_task.py"),
            }
        if self.kind == "concept":
            return {f"concepts/{self.name}.yaml": self._filled("concept.yaml")}
        folder, module = self.package, f"{self.package}/harness_{function}"
        files = {f"{folder}/pyproject.toml": self._filled("pyproject.toml")}
        if self.kind == "plugin":
            files[f"{folder}/README.md"] = self._filled("readme_plugin.md")
            files[f"{module}/__init__.py"] = self._filled("whole_plugin.py")
            files[f"{module}/{function}_command.py"] = self._filled("command.py")
            files[f"{module}/tasks/{self.name}-task.yaml"] = self._filled("metric_task.yaml")
            files[f"{folder}/tests/test_plugin.py"] = self._filled("test_plugin.py")
        else:
            files[f"{folder}/README.md"] = self._filled("readme.md")
            hooks = "plugin_model.py" if self.kind == "model" else "plugin.py"
            files[f"{module}/__init__.py"] = self._filled(hooks)
            if self.kind == "metric":  # a metric needs a task that uses it
                files[f"{folder}/example-task.yaml"] = self._filled("metric_task.yaml")
        for kind, name in self._parts().items():
            part = _identifier(name)
            files[f"{module}/{part}.py"] = self._filled(f"{kind}.py", name)
            files[f"{folder}/tests/test_{part}.py"] = self._filled(f"test_{kind}.py", name)
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
        if self.kind == "concept":
            file = shlex.quote(str(self.out / "concepts" / f"{self.name}.yaml"))
            language = self._values(self.name)["language"]
            where = "" if self.out == Path() else f" --include {shlex.quote(str(self.out))}"
            return [
                f"harness validate {file}",
                "harness words sets.csv --model MODEL --mitigator hard-debias "
                f"--concept {self.name} --language {language}{where}",
            ]
        path = self.out / self.package
        folder = shlex.quote(str(path) if path.is_absolute() else f"./{path}")
        shown = "plugins" if self.kind == "plugin" else f"show {self.kind} {self.name}"
        return [
            f"pip install -e {folder}",
            f"harness {shown}",
            f"python -m pytest {folder}",
            self._evaluation(folder),
        ]

    def _parts(self) -> dict[str, str]:
        """Return the name of each object of the package, by kind."""
        if self.kind == "plugin":
            return {kind: f"{self.name}-{kind}" for kind in ("model", "metric", "mitigator")}
        return {self.kind: self.name}

    def _filled(self, template: str, name: str = "") -> str:
        """Return the text of a template with its placeholders filled in.

        Parameters
        ----------
        template
            Name of the template.
        name
            Name of the object that the file is about; by default the stub's.
        """
        text = (STUBS / f"{template}.txt").read_text(encoding="utf-8")
        for placeholder, value in self._values(name or self.name).items():
            text = text.replace(f"<{placeholder}>", value)
        return text

    def _values(self, name: str) -> dict[str, str]:
        """Return the text of each placeholder."""
        function, module = _identifier(name), f"harness_{_identifier(self.name)}"
        class_name = "".join(part.capitalize() for part in name.split("-"))
        spec = {"model": "Embedder"}.get(self.kind, self.kind.capitalize())
        is_plugin = self.kind == "plugin"
        data = f'\n[tool.setuptools.package-data]\n{module} = ["tasks/*.yaml"]\n'
        return {
            "name": name,
            "language": language[1] if (language := _LANGUAGE.search(name)) else "en",
            "kind": self.kind,
            "package": self.package,
            "module": module,
            "function": function,
            "Class": class_name,
            "hook": f"harness_{spec.lower()}s",
            "Spec": f"{spec}Spec",
            "target": function if self.kind == "metric" else class_name,
            "summary": SUMMARIES.get(self.kind, ""),
            "evaluation": self._evaluation("."),
            "data": data if is_plugin else "",
            "metric": f"{self.name}-metric" if is_plugin else self.name,
            "task": f"{self.name}-task" if is_plugin else f"{self.name}-example",
            "file": f"{self.name}-task.yaml" if is_plugin else "example-task.yaml",
        }

    def _evaluation(self, folder: str) -> str:
        """Return the command that prints a first score; `folder` is the package."""
        if self.kind == "plugin":
            return (
                f"harness eval --model {self.name}-model --mitigator none "
                f"--mitigator {self.name}-mitigator --tasks {self.name}-task,seat-c6"
            )
        if self.kind == "model":
            return f"harness eval --model {self.name} --tasks seat-c6"
        if self.kind == "mitigator":
            return (
                f"harness eval --model {MODEL} --mitigator none --mitigator {self.name} "
                "--tasks weat-6"
            )
        return f"harness eval --model {MODEL} --tasks {folder}/example-task.yaml"


def _identifier(name: str) -> str:
    """Return a name as a Python identifier: of a module, and of a metric's function."""
    return name.replace("-", "_")


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
        "concept": registry.concept_files,
    }
    if kind == "plugin":
        from harness.commands.main import group

        command = group.get_command(click.Context(group), name)
        if command is not None:
            raise UsageError(f"the command 'harness {name}' exists already; choose another name")
        return
    owner = catalogues[kind].owners.get(name)
    if owner:
        raise UsageError(f"the {kind} '{name}' exists already in {owner}; choose another name")
