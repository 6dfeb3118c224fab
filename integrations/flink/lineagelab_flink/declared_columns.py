# SPDX-License-Identifier: Apache-2.0
"""Column lineage of jobs in Java, which Flink cannot derive, from a JSON declaration.

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

A dataset is `ALIAS/NAME`; the caller maps aliases to namespaces. A source is `[DATASET#]FIELD KIND`; a job with one
input may omit the dataset. Each column of the schema has an entry; an empty one declares that no value flows into the
column. `rows` are the fields that decide about whole rows. A test of the job has to prove the declaration.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineagelab_common.events import ColumnEdge
from lineagelab_flink.columns.description import Description
from lineagelab_flink.columns.facets import Output, output_dataset
from lineagelab_flink.columns.naming import Dataset

Aliases = Mapping[str, str]
"""First part of a dataset's name -> OpenLineage namespace."""

DIRECT_KINDS = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
"""Kinds of direct lineage: a value flows into the column."""

INDIRECT_KINDS = ("CONDITIONAL", "FILTER", "GROUP_BY", "JOIN", "SORT", "WINDOW")
"""Kinds of indirect lineage: a field affects a column, or the selection of rows."""

_SOURCE = re.compile(r"(?:(?P<dataset>[^#\s]+)#)?(?P<field>\S+) (?P<kind>[A-Z_]+)")


class DeclarationError(Exception):
    """Invalid or unreadable declaration."""


def declaration(path: Path, aliases: Aliases) -> Description:
    """Read a declaration file.

    Raises:
        DeclarationError: the file cannot be read or is invalid.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DeclarationError(f"{path} cannot be read: {error}") from error
    return declared(text, path.name, aliases)


def declared(text: str, file: str, aliases: Aliases) -> Description:
    """Parse a declaration into OpenLineage datasets.

    Args:
        text: of the file.
        file: its name, for errors.
        aliases: of the namespaces of datasets.

    Returns:
        `inputs` without facets, because their writers report their schemas; `outputs` with `schema` and
        `columnLineage`.

    Raises:
        DeclarationError: the message has the file, the place in it and what is expected.
    """
    try:
        content = json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise DeclarationError(f"{file} is not valid JSON: {error}") from error
    top = _members(content, ("inputs", "outputs"), file)
    inputs = [_dataset(name, aliases, f"{file}: inputs") for name in _list(top["inputs"], f"{file}: inputs")]
    outputs = _mapping(top["outputs"], f"{file}: outputs")
    return Description(
        [{"namespace": dataset.namespace, "name": dataset.name, "facets": {}} for dataset in inputs],
        [
            output_dataset(
                _dataset(name, aliases, f"{file}: outputs"), _Output(inputs, aliases, f"{file}: {name}").parse(output)
            )
            for name, output in outputs.items()
        ],
    )


@dataclass(frozen=True)
class _Output:
    """Parser of one output's declaration. `where` is its place in the file, for errors."""

    inputs: Collection[Dataset]
    aliases: Aliases
    where: str

    def parse(self, content: object) -> Output:
        members = _members(content, ("schema", "columns", "rows"), self.where)
        schema = {
            name: _text(kind, f"{self.where}: type of {name}")
            for name, kind in _mapping(members["schema"], f"{self.where}: schema").items()
        }
        columns = _mapping(members["columns"], f"{self.where}: columns")
        if columns.keys() != schema.keys():
            missing, unknown = sorted(schema.keys() - columns.keys()), sorted(columns.keys() - schema.keys())
            raise DeclarationError(
                f"{self.where}: columns must equal those of the schema: missing {missing}, not in the schema {unknown}"
            )
        return Output(
            fields=schema,
            inputs=set(self.inputs),
            columns={
                name: self._sources(sources, (*DIRECT_KINDS, *INDIRECT_KINDS), f"{self.where}: {name}")
                for name, sources in columns.items()
            },
            rows=self._sources(members["rows"], INDIRECT_KINDS, f"{self.where}: rows"),
        )

    def _sources(self, content: object, kinds: Collection[str], where: str) -> set[ColumnEdge]:
        sources = [self._source(source, kinds, where) for source in _list(content, where)]
        if len(set(sources)) != len(sources):
            raise DeclarationError(f"{where}: duplicate source")
        return set(sources)

    def _source(self, content: object, kinds: Collection[str], where: str) -> ColumnEdge:
        text = _text(content, where)
        match = _SOURCE.fullmatch(text)
        if match is None:
            raise DeclarationError(f"{where}: {text!r} does not match '[DATASET#]FIELD KIND'")
        if match["kind"] not in kinds:
            raise DeclarationError(f"{where}: unknown kind {match['kind']}; expected one of {', '.join(kinds)}")
        return ColumnEdge(self._input(match["dataset"], where), match["field"], match["kind"], masking=False)

    def _input(self, name: str | None, where: str) -> Dataset:
        if name is None:
            if len(self.inputs) == 1:
                return next(iter(self.inputs))
            raise DeclarationError(f"{where}: the job has {len(self.inputs)} inputs: write 'DATASET#FIELD KIND'")
        dataset = _dataset(name, self.aliases, where)
        if dataset not in self.inputs:
            raise DeclarationError(f"{where}: {name} is not among the inputs")
        return dataset


def _dataset(content: object, aliases: Aliases, where: str) -> Dataset:
    text = _text(content, where)
    alias, _, name = text.partition("/")
    if alias not in aliases or not name:
        known = ", ".join(aliases) or "none"
        raise DeclarationError(f"{where}: unknown dataset {text!r}; expected ALIAS/NAME, aliases: {known}")
    return Dataset(aliases[alias], name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Reject duplicate keys, which `json` accepts silently."""
    content = dict(pairs)
    if len(content) != len(pairs):
        twice = sorted({key for key, _ in pairs if [other for other, _ in pairs].count(key) > 1})
        raise ValueError(f"{', '.join(twice)} is a duplicate key")
    return content


def _members(content: object, names: tuple[str, ...], where: str) -> Mapping[str, object]:
    members = _mapping(content, where)
    if members.keys() != set(names):
        raise DeclarationError(f"{where}: must have the keys {sorted(names)}, not {sorted(members)}")
    return members


def _mapping(content: object, where: str) -> Mapping[str, object]:
    if not isinstance(content, dict):
        raise DeclarationError(f"{where}: must be an object")
    return content


def _list(content: object, where: str) -> list[object]:
    if not isinstance(content, list):
        raise DeclarationError(f"{where}: must be a list")
    return content


def _text(content: object, where: str) -> str:
    if not isinstance(content, str) or not content:
        raise DeclarationError(f"{where}: expected a non-empty string, not {content!r}")
    return content
