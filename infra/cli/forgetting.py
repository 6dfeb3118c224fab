# SPDX-License-Identifier: Apache-2.0
"""Jobs and datasets to remove from the lineage graph, and the objections to it; from the service's summaries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote

Row = Mapping[str, Any]


class Node(NamedTuple):
    """Job or dataset; `kind` is `job` or `dataset`."""

    kind: str
    namespace: str
    name: str

    @property
    def id(self) -> str:
        """Return the node id, as in the API and in URLs of the page."""
        return f"{self.kind}:{self.namespace}:{self.name}"

    @property
    def path(self) -> str:
        """Return the path of the API whose DELETE removes the node."""
        namespace, name = (quote(part, safe="") for part in (self.namespace, self.name))
        return f"/api/v1/namespaces/{namespace}/{self.kind}s/{name}"


@dataclass(frozen=True, slots=True)
class Removal:
    """Nodes to remove, jobs first, and the reasons why some of them are still needed."""

    nodes: Sequence[Node]
    objections: Sequence[str]


class NameNotFound(ValueError):
    """A name is that of no node, or of several."""


def removal_of(summaries: Row, names: Iterable[str]) -> Removal:
    """Return the removal of nodes by id, or by a name that only one node has; aliases count as names of a dataset.

    A running job is still needed, and so is a dataset that a job uses that stays.

    Raises:
        NameNotFound: a name is unknown or ambiguous.
    """
    by_name = _nodes_by_name(summaries)
    nodes = [_find(by_name, name) for name in dict.fromkeys(names)]
    gone = set(nodes)
    running = [f"{_node('job', job).id} is running" for job in summaries["jobs"] if _is_live(job, gone)]
    return Removal(_jobs_first(gone), running + _used_datasets(summaries, gone))


def removal_of_silent(summaries: Row, before: datetime) -> Removal:
    """Return the removal of all jobs that neither run nor had an event since `before`, and of datasets only they use.

    A dataset goes only if it had no event since `before` either.
    """
    silent = {
        _node("job", job)
        for job in summaries["jobs"]
        if not _is_running(job) and datetime.fromisoformat(job["updatedAt"]) < before
    }
    users = _users(summaries)
    unused = {
        _node("dataset", dataset)
        for number, dataset in enumerate(summaries["datasets"])
        if users.get(number) and users[number] <= silent and datetime.fromisoformat(dataset["updatedAt"]) < before
    }
    return Removal(_jobs_first(silent | unused), ())


def _node(kind: str, row: Row) -> Node:
    return Node(kind, row["namespace"], row["name"])


def _jobs_first(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: (node.kind != "job", node))


def _nodes_by_name(summaries: Row) -> dict[str, set[Node]]:
    """Return the nodes of each id, name, qualified name and alias."""
    found: dict[str, set[Node]] = {}
    for kind in ("job", "dataset"):
        for row in summaries[f"{kind}s"]:
            node = _node(kind, row)
            aliases = [name for alias in row.get("symlinks", ()) for name in (alias["name"], _qualified(alias))]
            for name in (node.id, node.name, _qualified(row), *aliases):
                found.setdefault(name, set()).add(node)
    return found


def _qualified(row: Row) -> str:
    return f"{row['namespace']}/{row['name']}"


def _find(by_name: Mapping[str, set[Node]], name: str) -> Node:
    found = by_name.get(name, set())
    if not found:
        raise NameNotFound(f"no job or dataset is named {name!r}; see: bin/lab lineage impact, or the page's search")
    if len(found) > 1:
        raise NameNotFound(f"{name!r} is ambiguous; write one of: {', '.join(sorted(node.id for node in found))}")
    return next(iter(found))


def _is_running(job: Row) -> bool:
    """Return whether a job has an open run that is not stale."""
    return job["state"] in ("NEW", "RUNNING") and not job["stale"]


def _is_live(job: Row, gone: set[Node]) -> bool:
    return _node("job", job) in gone and _is_running(job)


def _users(summaries: Row) -> dict[int, set[Node]]:
    """Return the jobs that use each dataset, by its index."""
    users: dict[int, set[Node]] = {}
    for job in summaries["jobs"]:
        for dataset in (*job["inputs"], *job["outputs"]):
            users.setdefault(dataset, set()).add(_node("job", job))
    return users


def _used_datasets(summaries: Row, gone: set[Node]) -> list[str]:
    objections = []
    users = _users(summaries)
    for number, dataset in enumerate(summaries["datasets"]):
        node = _node("dataset", dataset)
        staying = sorted(job.id for job in users.get(number, set()) - gone)
        if node in gone and staying:
            objections.append(f"{node.id} is used by {', '.join(staying)}")
    return objections
