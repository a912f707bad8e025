"""Asymmetric models: texts of each role take the route that the library gives them."""

import json
import shutil

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Router, Transformer
from sentence_transformers.sentence_transformer.modules import Dense, Pooling

import harness
from harness.errors import ModelError
from harness.plugins.embedders.transformers import loaded_model
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder

TEXTS = ["the nurse is a woman", "hello", "the man is good the woman is bad hello world"]
ROLES = ("text", "query", "document")


def step(model, seed):
    """Return a transformer with weights of its own."""
    transformer = Transformer(str(model))
    torch.manual_seed(seed)
    for weights in transformer.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return transformer


def two_ways(model, **options):
    steps = {"query": step(model, 1), "document": step(model, 2)}
    ways = {route: [transformer, Pooling(16)] for route, transformer in steps.items()}
    return Router(ways, **options)


@pytest.fixture
def saved(model, tmp_path):
    """Return a function that saves a model of modules, and returns its folder."""

    def save(*modules, **options):
        folder = tmp_path / "saved"
        shutil.rmtree(folder, ignore_errors=True)
        SentenceTransformer(modules=modules, device="cpu", **options).save(
            str(folder), create_model_card=False
        )
        return folder

    return save


def embedder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


def assert_as_the_library(encoder, library, roles=ROLES):
    methods = {
        "text": library.encode,
        "query": library.encode_query,
        "document": library.encode_document,
    }
    for role in roles:
        np.testing.assert_allclose(
            encoder.encode(TEXTS, role=role), methods[role](TEXTS), atol=1e-6, err_msg=role
        )


@pytest.mark.parametrize("default", ["document", "query", None])
def test_texts_of_each_role_take_the_route_of_the_library(model, saved, default):
    folder = saved(two_ways(model, default_route=default))
    encoder, library = embedder(folder), SentenceTransformer(str(folder), device="cpu")
    assert_as_the_library(encoder, library)
    text = default or "query"  # the first route is the default of a router that states none
    assert encoder.info.routes == {"text": text, "query": "query", "document": "document"}
    assert encoder.info.dimensions == 16
    assert encoder.notes == ()


def test_routes_may_be_named_by_mappings(model, saved):
    ways = {"short": [step(model, 1), Pooling(16)], "long": [step(model, 2), Pooling(16)]}
    mappings = {("query", "text"): "short", ("document", None): "long", (None, "text"): "long"}
    folder = saved(Router(ways, route_mappings=mappings))
    encoder = embedder(folder)
    assert encoder.info.routes == {"text": "long", "query": "short", "document": "long"}
    assert_as_the_library(encoder, SentenceTransformer(str(folder), device="cpu"))


def test_routes_whose_vectors_differ_in_length_are_refused(model, saved):
    short = [step(model, 1), Pooling(16), Dense(16, 4)]
    folder = saved(Router({"query": short, "document": [step(model, 2), Pooling(16)]}))
    with pytest.raises(ModelError, match=r"query: 4, document: 16"):
        embedder(folder)


def test_a_config_of_older_versions_states_the_routes_too(model, saved):
    folder = saved(two_ways(model, default_route="document"))
    (settings,) = folder.glob("**/router_config.json")
    settings.rename(settings.with_name("config.json"))
    encoder = embedder(folder)
    assert_as_the_library(encoder, SentenceTransformer(str(folder), device="cpu"))


def test_without_a_default_route_plain_texts_take_that_of_documents(model, saved):
    folder = saved(two_ways(model, allow_empty_key=False))
    encoder, library = embedder(folder), SentenceTransformer(str(folder), device="cpu")
    assert_as_the_library(encoder, library, ("query", "document"))
    np.testing.assert_allclose(encoder.encode(TEXTS), library.encode_document(TEXTS), atol=1e-6)
    assert encoder.info.routes["text"] == "document"
    (note,) = encoder.notes
    assert "no default route" in note
    assert "'document'" in note


def test_prompts_and_routes_go_together(model, saved):
    folder = saved(two_ways(model), prompts={"query": "query : "})
    encoder = embedder(folder)
    assert_as_the_library(encoder, SentenceTransformer(str(folder), device="cpu"))
    assert encoder.info.readings["query"] == ("query : ", "query")
    assert encoder.lengths(["hello"], role="query") == [5]


def test_limits_by_role_of_a_transformer_are_those_of_the_library(model, saved):
    transformer = step(model, 1)
    transformer.query_length, transformer.document_length = 4, 6
    folder = saved(transformer, Pooling(16))
    encoder = embedder(folder)
    assert_as_the_library(encoder, SentenceTransformer(str(folder), device="cpu"))
    assert set(encoder.info.readings.values()) == {("", role) for role in ("default", *ROLES[1:])}


def test_a_router_in_memory_is_read_as_the_library_reads_it(model):
    library = SentenceTransformer(
        modules=[two_ways(model, default_route="document")],
        device="cpu",
        prompts={"document": "good : "},
    )
    encoder = loaded_model.adapt(library)
    assert_as_the_library(encoder, library)
    library[0].default_route = "query"
    other = loaded_model.adapt(library)
    assert other.info.fingerprint != encoder.info.fingerprint
    assert_as_the_library(other, library)


TASK = {
    "name": "two-ways",
    "version": 1,
    "title": "Queries and documents",
    "category": "gender",
    "kinds": ["text"],
    "inputs": {
        "targets_1": {"words": ["the man", "a man is good"], "role": "query"},
        "targets_2": {"words": ["the woman", "hello woman"], "role": "query"},
        "attributes_1": {"words": ["good", "nurse"], "role": "document"},
        "attributes_2": {"words": ["bad", "world"], "role": "document"},
    },
    "metrics": {"weat": {}},
    "primary": {"metric": "weat", "score": "association"},
}


def association(x, y, a, b):
    x, y, a, b = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (x, y, a, b))
    x, y = ((w @ a.T).mean(1) - (w @ b.T).mean(1) for w in (x, y))
    return x.mean() - y.mean()


def test_the_score_of_an_asymmetric_model_is_that_of_its_two_routes(model, saved):
    folder = saved(two_ways(model, default_route="document"))
    library = SentenceTransformer(str(folder), device="cpu")
    words = [input_["words"] for input_ in TASK["inputs"].values()]
    right = association(
        *map(library.encode_query, words[:2]), *map(library.encode_document, words[2:])
    )
    result = harness.evaluate(str(folder), tasks=TASK, mitigators=["none"])
    (record,) = [record for record in result if record.primary]
    assert record.value == pytest.approx(right, abs=1e-5)
    routes = {"text": "document", "query": "query", "document": "document"}
    assert record.model.routes == routes
    assert json.loads(record.line())["model"]["routes"] == routes


def test_a_task_of_a_role_without_route_is_not_run(model, saved):
    folder = saved(Router({"query": [step(model, 1), Pooling(16)]}))
    with pytest.raises(ModelError, match="no route for the role 'document'"):
        embedder(folder).encode(TEXTS, role="document")
    plain = TASK | {
        "name": "plain",
        "inputs": {k: {"words": v["words"]} for k, v in TASK["inputs"].items()},
    }
    result = harness.evaluate(str(folder), tasks=[TASK, plain], mitigators=["none"])
    assert {record.task.name for record in result} == {"plain"}
    (not_run,) = result.not_run
    assert not_run.task == "two-ways"
    assert "no route for documents" in not_run.reason
