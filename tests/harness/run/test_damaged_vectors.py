"""No score is computed from a damaged vector: it is encoded again, and a notice says so."""

import pytest

from harness.run import scoring


def flip_a_bit(cache):
    (path,) = (cache / "embeddings").rglob("*.safetensors")
    content = bytearray(path.read_bytes())
    content[-1] ^= 64  # the exponent of a number
    path.write_bytes(content)
    return path.name


@pytest.mark.parametrize("workers", [1, 2])
def test_a_flipped_bit_changes_no_score_and_is_said(evaluate, cache, toy, monkeypatch, workers):
    monkeypatch.setattr(scoring, "ALONE", 0)
    monkeypatch.setattr(scoring, "WORTH", 0)
    before = {record.id: record.value for record in evaluate()}
    name, n_encoded = flip_a_bit(cache), len(toy)
    records = evaluate(workers=workers)
    assert {record.id: record.value for record in records} == before
    assert len(toy) > n_encoded
    assert any(name in notice for notice in records.notices)
    again = evaluate(workers=1)
    assert {record.id: record.value for record in again} == before
    assert again.notices == ()
