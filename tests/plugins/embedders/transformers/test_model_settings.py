"""Broken configurations and weights of model folders: one line with the file, the key and more."""

import json
from contextlib import contextmanager

import pytest

from harness.errors import ModelError
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder

CONFIG, SETTINGS = "config.json", "config_sentence_transformers.json"
TRANSFORMER, POOLING, WEIGHTS = "sentence_bert_config.json", "1_Pooling/config.json", "weights"
BERT = "sentence_transformers.models.Transformer"


def refused(folder):
    """Return the message with which a model is refused, when it is made or loaded."""
    with pytest.raises(ModelError) as caught:
        SentenceTransformersEmbedder(str(folder), device="cpu").encode(["the nurse"])
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"'{folder}'")
    assert "Error" not in message
    return message


def change(file, **changes):
    content = {**json.loads(file.read_text()), **changes}
    file.write_text(json.dumps({key: value for key, value in content.items() if value != "LEFT"}))


def change_weights(folder, change):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


@contextmanager
def changed(folder, file, content):
    """Give a file of a model other text (a mapping: other values of keys) for a moment."""
    path = folder / file
    before = path.read_bytes()
    if isinstance(content, str):
        path.write_text(content)
    else:
        change(path, **content)
    yield
    path.write_bytes(before)


def test_a_file_that_is_no_json_object_is_refused(model):
    for file, content, fact in (
        (CONFIG, "[]", "is a list; expected a JSON object"),
        (SETTINGS, "null", "is null; expected a JSON object"),
        (TRANSFORMER, "3", "is 3; expected a JSON object"),
        (POOLING, "{", "cannot be read"),
        ("tokenizer_config.json", "", "cannot be read"),
        (CONFIG, '{"a":' * 100_000, "is nested too deeply"),
        (CONFIG, '{"a": "' + "x" * 2**24 + '"}', "at most 16,000,000 are allowed"),
    ):
        with changed(model, file, content):
            message = refused(model)
        assert f"{file} " in message
        assert fact in message


def test_a_setting_of_the_wrong_type_is_refused(model):
    for file, key, value, fact in (
        (CONFIG, "max_position_embeddings", "many", 'is "many"; expected a whole number'),
        (CONFIG, "architectures", {"a": 1}, "is an object; expected a list"),
        (CONFIG, "hidden_act", "glue", "'glue', which transformers does not know; did you"),
        (CONFIG, "dtype", "float99", 'is "float99"; expected a type of numbers'),
        (SETTINGS, "prompts", {"query": 5}, "prompts.query is 5; expected a text"),
        (SETTINGS, "prompts", {"query": "x" * 10**7}, "prompts.query has 10,000,000 characters"),
        (SETTINGS, "default_prompt_name", "quary", "did you mean 'query'"),
        (SETTINGS, "truncate_dim", 0, "expected a whole number of 1 or more"),
        (TRANSFORMER, "max_seq_length", "64", "expected a whole number of 1 or more"),
        (TRANSFORMER, "tokenizer_name_or_path", "/elsewhere", "names another place"),
        (TRANSFORMER, "model_kwargs", {"variant": "x"}, "model_kwargs.variant='x' chooses other"),
        (TRANSFORMER, "processor_kwargs", {"vocab_file": "/x"}, "vocab_file='/x' chooses"),
        ("tokenizer_config.json", "model_max_length", "64", "expected a number"),
        (POOLING, "pooling_mode", ["mean", "x"], "expected one or several of cls, max, mean"),
        (POOLING, "embedding_dimension", "LEFT", "expected the number of dimensions"),
        (POOLING, "include_prompt", "no", "expected true or false"),
    ):
        with changed(model, file, {key: value}):
            message = refused(model)
        assert file in message
        assert fact in message


def test_a_list_of_steps_that_is_none_is_refused(model):
    for content, fact in (
        ("{}", "must be a list of the model's steps"),
        ("[3]", "step 0 has no text 'path'"),
        (json.dumps([{"name": "0", "path": ""}]), "step 0 has no text 'type'"),
        (json.dumps([{"path": "", "type": BERT}]), "step 0 has no text 'name'"),
    ):
        with changed(model, "modules.json", content):
            message = refused(model)
        assert "modules.json" in message
        assert fact in message


def test_an_absurd_size_is_refused_before_the_model_is_built(model):
    for key, value, limit in (
        ("num_hidden_layers", 10_000_000, "the model has 23 weights"),
        ("vocab_size", 10**9, "no weight is longer than 64"),
        ("max_position_embeddings", 10**12, "the weights have 64 positions"),
        ("num_labels", 10**8, "the model has 23 weights"),
    ):
        with changed(model, CONFIG, {key: value}):
            assert f"config.json: {key} is {value}, but {limit}" in refused(model)


