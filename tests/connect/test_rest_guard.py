# SPDX-License-Identifier: Apache-2.0
"""Kafka Connect's REST server refuses requests of other pages. All other tests use workers with the guard."""

import httpx
import pytest

from infra.services.connect import worker as connect
from tests.connect.cluster import source
from tests.other_origins import OTHER_ORIGINS


@pytest.fixture
def url(cluster, site):
    return site.address(connect.NAME, connect.REST.name).url


@pytest.mark.parametrize("headers", OTHER_ORIGINS)
@pytest.mark.parametrize("path", ["/", "/connectors", "/connector-plugins/none/config", "/none"])
def test_requests_of_other_origins_are_refused(url, path, headers):
    response = httpx.get(f"{url}{path}", headers=headers)
    assert response.status_code == 403
    assert response.json()["error_code"] == 403
    assert response.json()["message"].startswith("Refused: ")


@pytest.mark.parametrize("headers", OTHER_ORIGINS)
def test_connector_of_another_origin_is_not_made(cluster, url, name, headers):
    body = {"name": name, "config": source(name)}
    assert httpx.post(f"{url}/connectors", json=body, headers=headers).status_code == 403
    assert name not in httpx.get(f"{url}/connectors").json()


def test_clients_are_served_under_address_and_name(url):
    own = {"Origin": url, "Sec-Fetch-Site": "same-origin"}
    for headers, server in (({}, url), (own, url), ({}, url.replace("127.0.0.1", "localhost"))):
        assert httpx.get(f"{server}/connectors", headers=headers).status_code == 200
