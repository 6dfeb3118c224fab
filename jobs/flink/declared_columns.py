# SPDX-License-Identifier: Apache-2.0
"""The columns of jobs that Flink cannot look into: declared in a file beside the job, `jobs/flink/NAME.json`.

    {
      "inputs": ["kafka/orders"],
      "outputs": {
        "kafka/totals": {
          "schema": {"supplier": "string", "total": "decimal(19,2)"},
          "columns": {"supplier": ["supplier IDENTITY"], "total": ["price AGGREGATION"]},
          "rows": ["supplier GROUP_BY"]
        }
      }
    }

A source is `[DATASET#]FIELD KIND`, as in the lineage contract; the dataset may be left out where a job has one input.
Each column of the schema has an entry, be it an empty one: it says that no value flows into that column. `rows` are
the fields that decide about rows as a whole. The truth of such a file is for a test to show.
"""

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from infra.namespaces import ARCHIVE, KAFKA, WAREHOUSE
from jobs.flink.lineage.description import Description
from jobs.flink.lineage.facets import InputField, Output, output_dataset
from jobs.flink.lineage.naming import Dataset

ALIASES = {"kafka": KAFKA, "lake": WAREHOUSE, "archive": ARCHIVE}
"""What a dataset's name begins with -> the namespace that it stands for."""

VALUES = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
"""How a value comes into a column."""

DECISIONS = ("CONDITIONAL", "FILTER", "GROUP_BY", "JOIN", "SORT", "WINDOW")
"""How a field decides about a column, or about rows."""

_SOURCE = re.compile(r"(?:(?P<dataset>[^#\s]+)#)?(?P<field>\S+) (?P<kind>[A-Z_]+)")


class DeclarationError(Exception):
    """A declaration cannot be used."""


def declaration(job: str) -> Description | None:
    """What is declared of a job; None where there is no file.

    Raises:
        DeclarationError: the file cannot be read or understood.
    """
    path = Path(__file__).with_name(f"{job}.json")
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise DeclarationError(f"{path} cannot be read: {error}") from error
    return declared(text, path.name)


def declared(text: str, file: str) -> Description:
    """What a declaration says, in the form in which events have it.

    Args:
        text: of the file.
        file: its name, for errors.

    Returns:
        `inputs` without facets: their schemas are for those who write them to say. `outputs` with `schema` and
        `columnLineage`.

    Raises:
        DeclarationError: naming the file, the place in it, and what would be right.
    """
    try:
        content = json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise DeclarationError(f"{file} is no JSON that can be used: {error}") from error
    top = _members(content, ("inputs", "outputs"), file)
    inputs = [_dataset(name, f"{file}: inputs") for name in _list(top["inputs"], f"{file}: inputs")]
    outputs = _mapping(top["outputs"], f"{file}: outputs")
    return Description(
        [{"namespace": dataset.namespace, "name": dataset.name, "facets": {}} for dataset in inputs],
        [
            output_dataset(_dataset(name, f"{file}: outputs"), _output(output, inputs, f"{file}: {name}"))
            for name, output in outputs.items()
        ],
    )


def _output(content: object, inputs: Collection[Dataset], where: str) -> Output:
    members = _members(content, ("schema", "columns", "rows"), where)
    schema = {
        name: _text(kind, f"{where}: type of {name}")
        for name, kind in _mapping(members["schema"], f"{where}: schema").items()
    }
    columns = _mapping(members["columns"], f"{where}: columns")
    if columns.keys() != schema.keys():
        missing, unknown = sorted(schema.keys() - columns.keys()), sorted(columns.keys() - schema.keys())
        raise DeclarationError(
            f"{where}: columns must be those of the schema: without an entry are {missing}, not in the schema {unknown}"
        )
    return Output(
        fields=schema,
        inputs=set(inputs),
        columns={
            name: _sources(sources, inputs, (*VALUES, *DECISIONS), f"{where}: {name}")
            for name, sources in columns.items()
        },
        rows=_sources(members["rows"], inputs, DECISIONS, f"{where}: rows"),
    )


def _sources(content: object, inputs: Collection[Dataset], kinds: Collection[str], where: str) -> set[InputField]:
    sources = [_source(source, inputs, kinds, where) for source in _list(content, where)]
    if len(set(sources)) != len(sources):
        raise DeclarationError(f"{where}: says something twice")
    return set(sources)


def _source(content: object, inputs: Collection[Dataset], kinds: Collection[str], where: str) -> InputField:
    text = _text(content, where)
    match = _SOURCE.fullmatch(text)
    if match is None:
        raise DeclarationError(f"{where}: {text!r} is not of the form '[DATASET#]FIELD KIND'")
    if match["kind"] not in kinds:
        raise DeclarationError(f"{where}: {match['kind']} is none of {', '.join(kinds)}")
    return InputField(_input(match["dataset"], inputs, where), match["field"], match["kind"], masking=False)


def _input(name: str | None, inputs: Collection[Dataset], where: str) -> Dataset:
    if name is None:
        if len(inputs) == 1:
            return next(iter(inputs))
        raise DeclarationError(f"{where}: the job has {len(inputs)} inputs: write which one, as 'DATASET#FIELD KIND'")
    dataset = _dataset(name, where)
    if dataset not in inputs:
        raise DeclarationError(f"{where}: {name} is none of the inputs")
    return dataset


def _dataset(content: object, where: str) -> Dataset:
    text = _text(content, where)
    alias, _, name = text.partition("/")
    if alias not in ALIASES or not name:
        raise DeclarationError(f"{where}: {text!r} is no dataset: write one of {', '.join(ALIASES)}, '/' and its name")
    return Dataset(ALIASES[alias], name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON itself lets a key stand twice; whoever writes it twice means something else."""
    content = dict(pairs)
    if len(content) != len(pairs):
        twice = sorted({key for key, _ in pairs if [other for other, _ in pairs].count(key) > 1})
        raise ValueError(f"{', '.join(twice)} stands twice")
    return content


def _members(content: object, names: tuple[str, ...], where: str) -> Mapping[str, object]:
    members = _mapping(content, where)
    if members.keys() != set(names):
        raise DeclarationError(f"{where}: has {sorted(members)}, not {sorted(names)}")
    return members


def _mapping(content: object, where: str) -> Mapping[str, object]:
    if not isinstance(content, dict):
        raise DeclarationError(f"{where}: is no object")
    return content


def _list(content: object, where: str) -> list[object]:
    if not isinstance(content, list):
        raise DeclarationError(f"{where}: is no list")
    return content


def _text(content: object, where: str) -> str:
    if not isinstance(content, str) or not content:
        raise DeclarationError(f"{where}: {content!r} is no text")
    return content
