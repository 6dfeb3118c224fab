# SPDX-License-Identifier: Apache-2.0
"""Lineage service: durable ingest of OpenLineage events, canonical dataset names, and the graph derived from them.

Packages, innermost first; each imports only packages above it:

- `events`: event model: strict JSON, validation, content hash, total order. No I/O.
- `rules`: canonical names, and the reader that turns bytes into a canonical event. `rules.table_locations` is the
  only module here with I/O: it looks table locations up in Iceberg REST catalogs.
- `graph`: a set of events -> records of runs, jobs and datasets -> names resolved to nodes -> graph, export, snapshots,
  traversal. No I/O.
- `marquez`: the graph in Marquez's response shapes. No I/O.
- `store`: the event log (one SQLite file with group commit), snapshots of compacted events, dead letters, and the
  in-memory graph projected from the log.
- `forward`: sends enriched events to another OpenLineage backend, such as Marquez.
- `alerts`: what is wrong now, and webhooks. `metrics`: rates, delays, and the metrics of Prometheus.
- `service`: all of these without HTTP. `change_feed` belongs to it.
- `api`: HTTP; the only package that handles requests.
- `maintenance`: backup, restore and check of a log.

`checks` is independent of the service: `events` validates events, `contract` and `diff` compare graph exports,
`recorder` and `pytest_plugin` record the events of a job under test.
"""
