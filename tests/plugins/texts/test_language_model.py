"""Mentions found by a language model, with the real client and a local server."""

from __future__ import annotations

import re

import pytest
from loopback import TOO_MANY, Fault

from harness.errors import ModelError, Unavailable
from harness.plugins.embedders.hosted.chat import Chat
from harness.plugins.texts.language_model import LanguageModelMentions, read
from harness.plugins.texts.model_answers import ModelAnswers

TEXT = "Kashvi's dog met “Ravi” in New  York."
GOOD = "<person>Kashvi</person>'s dog met “<person>Ravi</person>” in <place>New York</place>."


def mark(system: str, text: str) -> str:
    """Mark as a perfect model would."""
    text = re.sub(r"\b(Kashvi|Ravi)\b", r"<person>\1</person>", text)
    return re.sub(r"\b(Leeds)\b", r"<place>\1</place>", text)


@pytest.fixture
def finder(loopback):
    loopback.reply = mark
    return lambda **options: LanguageModelMentions(Chat("toy", loopback.url), **options)


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"```\n{GOOD}\n```",
        f"```text\n{GOOD}```",
        f'"{GOOD}"',
        f"Answer: {GOOD}",
        GOOD.replace("“", '"').replace("”", '"'),
        GOOD.replace("'", "’"),
        GOOD.replace(" met", "\nmet"),
    ],
)
def test_mentions_are_read_from_a_marked_copy(answer):
    assert [(m.start, m.text, m.kind) for m in read(TEXT, answer)] == [
        (0, "Kashvi", "person"),
        (18, "Ravi", "person"),
        (27, "New  York", "place"),
    ]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("'s dog met “” in .", "'Kashvi's dog"),
        ("I'm sorry, but I cannot help with that.", "'I'm sorry"),
        ("", "'Kashvi"),
        (f"{GOOD} I hope this helps!", "I hope this helps"),
        (f"Here you are: {GOOD}", "Here you are"),
        (GOOD.replace("dog", "cat"), "cat met"),
        (GOOD.split(" in ")[0], "'in New  York.'"),
        (GOOD.replace("</place>", ""), "<place>"),
        (GOOD.replace("</place>", "</person>"), "</person>"),
        (GOOD.replace("<place>", "<place><person>"), "<person>"),
        (GOOD.replace("place>", "city>"), "<city>"),
    ],
)
def test_an_answer_that_is_not_a_marked_copy_is_an_error(answer, problem):
    with pytest.raises(ModelError, match=re.escape(problem)):
        read(TEXT, answer)


def test_quotation_marks_of_the_text_are_kept():
    (ravi,) = read('"Ravi!"', '"<person>Ravi</person>!"')
    assert (ravi.start, ravi.text) == (1, "Ravi")


def test_each_text_is_sent_once(loopback, finder):
    texts = ["Kashvi met Ravi in Leeds.", "no one", "", "Kashvi met Ravi in Leeds."]
    first = finder().find(texts)
    assert [[m.text for m in mentions] for mentions in first] == [
        ["Kashvi", "Ravi", "Leeds"],
        [],
        [],
        ["Kashvi", "Ravi", "Leeds"],
    ]
    assert len(loopback.requests) == 2
    again = finder(kinds=["place"])
    assert [[m.text for m in mentions] for mentions in again.find(texts)] == [
        ["Leeds"],
        [],
        [],
        ["Leeds"],
    ]
    assert len(loopback.requests) == 2
    assert again.notes == ()


def test_the_temperature_is_zero(loopback, finder):
    finder().find(["Kashvi met Ravi."])
    (request,) = loopback.requests
    assert request["temperature"] == 0
    assert request["messages"][1] == {"role": "user", "content": "Kashvi met Ravi."}


def test_an_invalid_answer_is_reported_and_the_text_is_sent_again_in_the_next_run(loopback, finder):
    loopback.reply = lambda system, text: "I cannot." if "Ravi" in text else mark(system, text)
    first = finder()
    assert [len(mentions) for mentions in first.find(["Kashvi ran.", "Ravi ran."])] == [1, 0]
    (note,) = [note for note in first.notes if "Ravi ran." in note]
    assert note.startswith("1 text ")
    assert "'I cannot.'" in note
    n_requests = len(loopback.requests)
    assert first.find(["Ravi ran."]) == [[]]
    assert len(loopback.requests) == n_requests, "the same finder sent a text twice"
    loopback.reply = mark
    assert [m.text for m in finder().find(["Ravi ran."])[0]] == ["Ravi"]


def test_it_is_an_error_if_every_answer_is_invalid(loopback, finder):
    loopback.reply = lambda system, text: "Done!"
    with pytest.raises(ModelError, match=r"2 texts.*'Kashvi ran\.'"):
        finder().find(["Kashvi ran.", "Ravi ran."])


def test_a_request_is_repeated_after_too_many_requests(loopback, finder):
    loopback.faults = [TOO_MANY]
    assert [m.text for m in finder().find(["Ravi ran."])[0]] == ["Ravi"]


def test_answers_before_a_failure_of_the_endpoint_are_kept(loopback, finder):
    loopback.always = lambda body: (
        Fault(status=401) if body["messages"][1]["content"] == "Ravi ran." else None
    )
    texts = ["Kashvi ran.", "Ravi ran."]
    with pytest.raises(Unavailable):
        finder().find(texts)
    loopback.always = lambda body: None
    n_requests = len(loopback.requests)
    assert [len(mentions) for mentions in finder().find(texts)] == [1, 1]
    assert [body["messages"][1]["content"] for body in loopback.requests[n_requests:]] == [
        "Ravi ran."
    ]


def test_an_answer_is_kept_as_soon_as_it_has_arrived(loopback):
    texts = [f"text {i}" for i in range(4)]

    def interrupted(text, answer):
        if text == "text 2":
            raise KeyboardInterrupt
        return answer

    chat = Chat("toy", loopback.url, parallel=1)
    with pytest.raises(KeyboardInterrupt):
        ModelAnswers(chat, "copies", "Copy it.", interrupted).of(texts)
    asked = len(loopback.requests)
    answers = ModelAnswers(chat, "copies", "Copy it.", lambda _, answer: answer).of(texts)
    assert answers == {text: text for text in texts}
    assert len(loopback.requests) - asked == 2
