# SPDX-License-Identifier: Apache-2.0
"""Datasets that the options of a connector name."""

from collections.abc import Iterator, Mapping

from infra.lint.named_datasets import NamedDataset, Use, table, topic

TOPICS = "topics"
ICEBERG_TABLES = "iceberg.tables"
DEAD_LETTERS = "errors.deadletterqueue.topic.name"


def names_of_connector(config: Mapping[str, str]) -> Iterator[NamedDataset]:
    """Yield the topics of a sink, the tables of an Iceberg sink, and the topic of dead letters."""
    for name in _listed(config.get(TOPICS, "")):
        yield NamedDataset(topic(name), Use.READ)
    for name in _listed(config.get(ICEBERG_TABLES, "")):
        if found := table(name):
            yield NamedDataset(found, Use.WRITTEN)
    if name := config.get(DEAD_LETTERS, "").strip():
        yield NamedDataset(topic(name), Use.WRITTEN)


def _listed(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]
