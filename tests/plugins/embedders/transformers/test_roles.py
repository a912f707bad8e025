"""Prompts by role: those of the model's files, of its card, and of the user's options."""

import json

import numpy as np
from sentence_transformers import SentenceTransformer

from harness.embedder import Card
from harness.plugins.embedders.transformers import loaded_model
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder

TEXTS = ["the nurse is a woman", "hello", "", "the man is good the woman is bad hello world"]


def embedder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


def _write_settings(folder, **changes):
    path = folder / "config_sentence_transformers.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_queries_and_documents_get_the_prompts_that_the_library_gives_them(model):
    stated = {"query": "good : ", "document": "bad : ", "similarity": "hello : "}
    _write_settings(model, prompts=stated, default_prompt_name="similarity")
    encoder, library = embedder(model), SentenceTransformer(str(model), device="cpu")
    for role, expected in (
        ("query", library.encode_query(TEXTS)),
        ("document", library.encode_document(TEXTS)),
        ("text", library.encode(TEXTS)),
    ):
        np.testing.assert_allclose(encoder.encode(TEXTS, role=role), expected, atol=1e-6)
    assert encoder.info.role_prompts == {
        "query": "good : ",
        "document": "bad : ",
        "text": "hello : ",
    }
    assert encoder.lengths(["hello"], role="query") == [5]


def test_a_prompt_outside_the_pooling_is_outside_it_in_each_role(model):
    pooling = model / "1_Pooling" / "config.json"
    settings = json.loads(pooling.read_text())
    pooling.write_text(json.dumps(settings | {"include_prompt": False}))
    library = SentenceTransformer(str(model), device="cpu")
    np.testing.assert_allclose(
        embedder(model).encode(TEXTS, role="query"), library.encode_query(TEXTS), atol=1e-6
    )


def test_options_replace_the_prompts_of_the_model(model):
    own = embedder(model).info
    assert own.role_prompts == {"text": "", "query": "query : ", "document": ""}
    for options, prompts in (
        ({"prompt": ""}, {}),
        ({"prompt": "hello : "}, {"text": "hello : "}),
        ({"query_prompt": "", "document_prompt": ""}, {}),
        (
            {"document_prompt": "bad : "},
            {"text": "", "query": "query : ", "document": "bad : "},
        ),
        (
            {"prompt": "hello : ", "query_prompt": "query"},
            {"text": "hello : ", "query": "query : ", "document": "hello : "},
        ),
    ):
        encoder = embedder(model, **options)
        assert encoder.info.role_prompts == prompts
        assert encoder.info.fingerprint != own.fingerprint


def test_a_card_states_the_prompts_by_role(model):
    _write_settings(model, prompts={})
    prompts = {"query": "good : ", "document": "bad : ", "text": "good : "}
    card = Card(name="x", kind="text", prompts=prompts)
    encoder = embedder(model, card=card)
    assert encoder.info.role_prompts == prompts
    for role, prompt in prompts.items():
        np.testing.assert_array_equal(
            encoder.encode(TEXTS, role=role), embedder(model, prompt=prompt).encode(TEXTS)
        )


def test_a_default_prompt_is_for_texts_that_are_neither_queries_nor_documents(model):
    _write_settings(model, prompts={"sts": "good : "}, default_prompt_name="sts")
    encoder, library = embedder(model), SentenceTransformer(str(model), device="cpu")
    assert encoder.info.role_prompts == {"text": "good : ", "query": "", "document": ""}
    for role, expected in (
        ("query", library.encode_query(TEXTS)),
        ("document", library.encode_document(TEXTS)),
        ("text", library.encode(TEXTS)),
    ):
        np.testing.assert_allclose(encoder.encode(TEXTS, role=role), expected, atol=1e-6)


def test_prompts_under_other_names_are_used_and_told_without_loading_the_model(model):
    stated = {"retrieval.query": "good : ", "retrieval.passage": "bad : "}
    _write_settings(model, prompts=stated)
    encoder = embedder(model)
    (note,) = encoder.notes
    assert "_model" not in vars(encoder)
    assert "'retrieval.query'" in note
    library = SentenceTransformer(str(model), device="cpu")
    for role, name in (("query", "retrieval.query"), ("document", "retrieval.passage")):
        np.testing.assert_allclose(
            encoder.encode(TEXTS, role=role), library.encode(TEXTS, prompt_name=name), atol=1e-6
        )
    (of_object,) = loaded_model.adapt(library).notes
    assert of_object == note.removeprefix("sentence-transformers:")
    chosen = embedder(model, query_prompt="retrieval.passage")
    assert chosen.info.role_prompts["query"] == "bad : "
