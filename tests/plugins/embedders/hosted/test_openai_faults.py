"""Hosted text encoders whose server misbehaves or refuses texts."""

import base64
import json

import numpy as np
import pytest
from loopback import BROKEN, BUSY, DIMENSIONS, TOO_MANY, Fault, Loopback, expected, vector

from harness.encode.batches import BatchSize, batch_size, encode_batches
from harness.errors import ModelError, PartlyEncoded, Unavailable
from harness.plugins.embedders.hosted.openai import PATIENCE, PROBE
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


def only(condition, fault):
    """Return a function that answers with `fault` if a text of the request meets the condition."""
    return lambda body: fault if any(condition(text) for text in body["input"]) else None


# Temporary faults


@pytest.mark.parametrize(
    "fault",
    [TOO_MANY, BROKEN, BUSY, Fault(cut=True), Fault(seconds=5)],
    ids=["429", "500", "503", "cut", "late"],
)
def test_a_temporary_fault_is_retried(loopback, embedder, fault):
    loopback.faults = [fault]
    encoder = embedder(timeout=1 if fault.seconds else 5)
    np.testing.assert_array_equal(encoder.encode(TEXTS), expected(TEXTS))
    assert len(loopback.requests) == 2


@pytest.mark.parametrize(
    ("fault", "facts"),
    [
        (TOO_MANY, ["429: status 429 on demand", "2 requests"]),
        (BUSY, ["503: status 503 on demand", "2 requests"]),
        (Fault(status=429, headers={"retry-after": "3600"}), ["429"]),
        (Fault(cut=True), ["cannot be reached"]),
        (Fault(seconds=5), ["0.2 s", "2 requests"]),
        (Fault(status=502, body=b"<html>\n" * 99), ["502: <html> <html>"]),
    ],
)
def test_a_lasting_fault_is_reported(loopback, embedder, fault, facts):
    loopback.always = lambda body: fault
    with pytest.raises(Unavailable) as gone:
        embedder(timeout=0.2 if fault.seconds else 5).encode(TEXTS)
    message = str(gone.value)
    assert f"127.0.0.1:{loopback.port}/v1" in message
    assert all(fact in message for fact in facts)
    assert len(message) < 400


def test_an_endpoint_that_nobody_serves_is_reported(embedder):
    with Loopback() as gone:
        pass
    with pytest.raises(Unavailable, match=f"127.0.0.1:{gone.port}/v1 cannot be reached .*refused"):
        embedder(base_url=gone.url, retries=0).encode(TEXTS)


def test_answers_that_are_cut_are_asked_for_again_and_not_halved(loopback, embedder, encode):
    texts = [f"text number {i:03}" for i in range(200)]
    loopback.always = lambda body: Fault(body=b"{") if len(loopback.requests) % 3 == 0 else None
    store, report = encode(embedder(batch_texts=10, retries=3), texts)
    np.testing.assert_array_equal(store.get(texts), expected(texts))
    assert report.failed == {}
    assert len(loopback.requests) == 29, "20 requests, and 9 again"


# Refused texts


def test_a_text_that_is_too_long_is_reported_and_the_others_are_kept(loopback, embedder, encode):
    loopback.longest = 100
    texts = [*TEXTS, "long " * 30, "longer " * 30]
    store, report = encode(embedder(), texts)
    assert report.n_texts == len(TEXTS)
    reason = "400: maximum context length exceeded"
    assert report.failed == {"long " * 30: reason, "longer " * 30: reason}
    np.testing.assert_array_equal(store.get(TEXTS), expected(TEXTS))
    # 12 texts are split into 6, 3, 2 and 1, the long ones first.
    assert [len(request["input"]) for request in loopback.requests] == [12, 6, 3, 2, 1, 1, 1, 3, 6]


def test_an_empty_text_that_is_refused_is_reported(embedder, encode):
    _, report = encode(embedder(), ["", *TEXTS])
    assert report.failed == {"": "400: input cannot be an empty string"}


def test_a_text_that_cannot_be_sent_is_reported(embedder, encode):
    _, report = encode(embedder(), ["half a pair \ud800", *TEXTS])
    assert list(report.failed) == ["half a pair \ud800"]
    assert report.n_texts == len(TEXTS)


