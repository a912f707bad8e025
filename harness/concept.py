"""A concept: what a bias is about. Mitigators and tasks share one YAML file a concept."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from harness import letters, limits

Name = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=limits.PLAIN_NAME_CHARACTERS
    ),
]
Word = Annotated[
    str, StringConstraints(strict=True, min_length=1), AfterValidator(letters.composed)
]


class Concept(BaseModel):
    """What a bias is about, such as gender: word sets, names and contexts, with their source."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: Name
    """Name of the concept, as tasks and options write it."""
    title: str = ""
    """One line for listings."""
    source: str = ""
    """Publication or data set that the word sets come from."""
    language: str = "en"
    """ISO 639-1 code of the language of its words. The concept `gender` in French is `gender-fr`:
    mitigators of French texts are fitted on it where a task or a run names `gender`."""
    definitional_pairs: tuple[tuple[Word, Word], ...] = ()
    """Pairs of words that differ only in the concept, such as she and he. The first word stands
    for the group that is discriminated against."""
    definitional_sets: tuple[tuple[Word, ...], ...] = ()
    """Sets of words that differ only in the concept, for more than two groups."""
    equalize_sets: tuple[tuple[Word, ...], ...] = ()
    """Sets of words that should differ only in the concept after debiasing."""
    specific_words: tuple[Word, ...] = ()
    """Words whose definition contains the concept; debiasing does not change them."""
    contexts: dict[str, Word] = Field(default_factory=dict)
    """Sentences that context injection adds, by name: `debiasing`, `positive`, `negative`."""
    names: dict[str, tuple[Word, ...]] = Field(default_factory=dict)
    """Names of people or places, by group."""
    sets: dict[str, tuple[Word, ...]] = Field(default_factory=dict)
    """Further word sets by name; tasks may use them as inputs."""

    def content(self) -> dict[str, Any]:
        """Return what identifies it: all but title and source, and the language unless English."""
        leave_out = {"title", "source"} | ({"language"} if self.language == "en" else set())
        return self.model_dump(exclude=leave_out)

    def has(self, needs: tuple[str, ...]) -> bool:
        """Return whether each field that `needs` names is non-empty.

        An entry `a or b` needs only one of the two fields. Definitional pairs count as
        definitional sets.
        """
        sets = {"definitional_sets": self.definitional_sets or self.definitional_pairs}
        return all(
            any(sets.get(name) or getattr(self, name, None) for name in need.split(" or "))
            for need in needs
        )
