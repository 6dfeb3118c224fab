# SPDX-License-Identifier: Apache-2.0
"""Analysed plans of commands that write rows: command, query and sink, read from the JVM."""

import re
from dataclasses import dataclass, replace

from lineagelab_spark import datasets, delta_commands
from lineagelab_spark.datasets import Dataset, Source
from lineagelab_spark.description import Fields
from lineagelab_spark.java import JavaObject, items, kind_of, option

_TABLE_WRITES = frozenset({"AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic"})
_ROW_LEVEL = frozenset({"ReplaceData", "WriteDelta"})
"""MERGE, UPDATE and DELETE, as Spark rewrites them: they read the table that they change."""

_CREATIONS = frozenset({"CreateTableAsSelect", "ReplaceTableAsSelect"})

ENCLOSING = frozenset(
    {
        "CreateDataSourceTableAsSelectCommand",
        "SaveAsV1TableCommand",
        "InsertIntoDataSourceDirCommand",
        "CreateHiveTableAsSelectCommand",
        "OptimizedCreateHiveTableAsSelectCommand",
    }
)
"""Commands that write by an inner command, which has its own execution and the location of the files."""

_WRITING = re.compile(r"(Insert|Save|Write|Merge|Overwrite|Append|Copy)")


class UnsupportedWriteError(Exception):
    """Rows are written by a command, or to a sink, that has no dataset name."""


@dataclass(frozen=True)
class WriteCommand:
    """Command that writes the rows of a query.

    Attributes:
        command: name in job names, as OpenLineage's Spark agent spells it.
        table: name of the sink in job names.
        query: analysed plan of the rows.
        dataset: sink; None for a table that does not exist (yet).
        fields: (name, type) of the sink's columns; empty: those of the query.
        by_position: the query's columns are those of the sink, in order.
        changes_rows: the command reads the sink to change its rows.
        replaces_all: nothing of the sink's former content is left.
        jvm_table: Iceberg's table; None for other sinks.
    """

    command: str
    table: str
    query: JavaObject
    dataset: Dataset | None
    fields: Fields = ()
    by_position: bool = False
    changes_rows: bool = False
    replaces_all: bool = False
    jvm_table: JavaObject = None


def is_staged(plan: JavaObject) -> bool:
    """Return True for the inner write of CREATE TABLE AS SELECT to a table that exists only after its commit."""
    return kind_of(plan) in _TABLE_WRITES and "Staged" in kind_of(plan.table().table())


def read(plan: JavaObject) -> WriteCommand | None:
    """Return the write of an analysed plan; None if it writes no rows of a query to a dataset.

    Raises:
        UnsupportedWriteError: the plan writes rows in a way that cannot be described.
    """
    kind = kind_of(plan)
    if kind in _TABLE_WRITES or kind in _ROW_LEVEL:
        return _table_write(plan, kind)
    if kind in _CREATIONS:
        return _creation(plan)
    if kind in delta_commands.COMMANDS:
        return _delta_command(plan)
    if kind == "InsertIntoHadoopFsRelationCommand":
        folder = datasets.of_location(str(plan.outputPath().toString()))
        return _plain_write(plan, datasets.with_hive_name(folder, option(plan.catalogTable())))
    if kind == "InsertIntoHiveTable":
        return _plain_write(plan, datasets.of_catalog_table(plan.table()))
    if kind == "InsertIntoHiveDirCommand":
        return _plain_write(plan, datasets.of_location(str(plan.storage().locationUri().get().toString())))
    if kind == "SaveIntoDataSourceCommand":
        provider = str(plan.dataSource().getClass().getName())
        return _plain_write(plan, _only(datasets.of_options(provider, plan.options())))
    if kind == "InsertIntoDataSourceCommand":
        return _plain_write(plan, _only(datasets.of_leaf(plan.logicalRelation())))
    if kind not in ENCLOSING and _WRITING.match(kind):
        raise UnsupportedWriteError(f"{kind}, a command without a rule")
    return None


def output_ids(plan: JavaObject) -> tuple[int, ...]:
    """Return the expression ids of a plan's output, which an inner command shares with the enclosing one."""
    return tuple(int(attribute.exprId().id()) for attribute in items(plan.output()))


def _table_write(plan: JavaObject, kind: str) -> WriteCommand | None:
    relation = plan.originalTable() if kind in _ROW_LEVEL else plan.table()
    table = relation.table()
    if kind_of(table) == "NoopTable$":
        return None
    table_name = datasets.qualified_name(option(relation.catalog()), option(relation.identifier()))
    dataset = _only(datasets.of_table(table, table_name))
    fields = fields_of(relation)
    same_width = len(fields) == int(plan.query().output().size())
    return WriteCommand(
        _snake_case(kind),
        table_name or dataset.name,
        plan.query(),
        dataset,
        fields,
        by_position=same_width and kind in _TABLE_WRITES,
        changes_rows=kind in _ROW_LEVEL,
        replaces_all=kind == "OverwriteByExpression" and str(plan.deleteExpr().sql()) == "true",
        jvm_table=datasets.iceberg_table(table),
    )


def _delta_command(plan: JavaObject) -> WriteCommand:
    """Return the change of rows of a Delta Lake table; its query is the command (`delta_commands.as_query`)."""
    (table,) = items(plan.target().collectLeaves())
    dataset = _only(datasets.of_leaf(table))
    command = f"execute_{_snake_case(kind_of(plan))}"
    return WriteCommand(command, dataset.name.strip("/"), plan, dataset, fields_of(table), changes_rows=True)


def _creation(plan: JavaObject) -> WriteCommand:
    """Return the write to a new table. Its location is known once it exists: the table that it replaces has another."""
    name = plan.name()
    catalog, identifier = name.catalog(), name.identifier()
    table_name = datasets.qualified_name(catalog, identifier)
    found = WriteCommand("create_table_as_select", table_name, plan.query(), None, replaces_all=True)
    if not catalog.tableExists(identifier):
        return found
    table = catalog.loadTable(identifier)
    dataset = _only(datasets.of_table(table, table_name))
    return replace(found, dataset=dataset, by_position=True, jvm_table=datasets.iceberg_table(table))


def _plain_write(plan: JavaObject, dataset: Dataset) -> WriteCommand:
    """Return the write of a command of Spark's first data source interface."""
    command = f"execute_{_snake_case(kind_of(plan))}"
    return WriteCommand(command, dataset.name.strip("/"), plan.query(), dataset, by_position=True)


def _only(source: Source) -> Dataset:
    if len(source.datasets) != 1:
        raise UnsupportedWriteError(source.unnamed or "several sinks")
    return source.datasets[0]


def fields_of(plan: JavaObject) -> list[tuple[str, str]]:
    """Return (name, type) of the output of a plan."""
    return [(str(field.name()), str(field.dataType().simpleString())) for field in items(plan.schema())]


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
