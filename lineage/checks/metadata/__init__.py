# SPDX-License-Identifier: Apache-2.0
"""Owners, descriptions and tags of datasets and jobs: a file of them as events, and tags that follow column edges."""

from lineage.checks.metadata.catalog_facts import catalog_facts
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
from lineage.checks.metadata.statements import described_by, described_of_entry, entry_json, is_empty, metadata_file

__all__ = [
    "CarriedTag",
    "Described",
    "Metadata",
    "Owner",
    "Tag",
    "TaggedColumn",
    "carried_tags",
    "catalog_facts",
    "described_by",
    "described_of_entry",
    "entry_json",
    "is_empty",
    "load_metadata",
    "metadata_events",
    "metadata_file",
    "tagged_columns",
    "with_carried_tags",
]
