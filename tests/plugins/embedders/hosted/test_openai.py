"""Hosted text encoders, through the real client to a real server: vectors, facts and keys."""

import logging
import sys
import traceback

import numpy as np
import pytest
from loopback import Fault, Loopback, expected, twisted

from harness.embedder import Embedder
from harness.errors import HarnessError, InvalidOption, Unavailable
from harness.plugins.embedders.hosted.openai import OpenAIEmbedder

SECRET = "sk-1234-never-to-be-seen"
TEXTS = [f"text number {i}" for i in range(10)]


# Vectors


def test_vectors_equal_those_of_the_endpoint_bit_by_bit(loopback, embedder):
    vectors = embedder().encode(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, expected(TEXTS))
    assert loopback.requests[0]["encoding_format"] == "float"


def test_vectors_are_assigned_by_the_indices_of_the_answer(loopback, embedder):
    loopback.always = twisted(lambda data: data.reverse())
    np.testing.assert_array_equal(embedder().encode(TEXTS), expected(TEXTS))


def test_dimensions_and_prompt_are_sent(loopback, embedder):
    assert embedder(dimensions=4, prompt="query: ").encode(["a"]).shape == (1, 4)
    (request,) = loopback.requests
    assert (request["dimensions"], request["input"]) == (4, ["query: a"])
    embedder().encode(["a"])
    assert "dimensions" not in loopback.requests[1]


def test_a_request_has_texts_of_one_role_with_its_prompt(loopback, embedder):
    encoder = embedder(query_prompt="query: ", document_prompt="passage: ")
    for role, sent in {"query": "query: a", "document": "passage: a", "text": "a"}.items():
        np.testing.assert_array_equal(encoder.encode(["a"], role=role), expected([sent]))
    assert [request["input"] for request in loopback.requests] == [
        ["query: a"],
        ["passage: a"],
        ["a"],
    ]
    assert encoder.info.role_prompts == {"text": "", "query": "query: ", "document": "passage: "}


def test_an_endpoint_that_puts_prompts_itself_is_told_the_role(loopback, embedder):
    encoder = embedder(input_type=True)
    for role in ("query", "document", "text"):
        encoder.encode(["a"], role=role)
    assert [request.get("input_type") for request in loopback.requests] == [
        "query",
        "document",
        None,
    ]
    assert all(request["input"] == ["a"] for request in loopback.requests)
    assert encoder.info.role_prompts["document"] == "input_type=document"
    with pytest.raises(InvalidOption, match=r"input_type.*query_prompt"):
        embedder(input_type=True, query_prompt="query: ")


def test_requests_respect_the_limits_of_texts_and_tokens(loopback, embedder):
    embedder(batch_texts=4).encode(TEXTS)
    assert [len(request["input"]) for request in loopback.requests] == [4, 4, 2]
    loopback.requests.clear()
    embedder(batch_tokens=15).encode(["x" * 20, "y" * 20, "z" * 400, "w"])
    assert [len(request["input"]) for request in loopback.requests] == [2, 1, 1]


def test_concurrent_requests_give_vectors_in_the_order_of_the_texts(loopback, embedder):
    texts = [f"text number {i}" for i in range(60)]
    vectors = embedder(batch_texts=3, parallel=4).encode(texts)
    np.testing.assert_array_equal(vectors, expected(texts))
    assert len(loopback.requests) == 20


# Facts


def test_info_needs_no_request_and_no_key(loopback, embedder):
    encoder = embedder(dimensions=4, price=0.5, key="NO_SUCH_VARIABLE")
    assert isinstance(encoder, Embedder)
    assert (encoder.info.kind, encoder.info.dimensions, encoder.info.price) == ("text", 4, 0.5)
    assert loopback.requests == []


