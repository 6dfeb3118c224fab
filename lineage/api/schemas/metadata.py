# SPDX-License-Identifier: Apache-2.0
"""Metadata of a node: request and response."""

from typing import Annotated

from pydantic import Field, StringConstraints

from lineage.api.schemas.base import ResponseModel
from lineage.api.schemas.marquez_writes import WriteModel

_Word = Annotated[str, StringConstraints(min_length=1, max_length=1024, strip_whitespace=True)]
_Text = Annotated[str, StringConstraints(max_length=10_000, strip_whitespace=True)]


class OwnerEntry(WriteModel, extra="forbid"):
    """Owner with a type such as MAINTAINER."""

    name: _Word
    type: _Word = "MAINTAINER"


class TagEntry(WriteModel, extra="forbid"):
    """Tag with a value."""

    key: _Word
    value: _Word = "true"


class ColumnEntry(WriteModel, extra="forbid"):
    """Description and tags of a column."""

    description: _Text = ""
    tags: list[TagEntry] = Field(default_factory=list)


class MetadataEntry(WriteModel, extra="forbid"):
    """Description, owners, tags and columns of a dataset, or of a job, which has no columns."""

    description: _Text = ""
    owners: list[OwnerEntry] = Field(default_factory=list)
    tags: list[TagEntry] = Field(default_factory=list)
    columns: dict[_Word, ColumnEntry] = Field(default_factory=dict)


class NodeMetadata(ResponseModel):
    """Metadata of a node that users stated by a file or on the page; other producers may have stated more."""

    node_id: str
    namespace: str
    name: str
    entry: MetadataEntry


class AllMetadata(ResponseModel):
    """Nodes that have such metadata, datasets first."""

    nodes: list[NodeMetadata]
