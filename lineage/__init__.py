# SPDX-License-Identifier: Apache-2.0
"""The lineage service: durable ingest of OpenLineage events, canonical names, and the graph they mean.

The rooms, innermost first; each imports only those above it:

- `events`: what an event is: strict JSON, validation, content hash, total order. Pure.
- `rules`: canonical names. Pure. `ingest`: bytes -> canonical event.
- `fold`: the set of events -> runs, jobs, datasets and their graph; snapshots; what reaches what. Pure.
- `marquez`: the graph in Marquez's response shapes. Pure.
- `store`: the event log, one SQLite file with group commit; snapshots of what retention removed; dead letters.
- `state`: the graph in memory, made of the log. `past`: the graph as it was, made in a process of its own.
- `forward`: sends what events mean to another consumer, such as Marquez.
- `service`: all of these together, without HTTP. `locations`: asks catalogs where tables lie.
  `flow`: how many events came lately, and how late. Pure.
- `api`: HTTP, the only room that knows about requests.
- `maintenance`: backup, restore and check of a log.

Beside them, for whoever has events or graphs and no service:

- `contract`: compares a graph export with lineage written by hand. Pure, knows the export's shape alone.
- `check`: judges events; its edge reads files and services.
- `diff`: compares two graph exports. Pure. `lookup`: what a name means in an export. Pure.
- `recorder`, `pytest_plugin`: take the events of a job under test.
"""
