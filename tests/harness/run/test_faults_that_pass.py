"""A fault of a text encoder that passes leaves no wrong number: the next run mends it."""

from __future__ import annotations

import numpy as np
import pytest

from harness.embedder import MockEmbedder

PLUGIN = """
    from pathlib import Path

    import numpy as np

    from harness import EmbedderSpec, ModelInfo, hookimpl
    from harness.embedder import MockEmbedder

    @hookimpl
    def harness_embedders():
        return [EmbedderSpec(name="faulty", target="faulty_module:Faulty")]

    class Faulty(MockEmbedder):
        def encode(self, texts):
            vectors = super().encode(texts)
            if Path("FAULT").exists():
                vectors[[text == "barn" for text in texts]] = np.nan
            return vectors
"""


def test_the_first_run_says_so_and_the_second_one_mends_it(install, toy, harness, tmp_path):
    fault = tmp_path / "fault"
    fault.touch()
    source = PLUGIN.replace("FAULT", str(fault))
    install("faulty", {"faulty": "faulty_module"}, faulty_module=source)
    options = ["-m", "faulty", "-t", "toy-places,toy-places-10", "--results", tmp_path / "results"]
    first = harness("eval", *options)
    assert first.code == 1
    assert "'barn'" in first.err
    assert "NaN" in first.err
    fault.unlink()
    second = harness("eval", *options, "--json")
    assert second.code == 0
    assert "barn" not in second.err + second.out
    assert '"toy-places"' in second.out


def test_texts_that_the_encoder_lacks_are_missing_and_no_failure(evaluate, tmp_path):
    class Lacking(MockEmbedder):
        def encode(self, texts):
            vectors = super().encode(texts)
            vectors[self.lacks(texts)] = np.nan
            return vectors

        def lacks(self, texts):
            return [text == "barn" for text in texts]

    for encoded in (6, 0):
        gap, *_ = records = evaluate(Lacking(), "toy-places", cache=tmp_path / "cache")
        assert gap.coverage.missing == ("barn",)
        assert (records.encoded, records.failed) == (encoded, ())


@pytest.mark.parametrize(
    ("hook", "method"),
    [("rewrites = True", "rewrite"), ("", "fit"), ("", "transform")],
    ids=["rewrite", "fit", "transform"],
)
def test_a_mitigator_that_ends_python_fails_its_own_tasks_only(evaluate, hook, method):
    from harness import Mitigator

    class Ends(Mitigator):
        def fit(self, embedder, concept=None):
            return self

        def transform(self, vectors, texts):
            return vectors

    def end(self, *arguments, **options):
        raise SystemExit(7)

    kind = type("Ends", (Ends,), {"rewrites": bool(hook), method: end, "__module__": __name__})
    records = evaluate("toy-letters", "toy-places", ["none", kind()])
    assert {record.mitigator.name for record in records} == {"none"}
    (failed,) = records.failed
    assert "SystemExit: 7" in failed.reason
