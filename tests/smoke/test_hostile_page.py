# SPDX-License-Identifier: Apache-2.0
"""A page of another origin in a real browser, against every port of a lab."""

from urllib.parse import urlsplit

import httpx
import pytest

from infra.services import schema_registry
from tests.page.attacker import attacker
from tests.smoke.lab_page import lab_browser

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

PATHS = (
    "/",
    "/v1/namespaces",
    "/connectors",
    "/jobs/overview",
    "/v1/info",
    "/apis/ccompat/v7/subjects",
    "/api/v1/graph",
)

SOURCE = {
    "connector.class": "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector",
    "source.cluster.alias": "hostile",
    "name": "hostile",
}
"""Connector that the worker accepts of other clients."""

READ = """
async ([ports, paths]) => {
  const read = [];
  const attempts = ports.flatMap((port) => paths.map(async (path) => {
    const url = `http://127.0.0.1:${port}${path}`;
    try {
      const response = await fetch(url, {signal: AbortSignal.timeout(5000)});
      read.push(`${url}: ${response.status} ${(await response.text()).slice(0, 80)}`);
    } catch (error) {
      if (!["TypeError", "TimeoutError"].includes(error.name)) throw error;
    }
  }));
  await Promise.all(attempts);
  return read;
}
"""
"""Returns the responses that the page could read, of all paths of all ports."""

WRITE = """
async ([{connect, flink, gateway, registry, catalog, lineage}, source]) => {
  const jar = new FormData();
  jar.append("jarfile", new Blob([new Uint8Array([80, 75, 3, 4])]), "hostile.jar");
  const avro = JSON.stringify({schema: JSON.stringify("string")});
  const event = {eventType: "START", eventTime: new Date().toISOString(), producer: "urn:hostile", schemaURL: "urn:x",
    run: {runId: crypto.randomUUID()}, job: {namespace: "hostile", name: "hostile"}};
  const requests = [
    [`${connect}/connectors`, "POST", JSON.stringify({name: "hostile", config: source})],
    [`${connect}/connectors/orders_source`, "DELETE"],
    [`${flink}/jars/upload`, "POST", jar],
    [`${gateway}/v1/sessions`, "POST", "{}"],
    [`${registry}/subjects/hostile/versions`, "POST", avro],
    [`${registry}/subjects/orders-value`, "DELETE"],
    [`${catalog}/v1/namespaces`, "POST", JSON.stringify({namespace: ["hostile"]})],
    [`${catalog}/v1/tables/rename`, "POST", JSON.stringify({source: {namespace: ["sales"], name: "orders"},
      destination: {namespace: ["sales"], name: "hostile"}})],
    [`${catalog}/v1/namespaces/sales/tables/orders`, "DELETE"],
    [`${lineage}/api/v1/lineage`, "POST", JSON.stringify(event)],
  ];
  for (const [url, method, body] of requests) {
    for (const headers of [{}, {"Content-Type": "application/json"}]) {
      for (const mode of ["cors", "no-cors"]) {
        try {
          await fetch(url, {method, body, mode, headers: body instanceof FormData ? {} : headers});
        } catch (error) {
          if (error.name !== "TypeError") throw error;
        }
      }
    }
    if (method === "POST") navigator.sendBeacon(url, body);
  }
}
"""
"""Sends writes in every way in which a page can."""


@pytest.fixture(scope="module")
def pages(lab):
    """Pages of an attacker, on the lab's host under another port and under another name."""
    with lab_browser(lab) as browser, attacker() as port:
        context = browser.new_context()
        try:
            opened = [context.new_page() for _ in range(2)]
            for page, host in zip(opened, ("127.0.0.1", "localhost"), strict=True):
                page.goto(f"http://{host}:{port}/")
            yield opened
        finally:
            context.close()


def test_no_port_of_the_lab_responds_readably(pages, lab):
    # The registry's other port serves its health and metrics alone, to pages of every origin.
    health = lab.settings.port_offset + schema_registry.MANAGEMENT.port
    ports = sorted({address.port for address in lab.listening_addresses()} - {health})
    assert urlsplit(lab.environment["LAB_ICEBERG_CATALOG"]).port in ports
    for page in pages:
        read = page.evaluate(READ, [ports, PATHS])
        assert not read, "\n".join(read)


def test_writes_of_the_page_change_nothing(pages, lab):
    addresses = {
        "connect": lab.environment["LAB_CONNECT"],
        "flink": lab.environment["LAB_FLINK"],
        "gateway": lab.environment["LAB_FLINK_SQL_GATEWAY"],
        "registry": lab.environment["LAB_SCHEMA_REGISTRY"],
        "catalog": lab.environment["LAB_ICEBERG_CATALOG"],
        "lineage": lab.environment["LAB_LINEAGE"],
    }
    held = {
        "connect": "/connectors",
        "flink": "/jars",
        "registry": "/subjects",
        "catalog": "/v1/namespaces",
        "tables": "/v1/namespaces/sales/tables",
        "lineage": "/api/v1/namespaces",
    }

    def state():
        urls = {name: f"{addresses.get(name, addresses['catalog'])}{path}" for name, path in held.items()}
        headers = {"Authorization": f"Bearer {lab.read_key}"}
        found = {name: httpx.get(url, headers=headers).raise_for_status().json() for name, url in urls.items()}
        found["lineage"] = sorted(each["name"] for each in found["lineage"]["namespaces"])
        return found | {name: sorted(found[name]) for name in ("connect", "registry")}

    before = state()
    assert "orders" in str(before["tables"])
    for page in pages:
        page.evaluate(WRITE, [addresses, SOURCE])
    assert state() == before
    plugins = f"{addresses['connect']}/connector-plugins"
    checked = httpx.put(f"{plugins}/{SOURCE['connector.class']}/config/validate", json=SOURCE).raise_for_status()
    assert checked.json()["error_count"] == 0, "the worker would have refused the connector of another client too"


def test_the_worker_offers_no_connectors_that_read_and_write_files(lab):
    offered = httpx.get(f"{lab.environment['LAB_CONNECT']}/connector-plugins").raise_for_status().json()
    names = [plugin["class"] for plugin in offered]
    assert "io.debezium.connector.postgresql.PostgresConnector" in names
    assert not [name for name in names if "file" in name.lower()]