def test_a_text_that_breaks_the_endpoint_is_reported(loopback, embedder, encode):
    loopback.always = only(lambda text: text == TEXTS[3], BROKEN)
    _, report = encode(embedder(retries=3), TEXTS)
    assert report.failed == {TEXTS[3]: "500: status 500 on demand"}


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
        ([None] * DIMENSIONS, "numbers"),
        ([0.0] * DIMENSIONS, "zero"),
        (["0.5"] * DIMENSIONS, "numbers"),
        ([10**400] * DIMENSIONS, "numbers"),
        ([], "empty"),
        ("", "empty"),
        ("AAA", "numbers"),
        (["a"] * DIMENSIONS, "numbers"),
        ([[0.5] * DIMENSIONS], "numbers"),
        ({"a": 1}, "numbers"),
        (0.5, "numbers"),
    ],
)
def test_an_invalid_vector_leaves_the_others(loopback, embedder, encode, embedding, fact):
    def spoil(answer):
        # The engine asks for the longest texts first, and these are of one length.
        answer["data"][2]["embedding"] = embedding

    loopback.faults = [Fault(twist=spoil)]
    store, report = encode(embedder(), TEXTS)
    assert list(report.failed) == [TEXTS[2]]
    assert fact in report.failed[TEXTS[2]]
    others = [text for text in TEXTS if text != TEXTS[2]]
    np.testing.assert_array_equal(store.get(others), expected(others))
    assert len(loopback.requests) == 1, "answered texts are not sent again"


def test_a_missing_vector_is_reported(loopback, embedder, encode):
    """An endpoint may leave out a text."""

    def drop(body):
        def twist(answer):
            answer["data"] = [
                item
                for item, text in zip(answer["data"], body["input"], strict=True)
                if text != TEXTS[5]
            ]

        return Fault(twist=twist)

    loopback.always = drop
    _, report = encode(embedder(), TEXTS)
    assert list(report.failed) == [TEXTS[5]]
    assert "0 vectors" in report.failed[TEXTS[5]]


# Base64


def repacked(change):
    """Return a function that answers with other bytes where base64 is asked for."""

    def twist(answer):
        for item in answer["data"]:
            row = np.frombuffer(base64.b64decode(item["embedding"]), dtype="<f4")
            item["embedding"] = base64.b64encode(change(row).tobytes()).decode()

    return lambda body: Fault(twist=twist) if body["encoding_format"] == "base64" else None


OTHER_BYTES = {
    "doubles": lambda row: row.astype("<f8"),
    "halves": lambda row: row.astype("<f2"),
    "bfloat16": lambda row: (row.view("<u4") >> 16).astype("<u2"),
    "the other byte order": lambda row: row.astype(">f4"),
    "int8": lambda row: np.rint(row * 127).astype("i1"),
    "packed bits": lambda row: np.packbits(row > 0),
}


@pytest.mark.parametrize("dimensions", [None, DIMENSIONS])
@pytest.mark.parametrize("kind", OTHER_BYTES)
def test_other_numbers_than_float32_in_base64_are_asked_for_as_a_list(
    loopback, embedder, kind, dimensions
):
    loopback.always = repacked(OTHER_BYTES[kind])
    encoder = embedder(dimensions=dimensions, batch_texts=5)
    np.testing.assert_array_equal(encoder.encode(TEXTS), expected(TEXTS))
    formats = [request["encoding_format"] for request in loopback.requests]
    assert formats == ["base64", "float", "float"]
    assert any("encoding=float instead of base64" in note for note in encoder.notes)


def test_other_numbers_are_refused_if_they_are_sent_for_a_list_too(loopback, embedder):
    def twist(answer):
        for item, text in zip(answer["data"], loopback.requests[-1]["input"], strict=True):
            content = vector(text).astype("<f8").tobytes()
            item["embedding"] = base64.b64encode(content).decode()

    loopback.always = lambda body: Fault(twist=twist)
    for options in ({}, {"encoding": "float"}):
        with pytest.raises(ModelError, match=r"not of float32 numbers.*encoding=float"):
            embedder(**options).encode(TEXTS)


