"""Whatever changes a vector changes the fingerprint: each file and value is changed, one at a time.

A model with a changed file has another fingerprint, or is refused; nothing that was stored for the
first is used for the second. The few files that keep the fingerprint change no vector.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import itertools
import json
import lzma
import os
import shutil

import numpy as np
import pytest

import harness
from harness.encode import identity
from harness.errors import HarnessError
from harness.plugins.embedders.infersent.infersent import InferSentEmbedder
from harness.plugins.embedders.transformers.last_token import LastTokenEmbedder
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder
from harness.plugins.embedders.vectors.vectors_file import vectors_file
from harness.registry.registry import Registry
from harness.run import debiasing, evaluation

WORDS = ["the", "nurse", "is", "a", "man", "woman", "good", "bad"]
TEXTS = ["the nurse is a woman", "a good man", "bad"]
LEAVES = 60
"""Most values of a JSON file that are changed."""


def sentence_transformer(path, **options):
    return SentenceTransformersEmbedder(str(path), device="cpu", **options)


def onnx(path):
    return sentence_transformer(path, backend="onnx")


def openvino(path):
    return sentence_transformer(path, backend="openvino")


def last_token(path):
    return LastTokenEmbedder(str(path), device="cpu")


def gguf(path):
    return last_token(path / "tiny.gguf")


def infersent(path):
    return InferSentEmbedder(str(path))


def word_vectors(path):
    (file,) = path.iterdir()
    return vectors_file(str(file))


def saved(folder, *steps):
    from sentence_transformers import SentenceTransformer

    SentenceTransformer(modules=list(steps), device="cpu").save(
        str(folder), create_model_card=False
    )
    (folder / "README.md").write_text("About the model.", encoding="utf-8")


def transformer(built, seed=None):
    import torch
    from sentence_transformers.base.modules import Transformer

    step = Transformer(str(built))
    if seed is not None:
        torch.manual_seed(seed)
        for weight in step.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    return step


def pooling(size=16, mode="mean"):
    from sentence_transformers.sentence_transformer.modules import Pooling

    return Pooling(size, mode)


def word_tokenizer():
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    known = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "<s>", "</s>", *WORDS])}
    tokenizer = Tokenizer(WordLevel(known, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    return tokenizer


def build_transformer(folder, built):
    shutil.copytree(built, folder, dirs_exist_ok=True)
    (folder / "README.md").write_text("About the model.", encoding="utf-8")
    return ["README.md"]


def build_old_weights(folder, built):
    import torch
    from safetensors.torch import load_file

    shutil.copytree(built, folder, dirs_exist_ok=True)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return []


def build_sharded(folder, built):
    from transformers import AutoModel

    shutil.copytree(built, folder, dirs_exist_ok=True)
    (folder / "model.safetensors").unlink()
    AutoModel.from_pretrained(built).save_pretrained(folder, max_shard_size="5KB")
    assert len(list(folder.glob("*.safetensors"))) > 1
    return []


def build_router(folder, built):
    from sentence_transformers.base.modules import Router

    routes = [[transformer(built, seed), pooling()] for seed in (1, 2)]
    router = Router.for_query_document(
        query_modules=routes[0], document_modules=routes[1], default_route="document"
    )
    saved(folder, router)
    return ["README.md"]


def build_dense(folder, built):
    from sentence_transformers.base.modules import Dense
    from sentence_transformers.sentence_transformer.modules import LayerNorm, Normalize

    saved(folder, transformer(built), pooling(), Dense(16, 8), LayerNorm(8), Normalize())
    return ["README.md"]


def build_static(folder, built):
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    saved(folder, StaticEmbedding(word_tokenizer(), embedding_dim=8))
    return ["README.md"]


def build_lstm(folder, built):
    import torch
    from sentence_transformers.sentence_transformer.modules import LSTM, WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    torch.manual_seed(0)
    words = WordEmbeddings(
        WhitespaceTokenizer(WORDS, stop_words=["the"]), torch.randn(len(WORDS), 8)
    )
    saved(folder, words, LSTM(8, 4), pooling(8))
    return ["README.md"]


def build_exported(folder, built):
    import onnx as library
    from onnx import TensorProto, helper, numpy_helper

    shutil.copytree(built, folder, dirs_exist_ok=True)
    rows = np.random.default_rng(0).normal(size=(17, 16)).astype(np.float32)
    names = ("input_ids", "attention_mask", "token_type_ids")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["rows", "input_ids"], ["last_hidden_state"])],
        "words",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in names],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "t", 16])],
        [numpy_helper.from_array(rows, "rows")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "onnx").mkdir()
    library.save(
        model,
        folder / "onnx" / "model.onnx",
        save_as_external_data=True,
        location="model.onnx_data",
        size_threshold=0,
    )


def build_onnx(folder, built):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    build_exported(folder, built)
    return ["model.safetensors"]


def build_openvino(folder, built):
    pytest.importorskip("onnx")
    library = pytest.importorskip("openvino")
    build_exported(folder, built)
    converted = library.convert_model(folder / "onnx" / "model.onnx")
    (folder / "openvino").mkdir()
    library.save_model(converted, folder / "openvino" / "openvino_model.xml")
    shutil.rmtree(folder / "onnx")
    return ["model.safetensors"]


def build_language_model(folder, built):
    import torch
    from tokenizers.processors import TemplateProcessing
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = word_tokenizer()
    tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 2)])
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "bos_token": "<s>", "eos_token": "</s>"}
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=32, **special
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=12,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return ["generation_config.json"]


def build_gguf(folder, built):
    library = pytest.importorskip("gguf")
    writer = library.GGUFWriter(folder / "tiny.gguf", "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(8)
    writer.add_block_count(1)
    writer.add_head_count(2)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(WORDS)
    writer.add_tensor("token_embd.weight", np.eye(8, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return []


def rows():
    return np.random.default_rng(1).normal(size=(len(WORDS), 5)).astype(np.float32)


def lines():
    pairs = zip(WORDS, rows(), strict=True)
    return [f"{word} {' '.join(map(str, row.tolist()))}" for word, row in pairs]


def build_infersent(folder, built):
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(0)
    lstm = torch.nn.LSTM(5, 3, bidirectional=True)
    weights = {f"enc_lstm.{name}": value for name, value in lstm.state_dict().items()}
    save_file(weights, folder / "model.safetensors")
    config = {
        "model_type": "infersent",
        "word_dimensions": 5,
        "hidden_size": 3,
        "vectors": "words.txt",
        "lowercase": False,
        "start": "<s>",
        "end": "</s>",
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "words.txt").write_text("\n".join(lines()) + "\n")
    (folder / "README.md").write_text("About the model.")
    return ["README.md"]


def build_glove(folder, built):
    (folder / "words.txt").write_text("\n".join(lines()) + "\n")
    return []


def build_word2vec(folder, built):
    (folder / "words.txt").write_text("\n".join([f"{len(WORDS)} 5", *lines()]) + "\n")
    return []


def build_gzip(folder, built):
    with gzip.open(folder / "words.txt.gz", "wt") as file:
        file.write("\n".join(lines()) + "\n")
    return []


def build_bzip2(folder, built):
    (folder / "words.txt.bz2").write_bytes(bz2.compress("\n".join(lines()).encode()))
    return []


def build_xz(folder, built):
    (folder / "words.txt.xz").write_bytes(lzma.compress("\n".join(lines()).encode()))
    return []


def build_fasttext(folder, built):
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    options = {"vector_size": 4, "min_count": 1, "bucket": 20, "seed": 1, "workers": 1}
    save_facebook_model(FastText([WORDS, WORDS], **options), str(folder / "words.bin"))
    return []


def build_model2vec(folder, built):
    from safetensors.numpy import save_file

    tokenizer = word_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 5))
    save_file({"embeddings": rows.astype(np.float32)}, folder / "model.safetensors")
    config = {"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": True}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "README.md").write_text("About the model.")
    return ["README.md"]


def build_binary(folder, built):
    parts = [f"{len(WORDS)} 5\n".encode()]
    for word, row in zip(WORDS, rows(), strict=True):
        parts += [word.encode(), b" ", row.tobytes()]
    (folder / "words.bin").write_bytes(b"".join(parts))
    return []


def build_safetensors(folder, built):
    path = folder / "words.safetensors"
    debiasing.write_vectors(path, "safetensors", WORDS, 5, [(WORDS, rows())])
    return []


KINDS = {
    "transformer": (build_transformer, sentence_transformer),
    "weights in a pickle": (build_old_weights, sentence_transformer),
    "sharded weights": (build_sharded, sentence_transformer),
    "router": (build_router, sentence_transformer),
    "dense head": (build_dense, sentence_transformer),
    "static embedding": (build_static, sentence_transformer),
    "lstm": (build_lstm, sentence_transformer),
    "onnx": (build_onnx, onnx),
    "openvino": (build_openvino, openvino),
    "last token": (build_language_model, last_token),
    "gguf": (build_gguf, gguf),
    "infersent": (build_infersent, infersent),
    "glove": (build_glove, word_vectors),
    "word2vec": (build_word2vec, word_vectors),
    "word2vec, compressed": (build_gzip, word_vectors),
    "bzip2, compressed": (build_bzip2, word_vectors),
    "xz, compressed": (build_xz, word_vectors),
    "fasttext": (build_fasttext, word_vectors),
    "model2vec": (build_model2vec, sentence_transformer),
    "word2vec, binary": (build_binary, word_vectors),
    "safetensors": (build_safetensors, word_vectors),
}


def leaves(value, path=()):
    """Yield the path of each value of a JSON file that holds no others."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, dict | list) and item:
            yield from leaves(item, (*path, key))
        else:
            yield (*path, key)


