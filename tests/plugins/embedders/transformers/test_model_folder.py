"""What identifies a model folder: every file that a loader may open, and no other."""

import json
import os
import shutil
import socket

import numpy as np
import pytest

from harness.errors import ModelError
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder


def embedder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


def fingerprint(folder, **options):
    return embedder(folder, **options).info.fingerprint


def flip(file):
    """Change the last byte of a file of weights."""
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


@pytest.fixture(scope="session")
def built_router(built_model, tmp_path_factory):
    """A Router whose two routes have a transformer each, of other weights; read-only."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Router, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    def steps(seed):
        torch.manual_seed(seed)
        transformer = Transformer(str(built_model))
        for weight in transformer.parameters():
            torch.nn.init.normal_(weight, std=0.3)
        return [transformer, Pooling(16, "mean")]

    router = Router.for_query_document(
        query_modules=steps(1), document_modules=steps(2), default_route="document"
    )
    folder = tmp_path_factory.mktemp("router")
    SentenceTransformer(modules=[router], device="cpu").save(str(folder), create_model_card=False)
    return folder


@pytest.fixture
def router(built_router, tmp_path):
    return shutil.copytree(built_router, tmp_path / "router")


def refused(folder, **options):
    with pytest.raises(ModelError) as caught:
        embedder(folder, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert str(folder) in message
    return message


def test_weights_of_each_route_are_part_of_the_model_and_checked(router):
    prints = {fingerprint(router)}
    for route in ("query", "document"):
        flip(router / f"{route}_0_Transformer" / "model.safetensors")
        prints.add(fingerprint(router))
    assert len(prints) == 3
    weights = router / "document_0_Transformer" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    assert "damaged" in refused(router)


def test_weights_of_another_name_are_part_of_a_model(model):
    plain = fingerprint(model)
    config = json.loads((model / "config.json").read_text())
    config["transformers_weights"] = "other.safetensors"
    (model / "config.json").write_text(json.dumps(config))
    assert "'other.safetensors', which are missing" in refused(model)
    shutil.copy(model / "model.safetensors", model / "other.safetensors")
    before = fingerprint(model)
    flip(model / "other.safetensors")
    assert len({plain, before, fingerprint(model)}) == 3


def test_weights_outside_the_folder_are_refused(model):
    config = json.loads((model / "config.json").read_text())
    paths = ("../w.safetensors", "/w.safetensors", "a\\..\\..\\w.safetensors")
    for path in paths:
        (model / "config.json").write_text(json.dumps({**config, "transformers_weights": path}))
        assert "outside the folder" in refused(model)
    (model / "config.json").write_text(json.dumps(config))
    (model / "model.safetensors").rename(model.parent / "w.safetensors")
    for path in paths:
        (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": path}}))
        assert "outside the folder" in refused(model)


@pytest.fixture
def sharded(model):
    from transformers import AutoModel

    weights = AutoModel.from_pretrained(model)
    (model / "model.safetensors").unlink()
    weights.save_pretrained(model, max_shard_size="5KB")
    assert len(list(model.glob("*.safetensors"))) > 1
    return model


def test_an_index_that_leaves_out_a_shard_changes_the_fingerprint(sharded):
    before = fingerprint(sharded)
    file = sharded / "model.safetensors.index.json"
    index = json.loads(file.read_text())
    file.write_text(json.dumps(index, indent=7))  # it names the same shards
    assert fingerprint(sharded) == before
    left_out = max(index["weight_map"].values())
    index["weight_map"] = {k: v for k, v in index["weight_map"].items() if v != left_out}
    file.write_text(json.dumps(index))
    assert fingerprint(sharded) != before
    flip(sharded / left_out)
    assert fingerprint(sharded) != before


def test_a_file_of_an_unknown_name_changes_the_fingerprint(model):
    from safetensors.torch import load_file
    from torch import save

    # Beside safetensors a name that ends in .bin is that of weights in another format.
    save(load_file(model / "model.safetensors"), model / "pytorch_model.bin")
    (model / "model.safetensors").unlink()
    prints = {fingerprint(model)}
    files = ("vocab.bpe", "deep/er/table.npy", "tokenizer.bin", "names.txt")
    for file in files:
        (model / file).parent.mkdir(parents=True, exist_ok=True)
        for content in (b"a", b"b"):
            (model / file).write_bytes(content)
            prints.add(fingerprint(model))
    assert len(prints) == 1 + 2 * len(files)


def test_a_file_that_no_loader_opens_keeps_the_fingerprint(model):
    before = fingerprint(model)
    for file in (
        *("README.md", "LICENSE", "picture.PNG", ".gitattributes", ".git/HEAD", ".cache/x/y.json"),
        *("optimizer.pt", "scheduler.pt", "rng_state_0.pth", "training_args.bin"),
        *("trainer_state.json", "checkpoint-50/model.safetensors", "runs/a/events.out.tfevents.1"),
        *("eval/similarity_evaluation_results.csv", "train_script.py", "__pycache__/a.pyc"),
        *("tf_model.h5", "flax_model.msgpack", "rust_model.ot", "pytorch_model.bin"),
        *("onnx/model.onnx", "onnx/config.json", "openvino/openvino_model.xml", "coreml/a.json"),
    ):
        (model / file).parent.mkdir(parents=True, exist_ok=True)
        (model / file).write_bytes(b"{}")
        assert fingerprint(model) == before, file


def test_the_place_and_links_of_files_keep_the_fingerprint(model, tmp_path):
    before = fingerprint(model)
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "1"
    blobs.mkdir()
    for i, file in enumerate(sorted(f for f in model.rglob("*") if f.is_file())):
        shutil.copy(file, blobs / str(i))
        link = snapshot / file.relative_to(model)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blobs / str(i), link.parent))
    assert fingerprint(snapshot) == before


def test_a_file_that_may_never_end_is_refused(model, monkeypatch):
    monkeypatch.chdir(model)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        for sort, make in {
            "a named pipe": os.mkfifo,
            "a socket": server.bind,
            "a device": lambda name: (model / name).symlink_to("/dev/zero"),
        }.items():
            make("vocab.txt")
            assert f"vocab.txt is {sort}; expected a regular file" in refused(model)
            (model / "vocab.txt").unlink()
    (model / "config.json").unlink()
    os.mkfifo("config.json")
    assert "config.json is a named pipe" in refused(model)


def test_weights_beside_an_exported_graph_are_part_of_the_model(model):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    values = onnx.numpy_helper.from_array(np.ones((16, 4), dtype=np.float32), "w")
    graph = onnx.helper.make_graph([], "g", [], [], [values])
    (model / "onnx").mkdir()
    file = model / "onnx" / "model.onnx"

    def save(location):
        onnx.save_model(
            onnx.helper.make_model(graph),
            file,
            save_as_external_data=True,
            location=location,
            size_threshold=0,
            convert_attribute=True,
        )

    save("any.name")
    before = fingerprint(model, backend="onnx")
    flip(model / "onnx" / "any.name")
    assert fingerprint(model, backend="onnx") != before
    (model / "onnx" / "any.name").unlink()
    assert "'any.name', which is missing" in refused(model, backend="onnx")
    content = file.read_bytes()
    file.write_bytes(content.replace(b"any.name", b"../aname"))
    assert "'../aname', outside its folder" in refused(model, backend="onnx")