@pytest.mark.parametrize("kind", OTHER_BYTES)
def test_another_type_than_in_the_first_answer_is_refused(loopback, embedder, encode, kind):
    encoder = embedder()
    encode(encoder, TEXTS[:7])
    loopback.always = repacked(OTHER_BYTES[kind])
    store, report = encode(encoder, TEXTS[7:])
    assert list(report.failed) == TEXTS[7:]
    assert store.missing(TEXTS) == TEXTS[7:]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "base64 encoding is not currently supported"),
        (422, "body.encoding_format: Input should be 'float'"),
        (501, "encoding 'base64' is not implemented"),
        (400, "invalid request"),
    ],
)
@pytest.mark.parametrize("parallel", [1, 3])
def test_an_endpoint_that_refuses_base64_is_asked_for_lists(
    loopback, embedder, encode, status, message, parallel
):
    fault = Fault(status=status, body=json.dumps({"error": {"message": message}}).encode())
    loopback.always = lambda body: fault if body["encoding_format"] == "base64" else None
    texts = [f"text number {i}" for i in range(20)]
    store, report = encode(embedder(parallel=parallel, batch_texts=4), texts)
    answered = [text for text in texts if text not in report.failed]
    np.testing.assert_array_equal(store.get(answered), expected(answered))
    # Without a word of base64, some texts are refused before a probe finds out.
    assert len(report.failed) <= (PATIENCE * parallel if message == "invalid request" else 0)
    formats = [request["encoding_format"] for request in loopback.requests]
    assert formats.count("float") >= 5


def test_the_name_of_another_model_in_the_answer_is_told(loopback, embedder):
    def answers_as(name):
        loopback.always = lambda body: Fault(twist=lambda answer: answer.update(model=name))
        encoder = embedder()
        encoder.encode(TEXTS)
        return [note for note in encoder.notes if "says that the model" in note]

    assert answers_as("owner/Toy-v2:latest") == []
    assert answers_as(None) == []
    (note,) = answers_as("other\nmodel")
    assert "'other model' answers" in note


# Endpoints that refuse everything


@pytest.mark.parametrize(
    ("fault", "fact"),
    [
        (Fault(body=b"{"), "not JSON"),
        (Fault(body=b"[" * 100_000), "not JSON"),
        (Fault(body=b"\xff\xfe"), "not JSON"),
        (Fault(body=b"[]"), "JSON object"),
        (Fault(body=b"{}"), "list of vectors"),
        (Fault(body=b'{"data": [1]}'), "list of vectors"),
        (Fault(body=b'{"error": {"message": "no credit"}}'), "no credit"),
        (Fault(status=400), "400: status 400 on demand"),
        (Fault(status=422, body=b'{"detail": "dimensions"}'), "422: dimensions"),
        (Fault(twist=lambda a: a["data"].clear()), "0 vectors"),
        (Fault(twist=lambda a: a["data"].append(a["data"][0])), "2 vectors"),
        (
            Fault(twist=lambda a: [item.update(index=7) for item in a["data"]] and None),
            "0 to 0",
        ),
        (BROKEN, "500: status 500 on demand"),
    ],
)
def test_an_endpoint_that_always_fails_is_given_up_soon(loopback, embedder, fault, fact):
    loopback.always = lambda body: fault
    texts = [f"text number {i}" for i in range(100)]
    with pytest.raises(ModelError, match="refuses every text") as given_up:
        embedder(retries=1).encode(texts)
    assert fact in str(given_up.value)
    sent = {tuple(request["input"]) for request in loopback.requests}
    assert (PROBE,) in sent
    assert len(sent) < 20


def test_vectors_of_another_length_than_requested_are_refused(loopback, embedder):
    loopback.always = lambda body: Fault(
        twist=lambda a: [item.update(embedding=[0.5, 0.5]) for item in a["data"]] and None
    )
    with pytest.raises(ModelError, match="2 dimensions, not 8"):
        embedder(dimensions=8).encode(TEXTS)


def test_an_endpoint_is_kept_after_many_refused_texts_in_a_row(loopback, embedder, encode):
    loopback.longest = 100
    long = ["long " * (30 + i) for i in range(20)]
    _, report = encode(embedder(), [*TEXTS, *long])
    assert set(report.failed) == set(long)
    assert report.n_texts == len(TEXTS)


@pytest.mark.parametrize("parallel", [1, 3])
def test_no_more_is_in_flight_than_requests_at_a_time(loopback, embedder, tmp_path, parallel):
    encoder = embedder(batch_texts=11, parallel=parallel)
    store = Store(tmp_path, encoder.info.fingerprint)
    texts = [f"text number {i:03}" for i in range(200)]
    in_flight = []

    def embed(batch, dimensions):
        sent = [text for text in loopback.texts if text not in batch]
        in_flight.append(len(Store(tmp_path, encoder.info.fingerprint).missing(sent)))
        return expected(batch)

    loopback.embed = embed
    with store.writer() as writer:
        size = batch_size(encoder, "cpu")
        encode_batches(encoder, texts, writer, size=size, on_done=lambda n: None)
    assert max(in_flight) <= 11 * (parallel - 1)
    assert store.missing(texts) == []


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
