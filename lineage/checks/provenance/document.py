# SPDX-License-Identifier: Apache-2.0
"""The document of a provenance, and its hash. Pure.

    {"document": "provenance", "version": 1, "subject": {"namespace", "name", "field"?}, "at", "service",
     "datasets": [{"namespace", "name", "distance", "certain", "isSource", "version", "versionSince", "schema",
                   "schemaHash", "tags", "owners"}],
     "jobs": [{"namespace", "name", "distance", "certain", "run", "state", "startedAt", "endedAt", "code", "codeHash",
               "owners"}],
     "edges": [{"job", "input", "output", "type", "subtype", "masking"}],
     "sha256"}

`sha256` is that of the other members as canonical JSON: keys sorted, no white space, UTF-8.
"""

import hashlib

from lineage.events import JsonObject, canonical_json

VERSION = 1
HASH = "sha256"


def signed(content: JsonObject) -> JsonObject:
    """Return a document with its hash."""
    document = {"document": "provenance", "version": VERSION, **content}
    return {**document, HASH: sha256(document)}


def is_unaltered(document: JsonObject) -> bool:
    """Return whether a document has the hash of its content."""
    content = {key: value for key, value in document.items() if key != HASH}
    return document.get(HASH) == sha256(content)


def sha256(value: object) -> str:
    """Return the hash of a JSON value."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
