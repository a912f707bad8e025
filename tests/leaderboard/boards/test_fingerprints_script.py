"""`perf/fingerprints.py`: recorded values get the new fingerprints of their models."""

import gzip
import importlib.util
import json
import sys
from pathlib import Path

import pytest

from harness.results.record import Record, is_as_written

REPOSITORY = Path(__file__).parents[3]
OLD, NEW = "sentence-transformers-" + "a" * 32, "sentence-transformers-" + "b" * 32


@pytest.fixture
def script():
    path = REPOSITORY / "perf" / "fingerprints.py"
    spec = importlib.util.spec_from_file_location("fingerprints_script", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(script, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["fingerprints.py", *map(str, words)])
    return script.main()


def test_records_get_the_fingerprint_with_their_ids_and_checks(
    script, tmp_path, monkeypatch, make_record
):
    records = [
        make_record(seed=seed, model__fingerprint=fingerprint)
        for seed, fingerprint in enumerate([OLD, "vectors-" + "c" * 32, OLD])
    ]
    file = tmp_path / "board.jsonl.gz"
    file.write_bytes(gzip.compress("".join(record.line() for record in records).encode()))
    assert run(script, monkeypatch, f"{OLD}={NEW}", "--file", file) == 0
    lines = gzip.decompress(file.read_bytes()).splitlines()
    after = [Record.model_validate_json(line) for line in lines]
    expected = [
        make_record(seed=0, model__fingerprint=NEW),
        records[1],
        make_record(seed=2, model__fingerprint=NEW),
    ]
    assert after == expected
    assert all(map(is_as_written, lines))
    assert [record.id for record in after] == [record.identity() for record in after]


def test_a_model_that_can_be_made_here_is_asked_for_its_fingerprint(
    script, tmp_path, monkeypatch, make_record, capsys
):
    known = make_record(model__name="constant-texts", model__fingerprint=OLD)
    unknown = make_record(model__name="no-such-model", model__fingerprint=OLD[:-1] + "d")
    file = tmp_path / "references.jsonl"
    file.write_text(known.line() + unknown.line())
    assert run(script, monkeypatch, "--file", file) == 0
    prints = [json.loads(line)["model"]["fingerprint"] for line in file.read_text().splitlines()]
    assert prints == ["constant-texts-300", unknown.model.fingerprint]
    assert "kept no-such-model" in capsys.readouterr().out


@pytest.mark.parametrize("as_list", [True, False], ids=["validity.json", "values.json"])
def test_other_values_keep_their_form(script, tmp_path, monkeypatch, as_list):
    values = [{"model": f"m{i}", "fingerprint": p, "value": 0.5} for i, p in enumerate([OLD, "x"])]
    file = tmp_path / "values.json"
    content = json.dumps(values if as_list else dict(zip("ab", values, strict=True)), indent=1)
    file.write_text(content)
    run(script, monkeypatch, f"{OLD}={NEW}", "--file", file)
    assert file.read_text() == content.replace(OLD, NEW)


def test_the_files_of_the_repository_are_read_and_stay_as_they_are(script):
    for file in script.FILES:
        content = script.read(file)
        prints = {fingerprint for _, fingerprint in script.models(content)}
        there = dict.fromkeys(sorted(prints), NEW)
        back = script.brought_along(content, {fingerprint: fingerprint for fingerprint in prints})
        assert back == content, file
        changed = script.brought_along(content, there)
        assert {fingerprint for _, fingerprint in script.models(changed)} == {NEW}
