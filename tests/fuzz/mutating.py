"""Makes inputs of those in the corpus. The same seed makes the same inputs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import yaml

ODD: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2**31, 2**63 - 1, 2**63, -(2**64), 10**30, 10**400),
    *(0.5, -0.0, 1e308, float("nan"), float("inf"), "", " ", "\0", "\n", "a\nb", "\x1b[31m"),
    *("../outside/secret.yaml", "../outside/secret.tsv", "/etc/passwd", "/dev/zero", "..\\x"),
    *("%2e%2e/outside/secret.tsv", "link.yaml", "link.tsv", "pipe.yaml", "a.tsv", "a.jsonl"),
    *("x" * 300, "x" * 20_000, "é" * 200, "\ud800", "\U0001f600", "\u202e"),
    *("{text", "{text:>2000000000}", "{text.__class__}", "{text!r}", "{}", "{0}", "{text}" * 50),
    *("none", "all", "*", "[a-", "(", "(a+)+$", "1e999", "0x10", "2020-13-45", "no", "~", "NaN"),
    *("https://127.0.0.1:9/x.tsv", "hf://datasets/a/b/../c", "http://x", "file:///etc/passwd"),
    *("concept.sets", "concept.definitional_pairs", "..", ".", "/", "a/b", "a.b", "a..b", "json"),
    *([], {}, [[]], [{}], {"a": {}}, {"": None}, [None], ["a", 1, None], {"include": "a.yaml"}),
)
"""Values that somebody may have put into a file, by mistake or not."""
TOKENS = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\n", b"\t", b"\x85", b"\xe2\x80\xa8"),
    *(b"[", b"]", b"{", b"}", b":", b",", b'"', b"'", b"\\", b"&a ", b"*a", b"<<: ", b"!!", b"? "),
    *(b"- ", b"| ", b"> ", b"%", b"@", b"`", b"#", b"---\n", b"...\n", b"!!python/name:os.system "),
    *(b"9" * 30, b"9" * 5_000, b"-1", b"1e999", b"NaN", b"Infinity", b"null", b"true", b"\\ud800"),
    *(b"[" * 200, b"{a: " * 200, b'{"a":' * 200, b"- " * 200, b"../", b"/etc/passwd", b"~/", b"?"),
    *(b"&", b"=", b"+", b"%2B", b"%00", b"\x1f\x8b\x08", b"x" * 1_000),
)
"""Bytes that mean something to a parser."""


class Mutator:
    """Makes inputs from seeds.

    Parameters
    ----------
    seeds
        The inputs to start from.
    random_
        The generator of random numbers.
    """

    def __init__(self, seeds: Sequence[bytes], random_: random.Random) -> None:
        self._seeds, self._random = list(seeds), random_
        self._parsed = [_parsed(seed) for seed in seeds]

    def next(self) -> bytes:
        """Return an input: a seed with one to four changes."""
        place = self._random.randrange(len(self._seeds))
        content = self._seeds[place]
        structure = self._parsed[place]
        if structure is not None and self._random.random() < 0.75:
            for _ in range(self._random.choice((1, 1, 2, 3))):
                structure = self._changed(structure)
            content = _dumped(structure, self._random)
            if self._random.random() < 0.8:
                return content
        for _ in range(self._random.choice((1, 1, 2, 4))):
            content = self._random.choice(self._changes)(content)
        return content

    def _changed(self, value: Any) -> Any:
        """Return a value with one place in it changed; the value itself stays as it is."""
        chance = self._random.random()
        if isinstance(value, dict) and value and chance < 0.9:
            key = self._random.choice(list(value))
            if chance < 0.08:
                return {k: v for k, v in value.items() if k != key}
            if chance < 0.14:
                other = self._random.choice(("x", "", "name", "a" * 300, "../a", "é", "<<"))
                return {other if k == key else k: v for k, v in value.items()}
            if chance < 0.2:
                source = self._random.choice([p for p in self._parsed if isinstance(p, dict)])
                return value | dict([self._random.choice(list(source.items()))] if source else [])
            return value | {key: self._changed(value[key])}
        if isinstance(value, list) and value and chance < 0.85:
            place = self._random.randrange(len(value))
            if chance < 0.1:
                return value[:place] + value[place + 1 :]
            if chance < 0.2:
                return value[:place] + [value[place]] * self._random.choice((2, 3, 100))
            return [self._changed(v) if i == place else v for i, v in enumerate(value)]
        if chance < 0.05:
            return [value]
        if isinstance(value, str) and value and chance < 0.5:
            return self._random.choice(self._changes)(value.encode(errors="replace")).decode(
                errors="replace"
            )
        return self._random.choice(ODD)

    @property
    def _changes(self) -> Sequence[Callable[[bytes], bytes]]:
        return (self._flip, self._cut, self._double, self._insert, self._splice, self._swap)

    def _span(self, content: bytes) -> tuple[int, int]:
        start = self._random.randrange(len(content) + 1)
        return start, min(len(content), start + self._random.choice((1, 1, 2, 8, 64, 512)))

    def _flip(self, content: bytes) -> bytes:
        changed = bytearray(content)
        if changed:
            changed[self._random.randrange(len(changed))] ^= 1 << self._random.randrange(8)
        return bytes(changed)

    def _cut(self, content: bytes) -> bytes:
        start, end = self._span(content)
        return content[:start] + (b"" if self._random.random() < 0.2 else content[end:])

    def _double(self, content: bytes) -> bytes:
        start, end = self._span(content)
        times = self._random.choice((2, 2, 3, 50, 1_000))
        return content[:start] + content[start:end] * times + content[end:]

    def _insert(self, content: bytes) -> bytes:
        start, end = self._span(content)
        end = self._random.choice((start, end))
        return content[:start] + self._random.choice(TOKENS) + content[end:]

    def _splice(self, content: bytes) -> bytes:
        other = self._random.choice(self._seeds)
        start, (first, last) = self._span(content)[0], self._span(other)
        return content[:start] + other[first : self._random.choice((last, len(other)))]

    def _swap(self, content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        if len(lines) > 1:
            first, second = self._random.sample(range(len(lines)), 2)
            lines[first], lines[second] = lines[second], lines[first]
        return b"".join(lines)


def _parsed(seed: bytes) -> Any:
    """Return the mapping or list in a seed of YAML or JSON; None for any other."""
    if seed.count(b"[") > 2_000 or b": &" in seed:  # it would end this process, too
        return None
    try:
        value = yaml.load(seed, Loader=yaml.CSafeLoader)  # a safe one
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _dumped(value: Any, random_: random.Random) -> bytes:
    """Return a value as JSON, which is YAML, or as YAML in lines."""
    if random_.random() < 0.5:
        try:
            text: str = yaml.dump(value, Dumper=yaml.CSafeDumper, allow_unicode=True)
            return text.encode()
        except (yaml.YAMLError, UnicodeError, ValueError):
            pass
    return json.dumps(value, default=str).encode(errors="surrogatepass")
