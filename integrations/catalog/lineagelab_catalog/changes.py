# SPDX-License-Identifier: Apache-2.0
"""Difference between the properties that a table has, and those that the facts state."""

from collections.abc import Mapping
from dataclasses import dataclass

from lineagelab_catalog.facts import TableFacts

OWN_COMMENT = "own-comment"
"""Name, after the prefix, of the property with the comment that was written: another comment is somebody else's."""


@dataclass(frozen=True)
class Changes:
    """Change of one table.

    Attributes:
        changed: properties to be set.
        removed: names of properties to be removed.
        comment: new comment of the table, empty to remove it; None leaves it.
    """

    changed: Mapping[str, str]
    removed: frozenset[str]
    comment: str | None

    def __bool__(self) -> bool:
        """Return True if there is something to do."""
        return bool(self.changed or self.removed or self.comment is not None)


def changes_of(facts: TableFacts, prefix: str, properties: Mapping[str, str], comment: str) -> Changes:
    """Return what makes a table say the facts.

    Properties without the prefix, and a comment that was not written by this program, are left as they are.

    Args:
        facts: of the table.
        prefix: of the properties that the facts own.
        properties, comment: what the table has; an empty comment is none.
    """
    own = properties.get(prefix + OWN_COMMENT, "")
    is_free = comment in {"", own}
    wanted = dict(facts.properties)
    if is_free and facts.comment:
        wanted[prefix + OWN_COMMENT] = facts.comment
    return Changes(
        changed={key: value for key, value in wanted.items() if properties.get(key) != value},
        removed=frozenset(key for key in properties if key.startswith(prefix) and key not in wanted),
        comment=facts.comment if is_free and comment != facts.comment else None,
    )


def with_changes(properties: Mapping[str, str], changes: Changes) -> dict[str, str]:
    """Return properties after the changes."""
    kept = {key: value for key, value in properties.items() if key not in changes.removed}
    return {**kept, **changes.changed}
