# SPDX-License-Identifier: Apache-2.0
"""Load generator, statistics and rendering of the lineage service benchmarks."""

import json
import shutil
import subprocess
import zipfile
from collections import Counter
from urllib.request import urlopen

import pytest

from lineage.events import read_original
from lineage.graph import Graph, export_graph, fold_events
from lineage.rules import Rules
from lineage.rules.event_reader import read_event
from lineage.store import EventLog
from lineage.store.state_file import open_state
from tests.bench.figures import Figures, Goal, format_number, quantile
from tests.bench.load_generator import Load, prepared_generator
from tests.bench.long_history import fill
from tests.bench.marquez_comparison import DATABASE, JAR, marquez_rounds
from tests.bench.run_history import RunHistory, table_name
from tests.bench.service_process import running_service
from tests.bench.warehouse import DOMAIN_JOBS, Warehouse, encode


def test_generated_events_are_distinct_and_of_realistic_size():
    bodies = [encode(Warehouse(3).event(number)) for number in range(300)]
    assert 2 * 1024 <= sum(map(len, bodies)) / len(bodies) <= 4 * 1024
    assert len(set(bodies)) == 300


def test_generated_warehouse_is_connected_and_has_the_stated_nodes():
    warehouse = Warehouse(4)
    lineage = fold_events(read_event(encode(event), Rules()) for event in warehouse.completions())
    graph = Graph(lineage)
    export = export_graph(lineage, graph)
    assert len(export["jobs"]) == warehouse.jobs == 4 * len(DOMAIN_JOBS)
    assert len(export["jobs"]) + len(export["datasets"]) == warehouse.nodes
    reached, todo = set(), [next(iter(lineage.jobs))]
    while todo:
        job = todo.pop()
        if job not in reached:
            reached.add(job)
            view = graph.job_lineages[job]
            todo += [other for dataset in view.inputs | view.outputs for other in graph.jobs_of(dataset)]
    assert reached == set(lineage.jobs)


def test_a_filled_directory_is_that_of_a_service_that_received_the_events(tmp_path):
    history = RunHistory(jobs=5, raw_datasets=7, columns=3, runs=300)
    for events in (250, 598, 598):
        fill(tmp_path / "filled", history, events)
    with running_service(tmp_path / "filled") as service, urlopen(f"{service.url}/api/v1/graph") as answer:
        filled = json.load(answer)
    expected = fold_events(read_event(encode(history.event(number)), Rules()) for number in range(598))
    assert filled == export_graph(expected, Graph(expected))
    log = EventLog(tmp_path / "filled")
    state = open_state(tmp_path / "filled", Rules(), 0, log.last(), log.identity)
    assert state.position == log.last() == log.count() == len({history_hash(history, number) for number in range(598)})
    state.close()
    log.append([read_original(encode(history.event(599)))])
    log.close()
    with pytest.raises(ValueError, match="no event is left to be sent"):
        fill(tmp_path / "filled", history, 598)


def history_hash(history, number):
    return read_original(encode(history.event(number))).hash


def test_load_generator_sends_and_reads_every_event(tmp_path):
    with running_service(tmp_path / "data") as service:
        with prepared_generator(Load(service.host, service.port, clients=3, events=60, domains=1)) as send:
            result = send()
        assert len(result.latencies) == result.events == 60
        with prepared_generator(
            Load(service.host, service.port, clients=2, events=30, first=60, batch=10, domains=1)
        ) as send:
            assert len(send().latencies) == 3
        with prepared_generator(
            Load(service.host, service.port, 2, events=30, first=90, domains=1, per_second=500)
        ) as send:
            paced = send()
        assert len(paced.visible) == len(paced.visible_after) == 30
        assert min(paced.visible) > 0


def test_load_generator_reports_rejected_events(tmp_path):
    with (
        running_service(tmp_path / "data", "--max-event-bytes", 100) as service,
        prepared_generator(Load(service.host, service.port, clients=1, events=2)) as send,
        pytest.raises(RuntimeError, match=r"not all events were accepted, responses by status: \{413: 2\}"),
    ):
        send()


def test_figures_are_rendered_as_median_spread_and_verdict():
    figures = Figures()
    for value in (5.0, 1.0, 3.0):
        figures.add("rate", "events/s", value, Goal(3, floor=True))
        figures.add("latency", "ms", value, Goal(2))
    figures.remark("once")
    figures.remark("once")
    document = json.loads(figures.render_json())
    rate, latency = document["figures"]
    assert (rate["median"], rate["lowest"], rate["highest"], rate["values"]) == (3, 1, 5, [5, 1, 3])
    assert (rate["goal"], rate["met"]) == (">= 3", True)
    assert (latency["goal"], latency["met"]) == ("<= 2", False)
    assert document["remarks"] == ["once"]
    assert figures.table().row_count == 2


