# SPDX-License-Identifier: Apache-2.0
"""The lineage service: durable ingest of OpenLineage events, canonical names, and the graph they mean.

The rooms, innermost first; each imports only those above it:

- `events`: what an event is: strict JSON, validation, content hash, total order. Pure.
- `rules`: canonical names. Pure. `ingest`: bytes -> canonical event.
- `fold`: the set of events -> runs, jobs, datasets and their graph. Pure.
- `marquez`: the graph in Marquez's response shapes. Pure.
- `store`: the event log, one SQLite file with group commit.
- `service`: log and graph together, without HTTP.
- `api`: HTTP, the only room that knows about requests.
- `contract`: compares a graph export with lineage written by hand. Pure, knows the export's shape alone.
"""
