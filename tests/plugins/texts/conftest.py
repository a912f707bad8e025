"""A cache for each test, and spaCy pipelines that know the names in the tests."""

from __future__ import annotations

import pytest

NAMES = {
    "PERSON": ["Mike", "Kate Powell"],
    "GPE": ["Leeds", "Amazon"],
    "ORG": ["Corvex"],
    "NORP": ["Spanish"],
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def pipelines(tmp_path_factory):
    """Return a folder of installed pipelines: `some_names`, and `no_names` without a recogniser."""
    spacy = pytest.importorskip("spacy")
    folder = tmp_path_factory.mktemp("pipelines")
    for name in ("some_names", "no_names"):
        pipeline = spacy.blank("en")
        if name == "some_names":
            ruler = pipeline.add_pipe("entity_ruler", name="ner")
            ruler.add_patterns(
                [{"label": label, "pattern": name} for label in NAMES for name in NAMES[label]]
            )
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise RuntimeError('never imported')")
        pipeline.to_disk(folder / name / f"{name}-1.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
