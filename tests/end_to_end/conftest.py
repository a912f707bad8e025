"""Virtual environments to install into, and commands that run in them.

An environment finds the heavy dependencies of the running one through a folder of links, which
leaves out the harness. So the tests see only the harness that is installed there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Environment:
    """A virtual environment. Its commands run in its folder, outside the repository."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "lib" / version / "site-packages"

    def installed_names(self) -> set[str]:
        """Return the names in its site-packages, without the dependencies."""
        return {path.name for path in self.site_packages.iterdir()} - {"dependencies.pth"}

    def install(self, *requirements: Path | str) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "-q"]
        offline = ["--no-deps", "--no-build-isolation", "--no-index"]
        run([*pip, *offline, *map(str, requirements)], cwd=self.folder)

    def run(self, code: str, **variables: str) -> str:
        """Run Python code and return its output."""
        return run([str(self.python), "-c", code], cwd=self.folder, **variables).stdout

    def harness(self, *arguments: str, **variables: str) -> str:
        """Run the installed command and return its output."""
        command = [str(self.folder / "bin" / "harness"), *arguments]
        return run(command, cwd=self.folder, **variables).stdout

    def harness_json(self, *arguments: str, **variables: str) -> Any:
        return json.loads(self.harness(*arguments, "--json", **variables))


def run(command: list[str], *, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command; if it fails, the assertion shows its output."""
    process = subprocess.run(
        command, cwd=cwd, env=plain_environment(variables), capture_output=True, text=True
    )
    assert process.returncode == 0, (
        f"{command} left with {process.returncode}:\n{process.stdout}\n{process.stderr}"
    )
    return process


def plain_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child process, without variables that redirect imports."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    return inherited | dict(variables)


@pytest.fixture(scope="session")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of links to all installed packages except the harness."""
    folder = tmp_path_factory.mktemp("dependencies")
    for place in (place for place in map(Path, sys.path) if any(place.glob("*.dist-info"))):
        for path in place.iterdir():
            is_harness = "embedding_bias_harness" in path.name or path.name == "harness"
            if not is_harness and path.suffix != ".pth" and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
    return folder


@pytest.fixture(scope="session")
def make_environment(
    tmp_path_factory: pytest.TempPathFactory, dependencies: Path
) -> Callable[[str], Environment]:
    """Return a function that makes an environment with the dependencies but not the harness."""

    def make(name: str) -> Environment:
        environment = Environment(tmp_path_factory.mktemp(name))
        venv.EnvBuilder(with_pip=False, symlinks=True).create(environment.folder)
        (environment.site_packages / "dependencies.pth").write_text(f"{dependencies}\n")
        return environment

    return make


@pytest.fixture(scope="session")
def source_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the packages in the repository; a build writes into the copy."""
    copy = tmp_path_factory.mktemp("source") / "repository"
    copy.mkdir()
    for name in ("harness", "plugins", "tasks", "leaderboard"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="session")
def wheel(source_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel of the repository."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["-q", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)]
    run([sys.executable, "-m", "pip", "wheel", *options, str(source_tree)], cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(make_environment: Callable[[str], Environment], wheel: Path) -> Environment:
    """Return an environment with the wheel installed."""
    environment = make_environment("installed")
    environment.install(wheel)
    return environment
