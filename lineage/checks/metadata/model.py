# SPDX-License-Identifier: Apache-2.0
"""Data model of a metadata file."""

from dataclasses import dataclass
from typing import NamedTuple

from lineage.events import DatasetId, JobId


class Owner(NamedTuple):
    """Owner of a dataset or job, with a type such as MAINTAINER."""

    name: str
    type: str


class Tag(NamedTuple):
    """Tag of a dataset, of one of its columns (`field`), or of a job."""

    key: str
    value: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """Description, owners and tags of one dataset or job, as a file or the page states them; empty where none are.

    `columns` are descriptions of columns, by name.
    """

    node: DatasetId | JobId
    description: str = ""
    owners: tuple[Owner, ...] = ()
    tags: tuple[Tag, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Metadata:
    """Contents of a metadata file, in its order."""

    described: tuple[Described, ...]
