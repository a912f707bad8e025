"""A tiny encoder, built with the real libraries, and hosted encoders of a local server."""

import shutil
from pathlib import Path

import pytest

from harness.plugins.embedders.hosted.openai import OpenAIEmbedder

WORDS = ["the", "nurse", "is", "a", "man", "woman", "good", "bad", "query", ":", "hello", "world"]


@pytest.fixture(scope="session")
def built_model(tmp_path_factory):
    """A BERT of one layer with random weights, saved by sentence-transformers; read-only."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import BertConfig, BertModel, BertTokenizerFast

    plain = tmp_path_factory.mktemp("plain")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (plain / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizerFast(vocab={w: i for i, w in enumerate(vocabulary)}).save_pretrained(plain)
    torch.manual_seed(1)
    BertModel(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
        )
    ).save_pretrained(plain)
    folder = tmp_path_factory.mktemp("built")
    model = SentenceTransformer(
        modules=[Transformer(str(plain), max_seq_length=32), Pooling(16, "mean")],
        prompts={"query": "query : "},
        device="cpu",
    )
    model.save(str(folder), create_model_card=False)
    return folder


@pytest.fixture(scope="session")
def masked_model(built_model, tmp_path_factory):
    """The folder of a BERT that fills masks, with the tokenizer of the tiny model; read-only."""
    import torch
    from transformers import AutoConfig, AutoTokenizer, BertForMaskedLM

    folder = tmp_path_factory.mktemp("masked")
    torch.manual_seed(2)
    config = AutoConfig.from_pretrained(built_model, initializer_range=0.5)
    BertForMaskedLM(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(built_model).save_pretrained(folder)
    return folder


@pytest.fixture
def model(built_model, tmp_path) -> Path:
    """A copy of the tiny model that a test may change."""
    return Path(shutil.copytree(built_model, tmp_path / "model"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def embedder(loopback):
    """Return a function that makes embedders of the loopback server: `embedder(option=…)`."""
    embedders = []

    def make(reference="toy", **options):
        options = {"base_url": loopback.url, "retries": 1, "timeout": 5, "parallel": 1} | options
        embedders.append(OpenAIEmbedder(reference, **options))
        return embedders[-1]

    yield make
    for embedder in embedders:
        embedder.close()