def test_quantiles_are_measured_values():
    assert quantile(range(1, 101), 0.99) == 99
    assert quantile(range(1, 101), 0.5) == 50
    assert quantile([7.0], 0.99) == 7


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.01234, "0.0123"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1,234")]
)
def test_numbers_are_rendered_with_three_digits(value, text):
    assert format_number(value) == text


def test_missing_marquez_is_reported_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv(JAR, raising=False)
    figures = Figures()
    with marquez_rounds(figures, tmp_path) as measure_round:
        measure_round(0)
        measure_round(1)
    assert figures.by_name == {}
    assert len(figures.remarks) == 1
    assert figures.remarks[0].startswith(f"Marquez skipped: {JAR} is not set. Instead, recorded")


def test_unusable_database_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv(JAR, str(tmp_path / "marquez.jar"))
    monkeypatch.setenv(DATABASE, "mysql://user@host/name")
    with pytest.raises(RuntimeError, match="write it as postgresql://"), marquez_rounds(Figures(), tmp_path):
        pass


FAKE_MARQUEZ = """
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.file.*;
import java.util.concurrent.Executors;
import java.util.regex.*;

/** Listens on the configured port and accepts every request. */
public class StandIn {
  public static void main(String[] args) throws Exception {
    String config = Files.readString(Path.of(args[1]));
    Matcher port = Pattern.compile("\\"applicationConnectors\\"[^}]*\\"port\\": (\\\\d+)").matcher(config);
    if (!args[0].equals("server") || !port.find() || !config.contains("jdbc:postgresql://db:5433/marquez")) {
      throw new IllegalArgumentException(config);
    }
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(port.group(1))), 64);
    server.setExecutor(Executors.newFixedThreadPool(16));
    server.createContext("/", exchange -> {
      exchange.getRequestBody().readAllBytes();
      exchange.sendResponseHeaders(exchange.getRequestMethod().equals("POST") ? 201 : 200, -1);
      exchange.close();
    });
    server.start();
  }
}
"""


@pytest.fixture
def fake_jar(tmp_path):
    """Build a jar with Marquez's main class."""
    if not shutil.which("javac"):
        pytest.skip("no javac on PATH")
    (tmp_path / "StandIn.java").write_text(FAKE_MARQUEZ)
    subprocess.run(["javac", "-d", tmp_path, tmp_path / "StandIn.java"], check=True)
    with zipfile.ZipFile(tmp_path / "fake-marquez.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: StandIn\n")
        for file in tmp_path.glob("*.class"):
            jar.write(file, file.name)
    return tmp_path / "fake-marquez.jar"


def test_marquez_is_started_measured_and_stopped(fake_jar, tmp_path, monkeypatch):
    monkeypatch.setenv(JAR, str(fake_jar))
    monkeypatch.setenv(DATABASE, "postgresql://marquez:secret@db:5433/marquez")
    figures = Figures()
    with marquez_rounds(figures, tmp_path) as measure_round:
        measure_round(0)
        assert (tmp_path / "marquez.yml").stat().st_mode & 0o077 == 0
    assert "Marquez, accept, single events, 16 clients" in figures.by_name
    assert all(figure.values[0] > 0 for figure in figures.by_name.values())
    assert figures.remarks == []


def test_generated_history_has_the_stated_shares_and_no_cycle():
    history = RunHistory(jobs=20, raw_datasets=10, columns=3, runs=4000)
    events = [history.event(number) for number in range(history.events)]
    assert events == [history.event(number) for number in range(history.events)]
    ends = Counter(event["eventType"] for event in events if event["eventType"] != "START")
    assert 0.02 < ends["FAIL"] / history.runs < 0.06
    assert 0.93 < ends["COMPLETE"] / history.runs < 0.98
    for job in range(history.jobs):
        assert all(source < table_name(job) for source in history.sources(job) if source.startswith("tables/"))
    widths = {len(event["outputs"][0]["facets"]["schema"]["fields"]) for event in events if event["outputs"]}
    assert widths == {3, 4, 5, 6, 7}


def test_generated_history_is_read_as_a_graph():
    history = RunHistory(jobs=20, raw_datasets=10, columns=3, runs=40)
    lineage = fold_events(read_event(encode(history.event(number)), Rules()) for number in range(history.events))
    export = export_graph(lineage, Graph(lineage))
    assert len(export["jobs"]) == history.jobs
    assert len(export["jobs"]) + len(export["datasets"]) <= history.nodes
    assert len(export["columns"]) >= history.jobs * history.columns / 2
