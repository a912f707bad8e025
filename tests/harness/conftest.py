"""Fixtures: plugins that are installed for one test, registries, and the command line."""

from __future__ import annotations

import importlib
import itertools
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from textwrap import dedent

import pytest

from harness.commands import main
from harness.embedder import MockEmbedder
from harness.registry import discovery
from harness.registry.registry import Registry
from harness.run import evaluation

TOY = Path(__file__).parent / "toy"
_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Said:
    """The output of a command, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder for this test only."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("HARNESS_CACHE", str(folder))
    return folder


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution: `install("dist", {"entry point": "module"}, module="source")`."""

    def make(distribution, points, **modules):
        site = tmp_path / f"site-{distribution}"
        metadata = site / f"{distribution}-1.0.dist-info"
        metadata.mkdir(parents=True)
        for name, source in modules.items():
            (site / f"{name}.py").write_text(dedent(source))
            monkeypatch.delitem(sys.modules, name, raising=False)
        (metadata / "METADATA").write_text(f"Name: {distribution}\nVersion: 1.0\n")
        lines = [f"{name} = {module}" for name, module in points.items()]
        (metadata / "entry_points.txt").write_text("\n".join(["[harness]", *lines]))
        monkeypatch.syspath_prepend(str(site))
        importlib.invalidate_caches()
        discovery.installed.cache_clear()

    yield make
    discovery.installed.cache_clear()


@pytest.fixture
def toy(install, monkeypatch):
    """Install the toy plugin; return its list of encoded texts."""
    monkeypatch.syspath_prepend(str(TOY))
    install("toy", {"toy": "toy_plugin"})
    encoded = importlib.import_module("toy_models").ENCODED
    encoded.clear()
    return encoded


@pytest.fixture
def registry_with(toy):
    """Make a registry of the toy plugin, the built-in engines, and further entry points."""

    def make(*points, include=(), trust=False):
        always = [
            EntryPoint("toy", "toy_plugin", "harness"),
            EntryPoint("engines", "harness.plugins.engines", "harness"),
        ]
        return Registry(discovery.Plugins([*always, *points]), include=include, trust=trust)

    return make


@pytest.fixture
def registry(registry_with):
    """A registry of the toy plugin and the built-in engines."""
    return registry_with()


@pytest.fixture
def evaluate(registry):
    """Evaluate toy models, by default on all tasks without a mitigator."""

    def run(model="toy-letters", tasks="all", mitigators="none", **more):
        options = {"registry": registry, "concept": "toy-place"} | more
        return evaluation.evaluate(model, tasks, mitigators, **options)

    return run


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Write a module and return an entry point to it: `plugin("source", name="mine")`."""

    def make(source, name="mine"):
        module = f"written_plugin_{next(_NUMBERS):06}"  # in the order of writing
        folder = tmp_path / "modules"
        folder.mkdir(exist_ok=True)
        monkeypatch.syspath_prepend(str(folder))
        text = dedent(source).replace("THIS", module)
        (folder / f"{module}.py").write_text(text)
        return EntryPoint(name, module, "harness")

    return make


@pytest.fixture
def harness(capsys):
    """Run the command line."""

    def run(*arguments):
        capsys.readouterr()
        code = main.run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run


@pytest.fixture
def write(tmp_path):
    """Write a file below the test's folder and return its path."""

    def make(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    return make


@pytest.fixture
def toy_task():
    """A valid task file for the toy plugin."""
    return """\
name: mine
version: 1
title: Mine
category: places
concept: toy-place
inputs:
  targets_1: {words: [village, farm]}
  targets_2: {words: [city, street]}
metrics:
  toy-gap: {}
primary: {metric: toy-gap, score: gap}
"""


@pytest.fixture
def fill():
    """Write the vectors of texts into a store and return it: `fill(store, ["a"])`."""

    def run(store, texts=tuple(f"text {i}" for i in range(100)), d=8, rows=8192):
        with store.writer(rows=rows) as writer:
            writer.add(texts, MockEmbedder(dimensions=d).encode(texts))
        return store

    return run


@pytest.fixture(scope="session")
def s3_server():
    """A server of S3's protocol on 127.0.0.1."""
    import s3fs
    from s3_server import S3Server

    s3fs.S3FileSystem.clear_instance_cache()  # an instance keeps the address of its server
    with S3Server() as server:
        yield server


@pytest.fixture
def s3(s3_server, monkeypatch):
    """The server, with credentials and its address in the environment; nothing is refused."""
    import s3fs
    from s3_server import ENVIRONMENT

    for name, value in (ENVIRONMENT | {"AWS_ENDPOINT_URL": s3_server.url}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    s3_server.refused.clear()
    return s3_server


@pytest.fixture
def on_machine(tmp_path, monkeypatch):
    """Become another machine, with a cache folder of its own: `on_machine("second")`."""

    def become(name, cache=None):
        if cache is None:
            monkeypatch.delenv("HARNESS_CACHE", raising=False)
        else:
            monkeypatch.setenv("HARNESS_CACHE", cache)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))

    return become
