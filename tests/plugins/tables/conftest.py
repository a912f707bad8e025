"""A spaCy pipeline that knows the names in the tests, in place of a trained one."""

from __future__ import annotations

import pytest

NAMES = {
    "PERSON": ["Mike", "Donald", "Kate Powell", "Ben Powell", "Kate", "Powell", "Jordan"],
    "GPE": ["Belgium", "Gambia", "U.S.", "France", "Paris"],
    "NORP": ["Spanish"],
}


@pytest.fixture(scope="session")
def known_names(tmp_path_factory):
    """Return the name of an installed pipeline that finds `NAMES`, as tokens, and nothing else."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler", name="ner")
    ruler.add_patterns(
        [{"label": label, "pattern": name} for label, names in NAMES.items() for name in names]
    )
    place = tmp_path_factory.mktemp("pipelines")
    (place / "known_names").mkdir()
    (place / "known_names" / "__init__.py").write_text("")
    pipeline.to_disk(place / "known_names" / "known_names-1.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(place)
        patch.setenv("HARNESS_CACHE", str(place / "cache"))
        yield "known_names"
