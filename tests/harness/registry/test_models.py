"""What a model name means, and the label that its records get."""

from __future__ import annotations

import pytest

from harness.errors import InvalidOption, UnknownName, UsageError

PLUGIN = """
    from harness import Card, EmbedderSpec, ModelInfo, Unavailable, hookimpl

    @hookimpl
    def harness_embedders():
        card = Card(name="mine", kind="text", aliases=("owner/mine",))
        return [
            EmbedderSpec(name="mine", target="THIS:Mine", card=card, options={"size": 2}),
            EmbedderSpec(name="plain", target="THIS:Plain"),
            EmbedderSpec(
                name="maker", target="THIS:Made", provider=True,
                recognises="THIS:recognises", neutral=("timeout",),
            ),
        ]

    def recognises(reference):
        if reference.startswith("gone"):
            raise Unavailable("it is gone")
        return reference.startswith(("owner/", "made", "/", "./"))

    class Mine:
        def __init__(self, size: int = 1, lower: bool = True, name: str = ""):
            self.info = ModelInfo(name=name, kind="text", fingerprint=f"{size} {lower}")

        def encode(self, texts):
            return [[1.0] for _ in texts]

    class Plain:
        '''Reports a name of its own in a property, whatever its options are.'''

        def __init__(self, size: int = 1):
            self.size = size

        @property
        def info(self):
            return ModelInfo(name="whatever", kind="text", fingerprint=f"plain {self.size}")

        def encode(self, texts):
            return [[1.0] for _ in texts]

    class Made(Mine):
        def __init__(
            self, reference: str, *, size: int = 1, timeout: float = 9, api_key: str = "", name=""
        ):
            super().__init__(size, name=name)
            self.reference = reference
"""


@pytest.fixture
def models(registry_with, plugin):
    return registry_with(plugin(PLUGIN))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("mine", "mine"),
        ("mine?size=2&lower=true", "mine"),  # what its spec and its signature say
        ("mine?lower=false&size=3", "mine?size=3&lower=false"),
        ("owner/mine", "mine"),
        ("maker:owner/mine?size=3", "mine?size=3"),
        ("maker:owner/other", "owner/other"),
        ("owner/other?size=3", "owner/other?size=3"),
        ("made?timeout=1", "made"),
        ("made?api_key=secret&size=3", "made?size=3"),
        ("maker:mine", "maker:mine"),  # not the registered one
        ("maker:/nowhere/folder/x.txt", "x"),
        ("made?name=a name", "a name"),
        ("mine?size=3&name=big", "big"),
        ("plain", "plain"),
        ("plain?size=3", "plain?size=3"),
        ("toy:3", "toy:3"),
    ],
)
def test_a_model_has_the_label_of_its_name_and_of_the_options_that_differ(models, name, label):
    assert models.embedder(name).info.name == label
    assert models.models.label(name) == label


def test_a_label_changes_neither_the_class_nor_the_fingerprint(models):
    embedder, same = models.embedder("plain?size=3"), models.embedder("plain?size=3&name=x")
    assert type(embedder).__name__ == "Plain"
    assert embedder.info.fingerprint == same.info.fingerprint == "plain 3"
    embedder.size = 4
    assert embedder.info.fingerprint == "plain 4"


@pytest.mark.parametrize(
    ("name", "error", "facts"),
    [
        ("mime", UnknownName, ["'mime'", "did you mean 'mine'"]),
        ("gone", UnknownName, ["'gone'", "(it is gone)"]),
        ("~/nowhere", UsageError, ["no such file", "~/nowhere"]),
        ("mine?name=", InvalidOption, ["name="]),
        ("mine?name=a\nb", InvalidOption, ["name="]),
        ("mine?name=/home/me/x", InvalidOption, ["path"]),
        ("mine?name=plain", InvalidOption, ["'plain'", "registered"]),
    ],
)
def test_a_name_that_means_no_model_is_an_error(models, name, error, facts):
    with pytest.raises(error) as caught:
        models.embedder(name)
    assert [fact for fact in facts if fact not in str(caught.value)] == []
