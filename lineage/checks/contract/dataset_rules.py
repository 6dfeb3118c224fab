# SPDX-License-Identifier: Apache-2.0
"""Demands of a contract on datasets: their columns, and the time of their last write. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lineage.checks.columns import METADATA, Column, incompatibilities
from lineage.checks.contract.model import AgreedSchema, Contract, Dataset, DatasetRow, Features
from lineage.checks.contract.report import Finding, Kind, Subject

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def check_schema(row: DatasetRow, found: Sequence[Column] | None) -> Iterator[Finding]:
    """Yield the columns of the graph that differ from the agreed ones more than the contract permits.

    `found` is empty where no schema is known, and None where there is no such dataset. Columns of a topic's records are
    compared only if the contract lists them.
    """
    if row.schema is None:
        return
    listed = {column.name for column in row.schema.columns}
    kept = [column for column in found or () if column.name not in METADATA - listed]
    if not kept:
        cause = "no such dataset" if found is None else "its columns are not known"
        name = str(row.dataset)
        yield Finding(kind=Kind.MISSING, subject=Subject.SCHEMA, job=name, text=f"{name} ({cause})")
        return
    yield from _differences(row.dataset, row.schema, row.schema.columns, kept)


def check_candidate(contract: Contract, dataset: Dataset, candidate: Sequence[Column]) -> list[Finding]:
    """Return how a candidate schema of a dataset differs from the agreed one more than the contract permits.

    Metadata columns of a topic, which a schema of its value does not have, are not compared.
    """
    schema = next((row.schema for row in contract.datasets if row.dataset == dataset), None)
    if schema is None:
        return []
    agreed = [column for column in schema.columns if column.name not in METADATA]
    return list(_differences(dataset, schema, agreed, candidate))


def check_freshness(
    contract: Contract, written: Mapping[Dataset, float], now: float, features: Iterable[str] = ()
) -> Iterator[Finding]:
    """Yield the datasets whose last write is longer ago than the contract permits.

    `written` has the last write of each dataset, seconds since 1970 as `now`. A dataset that was never written is a
    deviation.
    """
    on: Features = frozenset(features)
    for row in contract.datasets:
        if row.freshness is None or not row.requires <= on:
            continue
        name, last = str(row.dataset), written.get(row.dataset)
        if last is not None and now - last <= row.freshness:
            continue
        yield Finding(
            kind=Kind.MISSING if last is None else Kind.DIFFERENT,
            subject=Subject.FRESHNESS,
            job=name,
            text=name,
            expected=f"a write within {_duration(row.freshness)}",
            found="" if last is None else f"one {_duration(now - last)} ago",
        )


def _differences(
    dataset: Dataset, schema: AgreedSchema, agreed: Sequence[Column], found: Sequence[Column]
) -> Iterator[Finding]:
    version = f"version {schema.version}" if schema.version else "the contract"
    for difference in incompatibilities(agreed, found, schema.compatibility):
        yield Finding(
            kind=Kind.UNEXPECTED if not difference.agreed else Kind.DIFFERENT if difference.found else Kind.MISSING,
            subject=Subject.SCHEMA,
            job=str(dataset),
            text=f"{dataset}#{difference.column} ({schema.compatibility} to {version})",
            expected=difference.agreed,
            found=difference.found,
        )


def _duration(seconds: float) -> str:
    unit, length = next(((unit, length) for unit, length in _UNITS if seconds >= length), _UNITS[-1])
    return f"{seconds / length:.3g} {unit}"
