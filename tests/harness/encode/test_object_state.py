"""All state of a Python object identifies it: each change that can change a vector is seen."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import logging
import os
import re
import socket
import subprocess
import sys
import threading
import types
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.feature_extraction.text import TfidfVectorizer

from harness.encode import identity


class Model:
    """An object with an array and further state."""

    def __init__(self, **state):
        self.rows = np.eye(3, dtype=np.float32)
        vars(self).update(state)

    def encode(self, texts):
        return self.rows[[len(text) % 3 for text in texts]]


class Slotted:
    """An object without a dictionary of attributes."""

    __slots__ = ("scale", "shift")

    def __init__(self, scale):
        self.scale = scale


@dataclasses.dataclass
class Settings:
    """Settings of a user."""

    scale: float = 1.0
    layers: tuple[int, ...] = (1, 2)


class Words(dict):
    """A dictionary with an attribute."""

    def __init__(self, *args, fallback=0):
        super().__init__(*args)
        self.fallback = fallback


class Mode(enum.Enum):
    """How texts are read."""

    WHOLE = 1
    HALF = 2


def vectorizer(*texts, **options):
    return TfidfVectorizer(**options).fit(texts)


def plain(x):
    return x


def negated(function):
    """Return a function with other values under the name of the first."""

    @functools.wraps(function)
    def wrapper(*args):
        return -function(*args)

    return wrapper


def trees(seed):
    return RandomTreesEmbedding(2, max_depth=2, random_state=seed).fit(np.eye(4))


def cyclic(value):
    items = [value]
    items.append(items)
    return items


PAIRS = {
    "a list": ([1, 2], [2, 1]),
    "a list in a dictionary": ({"a": {"b": ["x"]}}, {"a": {"b": ["y"]}}),
    "keys of numbers": ({1: "a", 2: "b"}, {1: "b", 2: "a"}),
    "a set": ({"a", "b"}, {"a", "c"}),
    "the order of steps": (
        collections.OrderedDict(a=1, b=2),
        collections.OrderedDict(reversed([("a", 1), ("b", 2)])),
    ),
    "a default": (collections.defaultdict(int, a=1), collections.defaultdict(float, a=1)),
    "bytes": (b"a", b"b"),
    "a halved surrogate pair": ("\ud800", "\ud801"),
    "an enumeration": (Mode.WHOLE, Mode.HALF),
    "a pattern": (re.compile("a"), re.compile("a", re.IGNORECASE)),
    "a dataclass": (Settings(), Settings(layers=(1, 3))),
    "slots": (Slotted(1), Slotted(2)),
    "a dictionary of a class": (Words({"a": 1}), Words({"a": 2})),
    "its attribute": (Words({"a": 1}), Words({"a": 1}, fallback=2)),
    "a namespace": (types.SimpleNamespace(a=[1]), types.SimpleNamespace(a=[2])),
    "an object in an object": (Model(inner=Model(x=1)), Model(inner=Model(x=2))),
    "a masked array": (
        np.ma.masked_array([1.0, 2.0], [False, False]),
        np.ma.masked_array([1.0, 2.0], [False, True]),
    ),
    "an array of texts": (np.array(["a", None], object), np.array(["b", None], object)),
    "a list of arrays": ([np.zeros(2)], [np.ones(2)]),
    "a list of tensors": ([torch.zeros(2)], [torch.ones(2)]),
    "a kind of number": (np.dtype("float16"), np.dtype("float32")),
    "a function": (lambda x: x, lambda x: -x),
    "a wrapped function": (plain, negated(plain)),
    "a partial function": (functools.partial(max, 1), functools.partial(max, 2)),
    "a method of a builtin": ({"a": 1}.get, {"a": 2}.get),
    "a method": (Model(x=1).encode, Model(x=2).encode),
    "itself": (cyclic(1), cyclic(2)),
    "a fitted vectoriser": (vectorizer("aa bb", "aa cc"), vectorizer("aa bb", "bb cc")),
    "its option": (vectorizer("aa bb"), vectorizer("aa bb", sublinear_tf=True)),
    "its stop words": (vectorizer("aa bb"), vectorizer("aa bb", stop_words=["cc"])),
    "its own function": (
        vectorizer("aa bb", tokenizer=str.split, token_pattern=None),
        vectorizer("aa bb", tokenizer=lambda text: text.split(), token_pattern=None),
    ),
    "a decomposition": (
        TruncatedSVD(2).fit(np.eye(4)),
        TruncatedSVD(2).fit(np.diag([4.0, 3, 2, 1])),
    ),
    "trees": (trees(0), trees(1)),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_state_at_any_depth_identifies_an_object(pair):
    first, second = (identity.of_model(Model(state=value)) for value in pair)
    assert first
    assert second
    assert first != second
    assert identity.of_model(Model(state=pair[0])) == first
    assert identity.of_model(Model(_state={"x": [pair[0]]})) != identity.of_model(
        Model(_state={"x": [pair[1]]})
    )


def numbers():
    yield 1


def test_what_cannot_be_hashed_leaves_an_object_unidentified(tmp_path):
    file = (tmp_path / "file").open("w")
    connection = socket.socket()
    unknown = [
        *(file, connection, weakref.ref(Model()), numbers(), map(str, []), iter([1]), object()),
        *(np.random.default_rng(0), np.random.RandomState(0), torch.Generator(), memoryview(b"a")),
        *(torch.empty(2, device="meta"), torch.nn.Linear(1, 1, device="meta"), Path("a")),
        *(subprocess, subprocess.run, os.environ),
    ]
    for value in unknown:
        assert identity.of_model(Model(state=value)) is None, value
        assert identity.of_model(Model(_state=[{"a": value}])) is None, value
    file.close()
    connection.close()


class Unreadable(Model):
    """An object with an attribute that cannot be read."""

    @property
    def fingerprint(self):
        raise ValueError("not yet")


def test_an_attribute_that_cannot_be_read_leaves_an_object_unidentified():
    deep = []
    for _ in range(10_000):
        deep = [deep]
    assert identity.of_model(Model(state=Unreadable())) is None
    assert identity.of_model(Model(state=deep)) is None


def test_locks_and_loggers_do_not_matter():
    found = identity.of_model(Model(lock=threading.Lock(), log=logging.getLogger("a")))
    assert found
    assert identity.of_model(Model(lock=threading.Lock(), log=logging.getLogger("b"))) == found


def test_a_function_that_is_bound_to_an_object_counts():
    model = Model()
    found = [
        identity.of_model(types.MethodType(function, model)) for function in (plain, negated(plain))
    ]
    assert None not in found
    assert len({*found, identity.of_model(model.encode)}) == 3


class Asking(Model):
    """An object whose code asks another program."""

    def encode(self, texts):
        return socket.create_connection(("localhost", 1)), texts


def test_code_that_asks_another_program_is_not_identified():
    assert identity.of_model(Asking()) is None


def network(seed=0):
    torch.manual_seed(seed)
    layers = collections.OrderedDict(
        first=torch.nn.Linear(2, 2), drop=torch.nn.Dropout(0.5), second=torch.nn.Linear(2, 2)
    )
    model = torch.nn.Sequential(layers).eval()
    model.register_buffer("kept", torch.zeros(1))
    model.register_buffer("unsaved", torch.zeros(1), persistent=False)
    return model


def hook(module, args, output):
    return output * 2


def hook_before(module, args):
    return (args[0] * 2,)


class Doubled(torch.nn.Module):
    """A parametrisation."""

    def forward(self, weight):
        return weight * 2


def reordered(model):
    for name in ("first", "drop"):
        model._modules[name] = model._modules.pop(name)


def set_at(name, value):
    """Return a change of an attribute by its dotted name."""

    def change(model):
        *path, last = name.split(".")
        setattr(functools.reduce(getattr, path, model), last, value)

    return change


CHANGES = {
    "weight": lambda m: m.first.weight.data.add_(1e-3),
    "kept buffer": lambda m: m.kept.add_(1),
    "unsaved buffer": lambda m: m.unsaved.add_(1),
    "hook": lambda m: m.first.register_forward_hook(hook),
    "hook of a function": lambda m: m.first.register_forward_hook(lambda m, a, o: o * 3),
    "hook before": lambda m: m.first.register_forward_pre_hook(hook_before),
    "parametrisation": lambda m: torch.nn.utils.parametrize.register_parametrization(
        m.first, "weight", Doubled()
    ),
    "old weight norm": lambda m: torch.nn.utils.parametrizations.weight_norm(m.first),
    "method": set_at("first.forward", lambda x: x),
    "bound method": lambda m: set_at("first.forward", types.MethodType(hook_before, m.first))(m),
    "list": set_at("first._active", ["a"]),
    "other list": set_at("first._active", ["b"]),
    "dictionary": set_at("first.scaling", {"a": 1.0}),
    "settings": set_at("second.settings", Settings()),
    "unregistered module": set_at("hidden", [torch.nn.Linear(1, 1, bias=False)]),
    "order": reordered,
    "training with dropout": lambda m: m.train(),
}


def test_each_change_of_a_module_of_a_library_gives_another_identity():
    found = {"none": identity.of_model(network())}
    for name, change in CHANGES.items():
        models = [network(), network()]
        for model in models:
            change(model)
        if name != "unregistered module":  # with random weights of its own
            assert identity.of_model(models[0]) == identity.of_model(models[1]), name
        found[name] = identity.of_model(models[0])
    assert None not in found.values()
    assert len(set(found.values())) == len(found)


def test_a_hook_that_cannot_be_hashed_leaves_a_module_unidentified():
    model, steps = network(), numbers()
    model.first.register_forward_hook(lambda m, a, o: o * next(steps))
    assert identity.of_model(model) is None


def test_a_method_of_a_library_that_the_user_replaced_counts(monkeypatch):
    before = identity.of_model(network())
    monkeypatch.setattr(torch.nn.Linear, "forward", hook_before)
    assert identity.of_model(network()) not in (None, before)
    monkeypatch.undo()
    assert identity.of_model(network()) == before


def test_a_hook_of_all_modules_counts():
    before = identity.of_model(network())
    handle = torch.nn.modules.module.register_module_forward_hook(hook)
    assert identity.of_model(network()) not in (None, before)
    handle.remove()


def test_a_module_in_two_places_counts_in_both():
    def shared(*names):
        layers = {"a": torch.nn.ReLU(), "b": torch.nn.Tanh()}
        return torch.nn.Sequential(*[layers[name] for name in names], network().first)

    found = {identity.of_model(shared(*names)) for names in ("aba", "abb", "aab")}
    assert len(found - {None}) == 3


def test_weights_that_are_shared_are_those_that_are_equal():
    tied, equal = network(), network()
    equal.second.load_state_dict(equal.first.state_dict())
    tied.second.weight, tied.second.bias = tied.first.weight, tied.first.bias
    assert identity.of_model(tied) == identity.of_model(equal)


def test_the_mode_of_modules_without_dropout_does_not_matter():
    layer = torch.nn.Linear(2, 2)
    assert identity.of_model(layer.train()) == identity.of_model(layer.eval())


def test_the_weights_of_an_lstm_identify_it():
    first, second = torch.nn.LSTM(2, 2), torch.nn.LSTM(2, 2)
    assert identity.of_model(first) not in (None, identity.of_model(second))
    second.load_state_dict(first.state_dict())
    assert identity.of_model(first) == identity.of_model(second)
    second.bias_hh_l0.data.add_(1)
    assert identity.of_model(first) != identity.of_model(second)


HELPERS = """
def scaled(x):
    return x * {rate}
