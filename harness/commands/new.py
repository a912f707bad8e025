"""`harness new`: writes a working stub with its test, so that work begins with something green."""

from __future__ import annotations

import re
import shlex
from keyword import iskeyword
from pathlib import Path

import click

KINDS = ("model", "metric", "mitigator", "task")
STUBS = Path(__file__).parents[1] / "stubs"
"""Files with `<name>` and the like to be filled in."""


@click.command("new")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder to write into.  [default: here]",
)
def command(kind: str, name: str, out: Path) -> None:
    """Write a package with a working stub of a model, metric or mitigator, or a task file.

    \b
    harness new metric my-metric && pip install -e ./harness-my-metric
    harness new task my-task && harness validate my-task.yaml
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import folders
    from harness.errors import UsageError

    if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name == "none" or iskeyword(name):
        raise UsageError(
            f"'{name}' cannot be a name here: use small letters, digits and '-', a letter first, "
            "and no word that Python keeps for itself"
        )
    _check_free(kind, name)
    module = "harness_" + name.replace("-", "_")
    names = {
        "name": name,
        "module": module,
        "distribution": f"harness-{name}",
        "kind": kind,
        "Class": "".join(part.capitalize() for part in name.split("-")),
        "function": name.replace("-", "_"),
        "hook": {"model": "embedders"}.get(kind, f"{kind}s"),
        "Spec": {"model": "Embedder"}.get(kind, kind.capitalize()) + "Spec",
        "target": name.replace("-", "_")
        if kind == "metric"
        else "".join(part.capitalize() for part in name.split("-")),
    }
    function, package = names["function"], f"harness-{name}"
    files = {
        f"{package}/pyproject.toml": "pyproject.toml",
        f"{package}/{module}/__init__.py": "plugin.py",
        f"{package}/{module}/{function}.py": f"{kind}.py",
        f"{package}/tests/test_{function}.py": f"test_{kind}.py",
    }
    if kind == "task":
        files = {f"{name}.yaml": "task.yaml", f"test_{function}.py": "test_task.py"}
    there = [out / file for file in files if (out / file).exists()]
    if there:
        raise UsageError(f"'{there[0]}' is there already; nothing was written")
    for file, stub in files.items():
        text = (STUBS / f"{stub}.txt").read_text(encoding="utf-8")
        for key, value in names.items():
            text = text.replace(f"<{key}>", value)
        folders.write_atomically(out / file, text.encode())
        click.echo(out / file)
    if kind == "task":
        click.echo(f"\nnext: harness validate {shlex.quote(str(out / f'{name}.yaml'))}")
    else:
        made = out / package
        folder = shlex.quote(str(made) if made.is_absolute() else f"./{made}")
        click.echo(f"\nnext: pip install -e {folder}")
        click.echo(f"      harness show {kind} {name}")
        click.echo(f"      python -m pytest {folder}")


def _check_free(kind: str, name: str) -> None:
    from harness.errors import UsageError
    from harness.registry.registry import Registry

    registry = Registry()
    if kind == "task":
        document = registry.task_files.get(name)
        owner = "" if document is None else str(document.path)
    else:
        _ = registry.embedders if kind == "model" else getattr(registry, f"{kind}s")
        owner = registry.owner(kind, name)  # "" where nothing has the name
    if owner:
        raise UsageError(f"the {kind} '{name}' exists already, in {owner}; choose another name")