def test_weights_that_are_not_those_of_the_model_are_refused_by_name(model):
    bias = "embeddings.LayerNorm.bias"
    content = (model / "model.safetensors").read_bytes()
    for change, fact in (
        (lambda w: w.pop(bias), f"'{bias}' is missing"),
        (
            lambda w: w.update({f"backbone.{key}": w.pop(key) for key in list(w)}),
            f"21 weights ('{bias}', ",
        ),
        (
            lambda w: w.update({"encoder.layer.0.adapter.up": w["pooler.dense.bias"] * 1}),
            "the weight 'encoder.layer.0.adapter.up' is in its files, but not part of",
        ),
        (lambda w: w.update({bias: w[bias][:4] * 1}), f"'{bias}' is 4, expected 16"),
    ):
        (model / "model.safetensors").write_bytes(content)
        change_weights(model, change)
        assert fact in refused(model)


def test_a_configuration_that_is_not_that_of_the_weights_is_refused(model):
    for key, value, fact in (
        ("num_hidden_layers", 2, "16 weights ('encoder.layer.1.attention.output.LayerNorm.bias'"),
        ("num_hidden_layers", 0, "16 weights ('encoder.layer.0.attention.output.LayerNorm.bias'"),
        ("vocab_size", 99, "'embeddings.word_embeddings.weight' is 17x16, expected 99x16"),
    ):
        with changed(model, CONFIG, {key: value}):
            assert fact in refused(model)


def test_weights_that_the_vectors_do_not_need_may_be_missing_or_left_over(model):
    content = (model / "model.safetensors").read_bytes()
    before = SentenceTransformersEmbedder(str(model), device="cpu").encode(["the nurse"])
    for change in (
        lambda w: [w.pop(key) for key in list(w) if key.startswith("pooler.")],
        lambda w: w.update({"cls.predictions.bias": w["pooler.dense.bias"] * 1}),
        lambda w: w.update({"classifier.weight": w["pooler.dense.bias"] * 1}),
        lambda w: w.update({f"bert.{key}": w.pop(key) for key in list(w)}),
        lambda w: w.update({"embeddings.position_ids": w["pooler.dense.bias"] * 1}),
    ):
        (model / "model.safetensors").write_bytes(content)
        change_weights(model, change)
        after = SentenceTransformersEmbedder(str(model), device="cpu").encode(["the nurse"])
        assert (before == after).all()


def header(model, change):
    """Change the header of the weights."""
    file = model / "model.safetensors"
    content = file.read_bytes()
    n = int.from_bytes(content[:8], "little")
    stated = json.loads(content[8 : 8 + n])
    text = (change(stated) or json.dumps(stated)).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + n :])


KEY, OTHER = "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"


def test_weights_with_a_damaged_header_are_refused(model):
    content = (model / "model.safetensors").read_bytes()
    for change, fact in (
        (lambda h: h[KEY].update(data_offsets=h[OTHER]["data_offsets"]), "do not follow"),
        (lambda h: h[KEY].update(shape=[9]), "has 64 bytes; its shape takes 36"),
        (lambda h: h[KEY].update(dtype="X"), "unknown type 'X'"),
        (lambda h: h[KEY].pop("data_offsets") and None, "its header lacks 'data_offsets'"),
        (lambda h: f'{json.dumps(h)[:-1]}, "{KEY}": {{}}}}', "stands twice in one object"),
        (lambda h: "[]", "its header is no object"),
        (lambda h: "[" * 100_000, "nested too deeply"),
    ):
        (model / "model.safetensors").write_bytes(content)
        header(model, change)
        message = refused(model)
        assert "model.safetensors is damaged" in message
        assert fact in message
    (model / "model.safetensors").write_bytes(b"abcd")
    assert "model.safetensors is damaged" in refused(model)


def test_a_broken_tokenizer_is_refused(model):
    for content in ("", "[]", "[" * 10**6):
        (model / "tokenizer.json").write_text(content)
        assert "tokenizer.json cannot be read" in refused(model)


def test_a_model_without_a_tokenizer_is_refused(model):
    (model / "tokenizer.json").unlink()
    assert "no tokenizer: tokenizer.json is missing" in refused(model)
    (model / "vocab.json").write_text("{}")
    assert "vocab.json is there, but neither merges.txt" in refused(model)


def test_a_tokenizer_of_another_model_is_refused(model):
    file = model / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary.update({f"more{i}": len(vocabulary) + i for i in range(3)})
    file.write_text(json.dumps(tokenizer))
    assert "its tokenizer has 20 tokens, but the weights have rows for 17" in refused(model)
