"""The public names of the package: importable, documented, and cheap to import."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import harness
from harness.commands.main import run

ROOT = Path(__file__).parents[2]
NAMES = [name for name in harness.__all__ if name != "__version__"]
ADDED = """
import json, sys
before = set(sys.modules)
import harness
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def documentation(cls):
    """Return the docstrings of a class and its bases."""
    return "\n".join(inspect.cleandoc(base.__doc__ or "") for base in cls.__mro__)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_a_docstring(name):
    docstring = inspect.getdoc(getattr(harness, name)) or ""
    assert docstring
    assert not docstring.startswith(f"{name}("), "dataclass wrote this docstring itself"


@pytest.mark.parametrize(
    "cls", [x for x in (getattr(harness, n) for n in NAMES) if dataclasses.is_dataclass(x)]
)
def test_every_field_of_a_public_dataclass_is_documented(cls):
    documented = set(
        re.findall(r"\w+", " ".join(re.findall(r"^[a-z_, ]+$", documentation(cls), re.MULTILINE)))
    )
    assert {field.name for field in dataclasses.fields(cls)} <= documented


def test_every_field_of_a_concept_is_documented(capsys):
    assert run(["schema", "concept"]) == 0
    described = json.loads(capsys.readouterr().out)["properties"]
    fields = harness.Concept.model_fields
    assert [name for name in fields if not described[name].get("description")] == []


def test_type_checkers_see_the_same_names_as_users():
    stub = Path(harness.__file__).with_suffix(".pyi")
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    names = [alias.asname for node in tree.body if isinstance(node, ast.ImportFrom)
             for alias in node.names]  # fmt: skip
    assert sorted(names) == sorted(NAMES)


def test_no_submodule_has_a_public_name():
    assert set(NAMES) & {module.name for module in pkgutil.iter_modules(harness.__path__)} == set()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        harness.no_such_name  # noqa: B018  # the look-up raises


def test_importing_the_package_imports_only_the_standard_library():
    command = [sys.executable, "-c", ADDED]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    modules = json.loads(output)
    assert [name for name in modules if name.startswith("harness")] == ["harness"]
    others = {name.partition(".")[0] for name in modules} - {"harness"}
    assert others <= sys.stdlib_module_names


def test_the_changelog_has_the_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(harness.__version__)}\b", changelog, re.MULTILINE)


def test_only_the_package_states_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert "version" not in citation
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "harness.__version__"}
