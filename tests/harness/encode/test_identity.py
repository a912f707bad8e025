"""What identifies a Python object: the same content, in any process, gives the same identity."""

from __future__ import annotations

import functools
import importlib.util
import subprocess
import sys

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from harness.encode import identity
from harness.encode.identity import Unidentified


class Table:
    """Vectors of words in an array."""

    def __init__(self, vectors, scale=1.0):
        self.vectors = np.asarray(vectors, dtype=np.float32)
        self.scale = scale

    def encode(self, texts):
        return self.vectors[[len(text) % len(self.vectors) for text in texts]] * self.scale


class OtherTable(Table):
    """The same arrays, and other code."""

    def encode(self, texts):
        return -super().encode(texts)


class Network(torch.nn.Module):
    """A tiny torch module that encodes."""

    def __init__(self, seed, prompt=""):
        super().__init__()
        torch.manual_seed(seed)
        self.layer = torch.nn.Linear(2, 3)
        self.prompt = prompt

    def encode(self, texts):
        return self.layer(torch.tensor([[len(self.prompt + text), 1.0] for text in texts]))


def scaled(factor):
    def encode(texts):
        return [[factor * len(text)] for text in texts]

    return encode


def test_the_arrays_and_plain_values_of_an_object_identify_it():
    first = identity.of_model(Table([[1, 2], [3, 4]]))
    assert first
    assert identity.of_model(Table([[1, 2], [3, 4]])) == first
    others = [
        Table([[1, 2], [3, 5]]),
        Table([[1, 2, 3, 4]]),
        Table([[1, 2], [3, 4]], scale=2.0),
        OtherTable([[1, 2], [3, 4]]),
    ]
    assert len({first, *map(identity.of_model, others)}) == 5


def test_the_weights_and_settings_of_a_torch_module_identify_it():
    first = identity.of_model(Network(0))
    assert first
    assert identity.of_model(Network(0).eval()) == first
    others = [Network(1), Network(0, "query: "), Network(0).double()]
    assert len({first, *map(identity.of_model, others)}) == 4


def test_a_module_in_half_precision_has_an_identity():
    half = [Network(seed).to(torch.bfloat16) for seed in (0, 0, 1)]
    first, same, other = map(identity.of_model, half)
    assert first == same != other


def test_an_object_with_an_unknown_part_or_without_arrays_has_none():
    table = Table([[1]])
    table.helper = object()
    assert identity.of_model(table) is None
    assert identity.of_model(scaled(1)) is None
    assert identity.of_model(lambda texts: texts) is None
    assert identity.of_model(object()) is None
    assert identity.of_model(Network(0).to("meta")) is None


def test_a_method_of_an_identified_object_is_identified():
    first, second = Table([[1, 2]]), Table([[1, 3]])
    assert identity.of_model(first.encode)
    assert identity.of_model(first.encode) != identity.of_model(second.encode)


def test_what_the_user_states_identifies_any_object():
    def encode(texts):
        return texts

    encode.revision = "1"
    stated = [identity.of_model(encode)]
    encode.fingerprint = "2"
    stated.append(identity.of_model(encode))
    encode.fingerprint = "3"
    stated.append(identity.of_model(encode))
    assert None not in stated
    assert len(set(stated)) == 3
    table = Table([[1]])
    table.revision = "1"  # the content says more than a revision
    other = Table([[2]])
    other.revision = "1"
    assert identity.of_model(table) != identity.of_model(other)


def test_a_function_is_identified_by_its_code_and_what_it_encloses():
    assert identity.of_function(scaled(1)) == identity.of_function(scaled(1))
    functions = [
        scaled(1),
        scaled(2),
        functools.partial(scaled, 2),
        functools.partial(scaled, 3),
        *(lambda x: x, lambda x: -x, lambda x: x in {"a", "b"}, lambda x: x in {"a", "c"}),
        len,
    ]
    assert len(set(map(identity.of_function, functions))) == len(functions)


HELPER = """
import numpy as np
RATE = {rate}
STATE = {state}
def helper(x):
    return x + {addend} * RATE
def function(texts):
    return [helper(len(text)) for text in texts]
class Model:
    def __init__(self):
        self.rows = np.eye(2)
    def encode(self, texts):
        STATE
        return function(texts)
"""


