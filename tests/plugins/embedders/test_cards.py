"""The registered models: what `cards.yaml` says of them, and how a mistake in it is reported."""

import subprocess
import sys
from collections import Counter

import pytest

from harness import names
from harness.embedder import COMPARING
from harness.errors import InvalidFile
from harness.plugins.embedders import cards, harness_embedders
from harness.registry.registry import Registry
from harness.specs import EmbedderSpec

# Uriot 2024, table 3: MTEB score and rank.
TABLE_3 = {
    "stella-en-1.5B-v5": (71.19, 3),
    "gte-large-en-v1.5": (65.39, 21),
    "mxbai-embed-large-v1": (64.68, 25),
    "UAE-Large-V1": (64.64, 26),
    "multilingual-e5-large-instruct": (64.41, 30),
    "GIST-large-Embedding-v0": (64.34, 32),
    "bge-large-en-v1.5": (64.23, 33),
    "ember-v1": (63.34, 46),
    "nomic-embed-text-v1": (62.39, 54),
    "sentence-t5-xl": (57.87, 116),
    "all-mpnet-base-v2": (57.77, 117),
    "all-MiniLM-L12-v2": (56.46, 127),
    "all-MiniLM-L6-v2": (56.09, 134),
    "xlm-roberta-base": None,
    "mistral": None,
    "phi3": None,
    "qwen2": None,
    "gemma2": None,
    "llama3.1": None,
}
# The name-bias paper, table 6, and which of ours the hosted ones are.
TABLE_6 = {
    "all-mpnet-base-v2": None,
    "all-distilroberta-v1": None,
    "all-MiniLM-L6-v2": None,
    "gemini": "gemini-embedding-001",  # the paper gives no version
    "multi-qa-distilbert-cos-v1": None,
    "paraphrase-MiniLM-L6-v2": None,
    "distiluse-base-multilingual-cased-v1": None,
    "distiluse-base-multilingual-cased-v2": None,
    "paraphrase-multilingual-MiniLM-L12-v2": None,
    "msmarco-distilbert-cos-v5": None,
    "multi-qa-mpnet-base-cos-v1": None,
    "text-embedding-3-small": "text-embedding-3-small",
    "text-embedding-3-large": "text-embedding-3-large",
    "voyage-3-lite": "voyage-3-lite",
}
# Dimensions and longest inputs as the models' pages and files have them.
SIZES = {
    "stella-en-1.5B-v5": (1024, 512),
    "gte-large-en-v1.5": (1024, 8192),
    "nomic-embed-text-v1": (768, 8192),
    "sentence-t5-xl": (768, 256),
    "all-mpnet-base-v2": (768, 384),
    "all-MiniLM-L12-v2": (384, 128),
    "all-MiniLM-L6-v2": (384, 256),
    "mistral": (4096, 32768),
    "phi3": (3072, 4096),
    "qwen2": (3584, 32768),
    "gemma2": (3584, 8192),
    "llama3.1": (4096, 131_072),
    "distiluse-base-multilingual-cased-v2": (512, 128),
    "paraphrase-MiniLM-L6-v2": (384, 128),
    "text-embedding-3-small": (1536, 8192),
    "text-embedding-3-large": (3072, 8192),
    "voyage-3-lite": (512, 32_000),
}
# Their pages state none, or they are hosted.
WITHOUT_LICENCE = {
    "multi-qa-distilbert-cos-v1",
    "multi-qa-mpnet-base-cos-v1",
    "msmarco-distilbert-cos-v5",
    "text-embedding-3-small",
    "text-embedding-3-large",
    "text-embedding-ada-002",
    "voyage-3-lite",
    "gemini-embedding-001",
}


def built_in():
    """Return the registered models of this plugin, without providers and references."""
    specs = [spec for spec in harness_embedders() if not spec.provider]
    return [spec for spec in specs if "references:" not in spec.target]


def test_every_model_of_both_papers_is_registered():
    assert (len(TABLE_3), len(TABLE_6)) == (19, 14)
    papers = {*TABLE_3, *(ours or theirs for theirs, ours in TABLE_6.items())}
    assert papers - set(Registry().embedders) == set()


def test_every_card_states_what_the_model_is_and_where_that_was_read():
    faults = []
    for spec in built_in():
        card = spec.card
        facts = {
            "name": card.name == spec.name,
            "dimensions": (card.dimensions is None) == (card.kind == "cross-encoder"),
            "url": card.url.startswith("https://"),
            "languages": card.languages,
            "sources": card.sources and all(card.sources),
            "licence": (card.licence is None) == (spec.name in WITHOUT_LICENCE),
            # Hosted models hide their number of parameters.
            "n_parameters": (card.n_parameters is None) == (card.price is not None),
            "max_tokens": card.kind not in ("word", "text")
            or (card.max_tokens is None) == (card.kind == "word"),
        }
        faults += [(spec.name, fact) for fact, right in facts.items() if not right]
    assert faults == []


def test_five_models_of_each_kind_that_compares_texts_itself_are_registered():
    by_kind = Counter(spec.card.kind for spec in built_in())
    assert {kind: by_kind[kind] for kind in COMPARING} == dict.fromkeys(COMPARING, 5)
    for spec in built_in():
        if spec.card.kind in COMPARING:
            assert Registry().load(spec, spec.name).kind == spec.card.kind


