# SPDX-License-Identifier: Apache-2.0
"""Admission of requests: host names, origins, content types, keys and scopes, audit log."""

import asyncio
import json
import stat
from contextlib import asynccontextmanager

import httpx
import pytest
from lineage_client import JSON, admin_headers
from lineage_events import RULES, body, encode

from lineage.access import audit as audit_module
from lineage.access.audit import AuditLog
from lineage.access.hosts import HOSTS_VARIABLE, HostPolicy, parse_authority
from lineage.access.keys import ADMIN_TOKEN_FILE, KeysError, add_key, open_keys, read_keys
from lineage.access.scopes import Scope, required_scopes
from lineage.api import create_app
from lineage.settings import Settings, parse_arguments
from lineage.store import EventLog

EVENT = encode(body())
ADMINISTRATION = ("/api/v1/rebuild", "/api/v1/compact?before=2000-01-01T00:00:00Z", "/api/v1/dead-letters/replay")


@asynccontextmanager
async def serving(directory, environment=None, **changes):
    settings = Settings(host="127.0.0.1", port=0, data=directory, rules=None, **changes)
    app = create_app(settings, RULES, EventLog(directory), environment or {})
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=("192.0.2.7", 123))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:5000") as client:
            yield client


def with_client(tmp_path, scenario, environment=None, **changes):
    async def run():
        async with serving(tmp_path / "data", environment, **changes) as client:
            return await scenario(client)

    return asyncio.run(run())


def statuses(tmp_path, *requests, environment=None, **changes):
    """Send `(method, path, headers)` and return the statuses."""

    async def scenario(client):
        found = []
        for method, path, headers in requests:
            content = EVENT if (method, path) == ("POST", "/api/v1/lineage") else None
            found.append((await client.request(method, path, content=content, headers=headers)).status_code)
        return found

    return with_client(tmp_path, scenario, environment, **changes)


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:5000", 200),
        ("LOCALHOST.", 200),
        ("shop.localhost", 200),
        ("127.0.0.1:5000", 200),
        ("127.8.8.8", 200),
        ("[::1]:5000", 200),
        ("10.244.0.7:5000", 200),
        ("lineage:5000", 200),
        ("lineage.example.org", 200),
        ("deep.lake.example.org", 200),
        ("rebind.attacker.example", 421),
        ("localhost.attacker.example", 421),
        ("evil-lake.example.org", 421),
        ("127.0.0.1.nip.io", 421),
        ("a@localhost", 421),
        ("", 421),
        ("localhost, attacker.example", 421),
    ],
)
def test_only_known_host_names_are_answered(tmp_path, host, status):
    names = ("lineage", "lineage.example.org", ".lake.example.org")
    assert statuses(tmp_path, ("GET", "/api/v1/namespaces", {"Host": host}), allowed_hosts=names) == [status]


def test_host_names_of_the_environment_are_accepted_too(tmp_path):
    hosts = ("lineage.example.org", "a.lake.example.org", "localhost", "example.org")
    requests = [("GET", "/api/v1/namespaces", {"Host": host}) for host in hosts]
    environment = {HOSTS_VARIABLE: "lineage.example.org, .lake.example.org"}
    assert statuses(tmp_path, *requests, environment=environment) == [200, 200, 200, 421]
    assert statuses(tmp_path, *requests) == [421, 421, 200, 421]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://localhost:5000"}, 200),
        ({"Origin": "https://localhost:5000"}, 200),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "http://127.0.0.1:5000"}, 403),
        ({"Origin": "http://attacker.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:5000, http://attacker.example"}, 403),
        ({"Origin": "https://portal.example.org"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403),
    ],
)
def test_pages_of_other_origins_cannot_read(tmp_path, headers, status):
    origins = ("https://portal.example.org",)
    assert statuses(tmp_path, ("GET", "/api/v1/namespaces", headers), allowed_origins=origins) == [status]


def test_pages_of_other_origins_cannot_write_and_get_no_permission_to(tmp_path):
    async def scenario(client):
        foreign = {"Origin": "http://localhost:3000"}
        asked = await client.options("/api/v1/lineage", headers=foreign | {"Access-Control-Request-Method": "POST"})
        written = await client.post("/api/v1/lineage", content=EVENT, headers=foreign | JSON)
        assert (asked.status_code, written.status_code) == (403, 403)
        assert not [name for name in (*asked.headers, *written.headers) if name.startswith("access-control")]
        assert (await client.get("/api/v1/jobs")).json()["totalCount"] == 0

    with_client(tmp_path, scenario)


