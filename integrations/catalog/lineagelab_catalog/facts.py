# SPDX-License-Identifier: Apache-2.0
"""Document of facts about datasets, as `lab lineage publish` makes it."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

VERSION = 1
_S3_SCHEMES = frozenset({"s3", "s3a", "s3n"})


class FactsError(Exception):
    """The document cannot be used; the message says why."""


@dataclass(frozen=True)
class TableFacts:
    """Facts about one dataset.

    Attributes:
        namespace, name: of the dataset; for a table, usually its location.
        tables: names that catalogs have of it, such as `lake.sales.orders`.
        comment: description for people; empty without one.
        properties: complete set of properties of the table that begin with the prefix of the document.
    """

    namespace: str
    name: str
    tables: tuple[str, ...]
    comment: str
    properties: Mapping[str, str]


@dataclass(frozen=True)
class Facts:
    """All facts, and the prefix of the properties that they own."""

    prefix: str
    tables: Sequence[TableFacts]


@dataclass(frozen=True)
class FactsIndex:
    """Facts by location and by table name."""

    by_location: Mapping[tuple[str, str], TableFacts]
    by_name: Mapping[str, Sequence[TableFacts]]

    @classmethod
    def of(cls, facts: Facts) -> "FactsIndex":
        """Index a document."""
        names: dict[str, list[TableFacts]] = defaultdict(list)
        for found in facts.tables:
            for name in found.tables:
                names[name].append(found)
        return cls({(found.namespace, found.name): found for found in facts.tables}, names)

    def find(self, location: str, names: Sequence[str]) -> TableFacts | None:
        """Return the facts of a table by its location, else by the first of its names that one dataset has."""
        dataset = dataset_of_location(location)
        if dataset is not None and dataset in self.by_location:
            return self.by_location[dataset]
        return next((found[0] for name in names if len(found := self.by_name.get(name, ())) == 1), None)


def read_facts(text: str) -> Facts:
    """Read a document. Raises FactsError."""
    try:
        document = json.loads(text)
        if document["version"] != VERSION:
            raise FactsError(f"the facts have version {document['version']!r}; this program reads version {VERSION}")
        prefix = document["prefix"]
        tables = [_table_facts(row) for row in document["tables"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FactsError(f"the facts are not a document of `lab lineage publish --facts`: {error!r}") from error
    foreign = sorted({key for found in tables for key in found.properties if not key.startswith(prefix)})
    if not prefix or foreign:
        raise FactsError(f"properties must begin with {prefix!r}: {', '.join(foreign)}")
    return Facts(prefix, tables)


def _table_facts(row: Mapping[str, Any]) -> TableFacts:
    properties = {str(key): str(value) for key, value in row["properties"].items()}
    return TableFacts(row["namespace"], row["name"], tuple(row["tables"]), row["comment"], properties)


def dataset_of_location(location: str) -> tuple[str, str] | None:
    """Return namespace and name of the dataset at a location, as OpenLineage's naming rules say; None without one."""
    parts = urlsplit(location)
    if parts.scheme in _S3_SCHEMES:
        return f"s3://{parts.netloc}", parts.path.strip("/")
    if parts.scheme in {"", "file"}:
        return ("file", parts.path.rstrip("/")) if parts.path else None
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/") or "/"
