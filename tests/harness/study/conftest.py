"""The small study, as a person would have it in a folder."""

import pytest
import small_study

from harness.registry.registry import Registry
from harness.study import running, study
from harness.task import yaml_files


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def vectors():
    """Vectors by word; tests change them."""
    return small_study.vectors()


@pytest.fixture
def folder(tmp_path, vectors):
    """A folder with the vectors, the concept and a study."""
    return small_study.fill(tmp_path, vectors)


@pytest.fixture
def said(folder):
    """What the study file says; tests change it."""
    return small_study.said(folder)


@pytest.fixture
def resolved(folder, said):
    """Resolve what the study file says."""

    def make():
        path = small_study.write(folder / "small.yaml", said)
        return study.resolve(yaml_files.load(path), Registry(include=[folder]))

    return make


@pytest.fixture
def run(folder, said):
    """Run what the study file says."""

    def make(**more):
        path = small_study.write(folder / "small.yaml", said)
        return running.run(path, results=folder / "results", include=[folder], **more)

    return make
