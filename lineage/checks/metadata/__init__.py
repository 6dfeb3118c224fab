# SPDX-License-Identifier: Apache-2.0
"""Owners, descriptions and tags of datasets and jobs: a file of them as events, and tags that follow column edges."""

from lineage.checks.metadata.events import metadata_events
from lineage.checks.metadata.load import load_metadata
from lineage.checks.metadata.model import Described, Metadata, Owner, Tag
from lineage.checks.metadata.propagation import (
    CarriedTag,
    TaggedColumn,
    carried_tags,
    tagged_columns,
    with_carried_tags,
)

__all__ = [
    "CarriedTag",
    "Described",
    "Metadata",
    "Owner",
    "Tag",
    "TaggedColumn",
    "carried_tags",
    "load_metadata",
    "metadata_events",
    "tagged_columns",
    "with_carried_tags",
]
