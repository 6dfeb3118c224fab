# SPDX-License-Identifier: Apache-2.0
"""Code that the content of the state depends on: after a change of it, the state is made again from the log."""

from collections.abc import Iterator
from pathlib import Path

import lineage

_FOLDERS = ("events", "graph", "rules", "store")

OTHER_MODULES = frozenset(
    {
        *("events/__init__", "events/batch", "events/refused_end", "events/schema_fields", "events/standard_facets"),
        *("graph/__init__", "graph/dependencies", "graph/export", "graph/export_rows", "graph/last_write"),
        *("graph/node_names", "graph/partitioned_fold", "graph/reach_json", "graph/run_state", "graph/schema_breaks"),
        *("graph/summaries", "graph/summary_rows", "graph/traversal"),
        *("rules/__init__", "rules/load", "rules/location_events", "rules/table_locations"),
        *("store/__init__", "store/as_of_protocol", "store/as_of_queries", "store/canonical_events"),
        *("store/graph_as_of", "store/log", "store/opening", "store/packed_answer", "store/query_processes"),
        *("store/reading_progress", "store/snapshots", "store/writer"),
    }
)
"""Modules of these folders that no code of the state imports."""


def state_code() -> Iterator[Path]:
    """Yield the files of the code that the state depends on."""
    package = Path(lineage.__file__).parent
    for folder in _FOLDERS:
        for path in sorted((package / folder).glob("*.py")):
            if f"{folder}/{path.stem}" not in OTHER_MODULES:
                yield path
