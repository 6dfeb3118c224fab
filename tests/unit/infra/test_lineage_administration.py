# SPDX-License-Identifier: Apache-2.0
"""`lab lineage rebuild | compact` against a real lineage service."""

import json
from urllib.request import Request, urlopen

import pytest
from test_lineage_commands import JSON, events, run_lineage

from infra import credentials
from infra.cli.lineage_administration import KEY_VARIABLE
from infra.project import CREDENTIALS_FILE, NAME
from lineage.access.keys import ADMIN_TOKEN_FILE, add_key
from lineage.access.scopes import Scope
from lineage.checks.http_client import KEY_VARIABLE as READ_KEY_VARIABLE
from tests.bench.service_process import running_service

STACK = "maintained"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """URL and admin key of a service that holds two events."""
    data = tmp_path_factory.mktemp("data")
    with running_service(data) as running:
        for content in events():
            with urlopen(Request(f"{running.url}/api/v1/lineage", json.dumps(content).encode(), JSON), timeout=60):
                pass
        yield running.url, (data / ADMIN_TOKEN_FILE).read_text().strip()


@pytest.fixture
def lab(service, tmp_path, monkeypatch):
    """State of a stack whose lineage service is `service`; return the folder of the stack."""
    url, key = service
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    monkeypatch.setattr("infra.project.STATE", tmp_path)
    monkeypatch.setattr("infra.cli.stack.PULUMI_STATE", tmp_path / ".pulumi")
    stack = {"type": "pulumi:pulumi:Stack", "outputs": {"endpoints": {"lineage": url}}}
    file = tmp_path / ".pulumi" / ".pulumi" / "stacks" / NAME / f"{STACK}.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"version": 3, "checkpoint": {"latest": {"resources": [stack]}}}))
    folder = tmp_path / STACK
    folder.mkdir()
    (folder / CREDENTIALS_FILE).write_text(credentials.render({KEY_VARIABLE: key}))
    return folder


def stored(url):
    with urlopen(f"{url}/api/v1/events/lineage", timeout=60) as response:
        return json.load(response)["totalCount"]


def test_rebuild_and_compaction_with_the_key_of_the_lab(service, lab):
    code, text, error = run_lineage("rebuild", "--stack", STACK)
    assert (code, error) == (0, "")
    assert text.startswith("rebuilt the graph from 2 events in ")
    assert text.endswith(" s; it is unchanged\n")
    assert stored(service[0]) == 2
    code, text, error = run_lineage("compact", "2026-01-01T00:05:00Z", "--stack", STACK)
    assert (code, error) == (0, "")
    assert text == "compacted 1 events older than 2026-01-01T00:05:00.000000Z; the graph is unchanged\n"
    assert stored(service[0]) == 1
    code, text, _ = run_lineage("compact", "-1d", "--stack", STACK)
    assert (code, text[:19]) == (0, "compacted 1 events ")
    assert run_lineage("rebuild", "--stack", STACK)[0] == 0


def test_service_of_a_url_requires_the_key_of_the_environment(service, lab, monkeypatch):
    url, key = service
    code, text, error = run_lineage("rebuild", "--url", url)
    assert (code, text) == (2, "")
    assert "refused the admin key (401: this request requires a key with scope admin" in error
    assert KEY_VARIABLE in error
    monkeypatch.setenv(KEY_VARIABLE, key)
    assert run_lineage("rebuild", "--url", url)[0] == 0


@pytest.mark.parametrize("words", [["rebuild"], ["compact", "now"]])
def test_wrong_key_of_the_lab_is_refused(lab, words):
    (lab / CREDENTIALS_FILE).write_text(credentials.render({KEY_VARIABLE: "x" * 40}))
    code, text, error = run_lineage(*words, "--stack", STACK)
    assert (code, text) == (2, "")
    assert "refused the admin key (401: the key is unknown" in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rebuild", "--stack", "none"], "stack none has no running lab; start it: make up STACK=none"),
        (["compact", "-1d", "--stack", "none"], "stack none has no running lab"),
        (["rebuild", "--url", "http://127.0.0.1:9"], "the lineage service at http://127.0.0.1:9 does not respond"),
        (["compact", "soon", "--stack", STACK], "'soon' is not a time"),
        (["compact"], "Missing argument"),
    ],
)
def test_failed_command_exits_with_2(lab, words, message):
    code, text, error = run_lineage(*words)
    assert (code, text) == (2, "")
    assert message in error.replace("\n", " ")


def test_reading_without_a_key_names_the_variable_that_has_it(tmp_path, monkeypatch):
    monkeypatch.delenv(READ_KEY_VARIABLE, raising=False)
    key = add_key(tmp_path / "keys.json", "people", [Scope.READ])
    with running_service(tmp_path / "data", "--keys", tmp_path / "keys.json") as running:
        commands = (["check", running.url], ["impact", "orders", "--url", running.url])
        for words in commands:
            code, _, error = run_lineage(*words)
            assert (code, "responded with 401" in error, READ_KEY_VARIABLE in error) == (2, True, True), error
        monkeypatch.setenv(READ_KEY_VARIABLE, key)
        for words in commands:
            assert "401" not in run_lineage(*words)[2]
