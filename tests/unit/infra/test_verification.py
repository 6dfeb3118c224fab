# SPDX-License-Identifier: Apache-2.0
"""`lab verify`: what it reads beside the graph, from a real lineage service."""

import json
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

import pytest

from infra.cli.verification import CONTRACT, compare_with_contract, read_contract, registered_differences
from infra.errors import LabError
from infra.services.overview import known_features
from tests.bench.service_process import running_service


def contract(tmp_path, text):
    file = tmp_path / "contract.yaml"
    file.write_text(f"version: 1\nnamespace: jobs\njobs: [{{job: load, outputs: [s3://lake/t]}}]\n{text}")
    return file


def test_every_feature_of_the_contract_is_one_of_a_lab():
    assert read_contract(CONTRACT).features <= known_features()


def test_a_feature_that_no_lab_has_is_refused(tmp_path):
    """A misspelled one would switch its rows off."""
    file = contract(tmp_path, "datasets: [{dataset: s3://lake/t, requires: [lkae], freshness: 1h}]")
    with pytest.raises(LabError, match="requires lkae, which no setting of a lab enables; known are dashboard, dbt"):
        compare_with_contract("http://127.0.0.1:1", frozenset(), file)


def test_a_contract_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(LabError, match=r"cannot read the lineage contract .*none\.yaml"):
        read_contract(tmp_path / "none.yaml")


def test_freshness_is_that_of_the_last_write(tmp_path):
    file = contract(tmp_path, "datasets: [{dataset: s3://lake/t, freshness: 1h}]")
    with running_service(tmp_path / "data") as service:

        def findings():
            return [found.line() for found in compare_with_contract(service.url, frozenset(), file).findings]

        def write(run, hours):
            content = {
                "eventType": "COMPLETE",
                "eventTime": (datetime.now(UTC) - timedelta(hours=hours)).isoformat(),
                "producer": "https://example.org/test",
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
                "run": {"runId": f"00000000-0000-7000-8000-{run:012}"},
                "job": {"namespace": "jobs", "name": "load"},
                "outputs": [{"namespace": "s3://lake", "name": "t"}],
            }
            headers = {"Content-Type": "application/json"}
            with urlopen(Request(f"{service.url}/api/v1/lineage", json.dumps(content).encode(), headers), timeout=60):
                pass

        assert findings()[-1] == "missing     fresh   s3://lake/t (a write within 1 h)"
        write(1, 3)
        assert findings() == ["different   fresh   s3://lake/t: expected a write within 1 h, found one 3 h ago"]
        write(2, 0)
        assert findings() == []


class Registry:
    """Registry of schemas: a real HTTP server with one response."""

    def __init__(self, status, content):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status if self.path == "/subjects/orders-value/versions/latest" else 404)
                self.end_headers()
                self.wfile.write(json.dumps(content).encode())

            def log_message(self, *words):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self._server.shutdown()
        self._server.server_close()


def registered(tmp_path, status, content):
    columns = '{order_id: string, price: "string?"}'
    file = contract(
        tmp_path, f"datasets: [{{dataset: kafka://kafka:9092/orders, schema: {{columns: {columns}}}}}]"
    )  # fmt: skip
    with Registry(status, content) as registry:
        found = registered_differences(registry.url, read_contract(file), frozenset())
        return [each.line().replace(registry.url, "URL") for each in found]


def avro(*fields):
    return {"schema": json.dumps({"type": "record", "name": "r", "fields": list(fields)})}


ORDER_ID = {"name": "order_id", "type": "string"}


def test_the_schema_of_a_topic_is_compared_with_the_registry(tmp_path):
    price = {"name": "price", "type": ["null", "string"], "default": None}
    assert registered(tmp_path, 200, avro(ORDER_ID, price)) == []
    assert registered(tmp_path, 404, {}) == []
    assert registered(tmp_path, 200, avro(ORDER_ID, {"name": "price", "type": "string"})) == [
        "different   schema  kafka://kafka:9092/orders#price (EXACT to the contract): expected string?, found string"
    ]


@pytest.mark.parametrize(("status", "content"), [(500, {}), (200, {}), (200, {"schema": "["}), (200, [])])
def test_a_registry_that_cannot_be_read_is_a_deviation(tmp_path, status, content):
    (line,) = registered(tmp_path, status, content)
    assert line.startswith("missing     schema  kafka://kafka:9092/orders (its schema in the registry at URL cannot be")


def test_the_registry_is_not_asked_for_what_a_disabled_feature_demands(tmp_path):
    demand = "{dataset: kafka://kafka:9092/orders, requires: [lake], schema: {columns: {a: int}}}"
    read = read_contract(contract(tmp_path, f"datasets: [{demand}]"))
    with Registry(200, avro(ORDER_ID)) as registry:
        assert registered_differences(registry.url, read, frozenset()) == []
        assert len(registered_differences(registry.url, read, frozenset({"lake"}))) == 2
