# SPDX-License-Identifier: Apache-2.0
"""Flink's REST servers refuse pages of other origins, and serve everybody else as without the guard."""

from pathlib import Path

import httpx
import pytest

from tests.other_origins import OTHER_ORIGINS

UPLOAD = {"jarfile": ("job.jar", b"PK" + bytes(100_000), "application/java-archive")}


@pytest.mark.parametrize("headers", OTHER_ORIGINS)
@pytest.mark.parametrize("server", ["url", "gateway_url"])
def test_requests_of_other_origins_are_refused(flink, server, headers):
    path = "/jobs/overview" if server == "url" else "/v1/info"
    response = httpx.get(f"{getattr(flink, server)}{path}", headers=headers)
    assert response.status_code == 403
    assert response.json()["errors"][0].startswith("Refused: ")


@pytest.mark.parametrize("headers", OTHER_ORIGINS)
def test_jar_of_another_origin_is_refused(flink, headers):
    try:
        response = httpx.post(f"{flink.url}/jars/upload", files=UPLOAD, headers=headers)
    except (httpx.WriteError, httpx.ReadError):
        # The server closes the connection while the body is still on its way.
        pass
    else:
        assert response.status_code == 403
    assert httpx.get(f"{flink.url}/jars").json()["files"] == []


def test_session_of_another_origin_is_refused(flink):
    response = httpx.post(f"{flink.gateway_url}/v1/sessions", json={}, headers={"Origin": "http://pages.example.org"})
    assert response.status_code == 403


def test_clients_and_flinks_own_page_are_served(flink):
    own = {"Origin": flink.url, "Sec-Fetch-Site": "same-origin"}
    assert httpx.get(f"{flink.url}/jobs/overview", headers=own).json() == httpx.get(f"{flink.url}/jobs/overview").json()
    by_name = flink.url.replace("127.0.0.1", "localhost")
    assert httpx.get(f"{by_name}/config").status_code == 200
    stored = httpx.post(f"{flink.url}/jars/upload", files=UPLOAD).json()["filename"]
    assert httpx.delete(f"{flink.url}/jars/{Path(stored).name}").status_code == 200
