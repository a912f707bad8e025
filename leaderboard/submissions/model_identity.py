"""Whether others can repeat the scores of a model: its exact weights must be named and found.

A fingerprint of the harness covers hashes of the weights, or the model's exact construction. What
it does not say is where the weights are:

========================  =====================================  ==============================
model                     what its fingerprint covers            who can repeat it
========================  =====================================  ==============================
registered                SHA-256 of its files                   everybody; its card has a page
id on a hub               SHA-256 of its files, revision beside  everybody
local folder, vectors     SHA-256 of the files                   who has them; it needs a page
hosted                    host, name and settings                nobody for sure: it may change
Python object             its weights or a text of its author    who has the object
object without identity   nothing: new in each run               nobody: refused
mock of the tests         nothing of a model                     refused
========================  =====================================  ==============================

What nobody could ever repeat is refused. What others may lack is a warning with its reason, which
is a maintainer's to weigh.
"""

from __future__ import annotations

import re

from harness.encode.identity import UNNAMED
from harness.results.record_parts import ModelPart

_HASH = re.compile(r"(^|-)[0-9a-f]{32,64}$")
_HOSTED = ("openai-",)
"""Providers of models whose weights nobody sees."""
_OBJECTS = ("object-", "sentence-transformer-object-", "words-")
"""Models that were handed over as Python objects."""


def refusal(model: ModelPart, registered: frozenset[str]) -> str:
    """Return why nobody could repeat the scores of a model; empty if somebody can.

    Parameters
    ----------
    model
        The model as a record names it.
    registered
        Names of the registered models.
    """
    if model.fingerprint.startswith(UNNAMED):
        return (
            "nothing identifies this object, so nobody can repeat its scores; give it a text "
            "'fingerprint' that changes with its vectors, and run it again"
        )
    if model.name in registered or _HASH.search(model.fingerprint):
        return ""
    return (
        "the fingerprint has no hash of the weights, and the model is not registered; use one of "
        "the harness's providers, or a fingerprint that ends with a hash"
    )


def warning(model: ModelPart, registered: frozenset[str]) -> str:
    """Return why others may be unable to repeat the scores of a model; empty if they can."""
    if model.fingerprint.startswith(_HOSTED):
        return "it is hosted, and may change without a new name; its scores are of that day"
    if model.name in registered or model.revision:
        return ""
    if model.fingerprint.startswith(_OBJECTS):
        return "a Python object: only who has its code and weights can repeat its scores"
    if model.url is None:
        return "neither a revision nor a page (url): others may be unable to find its weights"
    return ""
