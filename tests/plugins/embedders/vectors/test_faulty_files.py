"""Files of word vectors with a fault: read right with a line about it, or refused in one line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import resource
import unicodedata

import numpy as np
import pytest

from harness.errors import InvalidFile, InvalidOption
from harness.plugins.embedders.vectors.vectors_file import vectors_file
from harness.registry.registry import Registry

D = 20
WORDS = [f"w{i}" for i in range(30)] + ["he", "she"]
VECTORS = np.random.default_rng(0).standard_normal((len(WORDS), D)).round(4).astype(np.float32)
OF = dict(zip(WORDS, VECTORS, strict=True))


def line(word, vector, first=" ", between=" "):
    return f"{word}{first}{between.join(f'{x:.4f}' for x in vector)}\n"


def record(word, vector, end=b""):
    raw = word if isinstance(word, bytes) else word.encode()
    return raw + b" " + vector.astype("<f4").tobytes() + end


TEXT = "".join(line(*item) for item in OF.items()).encode()
HEADER = f"{len(WORDS)} {D}\n".encode()
BINARY = HEADER + b"".join(record(*item) for item in OF.items())


def read(tmp_path, content, **options):
    (tmp_path / "v.txt").write_bytes(content)
    embedder = vectors_file(str(tmp_path / "v.txt"), **options)
    _ = embedder.vectors
    return embedder


def refused(tmp_path, content, **options):
    with pytest.raises(InvalidFile) as caught:
        read(tmp_path, content, **options)
    assert "\n" not in str(caught.value)
    return caught.value


def assert_right(embedder, words=WORDS):
    assert list(embedder.words) == list(words)
    known = [word for word in words if word in OF]
    np.testing.assert_array_equal(embedder.encode(known), [OF[word] for word in known])


def test_tabs_and_commas_stand_for_spaces(tmp_path):
    for first, between in (("\t", " "), ("\t", "\t"), (" ", "\t"), (" ", ","), (",", ",")):
        text = "".join(line(*item, first, between) for item in OF.items()).encode()
        assert_right(read(tmp_path, text))
        assert_right(read(tmp_path, HEADER + text))


def test_a_word_with_a_space_is_read_also_with_a_tab_after_it_or_in_the_first_line(tmp_path):
    text = line("at name@domain.com", OF["he"], "\t").encode()
    rest = "".join(line(*item, "\t") for item in OF.items()).encode()
    assert_right(read(tmp_path, rest + text), [*WORDS, "at name@domain.com"])
    text = line(". . .", OF["he"]).encode()
    assert_right(read(tmp_path, text + TEXT), [". . .", *WORDS])


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_known_by_their_first_bytes_and_refused_if_damaged(tmp_path, compress):
    for content in (TEXT, BINARY):
        assert_right(read(tmp_path, compress(content)))
    whole = compress(TEXT)
    assert "damaged or cut off" in refused(tmp_path, whole[:-20]).problem
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
    assert "damaged or cut off" in refused(tmp_path, changed).problem


BAD_LINES = [
    (b" " + TEXT.split(b" ", 1)[1].split(b"\n")[0] + b"\n", "the word is empty"),
    (line("caf", OF["he"]).encode().replace(b"caf", b"\xe4f"), "not UTF-8"),
    (b"short 1 2 3\n", "4 fields"),
    (line("x", OF["he"]).encode().replace(b".", b",", 1), "decimal point"),
    (b"x" + b" 0x1p3" * D + b"\n", "0x1p3"),
    (b"x" + b" 1e60" * D + b"\n", "'x' is not finite"),
]


def test_a_bad_line_is_an_error_or_left_out_and_counted(tmp_path):
    first, rest = TEXT[: TEXT.index(b"\n") + 1], TEXT[TEXT.index(b"\n") + 1 :]
    for bad, fact in BAD_LINES:
        for header in (b"", f"{len(WORDS) + 1} {D}\n".encode()):
            content = header + first + bad + rest
            number = 3 if header else 2
            error = refused(tmp_path, content)
            assert error.line == number
            assert fact in error.problem
            embedder = read(tmp_path, content, on_bad="skip")
            assert_right(embedder)
            (note,) = embedder.notes
            assert note.startswith("v.txt: 1 entry is left out")
            assert f"line {number}" in note


def test_a_word_cut_inside_a_character_is_left_out_and_counted(tmp_path):
    cut = "\u043f\u0440\u0438".encode()[:-1]
    content = BINARY.replace(HEADER, f"{len(WORDS) + 1} {D}\n".encode()) + record(cut, OF["he"])
    embedder = read(tmp_path, content)
    assert_right(embedder)
    assert "word 33" in embedder.notes[0]
    assert "word 33" in refused(tmp_path, content, on_bad="error").problem
    assert_right(read(tmp_path, content, on_bad="skip"))
    assert_right(read(tmp_path, content, on_bad="replace"), [*WORDS, "\u043f\u0440\ufffd"])


def test_duplicates_are_counted(tmp_path):
    text = TEXT + "".join(line(word, -OF[word]) for word in WORDS[:8]).encode()
    for content in (text, f"{len(WORDS) + 8} {D}\n".encode() + text):
        embedder = read(tmp_path, content)
        assert_right(embedder)
        assert "8 duplicate words" in embedder.notes[0]
    assert read(tmp_path, TEXT).notes == ()


def test_a_file_that_ends_inside_a_number_is_refused(tmp_path):
    error = refused(tmp_path, TEXT[:-4])
    assert error.line == len(WORDS)
    assert "cut off" in error.problem
    assert_right(read(tmp_path, TEXT[:-4], on_bad="skip"), WORDS[:-1])
    assert "cut off" in refused(tmp_path, TEXT[:-40]).problem
    assert "cut off" in refused(tmp_path, HEADER + TEXT[:-4]).problem


def test_lone_carriage_returns_are_refused(tmp_path):
    for content in (TEXT.replace(b"\n", b"\r"), (HEADER + TEXT).replace(b"\n", b"\r")):
        assert "carriage return" in refused(tmp_path, content).problem
    lines = TEXT.split(b"\n")
    error = refused(tmp_path, b"\n".join(lines[:5]) + b"\r" + b"\n".join(lines[5:]))
    assert error.line == 5
    assert "carriage return" in error.problem
    assert_right(read(tmp_path, TEXT.replace(b"\n", b"\r\n")))


def test_words_that_look_like_spaces_are_words(tmp_path):
    words = ["\u00a0", "\u2009", "\u3000", "king\u00a0", "\u2028", "\x85"]
    lines = "".join(line(word, OF["he"]) for word in words)
    content = f"{len(WORDS) + len(words)} {D}\n{lines}".encode() + TEXT
    assert_right(read(tmp_path, content), [*words, *WORDS])


def test_a_word_with_a_space_in_a_binary_file_is_read_or_refused(tmp_path):
    for phrase, at in (("New York", 0), ("York City Hall", 7), (". . .", len(WORDS))):
        for end in (b"\n", b"\r\n", b""):
            items = [*OF.items()]
            items.insert(at, (phrase, OF["he"]))
            rows = b"".join(record(*item, end) for item in items)
            content = f"{len(items)} {D}\n".encode() + rows
            if end:  # the places of line ends prove where a word ends
                embedder = read(tmp_path, content)
                assert_right(embedder, [word for word, _ in items])
                np.testing.assert_array_equal(embedder.encode([phrase]), [OF["he"]])
            else:
                error = refused(tmp_path, content)
                assert f"word {at + 1} seems to have a space" in error.problem


COLUMNS = b"word," + b",".join(b"%d" % i for i in range(D)) + b"\n"


def test_other_content_is_refused_by_name(tmp_path):
    for content, fact in (
        (TEXT.replace(b".", b","), "decimal comma"),
        (TEXT.decode().encode("utf-16"), "UTF-16"),
        ((HEADER + TEXT).decode().encode("utf-16-be"), "UTF-16"),
        (COLUMNS + TEXT.replace(b" ", b","), "numbers the columns"),
        (b"2 99999999999999999999\n" + TEXT, "the line has 2 fields"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF5"),
        (b"<!DOCTYPE html>\n<html></html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS"),
        (b"\x28\xb5\x2f\xfd" + bytes(100), "zstd"),
        (bytes(257) + b"ustar" + bytes(100), "tar archive"),
        (b"PK\x03\x04" + bytes(100), "ZIP"),
        (b"\x93NUMPY" + bytes(100), "array"),
        (b"\xba\x16\x4f\x2f" + bytes(100), ".vec file"),
    ):
        assert fact in refused(tmp_path, content).problem


def test_accents_are_found_composed_and_decomposed(tmp_path):
    for form, other in (("NFC", "NFD"), ("NFD", "NFC")):
        word = unicodedata.normalize(form, "café")
        embedder = read(tmp_path, line(word, OF["he"]).encode() + TEXT)
        queries = [unicodedata.normalize(other, text) for text in ("café", "Café", "CAFÉ")]
        np.testing.assert_array_equal(embedder.encode(queries), [OF["he"]] * 3)


NUMBERBATCH = "".join(
    line(f"/c/{language}/{word}", OF[word] * sign)
    for language, sign in (("de", -1), ("en", 1))
    for word in WORDS
).encode()


def test_the_words_of_one_language_are_read_of_conceptnet_numberbatch(tmp_path):
    english = read(tmp_path, NUMBERBATCH, language="en")
    assert_right(english)
    assert english.info.languages == ("en",)
    german = read(tmp_path, f"{2 * len(WORDS)} {D}\n".encode() + NUMBERBATCH, language="de")
    np.testing.assert_array_equal(german.encode(["he"]), [-OF["he"]])
    assert english.info.fingerprint != read(tmp_path, NUMBERBATCH).info.fingerprint
    assert "'/c/fr/'" in refused(tmp_path, NUMBERBATCH, language="fr").problem


def test_the_options_are_typed_behind_the_name(tmp_path):
    (tmp_path / "v.txt").write_bytes(b"short 1 2\n" + TEXT)
    embedder = Registry().embedder(f"{tmp_path / 'v.txt'}?on_bad=skip")
    assert embedder.info.name == "v?on_bad=skip"
    assert_right(embedder)
    with pytest.raises(InvalidOption, match="on_bad"):
        Registry().embedder(f"{tmp_path / 'v.txt'}?on_bad=ignore")


HOSTILE = {
    "wide header, text": b"2 999999999\n" + TEXT,
    "wide header, binary": b"2 999999999\n" + BINARY[len(HEADER) :],
    "262,144 numbers, gzip": gzip.compress(b"2 262144\n" + BINARY[len(HEADER) :]),
    "long header, text": b"999999999 20\n" + TEXT,
    "first line without end": gzip.compress(b"he" + b" 0.5" * 2**25, 1),
    "expands": lzma.compress(TEXT + b"he" + b" 0" * D + b"\n" * 2**25, preset=0),
    "binary without a space": bz2.compress(HEADER + b"x" * 2**25, 1),
}


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_SELF"), reason="needs the use of memory")
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused_with_little_memory(tmp_path, content):
    read(tmp_path, TEXT)  # imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(tmp_path, content)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000  # kB
