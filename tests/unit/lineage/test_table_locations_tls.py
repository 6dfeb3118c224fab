# SPDX-License-Identifier: Apache-2.0
"""Table locations from a catalog with TLS, whose authority SSL_CERT_FILE names."""

import asyncio
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from infra.security import certificates
from infra.security.certificate_files import AUTHORITY, CERTIFICATE, KEY
from lineage.rules.model import Catalog, Rules, TableName
from lineage.rules.table_locations import TableLocations

LOCATION = "s3://warehouse/elsewhere/orders"


class CatalogHandler(BaseHTTPRequestHandler):
    """Catalog with one table."""

    def do_GET(self):
        answer = {} if self.path.startswith("/v1/config") else {"metadata": {"location": LOCATION}}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Write nothing."""


@pytest.fixture
def catalog(tmp_path):
    certificates.ensure(tmp_path, {"catalog": ()})
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "catalog" / CERTIFICATE, tmp_path / "catalog" / KEY)
    with ThreadingHTTPServer(("127.0.0.1", 0), CatalogHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield Catalog("lake", f"https://127.0.0.1:{server.server_port}", "s3://warehouse")
        server.shutdown()
        thread.join()


def known_locations(catalog):
    async def find():
        locations = TableLocations(Rules(catalogs=(catalog,)))
        await locations.find([TableName(catalog.name, "sales.orders")])
        await locations.close()
        return locations.known

    return list(asyncio.run(find()).values())


def test_the_catalog_is_trusted_if_its_authority_is(catalog, tmp_path, monkeypatch):
    assert known_locations(catalog) == []
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / AUTHORITY))
    assert known_locations(catalog) == [LOCATION]
