"""Whatever changes a vector changes the fingerprint: each file is changed, one at a time.

A model with a changed file has another fingerprint, or is refused; nothing that was stored for the
first is used for the second.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil

import numpy as np
import pytest

from harness.encode import identity
from harness.errors import HarnessError
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder
from harness.registry.registry import Registry
from harness.run import evaluation

WORDS = ["the", "nurse", "is", "a", "man", "woman", "good", "bad"]
TEXTS = ["the nurse is a woman", "a good man", "bad"]


def sentence_transformer(path, **options):
    return SentenceTransformersEmbedder(str(path), device="cpu", **options)


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


def build_router(folder, built):
    from sentence_transformers.base.modules import Router

    routes = [[transformer(built, seed), pooling()] for seed in (1, 2)]
    router = Router.for_query_document(
        query_modules=routes[0], document_modules=routes[1], default_route="document"
    )
    saved(folder, router)


def build_static(folder, built):
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    saved(folder, StaticEmbedding(word_tokenizer(), embedding_dim=8))


def build_lstm(folder, built):
    import torch
    from sentence_transformers.sentence_transformer.modules import LSTM, WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    torch.manual_seed(0)
    words = WordEmbeddings(
        WhitespaceTokenizer(WORDS, stop_words=["the"]), torch.randn(len(WORDS), 8)
    )
    saved(folder, words, LSTM(8, 4), pooling(8))


KINDS = {
    "router": build_router,
    "static embedding": build_static,
    "lstm": build_lstm,
}


def other(value):
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    return 1 if value is None else [*value, 1] if isinstance(value, list) else {"x": 1}


def changed_values(stated):
    """Return a value of a JSON file with the first of its values changed."""
    if not isinstance(stated, dict | list) or not stated:
        return other(stated)
    key = next(iter(stated)) if isinstance(stated, dict) else 0
    stated[key] = changed_values(stated[key])
    return stated


def changes(file):
    """Yield other contents of a file: one with another value, or with another byte."""
    content = file.read_bytes()
    if file.suffix != ".json":
        for place in (len(content) // 2, len(content) - 1):
            yield content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        return
    yield json.dumps(changed_values(json.loads(content))).encode()


def fingerprint(folder):
    """Return the fingerprint of a model; None if it is refused in one line."""
    try:
        return sentence_transformer(folder).info.fingerprint
    except HarnessError as error:
        return None if "\n" not in str(error) else pytest.fail(str(error))


def replace(file, content):
    """Write a file that has the time of the one that it replaces."""
    state = file.stat()
    file.write_bytes(content)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_each_file_changes_the_fingerprint(kind, built_model, tmp_path):
    folder = tmp_path / "mutated"
    folder.mkdir()
    KINDS[kind](folder, built_model)
    before = fingerprint(folder)
    assert before
    same, accepted = set(), set()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content, name = file.read_bytes(), file.relative_to(folder).as_posix()
        for changed in changes(file):
            replace(file, changed)
            found = fingerprint(folder)
            if found == before:
                same.add(name)
            elif found:
                accepted.add(name)
        replace(file, content)
    assert fingerprint(folder) == before
    assert same == {"README.md"}
    assert any(name.endswith(".safetensors") for name in accepted)


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


@pytest.mark.parametrize("kind", KINDS)
def test_each_change_of_a_model_in_memory_changes_the_fingerprint(kind, built_model, tmp_path):
    folder = tmp_path / "mutated"
    folder.mkdir()
    KINDS[kind](folder, built_model)
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
