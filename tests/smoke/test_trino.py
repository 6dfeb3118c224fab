# SPDX-License-Identifier: Apache-2.0
"""Trino beside a running lab: its tables read by PyIceberg, its lineage by truth, and killed processes."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from infra.namespaces import JOB_NAMESPACE, POSTGRES_NAMESPACE, TABLE_ORDERS, TABLE_SUPPLIER_STATS, WAREHOUSE_NAMESPACE
from infra.services.trino import lineage_receiver, server
from tests.smoke.trino_statements import StatementError, Statements
from tests.stack.polling import until

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

SCHEMA = "trino_marts"
REVENUE = f"{SCHEMA}.revenue"
LOST_SECONDS = 300


@pytest.fixture(scope="module")
def trino(lab):
    """Add Trino to the running lab, and remove it afterwards."""
    with lab.with_settings(trino="true"):
        found = Statements(lab.environment["LAB_TRINO"], SCHEMA)
        found.run(f"CREATE SCHEMA {SCHEMA}")
        yield found


@pytest.fixture(scope="module")
def revenue(trino):
    """Create a table of a table that nothing writes meanwhile."""
    query = f"SELECT supplier, sum(total_price) AS revenue FROM lake.{TABLE_SUPPLIER_STATS} GROUP BY 1"
    trino.run(f"CREATE TABLE revenue AS {query}", "mart")
    return REVENUE


def runs(lab, job):
    """Return the runs of a job, the newest first; none if there is no such job yet."""
    jobs = lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs", limit=1000)["jobs"]
    if job not in {each["name"] for each in jobs}:
        return []
    return lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{job}/runs", limit=100)["runs"]


def states(lab, job):
    return [run["state"] for run in runs(lab, job)]


def column_lineage(lab, job):
    """Return the facet of the last event of a completed job."""
    events = lab.api("/api/v1/events/lineage", limit=1000, sortDirection="desc")["events"]
    last = next(each for each in events if each["job"]["name"] == job and each["eventType"] == "COMPLETE")
    return last["outputs"][0]["facets"]["columnLineage"]


def edges(lab, job):
    """Return column -> its inputs `dataset#column`, and under `""` what decides about rows."""
    facet = column_lineage(lab, job)
    assert "unknownFields" not in facet
    fields = {name: each["inputFields"] for name, each in facet["fields"].items()}
    return {
        name: {f"{each['name'].rpartition('.')[2]}#{each['field']}" for each in found}
        for name, found in {**fields, "": facet["dataset"]}.items()
    }


def test_a_table_of_trino_is_read_by_pyiceberg_and_depends_on_postgres(lab, trino, revenue):
    expected = Counter()
    for row in lab.table(TABLE_SUPPLIER_STATS).to_pylist():
        expected[row["supplier"]] += row["total_price"]
    assert {row["supplier"]: row["revenue"] for row in lab.table(REVENUE).to_pylist()} == pytest.approx(dict(expected))
    until(lambda: states(lab, f"mart.create.{REVENUE}") == ["COMPLETED"])
    node = f"datasetField:{WAREHOUSE_NAMESPACE}:{SCHEMA}/revenue:revenue"
    found = lab.api("/api/v1/origin", nodeId=node, depth=20)
    columns = {(each["namespace"], each["name"], each["field"]) for each in found["columns"]}
    assert (POSTGRES_NAMESPACE, "shop.public.orders", "price") in columns


def test_runs_of_one_statement_have_one_job(lab, trino, revenue):
    trino.run("CREATE TABLE folded (supplier varchar)")
    for _ in range(3):
        trino.run("INSERT INTO folded SELECT supplier FROM revenue", "nightly")
        trino.run("SELECT count(*) FROM folded", "report")
    job = f"nightly.insert.{SCHEMA}.folded.from.{REVENUE}"
    until(lambda: states(lab, job) == ["COMPLETED"] * 3)
    until(lambda: states(lab, f"report.query.from.{SCHEMA}.folded") == ["COMPLETED"] * 3)


def test_a_failed_query_is_a_failed_run_with_its_message(lab, trino, revenue):
    with pytest.raises(StatementError, match="DIVISION_BY_ZERO"):
        trino.run(
            "CREATE TABLE broken AS SELECT 1 / (length(supplier) - length(supplier)) AS x FROM revenue", "failing"
        )
    job = f"failing.create.{SCHEMA}.broken"
    until(lambda: states(lab, job) == ["FAILED"])
    assert runs(lab, job)[0]["facets"]["errorMessage"]["message"] == "Division by zero"


def test_a_view_is_a_dataset_between_its_tables_and_its_readers(lab, trino, revenue):
    trino.run("CREATE VIEW large AS SELECT supplier FROM revenue WHERE revenue > 0", "views")
    trino.run("CREATE TABLE names AS SELECT supplier FROM large", "views")
    until(lambda: states(lab, f"views.create.{SCHEMA}.names") == ["COMPLETED"])
    node = f"datasetField:{WAREHOUSE_NAMESPACE}:{SCHEMA}/names:supplier"
    found = lab.api("/api/v1/origin", nodeId=node, depth=3)
    names = {each["name"] for each in found["datasets"]}
    assert {f"{SCHEMA}/large", f"{SCHEMA}/revenue"} <= names


PEOPLE = {
    "id": [1, 2, 3, 4, 5, 6],
    "name": ["ann", "bob", "cid", "dan", "eve", "fay"],
    "team": ["a", "b", "a", "b", "c", "c"],
    "pay": [10, 20, 30, 40, 50, 60],
}
TEAMS = {"team": ["a", "b", "c"], "floor": [1, 2, 3], "limit_": [15, 25, 55]}
SOURCES = {"people": PEOPLE, "teams": TEAMS}
OTHER_VALUES = {
    "id": [[11, 12, 13, 14, 15, 16], [6, 5, 4, 3, 2, 1]],
    "name": [["x", "y", "z", "u", "v", "w"], ["fay", "eve", "dan", "cid", "bob", "ann"]],
    "pay": [[60, 50, 40, 30, 20, 10], [5, 5, 5, 99, 99, 99]],
    "floor": [[7, 8, 9], [3, 2, 1]],
    "limit_": [[0, 0, 0], [99, 1, 40]],
    "people.team": [["c", "c", "b", "b", "a", "a"], ["a", "a", "a", "a", "a", "b"]],
    "teams.team": [["c", "a", "b"], ["a", "x", "y"]],
}
QUERIES = {
    "join": "SELECT p.name, t.floor, p.pay * 2 AS twice FROM people p JOIN teams t ON p.team = t.team "
    "WHERE p.pay > t.limit_",
    "outer_join": "SELECT p.id, coalesce(t.floor, -1) AS floor FROM people p LEFT JOIN teams t USING (team)",
    "grouping": "SELECT team, count(*) AS n, max_by(name, pay) AS best FROM people GROUP BY team HAVING sum(pay) > 45",
    "sets": "SELECT team, 1 AS one FROM people UNION ALL SELECT team, floor FROM teams",
    "difference": "SELECT team FROM people EXCEPT SELECT team FROM teams WHERE floor > 1",
    "window": "SELECT id, lag(name) OVER (PARTITION BY team ORDER BY pay) AS before FROM people",
    "top": "SELECT name FROM people ORDER BY pay DESC FETCH FIRST 2 ROWS ONLY",
    "conditional": "SELECT id, CASE WHEN pay > 30 THEN name ELSE 'low' END AS label FROM people",
    "correlated": "SELECT name, (SELECT max(t.floor) FROM teams t WHERE t.team = p.team) AS floor FROM people p",
    "exists": "SELECT id FROM people p WHERE EXISTS (SELECT 1 FROM teams t WHERE t.limit_ < p.pay AND t.team = p.team)",
    "unnested": "SELECT p.id, u.v FROM people p CROSS JOIN UNNEST(ARRAY[p.pay, p.id]) AS u (v)",
    "lambda": "SELECT id, transform(ARRAY[pay], x -> x + 1) AS raised FROM people",
    "star": "WITH w AS (SELECT * FROM teams) SELECT * FROM w WHERE floor < 3",
    "filtered": "SELECT count(*) FILTER (WHERE pay > 25) AS n, arbitrary(floor) AS floor FROM people, teams "
    "WHERE floor = 1",
}


def create_view(trino, name, columns):
    rows = ", ".join(str(tuple(row)) for row in zip(*columns.values(), strict=True))
    trino.run(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM (VALUES {rows}) AS v ({', '.join(columns)})")


def results(trino, query, names):
    """Return the bag of values of each output column."""
    rows = trino.run(query)
    return {name: Counter(repr(row[number]) for row in rows) for number, name in enumerate(names)}


@pytest.fixture(scope="module")
def sources(trino):
    for name, columns in SOURCES.items():
        create_view(trino, name, columns)
    return trino


@pytest.mark.parametrize("name", QUERIES)
def test_only_columns_that_the_lineage_names_change_an_output(lab, sources, name):
    query, table = QUERIES[name], f"truth_{name}"
    sources.run(f"CREATE TABLE {table} AS {query}", "truth")
    job = f"truth.create.{SCHEMA}.{table}"
    until(lambda: states(lab, job) == ["COMPLETED"])
    found = edges(lab, job)
    rows = found.pop("")
    columns = [column for column, *_ in sources.run(f"DESCRIBE {table}")]
    assert set(columns) == found.keys()
    before = results(sources, query, columns)
    changed = set()
    for source, values in SOURCES.items():
        for column in values:
            for others in OTHER_VALUES.get(column) or OTHER_VALUES[f"{source}.{column}"]:
                create_view(sources, source, {**values, column: others})
                after = results(sources, query, columns)
                changed |= {(f"{source}#{column}", each) for each in columns if after[each] != before[each]}
            create_view(sources, source, values)
    assert changed, "the values change nothing: the test has no effect"
    assert changed <= {(edge, each) for each in columns for edge in found[each] | rows}


def test_columns_behind_a_pattern_are_unknown_and_not_without_origin(lab, sources):
    pattern = "ORDER BY id MEASURES a.pay AS first_pay PATTERN (a b) DEFINE b AS pay > a.pay"
    sources.run(f"CREATE TABLE matched AS SELECT * FROM people MATCH_RECOGNIZE ({pattern})", "truth")
    job = f"truth.create.{SCHEMA}.matched"
    until(lambda: states(lab, job) == ["COMPLETED"])
    assert column_lineage(lab, job)["unknownFields"] == ["first_pay"]


def test_a_killed_receiver_loses_and_doubles_nothing(lab, trino, revenue):
    trino.run("CREATE TABLE kept (supplier varchar)")
    for number in range(12):
        if number in (3, 8):
            kill(lab, lineage_receiver.NAME)
        trino.run("INSERT INTO kept SELECT supplier FROM revenue", "kept")
    job = f"kept.insert.{SCHEMA}.kept.from.{REVENUE}"

    def counts():
        events = lab.api("/api/v1/events/lineage", limit=1000, sortDirection="desc")["events"]
        return Counter(each["eventType"] for each in events if each["job"]["name"] == job)

    until(lambda: states(lab, job) == ["COMPLETED"] * 12, seconds=LOST_SECONDS)
    # The listener may repeat the request with a start after that with its end.
    until(lambda: counts()["START"] == 12, seconds=LOST_SECONDS)
    assert counts() == {"START": 12, "COMPLETE": 12}


def test_a_query_of_a_killed_coordinator_ends_as_failed(lab, trino):
    many = ", ".join(f"lake.{TABLE_ORDERS} {alias}" for alias in "abcd")
    job = f"endless.create.{SCHEMA}.endless"
    with ThreadPoolExecutor(1) as pool:
        query = pool.submit(trino.run, f"CREATE TABLE endless AS SELECT count(*) AS n FROM {many}", "endless")
        until(lambda: states(lab, job) == ["RUNNING"])
        kill(lab, server.NAME)
        assert isinstance(query.exception(), httpx.TransportError)
    until(lambda: states(lab, job) == ["FAILED"], seconds=LOST_SECONDS)
    assert "coordinator" in runs(lab, job)[0]["facets"]["errorMessage"]["message"]


def kill(lab, service):
    """Kill the process of a service, and wait for the next one."""
    pid = lab.supervisor.require_state(service).pid
    (process,) = [each for each in lab.processes() if each.pid == pid]
    process.kill()
    until(lambda: lab.supervisor.require_state(service).pid not in (None, pid))


def test_statements_and_events_without_a_user_or_a_key_are_refused(lab, trino):
    statement = httpx.post(f"{trino.url}/v1/statement", content="SELECT 1", headers={"Content-Type": "text/plain"})
    assert statement.status_code == 401
    port = server.EVENTS.port + lab.settings.port_offset
    event = httpx.post(f"http://127.0.0.1:{port}/events", content="{}", headers={"Content-Type": "text/plain"})
    assert event.status_code == 401
