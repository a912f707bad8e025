"""A spaCy pipeline that finds only the names in the tests."""

from __future__ import annotations

import pytest

NAMES = {
    "PERSON": ["Mike", "Donald", "Kate Powell", "Ben Powell", "Kate", "Powell", "Jordan"],
    "GPE": ["Belgium", "Gambia", "U.S.", "France", "Paris"],
    "NORP": ["Spanish"],
}


@pytest.fixture(scope="session")
def known_names(tmp_path_factory):
    """Return the name of an installed pipeline that finds only `NAMES`."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler", name="ner")
    ruler.add_patterns(
        [{"label": label, "pattern": name} for label, names in NAMES.items() for name in names]
    )
    folder = tmp_path_factory.mktemp("pipelines")
    (folder / "known_names").mkdir()
    (folder / "known_names" / "__init__.py").write_text("")
    pipeline.to_disk(folder / "known_names" / "known_names-1.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        yield "known_names"