def test_a_link_of_another_page_opens_the_page_but_not_its_frame(tmp_path):
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    frame = link | {"Sec-Fetch-Dest": "iframe"}
    assert statuses(tmp_path, ("GET", "/", link), ("GET", "/", frame)) == [503, 403]


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_writes_must_declare_json(tmp_path, media):
    headers = {"Content-Type": media} if media else {}
    assert statuses(tmp_path, ("POST", "/api/v1/lineage", headers)) == [415]


@pytest.mark.parametrize("media", ["application/json", "application/json; charset=utf-8", "application/ld+json"])
def test_json_content_types_are_accepted(tmp_path, media):
    assert statuses(tmp_path, ("POST", "/api/v1/lineage", {"Content-Type": media})) == [201]


def test_administration_needs_the_generated_token(tmp_path):
    async def scenario(client):
        token = tmp_path / "data" / ADMIN_TOKEN_FILE
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
        for path in ADMINISTRATION:
            refused = await client.post(path)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert (await client.post(path, headers=bearer("a" * 43))).status_code == 401
            assert (await client.post(path, headers=admin_headers(tmp_path / "data"))).status_code == 200
        assert (await client.delete("/api/v1/namespaces/x")).status_code == 401
        return token.read_text()

    first = with_client(tmp_path, scenario)
    assert with_client(tmp_path, scenario) == first


def test_a_token_that_others_can_read_is_not_used(tmp_path):
    open_keys(tmp_path, None, False, {})
    (tmp_path / ADMIN_TOKEN_FILE).chmod(0o644)
    with pytest.raises(KeysError, match="readable by other users"):
        open_keys(tmp_path, None, False, {})
    (tmp_path / ADMIN_TOKEN_FILE).chmod(0o600)
    (tmp_path / ADMIN_TOKEN_FILE).write_text("")
    with pytest.raises(KeysError, match="empty or damaged"):
        open_keys(tmp_path, None, False, {})


def test_keys_limit_each_caller_to_its_scopes(tmp_path):
    file = tmp_path / "keys.json"
    keys = {scope: add_key(file, f"the {scope}", [scope]) for scope in Scope}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not [key for key in keys.values() if key in file.read_text()]
    requests = [
        (method, path, JSON | bearer(keys[scope]) if scope else JSON)
        for method, path in (
            ("POST", "/api/v1/lineage"),
            ("GET", "/api/v1/namespaces"),
            ("GET", "/openapi.json"),
            ("POST", "/api/v1/rebuild"),
            ("GET", "/health"),
        )
        for scope in (None, Scope.INGEST, Scope.READ, Scope.ADMIN)
    ]
    found = statuses(tmp_path, *requests, keys=file)
    assert [found[at : at + 4] for at in range(0, len(found), 4)] == [
        [401, 201, 403, 201],
        [401, 403, 200, 200],
        [401, 403, 200, 200],
        [401, 403, 403, 200],
        [200, 200, 200, 200],
    ]


def test_keys_of_the_environment(tmp_path):
    environment = {"LINEAGE_INGEST_KEY": "i" * 32, "LINEAGE_READ_KEY": "r" * 32, "LINEAGE_ADMIN_KEY": "a" * 32}
    requests = (
        ("POST", "/api/v1/lineage", JSON),
        ("POST", "/api/v1/lineage", JSON | bearer("i" * 32)),
        ("GET", "/api/v1/jobs", bearer("r" * 32)),
        ("GET", "/api/v1/jobs", bearer("i" * 32)),
        ("GET", "/api/v1/jobs/runs/unknown", bearer("i" * 32)),
        ("POST", "/api/v1/rebuild", bearer("a" * 32)),
    )
    found = statuses(tmp_path, *requests, environment=environment, require_keys=True)
    assert found == [401, 201, 200, 403, 404, 200]
    assert not (tmp_path / "data" / ADMIN_TOKEN_FILE).exists()
    with pytest.raises(KeysError, match="LINEAGE_READ_KEY"):
        open_keys(tmp_path, None, True, {"LINEAGE_READ_KEY": "short"})