def test_cards_have_the_scores_and_ranks_that_the_paper_prints():
    for name, printed in TABLE_3.items():
        scores = dict(zip(("MTEB", "MTEB rank"), printed, strict=True)) if printed else {}
        assert Registry().embedders[name].card.scores == scores, name


def test_cards_have_the_sizes_that_the_models_have():
    for name, sizes in SIZES.items():
        card = Registry().embedders[name].card
        assert (card.dimensions, card.max_tokens) == sizes, name


def test_no_model_is_trusted_to_run_its_own_code():
    assert not any(spec.options.get("trust_remote_code") for spec in built_in())


def test_every_model_loads_by_an_import_path_that_takes_its_options():
    for spec in harness_embedders():
        target = Registry().load(spec, spec.name)
        assert set(spec.options) <= set(names.parameters_of(target)), spec.name


VALID = """\
sources:
  page: the model's page
models:
  tiny:
    provider: toy
    dimensions: 3
    languages: [en]
    url: https://example.org/tiny
    sources: [page]
"""


def read(path, text):
    path.write_text(text)
    toy = EmbedderSpec(name="toy", target="package.module:Toy", provider=True)
    return cards.specs({"toy": toy}, path)


def test_a_model_is_loaded_by_its_provider_under_its_own_name_by_default(tmp_path):
    (spec,) = read(tmp_path / "cards.yaml", VALID)
    assert (spec.name, spec.target) == ("tiny", "package.module:Toy")
    assert spec.options == {"reference": "tiny"}
    assert (spec.card.kind, spec.card.sources) == ("text", ("the model's page",))


def test_a_mistake_in_the_file_is_reported_with_file_line_and_key(tmp_path):
    path = tmp_path / "cards.yaml"
    for old, new, line, named in (
        ("dimensions: 3", "dimension: 3", 6, "models.tiny.dimension"),
        ("provider: toy", "provider: toi", 5, "models.tiny.provider"),
        ("    url: https://example.org/tiny\n", "", 4, "models.tiny"),
        ("sources: [page]", "sources: [pages]", 9, "models.tiny.sources[0]"),
        ("[en]", "[no]", 7, "models.tiny.languages[0]"),  # a boolean to YAML
    ):
        with pytest.raises(InvalidFile) as caught:
            read(path, VALID.replace(old, new))
        assert (caught.value.path, caught.value.line, caught.value.key) == (path, line, named)


def test_listing_models_imports_nothing_heavy():
    code = (
        "import sys, harness.plugins.embedders as e\n"
        "e.harness_embedders()\n"
        "heavy = {'torch', 'numpy', 'transformers', 'gensim', 'polars', 'huggingface_hub'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


LISTS = {
    "in brackets, over lines": "fitted_on: [she, no,\n  twin_brother]\nconcept: gender",
    "with dashes": "license: mit\nfitted_on:\n- she\n- 'no'\n- twin_brother\nlanguage: [en]",
    "with indented dashes": 'fitted_on:\n  - she\n  - "no"\n  - twin_brother',
    "beside what is no YAML": "model-index: [\nfitted_on: [she, 'no', twin_brother]",
    "of another system": "license: mit\r\nfitted_on: [she, 'no',\r\n  twin_brother]\r",
}


@pytest.mark.parametrize("metadata", LISTS.values(), ids=LISTS)
def test_a_card_lists_what_a_model_was_fitted_on(tmp_path, metadata):
    card = tmp_path / "README.md"
    card.write_text(f"---\n{metadata}\n---\n\n# Model\n", newline="")
    assert cards.fitted_on(card) == ("she", "no", "twin_brother")


NO_LISTS = {
    "a text": "fitted_on: she",
    "nothing": "fitted_on:",
    "a list of lists": "fitted_on: [she, [he]]",
    "a mapping": "fitted_on: {she: he}",
    "code": "fitted_on: !!python/object/apply:os.abort []",
    "not closed": "fitted_on: [she",
    "deep": f"fitted_on: {'[' * 1_000_000}",
    "deep by dashes": "fitted_on:\n" + "- " * 900_000 + "she",
    "an alias": "fitted_on: [&a she, *a]",
}


@pytest.mark.parametrize("metadata", NO_LISTS.values(), ids=NO_LISTS)
def test_what_is_no_list_of_texts_is_not_stated(tmp_path, metadata):
    card = tmp_path / "README.md"
    card.write_text(f"---\n{metadata}\n---\n")
    assert cards.fitted_on(card) is None


@pytest.mark.parametrize(
    "text",
    ["", "# Model\n\nfitted_on: [she]\n", "---\nlicense: mit\n---\nfitted_on: [she]\n---\n",
     "---\nfitted_on: [she]\n", "---\nmodel:\n  fitted_on: [she]\n---\n"],
)  # fmt: skip
def test_a_card_without_the_key_lists_nothing(tmp_path, text):
    assert cards.fitted_on(tmp_path / "README.md") == ()
    (tmp_path / "README.md").write_text(text)
    assert cards.fitted_on(tmp_path / "README.md") == ()
