# SPDX-License-Identifier: Apache-2.0
"""Tables of the AWS Glue Data Catalog, Iceberg or not: parameters and description of the table."""

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.client import BaseClient
from botocore.exceptions import BotoCoreError, ClientError

from lineagelab_catalog.changes import Changes, with_changes
from lineagelab_catalog.tables import CatalogError, ChangesOf, Table, TableError, changed_with_retries

_WRITABLE = (
    *("Name", "Description", "Owner", "LastAccessTime", "LastAnalyzedTime", "Retention", "StorageDescriptor"),
    *("PartitionKeys", "ViewOriginalText", "ViewExpandedText", "TableType", "Parameters", "TargetTable"),
)
"""Keys of a table that `UpdateTable` accepts; what an update omits is deleted."""

_CHANGED_MEANWHILE = frozenset({"ConcurrentModificationException", "VersionMismatchException"})


class GlueTables:
    """Tables of a Glue catalog.

    Args:
        client: `boto3.client("glue")`.
        namespace: first part of the names of tables in lineage events, empty for none.
    """

    def __init__(self, client: BaseClient, namespace: str = "") -> None:
        self._client = client
        self._namespace = namespace

    def labels(self) -> Iterator[str]:
        """Yield `database.table` of all tables; see `TableCatalog`."""
        try:
            for page in self._client.get_paginator("get_databases").paginate():
                for database in page["DatabaseList"]:
                    tables = self._client.get_paginator("get_tables").paginate(DatabaseName=database["Name"])
                    for rows in tables:
                        yield from (f"{database['Name']}.{table['Name']}" for table in rows["TableList"])
        except (ClientError, BotoCoreError) as error:
            raise CatalogError(f"listing the tables of Glue failed: {error}; check credentials and region") from error

    def update(self, label: str, changes_of: ChangesOf) -> Changes:
        """Change parameters and description of a table, if nobody has changed it meanwhile; see `TableCatalog`."""
        try:
            return changed_with_retries(lambda: self._update(label, changes_of), _is_conflict)
        except (ClientError, BotoCoreError) as error:
            raise TableError(str(error)) from error

    def _update(self, label: str, changes_of: ChangesOf) -> Changes:
        database, _, name = label.partition(".")
        found: Mapping[str, Any] = self._client.get_table(DatabaseName=database, Name=name)["Table"]
        parameters: Mapping[str, str] = found.get("Parameters") or {}
        names = (f"table/{database}/{name}", *((f"{self._namespace}.{label}",) if self._namespace else ()), label)
        location = (found.get("StorageDescriptor") or {}).get("Location") or ""
        changes = changes_of(Table(label, names, location, parameters, found.get("Description") or ""))
        if changes:
            content = {key: found[key] for key in _WRITABLE if key in found}
            content["Parameters"] = with_changes(parameters, changes)
            if changes.comment is not None:
                content["Description"] = changes.comment
            version = {"VersionId": found["VersionId"]} if found.get("VersionId") else {}
            self._client.update_table(DatabaseName=database, TableInput=content, SkipArchive=True, **version)
        return changes


def _is_conflict(error: Exception) -> bool:
    return isinstance(error, ClientError) and error.response["Error"]["Code"] in _CHANGED_MEANWHILE