def written(folder, name, *, rate=1, addend=1, state="None"):
    """Import a module that is written for the test."""
    text = HELPER.format(rate=rate, addend=addend, state=state)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("of_the_user", folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_helpers_and_constants_of_the_users_module_count(tmp_path):
    same = [written(tmp_path, name) for name in ("first", "second")]
    others = [written(tmp_path, "third", rate=2), written(tmp_path, "fourth", addend=2)]
    functions = [identity.of_function(module.function) for module in (*same, *others)]
    assert functions[0] == functions[1]
    assert len(set(functions)) == 3
    models = [identity.of_model(module.Model()) for module in (*same, *others)]
    assert models[0] == models[1]
    assert len(set(models)) == 3


def test_a_model_that_uses_an_unknown_object_of_its_module_has_no_identity(tmp_path):
    module = written(tmp_path, "fifth", state="object()")
    assert identity.of_model(module.Model()) is None
    assert identity.of_class(module.Model)  # of a mitigator its code is enough


class Nested(torch.nn.Module):
    """A module with a module of the user and further attributes."""

    def __init__(self, inner, **attributes):
        super().__init__()
        self.inner = inner
        vars(self).update(attributes)


class OtherNetwork(Network):
    """The same weights, and other code."""

    def forward(self, x):
        return -self.layer(x)


def test_attributes_and_the_code_of_inner_modules_count():
    tokenizer = Tokenizer(WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    other = Tokenizer(WordLevel({"b": 0, "[UNK]": 1}, unk_token="[UNK]"))
    models = [
        Nested(Network(0)),
        Nested(OtherNetwork(0)),
        Nested(Network(0), prompts={"query": "q: "}),
        Nested(Network(0), tokenizer=tokenizer),
        Nested(Network(0), tokenizer=other),
    ]
    found = [identity.of_model(model) for model in models]
    assert None not in found
    assert len(set(found)) == len(models)
    tokenizer.enable_truncation(3)  # nothing sets it again when the model encodes
    assert identity.of_model(models[3]) not in (None, found[3])
    tokenizer.no_truncation()
    assert identity.of_model(models[3]) == found[3]
    assert identity.of_model(Nested(Network(0), helper=object())) is None


def test_private_attributes_and_plain_settings_of_inner_modules_count():
    def convolved(stride):
        torch.manual_seed(0)
        return Nested(torch.nn.Conv1d(2, 2, 3, stride=stride))

    def activated(name):
        torch.manual_seed(0)
        return Nested(torch.nn.TransformerEncoderLayer(4, 1, 8, activation=name))

    def buffered(value):
        model = Nested(Network(0))
        model.register_buffer("offset", torch.tensor([value]), persistent=False)
        return model

    models = [
        *(convolved(stride) for stride in (1, 2)),
        *(activated(name) for name in ("relu", "gelu")),
        *(Nested(Network(0), _scale=scale) for scale in (1.0, 2.0)),
        *(buffered(value) for value in (1.0, 2.0)),
    ]
    found = [identity.of_model(model) for model in models]
    assert None not in found
    assert len(set(found)) == len(models)
    assert identity.of_model(convolved(2)) == found[1]


MEMBERS = """
import abc, functools
import numpy as np
class Model(abc.ABC):
    _scale = {constant}
    def __init__(self):
        self.rows = np.eye(2)
    @staticmethod
    def _scaled(x):
        return x * {static}
    @functools.cached_property
    def _cached(self):
        return {cached}
    @functools.lru_cache
    def _remembered(self, text):
        return {remembered}
    _partial = functools.partial(round, ndigits={partial})
    def encode(self, texts):
        return self._scaled(self.rows) * self._scale
class Function:
    def __call__(self, x):
        return {called}
"""


def test_every_member_of_a_class_counts(tmp_path):
    members = ("constant", "static", "cached", "remembered", "partial")

    def model(number, **changed):
        values = dict.fromkeys((*members, "called"), 1)
        file = tmp_path / f"members_{number}.py"
        file.write_text(MEMBERS.format(**values | changed), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("of_the_user", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    changes = [{name: 2} for name in members]
    modules = [model(i, **changed) for i, changed in enumerate([{}, *changes])]
    for identify in (lambda m: identity.of_class(m.Model), lambda m: identity.of_model(m.Model())):
        found = [identify(module) for module in modules]
        assert None not in found
        assert len(set(found)) == len(modules)
        assert identify(model("same")) == found[0]
    functions = [model(f"f{n}", called=n).Function() for n in (1, 2)]
    assert identity.of_function(functions[0]) != identity.of_function(functions[1])


def test_code_without_its_text_is_identified_too():
    def compiled(body):
        names = {}
        exec(f"def f(x):\n    return {body}", names)
        return names["f"]

    assert identity.of_function(compiled("x + 1")) == identity.of_function(compiled("x + 1"))
    assert identity.of_function(compiled("x + 1")) != identity.of_function(compiled("x + 2"))


@pytest.mark.parametrize("name", ["of_function", "of_class"])
def test_an_identity_is_the_same_in_every_process(name):
    value = "lambda x: x in {'a', 'b', 'c'}" if name == "of_function" else "statistics.NormalDist"
    source = (
        "import statistics; from harness.encode import identity;"
        f"print(identity.{name}({value}), identity.of_function(statistics.mean))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", source], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(4)
    }
    assert len(runs) == 1


def test_content_of_an_object_is_unidentified():
    with pytest.raises(Unidentified, match="object"):
        identity.content([1, object()])
