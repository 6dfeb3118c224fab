# SPDX-License-Identifier: Apache-2.0
"""`lab lineage rebuild | compact | forget` against a real lineage service."""

import json
from urllib.request import Request, urlopen

import pytest
from test_lineage_commands import JSON, dataset, event, events, run_lineage

from infra import credentials
from infra.cli.lineage_administration import KEY_VARIABLE
from infra.project import CREDENTIALS_FILE, ENVIRONMENT_FILE, NAME
from lineage.access.keys import ADMIN_TOKEN_FILE, add_key
from lineage.access.scopes import Scope
from lineage.checks.http_client import KEY_VARIABLE as READ_KEY_VARIABLE
from lineage.checks.metadata import load_metadata
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


@pytest.mark.parametrize("words", [["rebuild"], ["compact", "now"], ["forget", "etl"]])
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
        (["forget", "--stack", STACK], "name the jobs and datasets to remove, or write --silent -7d, not both"),
        (["forget", "etl", "--silent", "-7d", "--stack", STACK], "or write --silent -7d, not both"),
        (["forget", "nobody", "--stack", STACK], "no job or dataset is named 'nobody'"),
        (["forget", "sales/orders", "--stack", STACK], "is used by job:shop:etl, job:shop:stats. Stop the job first"),
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
            assert "responded with 401" not in run_lineage(*words)[2]


@pytest.fixture
def own_service(tmp_path, monkeypatch):
    """A function that stores events in a service of its own, and its URL; the admin key is in the environment."""
    with running_service(tmp_path / "data") as running:
        monkeypatch.setenv(KEY_VARIABLE, (tmp_path / "data" / ADMIN_TOKEN_FILE).read_text().strip())

        def store(*contents):
            for content in contents:
                with urlopen(Request(f"{running.url}/api/v1/lineage", json.dumps(content).encode(), JSON), timeout=60):
                    pass

        yield running.url, store


def nodes(url):
    with urlopen(f"{url}/api/v1/summaries", timeout=60) as response:
        found = json.load(response)
    return {row["name"] for kind in ("jobs", "datasets") for row in found[kind]}


def test_forgotten_nodes_leave_the_graph_until_their_next_event_also_after_a_rebuild(own_service):
    url, store = own_service
    store(*events())
    dry = run_lineage("forget", "stats", "lake.sales.orders", "etl", "--dry-run", "--url", url)
    assert dry[0] == 0
    assert dry[1].splitlines() == [
        "would remove job:shop:etl",
        "would remove job:shop:stats",
        "would remove dataset:s3://warehouse:sales/orders",
        "3 nodes; each comes back with its next event",
    ]
    assert nodes(url) == {"etl", "stats", "orders", "sales/orders", "sales/stats"}
    code, text, error = run_lineage("forget", "stats", "lake.sales.orders", "job:shop:etl", "--url", url)
    assert (code, error) == (0, "")
    assert text.startswith("removed job:shop:etl\n")
    assert nodes(url) == {"orders", "sales/stats"}
    assert run_lineage("rebuild", "--url", url)[0] == 0
    assert nodes(url) == {"orders", "sales/stats"}
    # Its time is that of the event, which is after the deletion.
    store({**event("stats", 10, [], [dataset("sales/stats")], run=3), "eventTime": "2100-01-01T00:00:00Z"})
    assert nodes(url) == {"orders", "sales/stats", "stats"}


def test_running_job_is_removed_only_by_force(own_service):
    url, store = own_service
    store(event("live", 0, [], [dataset("a")], state="RUNNING"))
    code, text, error = run_lineage("forget", "live", "--url", url)
    assert (code, text) == (2, "")
    assert "nothing was removed: job:shop:live is running" in error.replace("\n", " ")
    assert nodes(url) == {"live", "a"}
    assert run_lineage("forget", "live", "--force", "--url", url)[0] == 0
    assert nodes(url) == {"a"}


def test_silent_jobs_go_with_the_datasets_that_only_they_use(own_service):
    url, store = own_service
    recent = {**event("nightly", 0, [dataset("shared")], [dataset("mart")], run=7)}
    store(
        event("old", 0, [dataset("shared"), dataset("only old")], [dataset("gone")], run=5),
        event("live", 0, [], [dataset("kept")], state="RUNNING", run=6),
        recent | {"eventTime": "2026-03-01T00:00:00Z"},
        event("unnamed", 0, [], [], run=8) | {"eventTime": "2026-03-01T00:00:00Z"},
    )
    code, text, _ = run_lineage("forget", "--silent", "2026-02-01T00:00:00Z", "--url", url)
    assert code == 0
    assert text.splitlines()[:-1] == [
        "removed job:shop:old",
        "removed dataset:s3://warehouse:gone",
        "removed dataset:s3://warehouse:only old",
    ]
    assert nodes(url) == {"live", "nightly", "unnamed", "shared", "kept", "mart"}


def test_ambiguous_name_names_the_candidates(own_service):
    url, store = own_service
    store(event("orders", 0, [], [dataset("orders")]))
    code, _, error = run_lineage("forget", "orders", "--url", url)
    assert code == 2
    assert "'orders' is ambiguous" in error
    assert "dataset:s3://warehouse:orders, job:shop:orders" in error.replace("\n", " ")


def test_what_is_described_is_printed_as_a_file_that_describes_it_again(service, lab, tmp_path):
    code, _, error = run_lineage("metadata", "--stack", STACK)
    assert (code, "nothing is described" in error) == (2, True)
    file = tmp_path / "metadata.yaml"
    file.write_text(
        "version: 1\nnamespace: shop\n"
        "datasets:\n  - dataset: s3://warehouse/sales/stats\n    owners: [ann]\n    columns:\n"
        "      total: {description: 'Größe: net', tags: [{key: unit, value: EUR}]}\n"
        "jobs:\n  - job: stats\n    description: |\n      Two\n      lines\n"
    )
    code, _, error = run_lineage("describe", file, "--stack", STACK)
    assert (code, error) == (0, "")
    _, text, _ = run_lineage("metadata", "--stack", STACK)
    printed = tmp_path / "printed.yaml"
    printed.write_text(text)
    assert load_metadata(text) == load_metadata(file.read_text())
    assert run_lineage("describe", printed, "--stack", STACK)[0] == 0
    assert run_lineage("metadata", "--stack", STACK)[1] == text


def test_another_catalog_gets_no_credentials_of_the_lab(service, lab, monkeypatch):
    """Run without the program that writes to the catalog, whose environment is looked at."""
    environments = []

    def run(words, environment):
        environments.append(environment)
        return 0

    monkeypatch.setattr("infra.cli.lineage_publish.run_in_foreground", run)
    monkeypatch.setattr("infra.toolchain.Artifacts.setup", lambda *_: None)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    (lab / ENVIRONMENT_FILE).write_text(credentials.render({"AWS_SECRET_ACCESS_KEY": "of the lab"}))
    code, _, error = run_lineage("publish", "--uri", "https://catalog.example.org", "--stack", STACK)
    assert (code, error) == (0, "")
    assert "AWS_SECRET_ACCESS_KEY" not in environments[0]
    code, _, error = run_lineage("publish", "--stack", STACK)
    assert (code, "has no Iceberg catalog" in error.replace("\n", " ")) == (2, True)