"""
USER = """
import helpers_of_a_test as helpers
import numpy as np
class Model:
    def __init__(self):
        self.rows = np.eye(2)
    def encode(self, texts):
        return helpers.scaled(self.rows)
"""


def test_code_in_other_modules_of_the_user_counts(tmp_path, monkeypatch):
    found = []
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "model_of_a_test.py").write_text(USER, encoding="utf-8")
    for rate in ("1", "2.5", "1"):
        (tmp_path / "helpers_of_a_test.py").write_text(HELPERS.format(rate=rate), encoding="utf-8")
        for name in ("helpers_of_a_test", "model_of_a_test"):
            sys.modules.pop(name, None)
        found.append(identity.of_model(__import__("model_of_a_test").Model()))
    assert found[0] == found[2] != found[1]
    assert None not in found


SCRIPT = """
import collections, functools, types
import numpy as np
from harness.encode import identity
class Model:
    def __init__(self):
        self.words = {"a", "b", "c", "d"}
        self.by_word = {word: np.ones(1) for word in self.words}
        self.by_pair = {(word, 1): [word] for word in self.words}
        self.space = types.SimpleNamespace(model=self, keys=frozenset(self.words))
        self.lookup, self.first = self.by_word.get, functools.partial(max, self.words)
        self.encode = types.MethodType(lambda self, texts: texts, self)
print(identity.of_model(Model()))
"""


def test_the_identity_of_an_object_is_the_same_in_every_process():
    runs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (1, 2)
    }
    assert len(runs) == 1
    assert runs != {"None\n"}