def other(value):
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    return 1 if value is None else [*value, 1] if isinstance(value, list) else {"x": 1}


def changes(file):
    """Yield other contents of a file, each with a name."""
    content = file.read_bytes()
    if file.suffix != ".json":
        for place in sorted({*range(0, len(content), max(1, len(content) // 8)), len(content) - 1}):
            changed = bytes([content[place] ^ 1])
            yield f"byte {place}", content[:place] + changed + content[place + 1 :]
        return
    stated = json.loads(content)
    paths = list(leaves(stated))
    if file.name.endswith(".index.json"):
        paths = [path for path in paths if path[0] == "weight_map"]
    for path in paths[:: 1 + len(paths) // LEAVES]:
        changed = copy.deepcopy(stated)
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = other(inner[path[-1]])
        yield ".".join(map(str, path)), json.dumps(changed).encode()
    if isinstance(stated, dict) and "weight_map" not in stated:
        yield "another key", json.dumps({**stated, "another": 1}).encode()


def fingerprint(open_model, folder):
    """Return the fingerprint of a model; None if it is refused in one line."""
    try:
        return open_model(folder).info.fingerprint
    except HarnessError as error:
        return None if "\n" not in str(error) else pytest.fail(str(error))


def replace(file, content):
    """Write a file that has the time of the one that it replaces."""
    state = file.stat()
    file.write_bytes(content)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.parametrize("kind", KINDS)
def test_each_change_of_a_file_changes_the_fingerprint(kind, built_model, tmp_path):
    build, open_model = KINDS[kind]
    folder = tmp_path / "mutated"
    folder.mkdir()
    neutral = build(folder, built_model)
    before = fingerprint(open_model, folder)
    assert before
    same, accepted = set(), set()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content, name = file.read_bytes(), file.relative_to(folder).as_posix()
        for what, changed in changes(file):
            replace(file, changed)
            found = fingerprint(open_model, folder)
            if found == before:
                same.add((name, what))
            elif found:
                accepted.add(name)
            replace(file, content)
        assert fingerprint(open_model, folder) == before
    assert {name for name, _ in same} == set(neutral), same
    weights = (".safetensors", ".bin", ".gguf", ".onnx_data", ".txt")
    assert any(name.endswith(weights) for name in accepted) or kind.endswith("compressed")
    if not neutral:
        return
    vectors = open_model(folder).encode(TEXTS)
    for name in neutral:
        (folder / name).unlink()
    np.testing.assert_array_equal(open_model(folder).encode(TEXTS), vectors)


@pytest.mark.parametrize(
    "mode", ["cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
)
def test_each_pooling_has_a_fingerprint_of_its_own(mode, built_model, tmp_path):
    for name in ("mean", mode):
        saved(tmp_path / name, transformer(built_model), pooling(mode=name))
    found = [fingerprint(sentence_transformer, tmp_path / name) for name in ("mean", mode)]
    assert found[0] != found[1]
    assert None not in found


def test_nothing_is_used_again_for_a_model_with_other_weights(built_model, tmp_path):
    folder = tmp_path / "mutated"
    build_router(folder, built_model)
    runs = []
    for weights in (None, *sorted(folder.rglob("*.safetensors")), None):
        if weights is not None:
            content = weights.read_bytes()
            replace(weights, content[:-2] + bytes([content[-2] ^ 64, content[-1]]))
        results = harness.evaluate(
            str(folder), "name-triplets", results=tmp_path / "results", mitigators=["none"]
        )
        runs.append(({record.id for record in results}, results.encoded))
    assert all(runs[0])
    *changed, last = runs[1:]
    for (ids, encoded), before in zip(changed, runs, strict=False):
        assert encoded == runs[0][1]
        assert not ids & before[0]
    assert last == (changed[-1][0], 0)


def in_memory(folder):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


def values(model):
    """Yield each plain value of a model in memory: its owner, name and what it is changed to."""
    import torch

    others = {*vars(torch.nn.Module()), "_flat_weight_refs"}
    for part in model.modules():
        for name, value in sorted(vars(part).items()):
            if name not in others and isinstance(
                value, bool | int | float | str | list | dict | tuple | None
            ):
                yield part, name, other(value)


@pytest.mark.parametrize(
    "kind", ["transformer", "router", "dense head", "static embedding", "lstm"]
)
def test_each_change_of_a_model_in_memory_changes_the_fingerprint(kind, built_model, tmp_path):
    folder = tmp_path / "mutated"
    folder.mkdir()
    KINDS[kind][0](folder, built_model)
    model = in_memory(folder)
    shutil.rmtree(folder)  # so that the model is its content

    def found():
        fingerprint = evaluation.embedder_of(model, Registry()).info.fingerprint
        assert not fingerprint.startswith(identity.UNNAMED)
        return fingerprint

    before = found()
    assert found() == before
    seen = {before}
    for weight in model.state_dict().values():
        place = weight.view(-1)[-1:]
        kept = place.clone()
        place.add_(1)
        seen.add(found())
        place.copy_(kept)
    assert len(seen) == 1 + len(model.state_dict())
    vectors, same = model.encode(TEXTS), []
    for part, name, changed in list(values(model)):
        kept = vars(part)[name]
        vars(part)[name] = changed
        if found() == before:
            same.append((part, name, changed))
        vars(part)[name] = kept
    assert found() == before
    neutral = {*itertools.chain(*identity.NEUTRAL.values()), "prompts", "default_prompt_name"}
    assert {name for _, name, _ in same} <= neutral
    for part, name, changed in same:
        if name != "default_prompt_name":  # that of texts is one of the roles' prompts
            vars(part)[name] = changed
    np.testing.assert_array_equal(model.encode(TEXTS), vectors)


def closing_over(rows):
    def encode(texts):
        return rows[[len(text) % len(rows) for text in texts]]

    return encode


def test_nothing_is_used_again_for_a_function(tmp_path):
    runs = [
        harness.evaluate(
            closing_over(np.random.default_rng(seed).normal(size=(7, 4))),
            "name-triplets",
            results=tmp_path / "results",
        )
        for seed in (0, 0, 1)
    ]
    assert all(run.encoded == runs[0].encoded > 0 for run in runs)
    assert len({record.id for run in runs for record in run}) == sum(map(len, runs))
