# SPDX-License-Identifier: Apache-2.0
"""Adapter of the running dbt command, and the artifacts in its target folder."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.factory import FACTORY

from lineagelab_common.events import Json
from lineagelab_dbt.project import Project, table_name

DUCKDB = "duckdb"


@dataclass(frozen=True)
class RunningCommand:
    """The dbt command that runs in this process."""

    adapter: BaseAdapter

    @classmethod
    def current(cls) -> "RunningCommand":
        """Return the command; dbt has one adapter per command."""
        (adapter,) = FACTORY.adapters.values()
        return cls(adapter)

    @cached_property
    def project(self) -> Project:
        """The project, from the manifest that dbt writes before it executes nodes."""
        return Project.of_manifest(json.loads((self._target / "manifest.json").read_text(encoding="utf-8")))

    @property
    def dialect(self) -> str:
        """Type of the adapter, `duckdb` or `postgres`."""
        return str(self.adapter.type())

    @property
    def namespace(self) -> str:
        """Namespace of the tables, as OpenLineage's naming conventions have it where they know the store."""
        credentials = self.adapter.config.credentials
        if self.dialect == DUCKDB:
            return f"duckdb://{credentials.path}"
        host = getattr(credentials, "host", None) or getattr(credentials, "account", None) or ""
        port = getattr(credentials, "port", None)
        return f"{self.dialect}://{host}" + (f":{port}" if port else "")

    def compiled(self, node: Json) -> str:
        """Return the compiled SQL of a node, empty if it has none."""
        path = self._target / "compiled" / node["package_name"] / node["original_file_path"]
        return path.read_text(encoding="utf-8").strip() if path.is_file() else ""

    def columns(self, node: Json) -> dict[str, str]:
        """Return the columns of a node's table -> types; empty if there is no such table."""
        relation = self.adapter.Relation.create(
            database=node.get("database"),
            schema=node["schema"],
            identifier=table_name(node),
            quote_policy=self.adapter.config.quoting,
        )
        with self.adapter.connection_named("lineage"):
            found = self.adapter.get_columns_in_relation(relation)
        return {str(column.name): str(column.data_type).lower() for column in found}

    @property
    def _target(self) -> Path:
        return Path(self.adapter.config.project_target_path)