def test_fingerprints_differ_by_endpoint_model_dimensions_and_prompt():
    def fingerprint(reference="toy", **options):
        return OpenAIEmbedder(reference, **options).info.fingerprint

    prints = [
        fingerprint(),
        fingerprint("other"),
        fingerprint(dimensions=4),
        fingerprint(prompt="q: "),
        fingerprint(query_prompt="q: "),
        fingerprint(document_prompt="q: "),
        fingerprint(input_type=True),
        fingerprint(base_url="http://localhost:1/v1"),
        fingerprint(base_url="http://localhost:2/v1"),
    ]
    assert len(set(prints)) == len(prints)
    same = {"key": "OTHER_KEY", "retries": 0, "timeout": 1, "batch_texts": 2}
    assert fingerprint(**same, base_url="https://api.openai.com/v1/") == fingerprint()


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"base_url": "localhost:80"}, "base_url"),
        ({"base_url": f"http://user:{SECRET}@localhost/v1"}, "base_url"),
        ({"base_url": f"http://localhost/v1?key={SECRET}"}, "base_url"),
        ({"key": SECRET}, "key="),
        ({"timeout": 0}, "timeout"),
        ({"parallel": 0}, "parallel"),
        ({"dimensions": 0}, "dimensions"),
    ],
)
def test_invalid_options_are_refused_without_showing_a_key(options, fact):
    with pytest.raises(InvalidOption, match=fact) as refused:
        OpenAIEmbedder("toy", **options)
    assert SECRET not in str(refused.value)


# Keys


def test_what_is_wrong_with_a_key_is_one_line(loopback, embedder, monkeypatch):
    loopback.key = SECRET
    monkeypatch.delenv("NO_KEY", raising=False)
    monkeypatch.setenv("WRONG_KEY", "sk-wrong")
    for key, fact in {
        None: "key=",
        "NO_KEY": "variable NO_KEY",
        "WRONG_KEY": "in WRONG_KEY",
    }.items():
        with pytest.raises(Unavailable, match=fact) as refused:
            embedder(key=key).encode(TEXTS)
        assert "sk-wrong" not in str(refused.value)
    assert len(loopback.requests) == 2, "a request with a wrong key is not repeated"


def test_a_key_goes_only_to_the_host_that_it_is_set_for(loopback, embedder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    embedder().encode(["a"])
    assert SECRET not in str(loopback.requests)
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.url)
    embedder(base_url=None).encode(["a"])
    assert loopback.requests[1]["headers"]["authorization"] == f"Bearer {SECRET}"


def test_neither_texts_nor_a_key_are_sent_to_the_target_of_a_redirect(
    loopback, embedder, monkeypatch
):
    monkeypatch.setenv("SOME_KEY", SECRET)
    with Loopback() as other:
        location = {"location": f"{other.url}/embeddings"}
        loopback.always = lambda body: Fault(status=307, headers=location)
        with pytest.raises(Unavailable, match="redirects"):
            embedder(key="SOME_KEY").encode(["a"])
        assert other.requests == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
def test_the_key_is_in_no_message_log_or_traceback(loopback, embedder, monkeypatch, caplog, status):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SOME_KEY", SECRET)
    body = f'{{"error": {{"message": "{SECRET} is not a key that we know"}}}}'.encode()
    loopback.always = lambda _: Fault(status=status, body=body)
    encoder = embedder(key="SOME_KEY", retries=0)
    with pytest.raises(HarnessError) as refused:
        encoder.encode(TEXTS)
    trace = traceback.TracebackException.from_exception(refused.value, capture_locals=False)
    assert SECRET not in "".join(trace.format())
    assert SECRET not in caplog.text
    assert SECRET not in repr(vars(encoder)) + repr(encoder.info)
    error = refused.value
    while error is not None:
        assert not hasattr(error, "request"), "the request holds the key"
        error = error.__context__


def test_a_model_that_the_endpoint_does_not_know_is_named(loopback, embedder):
    with pytest.raises(Unavailable, match=r"'nobody' \(404: The model `nobody`"):
        embedder("nobody").encode(TEXTS)
    assert len(loopback.requests) == 1


def test_without_the_client_package_the_error_says_how_to_install_it(embedder, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(Unavailable, match=r'pip install "embedding-bias-harness\[openai\]"'):
        embedder().encode(["a"])
