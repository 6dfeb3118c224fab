# SPDX-License-Identifier: Apache-2.0
"""OpenAPI document, and docs/reference/lineage-api.md compared with it."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from lineage.api import create_app
from lineage.rules import Rules
from lineage.settings import Settings
from lineage.store import EventLog

DOCUMENTATION = Path(__file__).resolve().parents[3] / "docs" / "reference" / "lineage-api.md"
PREFIX = "/api/v1"


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    log = EventLog(data, 0)
    yield create_app(Settings(host="127.0.0.1", port=0, data=data, rules=None), Rules(), log).openapi()
    log.close()


def implemented(document):
    """Return query parameters by method and path; a path parameter with an enumeration is expanded to each value."""
    found = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            query = {row["name"] for row in operation.get("parameters", ()) if row["in"] == "query"}
            for expanded in _expanded(path.removeprefix(PREFIX), operation):
                found[f"{method.upper()} {expanded}"] = query
    return found


def _expanded(path, operation):
    for row in operation.get("parameters", ()):
        if row["in"] == "path" and "enum" in row["schema"]:
            return [path.replace(f"{{{row['name']}}}", value) for value in row["schema"]["enum"]]
    return [path]


def documented():
    """Return the same from the tables of the page."""
    found = {}
    header, previous = [], set()
    for before, line in pairwise(DOCUMENTATION.read_text().splitlines()):
        cells = _cells(line) if line.startswith("|") else []
        if line.startswith("|---"):
            header = _cells(before)
        elif cells and header[:1] == ["path"]:
            stated = set(re.findall(r"`(\w+)`", cells[1])) if header[1] == "parameters" else set()
            previous = previous if cells[1] == "the same" else stated
            method = ""
            for word in re.findall(r"`((?:GET |POST |PUT |DELETE )?/[^`]*)`", cells[0]):
                method = word.split()[0] if " " in word else method
                found[f"{method} {word.split()[-1]}"] = previous
        elif not cells:
            header = []
    return found


def _cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def test_page_documents_exactly_the_implemented_routes_and_parameters(document):
    assert documented() == implemented(document)


def test_every_json_response_has_a_model(document):
    without = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            content = operation["responses"].get("200", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema")
            if schema is not None and not {"$ref", "items"} & {*schema}:
                without.append(f"{method} {path}")
    assert without == []


def test_errors_have_the_common_model(document):
    for operations in document["paths"].values():
        for operation in operations.values():
            assert "422" not in operation["responses"]
            schema = operation["responses"]["4XX"]["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/ErrorResponse"}
    assert "HTTPValidationError" not in document["components"]["schemas"]
