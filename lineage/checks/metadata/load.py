# SPDX-License-Identifier: Apache-2.0
"""Parser of metadata files."""

from collections.abc import Iterable, Iterator

from lineage.checks.contract.aliases import Aliases
from lineage.checks.contract.yaml_field import Field, items_of, parse_yaml
from lineage.checks.metadata.model import Described, Metadata, Owner, Tag
from lineage.events import DatasetId, JobId

VERSION = "1"
DEFAULT_OWNER = "MAINTAINER"
DEFAULT_VALUE = "true"
"""Value of a tag that has none, as OpenLineage's clients write it."""

_ABOUT = {"description", "owners", "tags"}


def load_metadata(text: str) -> Metadata:
    """Read a metadata file.

    Raises:
        ContractError: names line and field of the first mistake.
    """
    root = parse_yaml(text).keys({"version"}, {"namespace", "aliases", "datasets", "jobs"})
    if root["version"].text() != VERSION:
        raise root["version"].error(f"{root['version'].text()!r} is unknown; this command reads version {VERSION}")
    aliases = Aliases(root.get("aliases"))
    rows = [(row, _dataset(row, aliases)) for row in items_of(root.get("datasets"))]
    if "jobs" in root:
        if "namespace" not in root:
            raise root["jobs"].error("requires the key `namespace` of the file: that of the jobs")
        namespace = root["namespace"].text()
        rows += [(row, _job(row, namespace)) for row in items_of(root["jobs"])]
    described: dict[tuple[type, DatasetId | JobId], Described] = {}
    for row, found in rows:
        key = (type(found.node), found.node)
        if key in described:
            raise row.error(f"{found.node.namespace}/{found.node.name} is described twice")
        described[key] = found
    return Metadata(tuple(described.values()))


def _dataset(field: Field, aliases: Aliases) -> Described:
    entries = field.keys({"dataset"}, {*_ABOUT, "columns"})
    found = aliases.dataset(entries["dataset"], entries["dataset"].text())
    columns = entries["columns"].mapping() if "columns" in entries else {}
    tags = list(_tags(entries.get("tags"), None))
    descriptions = []
    for name, row in columns.items():
        about = row.keys(set(), {"description", "tags"})
        tags += _tags(about.get("tags"), name)
        if "description" in about:
            descriptions.append((name, about["description"].text()))
    return _described(DatasetId(*found), entries, tags, tuple(descriptions))


def _job(field: Field, namespace: str) -> Described:
    entries = field.keys({"job"}, _ABOUT)
    return _described(JobId(namespace, entries["job"].text()), entries, _tags(entries.get("tags"), None))


def _described(
    node: DatasetId | JobId,
    entries: dict[str, Field],
    tags: Iterable[Tag],
    columns: tuple[tuple[str, str], ...] = (),
) -> Described:
    description = entries["description"].text() if "description" in entries else ""
    owners = tuple(map(_owner, items_of(entries.get("owners"))))
    return Described(node, description, owners, tuple(tags), columns)


def _owner(field: Field) -> Owner:
    if not field.is_mapping:
        return Owner(field.text(), DEFAULT_OWNER)
    entries = field.keys({"name"}, {"type"})
    return Owner(entries["name"].text(), _text(entries, "type", DEFAULT_OWNER))


def _tags(field: Field | None, column: str | None) -> Iterator[Tag]:
    for row in items_of(field):
        if row.is_mapping:
            entries = row.keys({"key"}, {"value"})
            yield Tag(entries["key"].text(), _text(entries, "value", DEFAULT_VALUE), column)
        else:
            yield Tag(row.text(), DEFAULT_VALUE, column)


def _text(entries: dict[str, Field], key: str, default: str) -> str:
    return entries[key].text() if key in entries else default
