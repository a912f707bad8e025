"""Facts on names as a language model marks them, through the real client to a real server."""

from __future__ import annotations

import re

import pytest
from loopback import TOO_MANY, Fault

from harness.errors import ModelError, Unavailable
from harness.plugins.texts.language_model import LanguageModelMentions, read

TEXT = "Kashvi's dog met “Ravi” in New  York."
GOOD = "<person>Kashvi</person>'s dog met “<person>Ravi</person>” in <place>New York</place>."


def mark(system: str, text: str) -> str:
    """Mark as a perfect model would."""
    text = re.sub(r"\b(Kashvi|Ravi)\b", r"<person>\1</person>", text)
    return re.sub(r"\b(Leeds)\b", r"<place>\1</place>", text)


@pytest.fixture
def finder(loopback):
    loopback.reply = mark
    return lambda **options: LanguageModelMentions("toy", base_url=loopback.url, **options)


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
def test_a_marked_copy_says_where_names_are(answer):
    assert [(m.start, m.text, m.kind) for m in read(TEXT, answer)] == [
        (0, "Kashvi", "person"),
        (18, "Ravi", "person"),
        (27, "New  York", "place"),
    ]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("'s dog met “” in .", "where the text has 'Kashvi's dog"),
        ("I'm sorry, but I cannot help with that.", "it has 'I'm sorry"),
        ("", "it ends before 'Kashvi"),
        (f"{GOOD} I hope this helps!", "I hope this helps"),
        (f"Here you are: {GOOD}", "Here you are"),
        (GOOD.replace("dog", "cat"), "cat met"),
        (GOOD.split(" in ")[0], "it ends before 'in New  York.'"),
        (GOOD.replace("</place>", ""), "<place> is not closed"),
        (GOOD.replace("</place>", "</person>"), "its tag </person> stands where none can"),
        (GOOD.replace("<place>", "<place><person>"), "its tag <person> stands where none can"),
        (GOOD.replace("place>", "city>"), "<city>"),
    ],
)
def test_an_answer_that_is_no_marked_copy_is_caught(answer, problem):
    with pytest.raises(ModelError, match=re.escape(problem)):
        read(TEXT, answer)


def test_a_text_may_be_in_quotation_marks_itself():
    (ravi,) = read('"Ravi!"', '"<person>Ravi</person>!"')
    assert (ravi.start, ravi.text) == (1, "Ravi")


def test_names_are_asked_for_once(loopback, finder):
    texts = ["Kashvi met Ravi in Leeds.", "no one", "", "Kashvi met Ravi in Leeds."]
    first = finder().find(texts)
    assert [[m.text for m in one] for one in first] == [
        ["Kashvi", "Ravi", "Leeds"],
        [],
        [],
        ["Kashvi", "Ravi", "Leeds"],
    ]
    assert len(loopback.requests) == 2
    again = finder(kinds=["place"])
    assert [[m.text for m in one] for one in again.find(texts)] == [["Leeds"], [], [], ["Leeds"]]
    assert len(loopback.requests) == 2
    assert again.notes == ()


def test_the_model_is_asked_without_chance_and_the_usage_told(loopback, finder):
    one = finder()
    one.find(["Kashvi met Ravi."])
    (request,) = loopback.requests
    assert request["temperature"] == 0
    assert request["messages"][1] == {"role": "user", "content": "Kashvi met Ravi."}
    assert any("toy" in note for note in one.notes)


def test_a_bad_answer_leaves_its_text_and_is_told_and_asked_for_again(loopback, finder):
    loopback.reply = lambda system, text: "I cannot." if "Ravi" in text else mark(system, text)
    one = finder()
    names = one.find(["Kashvi ran.", "Ravi ran."])
    assert [len(found) for found in names] == [1, 0]
    (note,) = [note for note in one.notes if "keep" in note]
    assert note.startswith("1 text keeps its names")
    assert "'Ravi ran.': it has 'I cannot.'" in note
    asked = len(loopback.requests)
    assert one.find(["Ravi ran."]) == [[]]
    assert len(loopback.requests) == asked, "a run asks once"
    loopback.reply = mark
    assert [m.text for m in finder().find(["Ravi ran."])[0]] == ["Ravi"]


def test_a_model_that_marks_no_text_is_an_error(loopback, finder):
    loopback.reply = lambda system, text: "Done!"
    with pytest.raises(ModelError, match=r"marked names in none of 2 texts: 'Kashvi ran\.'"):
        finder().find(["Kashvi ran.", "Ravi ran."])


def test_too_many_requests_are_waited_for(loopback, finder):
    loopback.faults = [TOO_MANY]
    assert [m.text for m in finder().find(["Ravi ran."])[0]] == ["Ravi"]


def test_what_was_answered_before_the_endpoint_went_is_kept(loopback, finder):
    loopback.always = lambda body: (
        Fault(status=401) if body["messages"][1]["content"] == "Ravi ran." else None
    )
    texts = ["Kashvi ran.", "Ravi ran."]
    with pytest.raises(Unavailable):
        finder().find(texts)
    loopback.always = lambda body: None
    asked = len(loopback.requests)
    assert [len(found) for found in finder().find(texts)] == [1, 1]
    assert [body["messages"][1]["content"] for body in loopback.requests[asked:]] == ["Ravi ran."]