@pytest.mark.parametrize(
    "text", ["", "[]", '{"keys": [{"name": "a"}]}', '{"keys": [{"name": "a", "scopes": ["x"], "sha256": "00"}]}']
)
def test_an_unusable_keys_file_is_reported(tmp_path, text):
    file = tmp_path / "keys.json"
    file.write_text(text)
    with pytest.raises(KeysError, match=r"keys\.json"):
        read_keys(file)


def test_every_route_that_deletes_or_maintains_requires_admin(tmp_path):
    async def scenario(client):
        return (await client.get("/openapi.json")).json()["paths"]

    for path, operations in with_client(tmp_path, scenario).items():
        for method in operations:
            scopes = required_scopes(method.upper(), path)
            if method == "delete" and not path.endswith("/tags/{tag}"):
                assert scopes == {Scope.ADMIN}, path
            assert scopes or path == "/health" or not path.startswith("/api/"), path


def test_administrative_and_refused_requests_are_audited(tmp_path):
    async def scenario(client):
        await client.post(ADMINISTRATION[1], headers=admin_headers(tmp_path / "data"))
        await client.post("/api/v1/compact?before=never", headers=admin_headers(tmp_path / "data"))
        await client.post("/api/v1/rebuild")
        await client.get("/api/v1/jobs", headers={"Origin": "http://attacker.example"})

    with_client(tmp_path, scenario)
    folder = tmp_path / "data" / "audit"
    done = [json.loads(line) for line in (folder / "administration.jsonl").read_text().splitlines()]
    refused = [json.loads(line) for line in (folder / "refusals.jsonl").read_text().splitlines()]
    assert [(row["caller"], row["address"], row["action"], row["status"], row["result"]) for row in done] == [
        ("admin-token", "192.0.2.7", f"POST {ADMINISTRATION[1]}", 200, "done"),
        ("admin-token", "192.0.2.7", "POST /api/v1/compact?before=never", 400, "failed"),
    ]
    assert [(row["caller"], row["action"], row["status"]) for row in refused] == [
        ("anonymous", "POST /api/v1/rebuild", 401),
        ("anonymous", "GET /api/v1/jobs", 403),
    ]
    assert stat.S_IMODE((folder / "refusals.jsonl").stat().st_mode) == 0o600


def test_a_flood_of_refusals_is_bounded_and_does_not_displace_administration(tmp_path, monkeypatch):
    monkeypatch.setattr(audit_module, "MAX_FILE_BYTES", 2_000)
    now = [1.0]
    monkeypatch.setattr(audit_module.time, "monotonic", lambda: now[0])
    log = AuditLog(tmp_path)
    log.administration("admin", "::1", "POST /api/v1/rebuild", 200)
    for number in range(5_000):
        now[0] = 1 + number / 1_000
        log.refusal("anonymous", "192.0.2.7", "GET " + "x" * 10_000, 403, "y" * 10_000)
    now[0] = 10.0
    log.refusal("anonymous", "192.0.2.7", "GET /", 403, "last")
    log.close()
    files = list((tmp_path / "audit").glob("refusals.jsonl*"))
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert sum(file.stat().st_size for file in files) < 6 * 2_000
    assert any(row.get("suppressed") == 980 for row in lines)
    assert len((tmp_path / "audit" / "administration.jsonl").read_text().splitlines()) == 1


def test_authorities_and_options():
    assert parse_authority("[::1]:80").host == "::1"
    assert parse_authority("a b") is None
    policy = HostPolicy.of((), ())
    assert policy.accepts_origin("https://localhost", parse_authority("localhost:443"))
    parsed = parse_arguments(["--data", "x", "--allowed-host", "a.example", "--allowed-origin", "https://b.example"])
    assert parsed.allowed_hosts == ("lineage", "a.example")
    assert parsed.allowed_origins == ("https://b.example",)
    with pytest.raises(SystemExit):
        parse_arguments(["--data", "x", "--allowed-origin", "b.example"])


def test_a_late_request_does_not_open_the_audit_log_again(tmp_path, caplog):
    audit = AuditLog(tmp_path)
    audit.refusal("none", "127.0.0.1", "GET /", 403, "")
    audit.close()
    audit.refusal("none", "127.0.0.1", "GET /late", 403, "")
    assert len((tmp_path / "audit" / "refusals.jsonl").read_text().splitlines()) == 1
    assert "GET /late" in caplog.text, "what is not in the audit log is in the log of the service"
