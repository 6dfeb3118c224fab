# SPDX-License-Identifier: Apache-2.0
"""Comparison of a lineage contract with a graph export."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lineage.checks.contract.dataset_rules import check_schema
from lineage.checks.contract.graph_lineage import GraphLineage, JobLineage, read_graph
from lineage.checks.contract.model import Contract, Dataset, Features, JobRow, OutputRow, Sources
from lineage.checks.contract.report import Finding, Kind, Report, Subject


def compare(contract: Contract, export: Mapping[str, Any], features: Iterable[str] = ()) -> Report:
    """Compare a contract with a graph export (`GET /api/v1/graph`).

    `features` are the enabled features; rows that require others are skipped. Jobs of other namespaces
    and jobs without datasets are ignored.

    Raises:
        ValueError: the export is of another version.
    """
    on = frozenset(features)
    graph = read_graph(export, contract.namespace)
    rows = {row.name: row for row in contract.jobs if row.requires <= on}
    findings: list[Finding] = []
    for name, row in rows.items():
        found = graph.jobs.get(name)
        if found is None:
            findings.append(Finding(kind=Kind.MISSING, subject=Subject.JOB, job=name, text=name))
        else:
            findings += _compare_job(row, found, graph, on)
    datasets = [row for row in contract.datasets if row.requires <= on]
    for demand in datasets:
        findings += check_schema(demand, graph.columns(demand.dataset))
    listed = {row.name for row in contract.jobs}
    demanded = {item.dataset for row in rows.values() for item in row.outputs if item.requires <= on}
    others: dict[Kind, list[Finding]] = {Kind.UNEXPECTED: [], Kind.UNLISTED: []}
    for name in sorted(graph.jobs.keys() - rows.keys()):
        found = graph.jobs[name]
        # Jobs of disabled features, and those that write what the contract demands of others, are deviations.
        kind = Kind.UNEXPECTED if name in listed or found.outputs & demanded else Kind.UNLISTED
        others[kind].append(_other_job(kind, name, found))
    findings += others[Kind.UNEXPECTED]
    return Report(
        contract.namespace,
        tuple(rows),
        tuple(findings),
        tuple(others[Kind.UNLISTED]),
        tuple(str(row.dataset) for row in datasets),
    )


def _other_job(kind: Kind, name: str, found: JobLineage) -> Finding:
    touches = sorted(str(dataset) for dataset in found.inputs | found.outputs)
    return Finding(kind=kind, subject=Subject.JOB, job=name, text=f"{name} (touches {', '.join(touches)})")


def _compare_job(row: JobRow, found: JobLineage, graph: GraphLineage, on: Features) -> Iterator[Finding]:
    inputs = {item.dataset for item in row.inputs if item.requires <= on}
    outputs = {item.dataset: item for item in row.outputs if item.requires <= on}
    yield from _compare_datasets(row.name, Subject.INPUT, inputs, found.inputs)
    yield from _compare_datasets(row.name, Subject.OUTPUT, set(outputs), found.outputs)
    for dataset, output in outputs.items():
        # A missing output has been reported already; its columns would repeat the finding.
        if dataset in found.outputs and output.columns is not None:
            yield from _compare_fields(row.name, output, graph)
            yield from _compare_columns(row.name, output, found, inputs)


def _compare_datasets(job: str, subject: Subject, expected: set[Dataset], found: set[Dataset]) -> Iterator[Finding]:
    arrow = "<-" if subject is Subject.INPUT else "->"
    for dataset in sorted(expected - found):
        yield Finding(kind=Kind.MISSING, subject=subject, job=job, text=f"{job} {arrow} {dataset}")
    for dataset in sorted(found - expected):
        yield Finding(kind=Kind.UNEXPECTED, subject=subject, job=job, text=f"{job} {arrow} {dataset}")


def _compare_fields(job: str, output: OutputRow, graph: GraphLineage) -> Iterator[Finding]:
    """Compare the columns that the contract lists with those of the schema, if a writer states one."""
    schema = graph.fields.get(output.dataset)
    if not schema or output.columns is None or output.dataset in graph.fields_of_readers:
        return
    for name in sorted(output.columns.keys() - schema):
        # A schema lists a nested column below its parent; edges may name it by its path.
        if name.partition(".")[0] not in schema:
            yield Finding(kind=Kind.MISSING, subject=Subject.FIELD, job=job, text=f"{output.dataset}#{name}")
    named = {name.partition(".")[0] for name in output.columns}
    for name in sorted(schema.keys() - output.columns.keys() - named):
        yield Finding(kind=Kind.UNEXPECTED, subject=Subject.FIELD, job=job, text=f"{output.dataset}#{name}")


def _compare_columns(job: str, output: OutputRow, found: JobLineage, inputs: set[Dataset]) -> Iterator[Finding]:
    expected: dict[str | None, Sources] = {None: output.dataset_columns}
    expected.update(output.columns or {})
    targets = {field for dataset, field in found.columns if dataset == output.dataset}
    for field in sorted(expected.keys() | targets, key=lambda name: name or ""):
        wanted = {s: kinds for s, kinds in expected.get(field, {}).items() if s.dataset in inputs}
        arrived = found.columns.get((output.dataset, field), {})
        target = str(output.dataset) if field is None else f"{output.dataset}#{field}"
        yield from _compare_sources(job, target, wanted, arrived)


def _compare_sources(job: str, target: str, expected: Sources, found: Sources) -> Iterator[Finding]:
    for source in sorted(expected.keys() | found.keys()):
        wanted, arrived = expected.get(source), found.get(source)
        if wanted == arrived:
            continue
        text = f"{target} <- {source}"
        if arrived is None and wanted is not None:
            yield Finding(kind=Kind.MISSING, subject=Subject.COLUMN, job=job, text=text, expected=_join_sorted(wanted))
        elif wanted is None and arrived is not None:
            yield Finding(kind=Kind.UNEXPECTED, subject=Subject.COLUMN, job=job, text=text, found=_join_sorted(arrived))
        else:
            yield Finding(
                kind=Kind.DIFFERENT,
                subject=Subject.COLUMN,
                job=job,
                text=text,
                expected=_join_sorted(wanted),
                found=_join_sorted(arrived),
            )


def _join_sorted(transformations: Iterable[object] | None) -> str:
    return ", ".join(sorted(str(transformation) for transformation in transformations or ()))
