"""An object is identified by what it states, or by its weights and settings; code never counts."""

from __future__ import annotations

import functools
import types

import numpy as np
import pytest
import torch

from harness.embedder import ModelInfo
from harness.encode import identity
from harness.encode.identity import Unidentified


class Table:
    """An object of a user."""

    def __init__(self, vectors):
        self.vectors = np.asarray(vectors, dtype=np.float32)

    def encode(self, texts):
        return self.vectors[[len(text) % len(self.vectors) for text in texts]]


class Network(torch.nn.Linear):
    """A module of a user, whose code nobody knows."""

    def forward(self, x):
        return -super().forward(x)


def network(seed=0):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5), torch.nn.ReLU())
    model.register_buffer("kept", torch.zeros(1))
    model.register_buffer("unsaved", torch.zeros(1), persistent=False)
    return model.eval()


def test_only_what_an_object_of_a_user_states_identifies_it():
    table, other = Table([[1, 2]]), Table([[1, 2]])
    assert identity.of_model(table) is None
    assert identity.of_model(table.encode) is None
    assert identity.of_model(lambda texts: texts) is None
    table.fingerprint, other.info = "1", ModelInfo(name="a", kind="text", fingerprint="2")
    assert None not in (identity.of_model(table), identity.of_model(other))
    assert identity.of_model(table) != identity.of_model(other)
    other.info = ModelInfo(name="a", kind="text", fingerprint=f"{identity.UNNAMED}1")
    assert identity.of_model(other) is None


CHANGES = {
    "weight": lambda m: m[0].weight.data.add_(1e-3),
    "kept buffer": lambda m: m.kept.add_(1),
    "unsaved buffer": lambda m: m.unsaved.add_(1),
    "kind of number": lambda m: m.bfloat16(),
    "setting": lambda m: setattr(m[1], "p", 0.25),
    "list": lambda m: setattr(m[0], "active", ["a"]),
    "other list": lambda m: setattr(m[0], "active", ["b"]),
    "dictionary": lambda m: setattr(m[0], "scaling", {"a": 1.0}),
    "function of a library": lambda m: setattr(m[0], "act", torch.nn.functional.gelu),
    "order": lambda m: m._modules.update(reversed([(k, m._modules.pop(k)) for k in "01"])),
    "training with dropout": lambda m: m.train(),
}


def test_each_change_of_a_module_of_a_library_gives_another_identity():
    found = {"none": identity.of_model(network())}
    for name, change in CHANGES.items():
        models = [network(), network()]
        for model in models:
            change(model)
        assert identity.of_model(models[0]) == identity.of_model(models[1]), name
        found[name] = identity.of_model(models[0])
    assert None not in found.values()
    assert len(set(found.values())) == len(found)


def test_what_only_the_user_knows_leaves_a_module_unidentified():
    values = [
        *(object(), iter([1]), lambda x: x, functools.partial(max, 1), Table([[1]])),
        *(types.MethodType(lambda self: self, network()), np.ma.masked_array([1.0])),
        *(np.random.default_rng(0), torch.empty(2, device="meta"), Network(2, 2)),
    ]
    for value in values:
        model = network()
        model[0].__dict__["state"] = [{"a": value}]
        assert identity.of_model(model) is None, value
    hooked = network()
    hooked[0].register_forward_hook(lambda module, args, output: output * 2)
    replaced = network()
    replaced[0].forward = lambda x: x
    deep = network()
    for _ in range(10_000):
        deep[0].state = [getattr(deep[0], "state", 1)]
    models = {"hook": hooked, "replaced": replaced, "deep": deep, "class": Network(2, 2)}
    assert {name: identity.of_model(model) for name, model in models.items()} == dict.fromkeys(
        models
    )


def test_code_of_a_user_has_no_identity_unless_it_states_one():
    first, second = (lambda x: x), (lambda x: x)
    assert identity.of_code(first) != identity.of_code(first), "what it reads may have changed"
    first.fingerprint = second.fingerprint = "1"
    assert identity.of_code(first) == identity.of_code(second)


def test_content_of_an_object_is_unidentified():
    with pytest.raises(Unidentified, match="object"):
        identity.content([1, object()])
