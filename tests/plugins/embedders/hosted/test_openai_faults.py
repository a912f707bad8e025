"""Hosted text encoders whose server misbehaves or refuses texts."""

import base64

import numpy as np
import pytest
from loopback import BROKEN, BUSY, DIMENSIONS, TOO_MANY, Fault, expected, vector

from harness.encode.batches import BatchSize, encode_batches
from harness.errors import ModelError, PartlyEncoded, Unavailable
from harness.store.store import Store

TEXTS = [f"text number {i}" for i in range(10)]


@pytest.fixture
def encode(tmp_path):
    """Encode as a run does: `encode(embedder, texts)` gives the store and the report."""

    def run(embedder, texts, budget=1_000):
        store = Store(tmp_path / "store", embedder.info.fingerprint)
        with store.writer() as writer:
            report = encode_batches(
                embedder, texts, writer, size=BatchSize(budget), on_done=lambda n: None
            )
        return store, report

    return run


def changed(change):
    """Return the fault that the list of vectors is changed in place."""
    return Fault(twist=lambda answer: change(answer["data"]) and None)


# Temporary faults


@pytest.mark.parametrize(
    "fault", [TOO_MANY, BROKEN, BUSY, Fault(cut=True), Fault(seconds=5)], ids=str
)
def test_a_temporary_fault_is_retried(loopback, embedder, fault):
    loopback.faults = [fault]
    encoder = embedder(timeout=1 if fault.seconds else 5)
    np.testing.assert_array_equal(encoder.encode(TEXTS), expected(TEXTS))
    assert len(loopback.requests) == 2


def test_a_lasting_fault_is_one_line_with_the_address(loopback, embedder):
    faults = {
        "429: status 429 on demand": TOO_MANY,
        "503: status 503 on demand": BUSY,
        "cannot be reached": Fault(cut=True),
        "502: <html> <html>": Fault(status=502, body=b"<html>\n" * 99),
    }
    for fact, fault in faults.items():
        loopback.always = lambda body, fault=fault: fault
        with pytest.raises(Unavailable) as gone:
            embedder().encode(TEXTS)
        message = str(gone.value)
        assert f"127.0.0.1:{loopback.port}/v1" in message
        assert fact in message
        assert len(message) < 400


# Refused texts


def test_texts_that_are_refused_are_reported_and_the_others_are_kept(loopback, embedder, encode):
    loopback.longest = 100
    refused = ["long " * 30, "longer " * 30, "", "half a pair \ud800"]
    store, report = encode(embedder(), [*TEXTS, *refused])
    assert report.n_texts == len(TEXTS)
    assert set(report.failed) == set(refused)
    assert report.failed["long " * 30] == "400: maximum context length exceeded"
    np.testing.assert_array_equal(store.get(TEXTS), expected(TEXTS))


def test_after_too_many_texts_requests_stay_smaller(loopback, embedder):
    loopback.most = 3
    encoder = embedder(batch_texts=8)
    texts = [f"text number {i}" for i in range(24)]
    np.testing.assert_array_equal(encoder.encode(texts[:8]), expected(texts[:8]))
    loopback.requests.clear()
    np.testing.assert_array_equal(encoder.encode(texts[8:]), expected(texts[8:]))
    assert all(len(request["input"]) <= 3 for request in loopback.requests)


@pytest.mark.parametrize(
    ("embedding", "fact"),
    [
        ([0.5] * (DIMENSIONS - 1), "7 dimensions, not 8"),
        ([float("nan")] * DIMENSIONS, "NaN or infinity"),
        ([1e300] * DIMENSIONS, "NaN or infinity"),
        (None, "numbers"),
        ([0.0] * DIMENSIONS, "zero"),
        (["0.5"] * DIMENSIONS, "numbers"),
        ([[0.5] * DIMENSIONS], "numbers"),
        ([], "0 dimensions"),
        (base64.b64encode(vector("a").tobytes()).decode(), "numbers"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_an_invalid_vector_leaves_the_others(loopback, embedder, encode, embedding, fact):
    # The engine asks for the longest texts first, and these are of one length.
    loopback.faults = [changed(lambda data: data[2].update(embedding=embedding))]
    store, report = encode(embedder(), TEXTS)
    assert list(report.failed) == [TEXTS[2]]
    assert fact in report.failed[TEXTS[2]]
    others = [text for text in TEXTS if text != TEXTS[2]]
    np.testing.assert_array_equal(store.get(others), expected(others))
    assert len(loopback.requests) == 1, "answered texts are not sent again"


def test_an_answer_with_other_indices_than_those_of_its_texts_is_refused(loopback, embedder):
    changes = {
        "9 vectors for 10": lambda data: data.pop(),
        "11 vectors for 10": lambda data: data.append(data[0]),
        "not 0 to 9": lambda data: data[3].update(index=4),
        "are not 0 to 9": lambda data: data[3].pop("index"),
        "not 0 to": lambda data: data[3].update(index="3"),
    }
    for change in changes.values():
        loopback.faults = [changed(change)]
        loopback.requests.clear()
        np.testing.assert_array_equal(embedder().encode(TEXTS), expected(TEXTS))
        assert [len(request["input"]) for request in loopback.requests] == [10, 5, 5]


# Endpoints that refuse everything


@pytest.mark.parametrize(
    ("fault", "fact"),
    [
        (Fault(body=b"<html>"), "not a JSON object"),
        (Fault(body=b'{"data": [1]}'), "list of vectors"),
        (Fault(body=b'{"error": {"message": "no credit"}}'), "no credit"),
        (Fault(status=422, body=b'{"detail": "dimensions"}'), "422: dimensions"),
        (Fault(twist=lambda a: a["data"].clear()), "0 vectors"),
        (changed(lambda data: [item.update(index=7) for item in data]), "0 to 0"),
        (changed(lambda data: [item.update(embedding="AAAA") for item in data]), "list of numbers"),
    ],
)
def test_an_endpoint_that_always_fails_is_given_up_soon(loopback, embedder, fault, fact):
    loopback.always = lambda body: fault
    texts = [f"text number {i}" for i in range(100)]
    with pytest.raises(ModelError, match="refuses every text") as given_up:
        embedder(retries=0).encode(texts)
    assert fact in str(given_up.value)
    assert len(loopback.requests) < 20


# Endpoints that become unavailable


@pytest.mark.parametrize("parallel", [1, 4])
def test_encoded_texts_are_kept_when_the_endpoint_becomes_unavailable(
    loopback, embedder, encode, parallel
):
    loopback.always = lambda body: BUSY if len(loopback.requests) > 5 else None
    texts = [f"text number {i:03}" for i in range(100)]
    encoder = embedder(batch_texts=4, parallel=parallel)
    store, report = encode(encoder, texts, budget=200)
    assert report.n_texts == 20
    assert len(store.missing(texts)) == len(report.failed) == 80
    assert all("503" in reason for reason in report.failed.values())
    assert len(loopback.requests) <= 5 + 2 * parallel, "not every text is sent"


def test_an_unavailable_endpoint_is_not_tried_again_in_the_run(loopback, embedder):
    encoder = embedder(retries=0)
    encoder.encode(["a"])
    loopback.faults = [BUSY]
    for _ in range(2):
        with pytest.raises(PartlyEncoded, match="503"):
            encoder.encode(["b"])
    assert len(loopback.requests) == 2
