"""Facts about the two models that come as packages, and about those that the papers compare."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.embedder import WordEmbedder
from harness.errors import ModelError
from harness.plugins.embedders import (
    cards_context_injection,
    cards_name_bias,
    file_hashes,
    packages,
)
from harness.plugins.embedders.transformers import minilm
from harness.plugins.embedders.vectors import glove
from harness.registry.registry import Registry

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
LANGUAGE_MODELS = ("mistral", "phi3", "qwen2", "gemma2", "llama3.1")
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


def test_every_model_of_both_papers_has_a_card():
    assert (len(TABLE_3), len(TABLE_6)) == (19, 14)
    registered = Registry().embedders
    for name in [*TABLE_3, *(ours or theirs for theirs, ours in TABLE_6.items())]:
        card = registered[name].card
        assert card.name == name
        assert card.sources, name
        assert card.languages, name
        assert card.dimensions, name
        assert card.max_tokens, name
        assert card.url.startswith("https://"), name


def test_cards_have_the_scores_and_ranks_that_the_paper_prints():
    for name, printed in TABLE_3.items():
        scores = dict(zip(("MTEB", "MTEB rank"), printed, strict=True)) if printed else {}
        assert Registry().embedders[name].card.scores == scores, name


def test_cards_have_the_sizes_that_the_models_have():
    for name, sizes in SIZES.items():
        card = Registry().embedders[name].card
        assert (card.dimensions, card.max_tokens) == sizes, name


def test_open_models_are_of_the_hub_and_hosted_ones_are_asked():
    hosted = {ours for ours in TABLE_6.values() if ours}
    for name in {*TABLE_3, *TABLE_6} - {"gemini"} | hosted:
        spec = Registry().embedders[name]
        if name in hosted:
            assert "openai:" in spec.target
        else:
            assert spec.card.url == f"https://huggingface.co/{spec.options['reference']}"
            assert spec.card.n_parameters, name
            runs = "last_token:" if name in LANGUAGE_MODELS else "sentence_transformer:|minilm:"
            assert any(part in spec.target for part in runs.split("|")), name


def test_models_that_were_trained_with_prompts_have_them():
    for name in (
        "stella-en-1.5B-v5",
        "multilingual-e5-large-instruct",
        "mxbai-embed-large-v1",
        "UAE-Large-V1",
        "bge-large-en-v1.5",
        "nomic-embed-text-v1",
    ):
        assert Registry().embedders[name].card.prompts, name


def test_a_model_whose_weights_the_paper_does_not_name_says_so():
    for name in LANGUAGE_MODELS:
        spec = Registry().embedders[name]
        assert cards_context_injection.NOT_GIVEN in spec.card.sources
        assert (spec.options["pooling"], spec.options["eos"]) == ("lasttoken", True)


def test_no_model_is_trusted_to_run_its_own_code():
    assert not any(
        spec.options.get("trust_remote_code")
        for spec in [*cards_context_injection.specs(), *cards_name_bias.specs()]
    )


def test_listing_models_imports_nothing_heavy():
    code = (
        "import sys, harness.plugins.embedders as e\n"
        "e.harness_embedders()\n"
        "heavy = {'torch', 'numpy', 'transformers', 'gensim', 'polars', 'huggingface_hub'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def packaged():
    if packages.folder(minilm.PACKAGE) is None or packages.folder(glove.PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    return Registry()


SENTENCES = ["The nurse is here.", "word", "", "Überall – 王! " * 200, "This is a man. " * 3]


def test_minilm_gives_the_vectors_that_its_library_gives(packaged):
    from sentence_transformers import SentenceTransformer

    made = packaged.embedder("all-MiniLM-L6-v2", device="cpu")
    folder = packages.folder(minilm.PACKAGE) / "model"
    expected = SentenceTransformer(str(folder), device="cpu").encode(SENTENCES)
    np.testing.assert_allclose(made.encode(SENTENCES), expected, atol=1e-6)
    assert made.info.name == "all-MiniLM-L6-v2"
    assert (made.info.dimensions, made.info.max_tokens) == (384, 256)
    assert made.info.n_parameters == 22_713_216
    assert made.info.licence == "Apache-2.0"


def test_minilm_is_one_model_by_its_name_and_by_its_folder(packaged):
    folder = packages.folder(minilm.PACKAGE) / "model"
    named, placed = (
        packaged.embedder(name).info.fingerprint
        for name in ("all-MiniLM-L6-v2", f"sentence-transformers:{folder}")
    )
    assert named == placed
    assert packaged.embedder("all-MiniLM-L6-v2?pooling=cls").info.fingerprint != named


def test_glove_has_the_words_and_vectors_of_stanford(packaged):
    made = packaged.embedder("glove-6b-50d")
    assert isinstance(made, WordEmbedder)
    assert made.info.dimensions == 50
    assert len(made.words) == len(made.vectors) == 400_000
    assert list(made.words[:3]) == ["the", ",", "."]
    # The first numbers of "the" in glove.6B.50d.txt.
    np.testing.assert_allclose(
        made.encode(["The"])[0, :4], [0.418, 0.24968, -0.41242, 0.1217], rtol=1e-6
    )
    assert np.isnan(made.encode(["no such word"])).all()
    assert np.isfinite(made.vectors).all()
    assert made.info.fingerprint == packaged.embedder("glove-6b-50d").info.fingerprint


@pytest.mark.parametrize(
    ("name", "package", "file"),
    [
        ("glove-6b-50d", glove.PACKAGE, "data/glove_6B_50d_emb.npy"),
        ("all-MiniLM-L6-v2", minilm.PACKAGE, "model/model.safetensors"),
    ],
)
def test_a_package_with_other_files_is_refused(tmp_path, monkeypatch, name, package, file):
    (tmp_path / package / file).parent.mkdir(parents=True)
    (tmp_path / package / "__init__.py").write_text("raise AssertionError('it was imported')")
    monkeypatch.delitem(sys.modules, package, raising=False)  # another test may have imported it
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match="cannot be read"):
        Registry().embedder(name)
    (tmp_path / package / file).write_bytes(b"other weights")
    with pytest.raises(ModelError, match=r"its SHA-256 is [0-9a-f]{64}, expected") as caught:
        Registry().embedder(name)
    assert "\n" not in str(caught.value)


def test_without_the_packages_the_models_say_how_to_install_them(tmp_path):
    """In a process that cannot see them, with a hub that nobody answers for."""
    code = (
        "import sys\n"
        f"sys.modules[{glove.PACKAGE!r}] = sys.modules[{minilm.PACKAGE!r}] = None\n"
        "from harness.errors import Unavailable\n"
        "from harness.registry.registry import Registry\n"
        "for name in ('glove-6b-50d', 'all-MiniLM-L6-v2'):\n"
        "    try:\n"
        "        Registry().embedder(name)\n"
        "    except Unavailable as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path), "PATH": ""},
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stderr
    assert all(packages.INSTALL in line for line in lines)


def test_a_missing_package_has_no_folder():
    assert packages.folder("no_such_package_at_all") is None


def test_a_large_file_is_hashed_once_and_again_when_it_changes(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(bytes(file_hashes.SMALL))
    before = file_hashes.sha256(path)
    assert before == hashlib.sha256(path.read_bytes()).hexdigest() == file_hashes.sha256(path)
    path.write_bytes(bytes(file_hashes.SMALL) + b"more")
    assert file_hashes.sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest() != before


def test_a_remembered_hash_is_taken_and_a_torn_one_is_not(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(bytes(file_hashes.SMALL))
    right = file_hashes.sha256(path)
    (note,) = (tmp_path / "cache" / "sha256").iterdir()
    note.write_text("f" * 64)
    assert file_hashes.sha256(path) == "f" * 64
    note.write_text("f" * 10)
    assert file_hashes.sha256(path) == right


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path, monkeypatch):
    path = tmp_path / "weights"
    path.write_bytes(bytes(file_hashes.SMALL))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    assert file_hashes.sha256(path) == hashlib.sha256(Path(path).read_bytes()).hexdigest()
