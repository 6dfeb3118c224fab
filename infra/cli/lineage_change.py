# SPDX-License-Identifier: Apache-2.0
"""`lab lineage impact --change FILE --fail-on RULE`: what a change breaks, as an exit code for CI."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from infra.cli.lineage_client import GRAPH_PATH, SUMMARIES_PATH, dataset_path, find_node, get_json
from infra.cli.lineage_reach import render_reach
from infra.errors import LabError
from lineage.checks.columns import Column, SchemaError, read_avro
from lineage.checks.contract import Contract, Dataset, Finding, check_candidate
from lineage.checks.impact import TAG, Affected, ColumnChange, Rule, affected, changed_columns
from lineage.checks.metadata import with_carried_tags
from lineage.checks.node_lookup import Node

NO_CHANGE = "the candidate drops, renames and retypes no column\n"


@dataclass(frozen=True)
class Assessed:
    """Impact of one change.

    Attributes:
        title: what changes.
        reach: response of `/api/v1/impact`.
        affected: what the rules match in it.
    """

    title: str
    reach: Mapping[str, Any]
    affected: Sequence[Affected]


@dataclass(frozen=True)
class Assessment:
    """Impact of all changes; without rules, every consumer counts. `breaches` are deviations from a contract."""

    changes: Sequence[Assessed]
    has_rules: bool
    breaches: Sequence[Finding] = ()

    @property
    def is_refused(self) -> bool:
        """True if the contract is broken, a rule matches, or without rules, if a change of the schema has consumers."""
        if self.breaches:
            return True
        if self.has_rules:
            return any(each.affected for each in self.changes)
        return any(each.reach["datasets"] or each.reach["jobs"] for each in self.changes)

    def text(self) -> str:
        """Return the impact of each change, and what the rules match."""
        parts = [f"breaks the contract: {found.line()}\n" for found in self.breaches]
        if not self.changes:
            return "".join([*parts, NO_CHANGE])
        for each in self.changes:
            parts.append(render_reach(each.title, each.reach))
            parts += [
                f"  breaks {found.rule}: {found.what}{'' if found.certain else ' (perhaps)'}\n"
                for found in each.affected
            ]
        return "".join(parts)

    def json(self) -> str:
        """Return JSON text: the changes with title, impact and what rules match, and deviations from the contract."""
        rows = [
            {
                "change": each.title,
                "impact": each.reach,
                "affected": [
                    {"rule": str(found.rule), "what": found.what, "certain": found.certain} for found in each.affected
                ],
            }
            for each in self.changes
        ]
        return json.dumps({"changes": rows, "contract": [asdict(found) for found in self.breaches]}, indent=2) + "\n"


def assess(
    service: str,
    name: str,
    candidate: Path | None,
    rules: Sequence[str],
    depth: int | None,
    contract: Contract | None = None,
) -> Assessment:
    """Return the impact of a dataset or column, or of what a candidate schema changes.

    The candidate is also compared with the schema in the contract, if there is one.

    Raises:
        LabError: the node, the schema or a rule is invalid, or the service does not respond.
    """
    try:
        parsed = [Rule.parse(text) for text in rules]
    except ValueError as error:
        raise LabError(f"--fail-on: {error}") from error
    node = find_node(service, name)
    nodes, breaches = [("impact of", node)], list[Finding]()
    if candidate is not None:
        columns = _candidate_columns(node, candidate)
        nodes = [(f"{each.how}:", node._replace(field=each.column)) for each in _changes(service, node, columns)]
        if contract is not None:
            breaches = check_candidate(contract, Dataset(node.namespace, node.name), columns)
    summaries = get_json(service, SUMMARIES_PATH) if parsed and nodes else {"datasets": [], "jobs": []}
    if nodes and any(rule.kind == TAG for rule in parsed):
        summaries = with_carried_tags(summaries, get_json(service, GRAPH_PATH)["columns"])
    limit = {} if depth is None else {"depth": str(depth)}
    assessed = []
    for title, each in nodes:
        reach = get_json(service, "/api/v1/impact", nodeId=each.id, **limit)
        assessed.append(Assessed(title, reach, affected(parsed, reach, summaries)))
    return Assessment(assessed, bool(parsed), breaches)


def _candidate_columns(node: Node, candidate: Path) -> list[Column]:
    if node.field is not None:
        raise LabError(f"--change needs a dataset, not a column: {node.namespace}/{node.name}")
    try:
        return read_avro(candidate.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"cannot read {candidate}: {error}") from error
    except SchemaError as error:
        raise LabError(f"{candidate}: {error}") from error


def _changes(service: str, node: Node, candidate: Sequence[Column]) -> list[ColumnChange]:
    fields = get_json(service, dataset_path(node.namespace, node.name))["fields"]
    current = {row["name"]: row.get("type") or "" for row in fields}
    if not current:
        raise LabError(f"the schema of {node} is not known: no event has named its columns yet")
    return changed_columns(current, candidate)
