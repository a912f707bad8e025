"""Another model behind a hosted name is noticed, whatever embedder it is."""

import numpy as np

from harness.embedder import ModelInfo, gaussian_vectors
from harness.encode import admission
from harness.encode.admission import VARIANT, follow, remember, settle
from harness.encode.quantized import Quantized
from harness.errors import PartlyEncoded, Unavailable


class Hosted:
    """A hosted model, whose provider may change it."""

    def __init__(self, salt="", *, width=16, noise=0.0, refuses=(), error=None, hosted=True):
        self.info = ModelInfo(name="h", kind="text", fingerprint="hosted-1", hosted=hosted)
        self.salt, self.width, self.noise = salt, width, noise
        self.refuses, self.error, self.asked = refuses, error, []

    def encode(self, texts):
        self.asked.append(tuple(texts))
        if self.error is not None:
            raise self.error
        vectors = gaussian_vectors([self.salt + text for text in texts], self.width)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors += self.noise * np.random.default_rng().standard_normal(vectors.shape)
        vectors = vectors.astype(np.float32)
        reasons = {i: "refused" for i, text in enumerate(texts) if text in self.refuses}
        if reasons:
            vectors[list(reasons)] = np.nan
            raise PartlyEncoded(vectors, reasons)
        return vectors


def fingerprint(folder, model):
    """Return the fingerprint of a model in a run, and what the run says."""
    lines = settle(model, folder)
    return model.info.fingerprint, lines


def test_the_first_model_keeps_its_fingerprint_also_with_the_noise_of_an_endpoint(tmp_path):
    for noise in (0.0, 1e-4, 1e-4):
        assert fingerprint(tmp_path, Hosted(noise=noise)) == ("hosted-1", [])


def test_another_model_gets_a_fingerprint_and_has_it_whenever_it_answers(tmp_path):
    fingerprint(tmp_path, Hosted())
    other, (line,) = fingerprint(tmp_path, Hosted("x"))
    wide, (wider,) = fingerprint(tmp_path, Hosted(width=17))
    assert other.startswith("hosted-1" + VARIANT)
    assert len({"hosted-1", other, wide}) == 3
    assert other in line
    assert wide in wider
    assert fingerprint(tmp_path, Hosted("x", noise=1e-4))[0] == other
    assert fingerprint(tmp_path, Hosted("x", noise=1e-4)) == (other, [])
    assert fingerprint(tmp_path, Hosted(width=17))[0] == wide
    assert fingerprint(tmp_path, Hosted())[0] == "hosted-1"


def test_other_models_are_not_asked(tmp_path):
    model = Hosted(hosted=False)
    assert fingerprint(tmp_path, model) == ("hosted-1", [])
    assert model.asked == []
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_cannot_be_reached_counts_as_that_of_the_last_run(tmp_path):
    fingerprint(tmp_path, Hosted())
    other, _ = fingerprint(tmp_path, Hosted("x"))
    for error in (Unavailable("no network"), ValueError("no network")):
        last, (line,) = fingerprint(tmp_path, Hosted(error=error))
        assert last == other
        assert "no network" in line
    model = Hosted()
    remember(model, tmp_path)
    assert (model.info.fingerprint, model.asked) == (other, [])


def test_another_process_takes_the_fingerprint_of_the_main_process(tmp_path):
    fingerprint(tmp_path, Hosted())
    other, _ = fingerprint(tmp_path, Hosted("x"))
    for stated, taken in {other: other, "hosted-1": "hosted-1", "hosted-2": "hosted-1"}.items():
        model = Hosted()
        follow(model, stated)
        assert (model.info.fingerprint, model.asked) == (taken, [])


def test_one_object_may_serve_several_runs(tmp_path):
    model = Hosted()
    names = []
    for salt in ("", "x", "", "x"):
        model.salt = salt
        names.append(fingerprint(tmp_path, model)[0])
    assert names[:2] == names[2:]
    assert len(set(names)) == 2


def test_quantised_vectors_are_told_apart_by_the_whole_ones(tmp_path):
    fingerprint(tmp_path, Quantized(Hosted(noise=1e-4), "binary"))
    for _ in range(3):
        model = Hosted(noise=1e-4)
        assert settle(Quantized(model, "binary"), tmp_path) == []
        assert model.asked == [admission.CANARY_TEXTS], "no text for calibration"
    (line,) = settle(Quantized(Hosted("x"), "binary"), tmp_path)
    assert "another model" in line
