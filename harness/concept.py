"""A concept: what a bias is about. One YAML file that mitigators and tasks share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Word = Annotated[str, StringConstraints(strict=True, min_length=1)]


class Concept(BaseModel):
    """What a bias is about, such as gender: its word sets and contexts, with their sources."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    name: Name
    """Name that tasks and options use."""
    title: str = ""
    """One line for listings."""
    source: str = ""
    """Where the sets were taken from."""
    definitional_pairs: tuple[tuple[Word, Word], ...] = ()
    """Pairs that differ in the concept alone, such as she and he; the group that is
    discriminated against first."""
    definitional_sets: tuple[tuple[Word, ...], ...] = ()
    """The same for more than two groups: sets whose members differ in the concept alone."""
    equalize_sets: tuple[tuple[Word, ...], ...] = ()
    """Sets of words that should differ in nothing but the concept once debiased."""
    specific_words: tuple[Word, ...] = ()
    """Words that have the concept in their definition, which debiasing leaves alone."""
    contexts: dict[str, Word] = Field(default_factory=dict)
    """Sentences to inject by scenario: `debiasing`, `positive`, `negative`."""
    names: dict[str, tuple[Word, ...]] = Field(default_factory=dict)
    """Names of people or places by group."""
    sets: dict[str, tuple[Word, ...]] = Field(default_factory=dict)
    """Further word sets by name, that tasks may use as inputs."""

    def has(self, needs: tuple[str, ...]) -> bool:
        """Whether every one of the fields `needs` has something in it; one is enough of `a or b`.

        Pairs serve as sets of two.
        """
        sets = {"definitional_sets": self.definitional_sets or self.definitional_pairs}
        return all(
            any(sets.get(name) or getattr(self, name, None) for name in need.split(" or "))
            for need in needs
        )
