"""`harness schema`: JSON Schemas for editors and other programs."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pydantic import BaseModel

WRITTEN = ("task", "concept", "study", "benchmark", "run")
"""Kinds of files that people write. They may include others."""


@click.command("schema")
@click.argument("kind", type=click.Choice([*WRITTEN, "record", "study-record"]))
def command(kind: str) -> None:
    """Print the JSON Schema of a kind of file, or of a line of records.

    An editor that reads `# yaml-language-server: $schema=task.schema.json` checks a file as you
    type.
    """
    from pydantic.json_schema import GenerateJsonSchema

    from harness.commands import output
    from harness.concept import Concept
    from harness.results.record import Record
    from harness.run.settings import RunFile
    from harness.study.study_file import StudyFile
    from harness.study.study_record import StudyRecord
    from harness.task import yaml_files
    from harness.task.schema import BenchmarkFile, TaskFile

    schemas: dict[str, type[BaseModel]] = {
        "task": TaskFile,
        "concept": Concept,
        "study": StudyFile,
        "benchmark": BenchmarkFile,
        "run": RunFile,
        "record": Record,
        "study-record": StudyRecord,
    }

    class Described(GenerateJsonSchema):
        """Adds the docstring below each key. Classes that read their own make every start slow."""

        def model_schema(self, schema: Any) -> dict[str, Any]:
            described: dict[str, Any] = super().model_schema(schema)
            fields, texts = schema["cls"].model_fields, _descriptions(schema["cls"])
            for name in fields.keys() & texts.keys():
                key = fields[name].alias or name
                described["properties"][key].setdefault("description", texts[name])
            return described

    schema = schemas[kind].model_json_schema(by_alias=True, schema_generator=Described)
    if kind in WRITTEN:
        schema["properties"]["include"] = {
            "description": "Files whose mappings are merged below this one's.",
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        }
        if kind in yaml_files.KINDS:
            for part in (schema, *schema.get("$defs", {}).values()):
                part["properties"] = {
                    name: _or_variable(value) for name, value in part.get("properties", {}).items()
                }
            schema["properties"]["each"] = {
                "description": f"What each {kind} has beside the file, or the value of `${{key}}`.",
                "type": "array",
                "items": {"type": "object"},
            }
        # Any key may come from an included file.
        required = [name for name in schema.pop("required", []) if name == "name"]
        named: dict[str, Any] = {"required": required}
        schema |= {"anyOf": [named, {"required": ["each"]}]} if kind in yaml_files.KINDS else named
        for part in schema.get("$defs", {}).values():
            part.pop("required", None)
    output.as_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def _descriptions(schema: type[BaseModel]) -> dict[str, str]:
    """Return the docstring below each field of a class and of its bases."""
    texts: dict[str, str] = {}
    for class_ in reversed(schema.__mro__):
        if class_.__module__.partition(".")[0] != "harness":
            continue
        definition = ast.parse(textwrap.dedent(inspect.getsource(class_))).body[0]
        body = definition.body if isinstance(definition, ast.ClassDef) else []
        for field, below in itertools.pairwise(body):
            if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
                continue
            texts.pop(field.target.id, None)
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                texts[field.target.id] = inspect.cleandoc(str(below.value.value))
    return texts


def _or_variable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value or of a text with a variable of `each`."""
    if "$ref" in schema:
        return schema
    described: dict[str, Any] = {
        key: schema.pop(key) for key in ("description", "title") if key in schema
    }
    variable = {"type": "string", "pattern": r"\$\{\w+\}"}
    return {**described, "anyOf": [schema, variable]}
