# SPDX-License-Identifier: Apache-2.0
"""The Avro schemas of the topics, one file per topic: `{topic}.avsc`."""

from pathlib import Path


def schema_text(topic: str) -> str:
    """The Avro schema of a topic's values, as JSON text.

    Raises:
        FileNotFoundError: no schema is kept for this topic.
    """
    return (Path(__file__).parent / f"{topic}.avsc").read_text(encoding="utf-8")
