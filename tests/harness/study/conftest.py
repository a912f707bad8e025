"""The small study in a folder, with its vectors and its concept."""

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
    """Vectors by word; tests may change them."""
    return small_study.vectors()


@pytest.fixture
def folder(tmp_path, vectors):
    """A folder with the vectors and the concept."""
    return small_study.fill(tmp_path, vectors)


@pytest.fixture
def content(folder):
    """The contents of the study file; tests change them."""
    return small_study.content(folder)


@pytest.fixture
def resolved(folder, content):
    """Resolve the study file with its current contents."""

    def make():
        path = small_study.write(folder / "small.yaml", content)
        return study.resolve(yaml_files.load(path), Registry(include=[folder]))

    return make


@pytest.fixture
def run(folder, content):
    """Run the study file with its current contents."""

    def make(**more):
        path = small_study.write(folder / "small.yaml", content)
        return running.run_study(path, results=folder / "results", include=[folder], **more)

    return make
