"""Vectors in answers: which types of numbers are read, and which are refused."""

import base64
import itertools

import numpy as np
import pytest

from harness.plugins.embedders.hosted import openai
from harness.plugins.embedders.hosted.endpoint import Refused

DRAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "with a tail": lambda rng, shape: rng.laplace(size=shape),
    "of length 1": lambda rng, shape: _unit(rng.normal(size=shape)),
    "large": lambda rng, shape: 30 * rng.normal(size=shape),
    "with outliers": lambda rng, shape: (
        rng.normal(size=shape) * np.where(rng.random(shape) < 0.05, 99, 1)
    ),
    "half of them zero": lambda rng, shape: np.maximum(0, rng.normal(size=shape)),
    "positive": lambda rng, shape: 1 / (1 + np.exp(-0.3 * rng.normal(size=shape))),
    "a softmax": lambda rng, shape: _softmax(3 * rng.normal(size=shape)),
}
WIDTHS = (16, 64, 384)


def _unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _softmax(rows):
    return np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)


def _bfloat16(rows):
    return (rows.astype("<f4").view("<u4") >> 16).astype("<u2")


def _with_few_digits(rows):
    """Float32 numbers as of a model in bfloat16."""
    return (_bfloat16(rows).astype("<u4") << 16).view("<f4")


def _int8(rows):
    return np.rint(rows / np.abs(rows).max() * 127).astype("i1")


FLOAT32 = {
    "float32": lambda rows: rows.astype("<f4"),
    "float32 out of bfloat16": _with_few_digits,
    "float32 out of halves": lambda rows: rows.astype("<f2").astype("<f4"),
}
OTHERS = {
    "doubles": lambda rows: rows.astype("<f8"),
    "doubles out of float32": lambda rows: rows.astype("<f4").astype("<f8"),
    "doubles out of bfloat16": lambda rows: _with_few_digits(rows).astype("<f8"),
    "halves": lambda rows: rows.astype("<f2"),
    "bfloat16": _bfloat16,
    "float32, the other byte order": lambda rows: rows.astype(">f4"),
    "bfloat16 as float32, the other byte order": lambda rows: _with_few_digits(rows).astype(">f4"),
    "doubles, the other byte order": lambda rows: rows.astype(">f8"),
    "halves, the other byte order": lambda rows: rows.astype(">f2"),
    "bfloat16, the other byte order": lambda rows: _bfloat16(rows).astype(">u2"),
    "int8": _int8,
    "uint8": lambda rows: (_int8(rows).astype(int) + 128).astype("u1"),
    "packed bits": lambda rows: np.packbits(rows > np.median(rows), axis=1),
}


def _packed(rows):
    return [{"embedding": base64.b64encode(row.tobytes()).decode()} for row in rows]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("kind", FLOAT32)
def test_float32_numbers_are_read_bit_by_bit(kind, draw):
    for width, seed in itertools.product(WIDTHS, range(4)):
        rows = FLOAT32[kind](DRAWS[draw](np.random.default_rng(seed), (4, width)))
        for length in (None, width):
            read = openai.vectors(_packed(rows), length)
            np.testing.assert_array_equal(read, rows.astype(np.float32))


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("kind", OTHERS)
def test_no_other_numbers_are_read_as_float32(kind, draw):
    for width, seed in itertools.product(WIDTHS, range(4)):
        rows = OTHERS[kind](DRAWS[draw](np.random.default_rng(seed), (4, width)))
        read = openai.vectors(_packed(rows), None)
        assert all(isinstance(row, Refused) for row in read), (width, seed)
        # With the length stated, those of another length are refused later.
        read = openai.vectors(_packed(rows), width)
        assert all(isinstance(row, Refused) or len(row) != width for row in read), (width, seed)


@pytest.mark.parametrize(
    ("rows", "is_read"),
    [
        ([[0, 200, 13, 255], [7, 0, 250, 31]], False),
        ([[-128, 20, 13, 127], [7, -90, 50, 31]], False),
        ([[12.0, 250.0], [7.0, 31.0]], False),
        ([[0, 1, 0, 1], [1, 1, 0, 0]], True),
        ([[-1, 1, 1, -1], [1, 1, -1, 1]], True),
        ([[0, 200, 13, 255], [7, 0.5, 250, 31]], True),
        ([[-300, 200, 13, 255], [7, 50, 250, 31]], True),
    ],
    ids=["uint8", "int8", "as floats", "bits", "signs", "not integers", "beyond 8 bits"],
)
def test_quantised_vectors_are_refused(rows, is_read):
    read = openai.vectors([{"embedding": row} for row in rows], None)
    if is_read:
        np.testing.assert_array_equal(read, np.array(rows, dtype=np.float32))
    else:
        assert all("quantised" in str(row) and "encoding=float" in str(row) for row in read)


def test_a_vector_of_another_type_leaves_the_others_of_its_answer():
    rows = np.random.default_rng(0).normal(size=(3, 16)).astype("<f4")
    items = _packed(rows)
    items[1] = {"embedding": base64.b64encode(rows[1].astype(">f4").tobytes()).decode()}
    first, second, third = openai.vectors(items, 16)
    assert "not of float32" in str(second)
    np.testing.assert_array_equal([first, third], rows[[0, 2]])


@pytest.mark.parametrize(
    ("embedding", "problem"),
    [
        ({"indices": [1, 5], "values": [0.5, 0.25]}, "a sparse vector"),
        ({"float": [0.5, 0.25]}, "a mapping"),
        ([[0.5, 0.25]], "a vector for each token"),
        (["0.5", "0.25"], "has texts"),
        ([0.5, None], "has null"),
        ([0.5, True], "has true and false"),
        ([0.5, {}], "has other values"),
        (None, "null"),
        (0.5, "a single value"),
        ([10**400], "beyond any float"),
        ("AAA", "no base64"),
    ],
)
def test_what_is_no_list_of_numbers_is_named(embedding, problem):
    (row,) = openai.vectors([{"embedding": embedding}], None)
    assert str(row).startswith("its vector is not a list of numbers, but ")
    assert problem in str(row)


@pytest.mark.parametrize(
    "indices", [["0", "1"], [0, 0], [0, 2], [0.0, 1.0], [0, None], [False, True]]
)
def test_indices_that_do_not_number_the_texts_are_refused(indices):
    data = [{"index": index, "embedding": [0.5, 0.25]} for index in indices]
    with pytest.raises(Refused, match="indices of its vectors are not 0 to 1"):
        openai.in_order({"data": data}, 2)


def test_the_first_indices_that_an_answer_has_are_shown():
    data = [{"index": f"{i}", "embedding": [0.5, 0.25]} for i in range(4)]
    with pytest.raises(Refused, match='not 0 to 3, but "0", "1", "2", …'):
        openai.in_order({"data": data}, 4)
