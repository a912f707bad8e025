"""A study file while it is resolved: what it says, its concept, and where names are looked up."""

from __future__ import annotations

from dataclasses import dataclass

from harness.concept import Concept
from harness.registry.registry import Registry
from harness.study.study_file import StudyFile
from harness.task import yaml_files


@dataclass(frozen=True)
class StudyDocument:
    """A study file while it is resolved.

    Parameters
    ----------
    document
        The parsed file; errors point into it.
    file
        The same, validated.
    concept
        Its concept.
    registry
        Where names are looked up.
    """

    document: yaml_files.Document
    file: StudyFile
    concept: Concept
    registry: Registry
