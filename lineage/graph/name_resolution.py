# SPDX-License-Identifier: Apache-2.0
"""Resolution of the names that events use to the nodes of the graph.

A name leads to another one by a claim: a symlinks facet, the location that a catalog states, or a renaming. Of several
claims to one name the last in the total order wins, so that a table that was dropped and created elsewhere does not
merge two locations permanently. Chains are followed for 8 steps.

Claims cannot merge what lies in two places. Where data lies (a topic, a path, a table of a database) is never an alias:
if a dataset elsewhere claims it, the claim is void, and if a logical name claims it, the logical name leads to it. So a
wrong claim gives no more than using the name does. A cycle of claims is one node: that of its first name.
"""

from typing import NamedTuple

from lineage.events.event import Order
from lineage.events.ids import DatasetId

_PATHS = frozenset({"s3", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs", "oss", "obs", "cosn", "file", "hdfs", "dbfs"})
_STORES = frozenset(
    {
        "kafka",
        "pulsar",
        "pubsub",
        "kinesis",
        "postgres",
        "postgresql",
        "mysql",
        "mariadb",
        "mssql",
        "sqlserver",
        "oracle",
    }
    | {"db2", "snowflake", "bigquery", "redshift", "cassandra", "mongodb", "elasticsearch", "opensearch", "clickhouse"}
)


MAX_STEPS = 8
"""Claims that are followed from a name: bounds what one event can move."""


def is_location(dataset: DatasetId) -> bool:
    """Return whether a name says where data lies; names of tables in the namespace of a warehouse do not."""
    scheme = dataset.namespace.partition(":")[0].lower()
    if scheme in _PATHS:
        return "/" in dataset.name or "." not in dataset.name
    return scheme in _STORES


class Claim(NamedTuple):
    """Statement of `claimant` that the name `source` leads to `target`; a claimant of None is a catalog."""

    source: DatasetId
    target: DatasetId
    claimant: DatasetId | None
    renaming: bool = False

    @property
    def alias(self) -> DatasetId:
        """Return the name that the claimant claims to have besides its own."""
        return self.target if self.claimant == self.source else self.source


def symlink_claim(dataset: DatasetId, alias: DatasetId) -> Claim | None:
    """Return the claim that a symlinks facet of a dataset makes to an alias; None if it is void."""
    if alias == dataset:
        return None
    if not is_location(alias):
        return Claim(alias, dataset, dataset)
    return None if is_location(dataset) else Claim(dataset, alias, dataset)


class NameResolution:
    """Claims in force, and the node that each name leads to."""

    def __init__(self) -> None:
        self._claims: dict[DatasetId, dict[tuple[DatasetId, DatasetId | None, bool], Order]] = {}
        self._defaults: dict[DatasetId, DatasetId] = {}
        self._next: dict[DatasetId, DatasetId] = {}
        self._previous: dict[DatasetId, set[DatasetId]] = {}
        self._aliases: dict[DatasetId, set[DatasetId]] = {}

    def node(self, name: DatasetId) -> DatasetId:
        """Return the node that a name leads to: the name itself without any claim."""
        following = self._next.get(name)
        if following is None:
            return name
        path = [name]
        while following is not None and following not in path and len(path) <= MAX_STEPS:
            path.append(following)
            following = self._next.get(following)
        if following is None or following not in path:
            return path[-1]
        # Independent of the order of claims, which heartbeats would change all the time.
        return min(path[path.index(following) :], key=lambda member: (not is_location(member), member))

    def names_of(self, node: DatasetId) -> set[DatasetId]:
        """Return every name that leads over one, itself included."""
        found, level = {node}, {node}
        for _ in range(MAX_STEPS):
            level = {name for last in level for name in self._previous.get(last, ())} - found
            found |= level
        return found

    def claimed_by(self, claimant: DatasetId) -> set[DatasetId]:
        """Return the aliases that a dataset claims."""
        return self._aliases.get(claimant, set())

    def claim(self, claim: Claim, order: Order) -> bool:
        """Add a claim, or a later statement of it; return whether the name leads elsewhere now."""
        known = self._claims.setdefault(claim.source, {})
        before = known.get(claim[1:])
        if before is not None and before >= order:
            return False
        known[claim[1:]] = order
        if before is None and claim.claimant is not None and not claim.renaming:
            self._aliases.setdefault(claim.claimant, set()).add(claim.alias)
        return self._update(claim.source)

    def withdraw(self, claim: Claim) -> bool:
        """Remove a claim; return whether the name leads elsewhere now."""
        known = self._claims.get(claim.source)
        if known is None or known.pop(claim[1:], None) is None:
            return False
        if claim.claimant is not None and not claim.renaming:
            self._aliases[claim.claimant].discard(claim.alias)
        if not known:
            del self._claims[claim.source]
        return self._update(claim.source)

    def set_default(self, name: DatasetId, target: DatasetId) -> bool:
        """Set where a name leads without any claim; return whether the name leads elsewhere now."""
        if self._defaults.get(name) == target or name == target:
            return False
        self._defaults[name] = target
        return self._update(name)

    def _update(self, name: DatasetId) -> bool:
        before, after = self._next.get(name), self._winner(name)
        if before == after:
            return False
        if before is not None:
            names = self._previous[before]
            names.discard(name)
            if not names:
                del self._previous[before]
        if after is None:
            del self._next[name]
        else:
            self._next[name] = after
            self._previous.setdefault(after, set()).add(name)
        return True

    def _winner(self, name: DatasetId) -> DatasetId | None:
        claims = self._claims.get(name)
        if not claims:
            return self._defaults.get(name)
        return max(claims.items(), key=lambda item: (item[1], item[0][0]))[0][0]
