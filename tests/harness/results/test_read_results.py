"""`harness.read_results` reads back what an evaluation wrote."""

from __future__ import annotations

import harness as package


def test_results_are_read_back_as_they_were_returned(evaluate, tmp_path):
    returned = evaluate(results=tmp_path / "results")
    read = package.read_results(tmp_path / "results")
    assert isinstance(read, package.Records)
    assert list(read) == list(returned)
    assert list(package.read_results(str(tmp_path / "results" / "toy-letters.jsonl"))) == list(read)


def test_a_record_that_is_read_twice_keeps_its_place(evaluate, tmp_path):
    whole = evaluate("toy-letters", "toy-places", ["none", "toy-shift"], results=tmp_path / "a")
    evaluate("toy-letters", "toy-places", "none", results=tmp_path / "b")
    read = package.read_results(tmp_path / "a", tmp_path / "b")
    assert [r.mitigator.name for r in read] == [r.mitigator.name for r in whole]


def test_two_mitigators_of_one_label_stay_apart(evaluate, tmp_path):
    def edited(amount):
        class Shift(package.Mitigator):
            def transform(self, vectors, texts, amount=amount):
                return vectors * (1 + amount * (vectors > 0))

        return Shift()

    for amount in (1, 2):
        evaluate("toy-letters", "toy-places", [edited(amount)], results=tmp_path / "results")
    read = package.read_results(tmp_path / "results")
    labels = list(dict.fromkeys(record.mitigator.label for record in read))
    assert len(labels) == 2
    assert all(label.startswith("Shift [") for label in labels)
    again = package.read_results(tmp_path / "results" / "toy-letters.jsonl")
    assert list(dict.fromkeys(record.mitigator.label for record in again)) == labels
