# SPDX-License-Identifier: Apache-2.0
"""Nodes of a dbt project as tables and jobs, from the artifact `manifest.json` (versions 10 to 12). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from lineagelab_common.events import Json

WRITTEN = frozenset({"model", "seed", "snapshot"})
"""Types of nodes that write a table."""

TEST = "test"
SOURCE = "source"
_EPHEMERAL = "ephemeral"


@dataclass(frozen=True)
class Project:
    """Nodes of a project.

    Attributes:
        name: of the project.
        nodes: unique id -> node, sources included, as in the manifest.
    """

    name: str
    nodes: Mapping[str, Json]

    @classmethod
    def of_manifest(cls, manifest: Json) -> "Project":
        """Return the project of a manifest."""
        return cls(manifest["metadata"]["project_name"], {**manifest["nodes"], **manifest["sources"]})

    def table(self, node: Json) -> str:
        """Return the table of a node, `database.schema.table` in lower case."""
        return ".".join(part for part in (node.get("database"), node["schema"], table_name(node)) if part).lower()

    def inputs(self, node: Json) -> list[Json]:
        """Return the nodes whose tables a node reads, those of ephemeral models included."""
        found: dict[str, Json] = {}
        self._collect_inputs(node, found)
        return list(found.values())

    def _collect_inputs(self, node: Json, found: dict[str, Json]) -> None:
        for unique_id in node.get("depends_on", {}).get("nodes", ()):
            each = self.nodes.get(unique_id)
            if each is None or unique_id in found:
                continue
            if each["resource_type"] == "model" and each["config"]["materialized"] == _EPHEMERAL:
                self._collect_inputs(each, found)
            elif each["resource_type"] in WRITTEN or each["resource_type"] == SOURCE:
                found[unique_id] = each

    def job(self, node: Json) -> str:
        """Return the last part of a node's job name; nodes of other packages begin with the package."""
        name = f"{node['source_name']}_{node['name']}" if node["resource_type"] == SOURCE else node["name"]
        version = f".v{node['version']}" if node.get("version") else ""
        package = "" if node["package_name"] == self.name else f"{node['package_name']}."
        return f"{package}{name}{version}"

    def tested(self, test: Json) -> str:
        """Return the unique id of the node that a generic test belongs to; empty for a singular one."""
        attached = test.get("attached_node") or ""
        if attached:
            return str(attached)
        # Tests of sources name their source only here.
        sources = [each for each in test.get("sources", ()) if each]
        depends = test.get("depends_on", {}).get("nodes", ())
        return str(depends[0]) if test.get("test_metadata") and sources and len(depends) == 1 else ""


def table_name(node: Json) -> str:
    """Return the name of a node's table without database and schema."""
    return str(node.get("identifier") or node.get("alias") or node["name"])
