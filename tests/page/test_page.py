# SPDX-License-Identifier: Apache-2.0
"""Browser tests of the lineage page on a lineage service with the graph of the lineage contract."""

import csv
import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit
from urllib.request import Request, urlopen

import pytest

from infra.namespaces import JOB_NAMESPACE, JOB_ORDERS_ETL
from lineage.access.keys import ADMIN_TOKEN_FILE
from tests.bench.skewed_graph import FAILED_JOBS, SkewedGraph
from tests.page import screenshots
from tests.page.browser import NARROW, WIDE, visiting
from tests.page.contract_events import facet, run_event, run_id

pytestmark = pytest.mark.slow

ETL = f"job:{JOB_NAMESPACE}:{JOB_ORDERS_ETL}"
SALES = "dataset:s3://warehouse:sales/orders"
CARD_HEIGHT = 48
"""Height of a card at scale 1, whose title is 14 pixels high."""

SKEWED_NODES = 505
"""Jobs and datasets of the skewed graph of about 500 nodes."""

MAX_EXPORTED_NODES = 5_000
"""Nodes up to which the page loads the columns of a whole graph."""

STATS = "dataset:s3://warehouse:sales/supplier_stats"
SHOP_ORDERS = "dataset:postgres://postgres:5432:shop.public.orders"


def node_ids(graph) -> set[str]:
    nodes = [("job", row) for row in graph["jobs"]] + [("dataset", row) for row in graph["datasets"]]
    return {f"{kind}:{row['namespace']}:{row['name']}" for kind, row in nodes}


def etl_of(contract):
    return next(job for job in contract.jobs if job.name == JOB_ORDERS_ETL)


def test_the_first_load_shows_every_job_and_dataset_of_the_contract(visit, shop):
    visit.open()
    assert visit.cards() == node_ids(shop.get("/api/v1/graph"))
    assert visit.card(ETL).get_attribute("data-state") == "running"
    assert "streaming job" in visit.card(ETL).get_attribute("aria-label")
    visit.page.get_by_role("status").get_by_text("live", exact=True).wait_for()


def test_search_works_with_the_keyboard_and_finds_columns(visit, contract):
    totals = {
        f"dataset:{output.dataset.namespace}:{output.dataset.name}"
        for job in contract.jobs
        for output in job.outputs
        if "total_price" in output.columns
    }
    visit.open()
    query = visit.choose_column("total_price")
    assert (query["view"], query["field"]) == (["columns"], ["total_price"])
    assert query["node"][0] in totals


def test_enter_before_the_results_opens_the_first_of_them(visit):
    visit.open()
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("total_price")
    visit.page.keyboard.press("Enter")
    visit.page.locator(".columns .cards button").first.wait_for(state="attached")
    assert parse_qs(urlsplit(visit.page.url).query)["field"] == ["total_price"]


@pytest.mark.parametrize(("text", "found"), [("state:running", JOB_ORDERS_ETL), ("lake.sales.orders", "sales/orders")])
def test_search_finds_states_and_symlink_names(visit, text, found):
    visit.open()
    visit.page.get_by_role("combobox").first.fill(text)
    visit.page.get_by_role("option").get_by_text(found, exact=True).first.wait_for()


def test_a_column_path_lists_every_edge_from_postgres_to_the_statistics(visit):
    visit.open(view="columns", node=STATS, field="total_price")
    visit.page.get_by_text("column edges as a table").click()
    rows = visit.page.locator(".edges tbody tr").all_inner_texts()
    edges = {tuple(row.split("\t")[:3]) for row in rows}
    assert {
        ("shop.public.orders.price", "identity", "orders.price"),
        ("orders.price", "filter, transformation", "sales/orders.price"),
        ("sales/orders.price", "aggregation", "sales/supplier_stats.total_price"),
    } <= edges
    assert ("sales/orders.supplier", "group by", "sales/supplier_stats.total_price") in edges


def test_open_page_shows_that_a_job_is_aborted(visit, shop, contract):
    visit.open()
    assert visit.card(ETL).get_attribute("data-state") == "running"
    number = [job.name for job in contract.jobs].index(JOB_ORDERS_ETL)
    shop.send(run_event(JOB_NAMESPACE, etl_of(contract), "ABORT", run_id(number * 100), datetime.now(UTC)))
    visit.page.locator(f'[data-node="{ETL}"][data-state="aborted"]').wait_for(state="attached")


def test_dataset_details_show_columns_writes_and_schema_changes(visit, shop, contract):
    event = run_event(JOB_NAMESPACE, etl_of(contract), "RUNNING", run_id(300), datetime.now(UTC))
    event["outputs"][0]["facets"]["schema"]["fields"].append({"name": "currency", "type": "string"})
    shop.send(event)
    visit.open(node=SALES)
    details = visit.page.get_by_label("Details")
    details.get_by_role("link", name="currency").wait_for()
    assert details.locator(".diff .added").inner_text().endswith("currency string")
    assert "1,205" in details.get_by_role("table").nth(1).inner_text()


def test_columns_show_the_tags_that_they_get_from_others(visit, shop):
    event = dataset_event("kafka://kafka:9092", "orders", "price")
    tag = {"key": "secret", "value": "true", "source": "USER", "field": "price"}
    event["dataset"]["facets"] = {"tags": facet(tags=[tag])}
    shop.send(event)
    for node, text in ((SALES, "secret from orders#price"), (STATS, "secret, aggregated, from orders#price")):
        visit.open(node=node)
        details = visit.page.get_by_label("Details")
        carried = details.locator(".carried")
        carried.first.wait_for()
        assert carried.all_inner_texts() == [text]
    carried.get_by_role("link").click()
    visit.page.locator(".columns .cards button").first.wait_for(state="attached")


def test_job_details_show_runs_statistics_errors_and_raw_events(visit, shop, contract):
    job = etl_of(contract)
    error = {"errorMessage": facet(message="no <b>room</b> left", programmingLanguage="Python", stackTrace="at 1")}
    shop.send(run_event(JOB_NAMESPACE, job, "START", run_id(901), datetime.now(UTC) - timedelta(seconds=2)))
    shop.send(run_event(JOB_NAMESPACE, job, "FAIL", run_id(901), datetime.now(UTC), error))
    visit.open(node=ETL)
    details = visit.page.get_by_label("Details")
    assert "no <b>room</b> left" in details.locator(".failure").inner_text()
    assert details.locator(".timeline li").count() == 2
    details.get_by_text(re.compile(r"Events \(2")).click()
    details.get_by_role("button", name=re.compile("FAIL")).click()
    assert json.loads(details.locator(".events pre").inner_text())["run"]["runId"] == run_id(901)


def test_a_past_graph_lacks_later_jobs_and_the_changes_list_them(visit, shop, contract):
    new = run_event(JOB_NAMESPACE, etl_of(contract), "START", run_id(902), datetime.now(UTC) + timedelta(seconds=30))
    new["job"]["name"] = "late_comer"
    shop.send(new)
    before = (datetime.now(UTC) + timedelta(seconds=15)).isoformat()
    visit.open(at=before)
    late = f"job:{JOB_NAMESPACE}:late_comer"
    assert late not in visit.cards()
    visit.page.get_by_role("button", name="Back to now").click()
    visit.card(late).wait_for(state="attached")
    visit.open(view="changes", since=before)
    row = visit.page.locator("tr.added").filter(has_text=f"{JOB_NAMESPACE}/late_comer").first
    assert row.inner_text().startswith("added\tjob")


@pytest.fixture
def evolved(shop, contract):
    """Add a column to one table, and a job with a new table; returns the time before."""
    job = etl_of(contract)
    before = datetime.now(UTC) + timedelta(seconds=15)
    changed = run_event(JOB_NAMESPACE, job, "RUNNING", run_id(300), before + timedelta(seconds=5))
    changed["outputs"][0]["facets"]["schema"]["fields"].append({"name": "currency", "type": "string"})
    new = run_event(JOB_NAMESPACE, job, "START", run_id(902), before + timedelta(seconds=5))
    new["job"]["name"] = "late_comer"
    new["outputs"] = [{"namespace": "s3://warehouse", "name": "sales/late", "facets": {}}]
    shop.send(changed, new)
    return before.isoformat()


LATE = f"job:{JOB_NAMESPACE}:late_comer"
LATE_TABLE = "dataset:s3://warehouse:sales/late"


def diff_statuses(visit) -> dict[str, str]:
    """Diff status of each changed card, by node id."""
    labels = visit.page.locator(".cards button").evaluate_all(
        "all => all.map(one => [one.dataset.node, one.ariaLabel])"
    )
    found = {node: re.search(r"(added|removed|changed)$", label) for node, label in labels}
    return {node: match[1] for node, match in found.items() if match}


def test_a_comparison_marks_added_and_changed_nodes(visit, evolved):
    visit.open(since=evolved)
    assert diff_statuses(visit) == {LATE: "added", LATE_TABLE: "added", SALES: "changed"}
    legend = visit.page.get_by_role("group", name=re.compile("Changes since"))
    assert re.search(r"added: 2 nodes, \d edges\s+~ changed: 1 node", legend.inner_text())
    visit.card(SALES).focus()
    visit.page.keyboard.press("Enter")
    details = visit.page.get_by_label("Details")
    assert details.locator(".diff .added").first.inner_text().endswith("sales/orders#currency string")
    visit.page.get_by_role("button", name="Stop comparing").click()
    legend.wait_for(state="detached")
    assert diff_statuses(visit) == {}
    assert "since=" not in visit.page.url


def test_a_comparison_keeps_removed_nodes(visit, evolved):
    """With the times reversed, everything that was added appears as removed."""
    later = (datetime.fromisoformat(evolved) + timedelta(seconds=10)).isoformat()
    visit.open(since=later, at=evolved)
    assert diff_statuses(visit) == {LATE: "removed", LATE_TABLE: "removed", SALES: "changed"}
    visit.open(since=later, at=evolved, node=LATE_TABLE)
    details = visit.page.get_by_label("Details")
    details.get_by_text("exists only in the earlier graph").wait_for()
    assert details.locator(".diff .removed").count() >= 2


def test_keys_select_the_next_and_previous_change_and_the_url_keeps_the_selection(visit, evolved):
    visit.open(since=evolved)
    seen = []
    for _ in range(4):
        visit.page.keyboard.press("n")
        visit.page.get_by_label("Details").get_by_role("heading", level=2).wait_for()
        seen.append(parse_qs(urlsplit(visit.page.url).query)["node"][0])
    assert seen == [LATE, LATE_TABLE, SALES, LATE]
    visit.page.keyboard.press("p")
    chosen = visit.page.locator('.cards [aria-pressed="true"]')
    visit.page.locator(f'.cards [data-node="{SALES}"][aria-pressed="true"]').wait_for(state="attached")
    visit.page.reload()
    chosen.wait_for(state="attached")
    assert chosen.get_attribute("data-node") == SALES


def test_collapsed_groups_show_the_number_of_changes(browser, empty):
    names = [f"area{number % 3}/table{number:03d}" for number in range(30)]
    empty.send(*(dataset_event("s3://lake", name) for name in names))
    before = datetime.now(UTC).isoformat()
    empty.send(*(dataset_event("s3://lake", f"area1/{name}") for name in ("new1", "new2")))
    with visiting(browser, empty.url) as visit:
        visit.open(since=before, budget="10")
        group = visit.page.get_by_role(
            "button", name=re.compile(r"Group area1 .*: 12 datasets, 2 added; select to expand")
        )
        group.wait_for(state="attached")
        assert visit.page.get_by_role("button", name=re.compile("Group area2 .*added")).count() == 0
        visit.page.keyboard.press("n")
        visit.card("dataset:s3://lake:area1/new1").wait_for(state="attached")


def test_the_table_of_changes_and_the_graph_link_to_each_other(visit, evolved):
    visit.open(view="changes", since=evolved)
    visit.page.get_by_role("link", name="Show in graph").click()
    visit.card(LATE_TABLE).wait_for(state="attached")
    visit.page.get_by_role("link", name="Show as table").click()
    visit.page.locator("tr.added").filter(has_text="late_comer").first.wait_for()


def test_moving_the_slider_shows_a_past_graph(visit):
    visit.open()
    slider = visit.page.get_by_role("slider")
    slider.fill("0")
    slider.dispatch_event("change")
    visit.page.get_by_role("status").get_by_text("past", exact=True).wait_for()
    assert "at=" in visit.page.url


def test_the_impact_table_can_be_exported(visit, tmp_path):
    visit.open(view="impact", node=SHOP_ORDERS, field="price")
    table = visit.page.locator(".list table")
    table.get_by_role("link", name="total_price").first.wait_for()
    with visit.page.expect_download() as waiting:
        visit.page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(Path(waiting.value.path()).read_text().splitlines()))
    assert {"column", "dataset", "job"} == {row["kind"] for row in rows}
    assert "total_price" in {row["column"] for row in rows}
    with visit.page.expect_download() as waiting:
        visit.page.get_by_role("button", name="Mermaid").click()
    assert Path(waiting.value.path()).read_text().startswith("flowchart LR\n")


def test_titles_of_a_focused_neighborhood_are_readable(large):
    """The neighborhood of a hub does not fit into the view at a readable scale."""
    graph = json.loads(urlopen(f"{large.url}/api/v1/summaries").read())
    reads = Counter(index for job in graph["jobs"] for index in job["inputs"])
    hub = graph["datasets"][reads.most_common(1)[0][0]]
    node = f"dataset:{hub['namespace']}:{hub['name']}"
    large.open(node=node, hops="2")
    large.card(node).wait_for(state="attached")
    title_pixels = 14 * large.card(node).bounding_box()["height"] / CARD_HEIGHT
    assert title_pixels >= 11
    box = large.page.locator(".diagram").bounding_box()
    card = large.card(node).bounding_box()
    assert box["x"] <= card["x"]
    assert card["x"] + card["width"] <= box["x"] + box["width"]


def test_what_is_too_much_for_one_answer_is_shown_with_fewer_jobs(visit):
    refused = {"code": 422, "message": "more than 200000 nodes are within reach"}

    def answer(route):
        if "depth=2" in route.request.url:
            route.continue_()
        else:
            route.fulfill(status=422, json=refused)

    visit.page.route("**/api/v1/impact?*", answer)
    visit.open(view="impact", node=SHOP_ORDERS, field="price")
    visit.page.get_by_role("cell", name="raw/orders").first.wait_for()
    assert visit.page.get_by_label("within").input_value() == "2"


@pytest.mark.parametrize(("name", "begins"), [("SVG", b"<svg "), ("PNG", b"\x89PNG")])
def test_the_graph_can_be_exported(visit, name, begins):
    visit.open()
    with visit.page.expect_download() as waiting:
        visit.page.get_by_role("button", name=name).click()
    assert Path(waiting.value.path()).read_bytes().startswith(begins)


def test_the_lab_view_shows_services_contract_and_alerts(visit, contract):
    visit.open(view="lab")
    visit.page.get_by_text(
        f"The lineage of {len(contract.jobs)} jobs, and {len(contract.datasets)} datasets, match the contract"
    ).wait_for()
    visit.page.get_by_text("Offline service does not respond").wait_for()
    assert "down" in visit.page.get_by_role("row").filter(has_text="Offline service").inner_text()


def test_what_answers_slower_than_the_view_refreshes_is_shown(visit):
    slow_fetch = """
        const original = window.fetch;
        window.fetch = async (path, ...rest) => {
            if (String(path) === "/api/v1/lab") await new Promise((done) => setTimeout(done, 5000));
            return original(path, ...rest);
        };
    """
    visit.page.add_init_script(slow_fetch)
    visit.open(view="lab")
    visit.page.get_by_text("Offline service does not respond").wait_for()


def test_a_failed_request_for_the_runs_of_a_job_is_shown(visit):
    error = {"error": {"message": "the runs cannot be read"}}
    visit.page.route("**/runs?*", lambda route: route.fulfill(status=500, json=error))
    visit.open(node=ETL)
    visit.page.get_by_label("Details").get_by_text("the runs cannot be read").wait_for()


@pytest.fixture
def large_shop(shop):
    """The shop in a graph that is too large for the page to load all of its columns."""
    schema = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
    about = {"eventTime": _rfc3339(datetime.now(UTC)), "producer": "https://example.org", "schemaURL": schema}
    names = [f"table_{number}" for number in range(MAX_EXPORTED_NODES)]
    for first in range(0, MAX_EXPORTED_NODES, 1_000):
        datasets = [{"namespace": "s3://other", "name": name, "facets": {}} for name in names[first : first + 1_000]]
        shop.send(*({**about, "dataset": dataset} for dataset in datasets))
    return shop


def _rfc3339(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def test_the_columns_of_a_large_graph_are_not_loaded_as_a_whole(browser, large_shop):
    with visiting(browser, large_shop.url) as visit:
        requested = []
        visit.page.on("request", lambda request: requested.append(urlsplit(request.url)))
        visit.open()
        visit.page.keyboard.press("/")
        visit.page.keyboard.type("sales/supplier_stats")
        visit.page.get_by_text("Columns are not searched: the graph has more than 5,000 nodes.").wait_for()
        visit.page.keyboard.press("Enter")
        visit.page.get_by_label("Details").get_by_text("Recent writes").wait_for()
        visit.open(view="columns", node=STATS, field="total_price")
        visit.page.locator(".columns .cards button").first.wait_for(state="attached")
        visit.page.get_by_text("Not all related columns are drawn").wait_for()
        assert visit.card(f"{SALES.replace('dataset', 'datasetField', 1)}:price").count() == 1
        queries = [url.query for url in requested if url.path == "/api/v1/graph"]
        assert queries
        assert all("nodeId=" in query for query in queries)


def test_another_time_of_a_large_graph_is_shown_around_a_node(browser, large_shop):
    past = _rfc3339(datetime.now(UTC) - timedelta(minutes=30))
    with visiting(browser, large_shop.url) as visit:
        requested = []
        visit.page.on("request", lambda request: requested.append(urlsplit(request.url)))
        visit.page.goto(f"{large_shop.url}/?at={quote(past)}")
        visit.page.get_by_text("too many to show all of them at another time").wait_for()
        visit.page.get_by_role("button", name="Back to now").click()
        visit.page.locator(".cards button").first.wait_for(state="attached")
        visit.open(node=STATS, at=past)
        visit.card(STATS).wait_for(state="attached")
        assert "dataset:s3://other:table_0" not in visit.cards()
        assert SALES in visit.cards()
        # Another node is another part.
        with visit.page.expect_request(lambda request: f"nodeId={quote(SALES, safe='')}" in request.url):
            visit.card(SALES).press("Enter")
        visit.open(view="changes", since=past)
        visit.page.get_by_label("Search for a dataset or column").fill("supplier_stats")
        visit.page.get_by_label("Results").get_by_role("link", name="sales/supplier_stats").click()
        visit.page.get_by_role("heading", name="Changes around s3://warehouse:sales/supplier_stats").wait_for()
        visit.page.locator("tr.changed, tr.added, .notice").first.wait_for()
        visit.page.get_by_role("link", name="Show in graph").click()
        visit.page.get_by_role("group", name="Changes since").wait_for()
        queries = [url.query for url in requested if url.path in ("/api/v1/graph", "/api/v1/diff")]
        assert len(queries) >= 4
        assert all("nodeId=" in query for query in queries)


def test_arrow_keys_follow_edges_and_enter_opens_details(visit):
    visit.open()
    visit.card(ETL).focus()
    visit.page.keyboard.press("ArrowLeft")
    visit.page.locator('[data-node="dataset:kafka://kafka:9092:orders"]:focus').wait_for()
    visit.page.keyboard.press("Enter")
    visit.page.get_by_label("Details").get_by_role("heading", name="orders").wait_for()
    visit.page.keyboard.press("Escape")
    visit.page.get_by_label("Details").wait_for(state="detached")


def test_only_its_lineage_hides_other_nodes_and_the_back_button_undoes_it(visit):
    visit.open(node=STATS)
    # Cards outside of the view have no button: the label of the drawing counts all of them.
    whole = visit.page.locator('canvas[aria-label^="Lineage graph: "]').first.get_attribute("aria-label")
    all_cards = visit.page.locator(f'canvas[aria-label="{whole}"]')
    visit.page.get_by_role("button", name="Only its lineage").click()
    all_cards.wait_for(state="detached")
    visit.card(STATS).wait_for(state="attached")
    visit.page.go_back()
    all_cards.wait_for(state="attached")


def test_nodes_beyond_the_budget_are_grouped_and_groups_expand(browser, empty):
    empty.send(*(dataset_event("s3://lake", f"area{number % 3}/table{number:03d}") for number in range(30)))
    with visiting(browser, empty.url) as visit:
        visit.open(budget="10")
        assert len(visit.cards()) <= 10
        area = visit.page.get_by_role("button", name=re.compile("Group area1"))
        area.focus()
        visit.page.keyboard.press("Enter")
        visit.page.wait_for_url(re.compile("open="))
        # The whole map was in view, so that the whole is again.
        for number in range(1, 30, 3):
            visit.card(f"dataset:s3://lake:area1/table{number:03d}").wait_for(state="attached")
        visit.open(budget="10", node="dataset:s3://lake:area2/table002")
        visit.card("dataset:s3://lake:area2/table002").wait_for(state="attached")


HOSTILE = {
    "script": "<script>alert(1)</script>",
    "attribute": '"><img src=x onerror=alert(1)>',
    "formula": "=cmd|' /C calc'!A0",
    "right to left": "\u202egnp.exe\u2066",
    "arabic": "جدول الطلبات",
    "emoji": "🧨" * 40,
    "long": "n" * 1024,
    "prototype": "__proto__",
}


def dataset_event(namespace: str, name: str, column: str = "id") -> dict:
    return {
        "eventTime": datetime.now(UTC).isoformat(),
        "producer": "https://example.org/test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": {
            "namespace": namespace,
            "name": name,
            "facets": {"schema": facet(fields=[{"name": column, "type": column}])},
        },
    }


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_names_are_displayed_as_text(browser, empty, contract, name):
    event = run_event(JOB_NAMESPACE, etl_of(contract), "COMPLETE", run_id(1), datetime.now(UTC))
    event["job"]["name"] = event["outputs"][0]["name"] = event["inputs"][0]["namespace"] = name
    event["outputs"][0]["facets"]["schema"]["fields"].append({"name": name, "type": name})
    event["outputs"][0]["facets"]["tags"] = facet(tags=[{"key": name, "value": "1"}])
    event["outputs"][0]["facets"]["documentation"] = facet(description=name)
    empty.send(event)
    node = f"dataset:s3://warehouse:{name}"
    with visiting(browser, empty.url) as visit:
        visit.open()
        assert node in visit.cards()
        for route in (
            {"node": node},
            {"view": "columns", "node": node, "field": name},
            {"view": "impact", "node": node},
        ):
            visit.open(**route)
        visit.open(node=f"job:{JOB_NAMESPACE}:{name}")
        visit.open(view="changes")
        visit.page.get_by_role("combobox").first.fill(name)
        assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visit.page.locator("main script, main img").count() == 0


def test_without_events_the_page_shows_instructions_until_the_first_event_arrives(browser, empty):
    with visiting(browser, empty.url) as visit:
        visit.open()
        visit.page.get_by_text("make up").wait_for()
        empty.send(dataset_event("s3://lake", "first"))
        visit.card("dataset:s3://lake:first").wait_for(state="attached")


@pytest.mark.parametrize(
    ("dark", "choice", "expected"), [(True, None, "dark"), (False, "dark", "dark"), (True, "light", "light")]
)
def test_the_theme_is_set_before_the_first_paint(browser, shop, dark, choice, expected):
    """All modules are blocked, so that only public/theme.js can set the theme."""
    with visiting(browser, shop.url, dark=dark) as visit:
        if choice:
            visit.page.add_init_script(f"localStorage.setItem('lineage-page.theme', '{choice}')")
        visit.page.route("**/assets/*.js", lambda route: route.abort())
        visit.page.goto(shop.url)
        background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == {"dark": "rgb(17, 22, 29)", "light": "rgb(245, 247, 250)"}[expected]


def test_the_theme_follows_the_system_until_the_user_chooses(visit):
    theme = "document.documentElement.dataset.theme"
    visit.open()
    assert visit.page.evaluate(theme) == "light"
    visit.page.emulate_media(color_scheme="dark")
    visit.page.locator("html[data-theme=dark]").wait_for()
    visit.page.get_by_label("Theme").select_option("light")
    visit.page.locator("html[data-theme=light]").wait_for()


def test_the_charts_include_events_from_before_the_page_was_opened(visit, shop):
    flow = shop.get("/api/v1/flow")
    assert sum(sample["events"] for sample in flow["samples"]) > 10
    visit.open(view="lab")
    chart = visit.page.get_by_role("img", name=re.compile("highest|just started"))
    chart.first.wait_for(state="attached")
    # The current step is not drawn until it is complete.
    visit.page.get_by_role("img", name=re.compile(r"highest [1-9]")).first.wait_for(state="attached")


def test_a_lost_connection_is_reported(browser, shop):
    with visiting(browser, shop.url) as visit:
        visit.open()
        shop.process.kill()
        visit.page.get_by_role("status").get_by_text("disconnected").wait_for()
        visit.page.get_by_text("the lineage service did not respond").wait_for()


VIEWS = {
    "graph": {},
    "dataset": {"node": SALES},
    "job": {"node": ETL},
    "columns": {"view": "columns", "node": STATS, "field": "total_price"},
    "impact": {"view": "impact", "node": SHOP_ORDERS, "field": "price"},
    "cause": {"view": "cause", "node": STATS, "field": "total_price"},
    "runs": {"view": "runs"},
    "changes": {"view": "changes"},
    "difference": {"since": "2020-01-01T00:00:00Z", "node": SALES},
    "lab": {"view": "lab"},
}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1280", "390"])
def test_no_serious_accessibility_problem_and_no_horizontal_overflow(browser, shop, axe, size, dark):
    found = {}
    with visiting(browser, shop.url, size, dark) as visit:
        for name, route in VIEWS.items():
            visit.open(**route)
            visit.page.evaluate(axe)
            result = visit.page.evaluate("axe.run()")
            serious = [rule for rule in result["violations"] if rule["impact"] in ("serious", "critical")]
            found |= {f"{name}: {rule['id']}": [node["html"][:200] for node in rule["nodes"]][:3] for rule in serious}
            if not visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                found[f"{name}: too wide"] = []
    assert found == {}


@pytest.fixture
def large(browser, empty):
    """A wide page of a graph with hubs, chains, jobs that are over and two failed ones."""
    now = datetime.now(UTC)
    empty.send(*(json.loads(event) for event in SkewedGraph(500, now).events()))
    with visiting(browser, empty.url) as found:
        yield found


def failed_job(url: str) -> str:
    """Node id of a failed job."""
    with urlopen(f"{url}/api/v1/summaries", timeout=30) as answer:
        job = next(job for job in json.load(answer)["jobs"] if job["state"] == "FAILED")
    return f"job:{job['namespace']}:{job['name']}"


@pytest.mark.skipif(not screenshots.UPDATE, reason="screenshots are taken with UPDATE_SCREENSHOTS=1")
def test_take_the_screenshots_of_large_graphs(browser, empty):
    events = [json.loads(event) for event in SkewedGraph(screenshots.LARGE_GRAPH_NODES, datetime.now(UTC)).events()]
    for first in range(0, len(events), 500):
        empty.send(*events[first : first + 500])
    for name, route in screenshots.LARGE_GRAPH.items():
        with visiting(browser, empty.url) as visit:
            visit.open(**route, **({"node": failed_job(empty.url)} if "hops" in route else {}))
            screenshots.take(visit, name)


def test_a_large_graph_starts_as_a_map_of_groups_that_expand_in_place(large):
    large.open()
    labels = large.page.locator(".cards button").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert 8 < len(labels) <= 24
    groups = [label for label in labels if label.startswith("Group ")]
    assert sum(int(re.search(r"(\d+) (?:jobs|datasets|nodes)", label)[1]) for label in groups) > 300
    assert any("1 failed" in label for label in groups)
    opened = large.page.get_by_role("button", name=re.compile("^Group s3:..archive:"))
    opened.focus()
    large.page.keyboard.press("Enter")
    opened.wait_for(state="detached")
    large.page.get_by_role("button", name=re.compile(r"^Group .*s3:..archive\)")).first.wait_for(state="attached")


def test_what_is_over_is_hidden_until_it_is_asked_for(large):
    large.open(budget="1000")
    shown = len(large.cards())
    switch = large.page.get_by_role("button", name=re.compile(r"Show \d+ inactive"))
    hidden = int(re.search(r"\d+", switch.inner_text())[0])
    assert hidden > 50
    switch.click()
    large.page.get_by_role("button", name="Hide inactive").wait_for()
    large.page.get_by_role("img", name=re.compile(rf"\b{SKEWED_NODES} cards")).wait_for()
    assert "inactive=1" in large.page.url
    assert shown <= SKEWED_NODES - hidden


def test_an_alert_leads_to_the_neighborhood_of_its_job_in_one_click(large):
    large.open(view="lab")
    alerts = large.page.get_by_label("Failed jobs")
    alerts.get_by_role("listitem").nth(FAILED_JOBS - 1).wait_for()
    assert alerts.get_by_role("listitem").count() == FAILED_JOBS
    alerts.get_by_role("link").first.click()
    large.page.locator('.cards [aria-pressed="true"][data-state="failed"]').wait_for(state="attached")
    assert parse_qs(urlsplit(large.page.url).query)["hops"] == ["2"]
    assert len(large.cards()) < 80


def test_no_alert_is_not_said_before_the_graph_has_arrived(browser, shop):
    with visiting(browser, shop.url) as visit:
        held = []
        visit.page.route("**/api/v1/summaries", lambda route: held.append(route))
        with visit.page.expect_request("**/api/v1/summaries"):
            visit.page.goto(f"{shop.url}/?view=lab")
        alerts = visit.page.get_by_role("heading", name="Alerts", exact=True).locator("..")
        alerts.get_by_text("Loading graph").wait_for()
        visit.page.get_by_role("img", name=re.compile("highest|just started")).first.wait_for(state="attached")
        assert "alert" not in alerts.inner_text().removeprefix("Alerts")
        # Requests that follow are not held.
        visit.page.route("**/api/v1/summaries", lambda route: route.continue_())
        for request in held:
            request.continue_()
        alerts.get_by_label("Services that do not respond").wait_for()


def test_no_alert_is_not_said_of_what_could_not_be_read(browser, empty):
    with visiting(browser, empty.url) as visit:
        error = {"error": {"message": "the schemas cannot be read"}}
        visit.page.route("**/api/v1/schema-breaks", lambda route: route.fulfill(status=500, json=error))
        visit.open(view="lab")
        alerts = visit.page.get_by_role("heading", name="Alerts", exact=True).locator("..")
        alerts.get_by_text("Not all alerts are known: the schemas cannot be read").wait_for()
        assert "No alerts" not in alerts.inner_text()


def test_alerts_can_be_acknowledged_and_muted(large):
    large.open(view="lab")
    alerts = large.page.get_by_label("Failed jobs")
    alerts.get_by_role("button", name=re.compile("^Mute")).first.click()
    large.page.get_by_text("1 acknowledged or muted").wait_for()
    alerts.get_by_role("button", name="Acknowledge").click()
    large.page.get_by_text("No new alerts").wait_for()
    large.page.reload()
    large.page.get_by_text(f"{FAILED_JOBS} acknowledged or muted").wait_for()
    large.page.get_by_text("Muted (1)").click()
    large.page.get_by_role("button", name="Unmute").click()
    alerts.get_by_role("listitem").wait_for()


def test_impact_without_a_dataset_offers_datasets(large):
    large.open(view="impact")
    suggestions = large.page.get_by_role("list", name="Suggestions").get_by_role("link")
    suggestions.first.wait_for()
    large.page.get_by_label("Search for a dataset or column").fill("amount")
    large.page.get_by_role("list", name="Results").get_by_role("link").first.click()
    large.page.get_by_role("heading", name=re.compile("^Impact of a change to amount")).wait_for()


def test_the_empty_search_suggests_favorites_recent_nodes_and_failed_jobs(large):
    node = failed_job(large.url)
    large.open(node=node, hops="2")
    large.page.get_by_role("button", name="Favorite").click()
    large.open()
    large.page.keyboard.press("/")
    options = large.page.get_by_role("option")
    options.first.wait_for()
    assert "favorite" in options.first.inner_text()
    assert options.count() >= FAILED_JOBS
    large.page.keyboard.press("Enter")
    large.page.locator(f'.cards [data-node="{node}"][aria-pressed="true"]').wait_for(state="attached")


def test_indirect_columns_are_folded_into_one_card_until_it_is_expanded(visit):
    visit.open(view="columns", node=STATS, field="total_price")
    folds = visit.page.get_by_role("button", name=re.compile(r"^\d+ columns of"))
    folds.first.wait_for(state="attached")
    diagram = visit.page.get_by_role("img", name=re.compile(r"^Lineage of total_price .*: \d+ cards$"))

    def cards():
        return int(diagram.get_attribute("aria-label").split()[-2])

    before = cards()
    visit.page.get_by_role("button", name="Expand indirect").click()
    folds.first.wait_for(state="detached")
    assert cards() > before
    visit.page.get_by_role("button", name="Fold indirect").click()
    folds.first.wait_for(state="attached")


def test_a_question_mark_shows_the_keys(visit):
    visit.open()
    visit.page.keyboard.press("?")
    keys = visit.page.get_by_role("dialog", name="Keys")
    keys.get_by_text("Next and previous change").wait_for()
    visit.page.keyboard.press("?")
    keys.wait_for(state="hidden")


def test_runs_of_a_dag_are_shown_as_a_tree_with_a_time_line(browser, empty, contract):
    begin = datetime.now(UTC) - timedelta(minutes=5)
    dag = {"run": {"runId": run_id(1)}, "job": {"namespace": JOB_NAMESPACE, "name": "nightly"}}
    events = []
    for number, name in enumerate(("nightly", "extract", "load"), start=1):
        for minutes, kind in ((number - 1, "START"), (number, "COMPLETE")):
            event = run_event(JOB_NAMESPACE, etl_of(contract), kind, run_id(number), begin + timedelta(minutes=minutes))
            event["job"]["name"] = name
            event["run"]["facets"] = {} if number == 1 else {"parent": facet(**dag)}
            events.append(event)
    empty.send(*events)
    with visiting(browser, empty.url) as visit:
        visit.open(view="runs")
        rows = visit.page.locator(".run-tree tbody tr")
        rows.nth(2).wait_for()
        assert rows.evaluate_all("all => all.map(one => one.dataset.depth)") == ["0", "1", "1"]
        assert [text.split("\t")[0] for text in rows.all_inner_texts()] == ["nightly", "extract", "load"]
        assert visit.page.locator(".run-bar.completed").count() == 3
        visit.page.get_by_role("link", name="extract").click()
        visit.page.get_by_label("Details").get_by_role("heading", name="extract").wait_for()


def test_what_depends_on_a_failed_check_is_suspect_until_it_passes(browser, empty, contract):
    now = datetime.now(UTC)
    names = ("checked", "derived", "tile")

    def events(success: bool, second: int):
        for number, (source, target) in enumerate(pairwise(names)):
            event = run_event(JOB_NAMESPACE, etl_of(contract), "COMPLETE", run_id(second + number), now)
            event["job"]["name"] = f"make {target}"
            event["inputs"], event["outputs"] = (
                [{"namespace": "s3://lake", "name": source}],
                [{"namespace": "s3://lake", "name": target}],
            )
            yield event
        tested = {"namespace": "s3://lake", "name": names[0]}
        assertion = {"assertion": "unique", "column": "id", "success": success}
        tested["inputFacets"] = {"dataQualityAssertions": facet(assertions=[assertion])}
        check = run_event(
            JOB_NAMESPACE, etl_of(contract), "COMPLETE", run_id(second + 9), now + timedelta(seconds=second)
        )
        check["job"]["name"], check["inputs"], check["outputs"] = "check", [tested], []
        yield check

    ids = [f"dataset:s3://lake:{name}" for name in names]
    empty.send(*events(success=False, second=10))
    with visiting(browser, empty.url) as visit:
        visit.open()
        for node in ids:
            visit.page.locator(f'[data-node="{node}"][aria-label$=", suspect"]').wait_for(state="attached")
        visit.open(node=ids[2])
        details = visit.page.get_by_label("Details")
        details.get_by_text("data quality checks of checked failed").wait_for()
        details.get_by_role("link", name="checked").first.click()
        details.get_by_text("its data quality checks failed").wait_for()
        empty.send(*events(success=True, second=30))
        # In view beside the details: the selected dataset. Of the whole graph, all three.
        visit.page.locator(f'[data-node="{ids[0]}"]:not([aria-label$=", suspect"])').wait_for(state="attached")
        visit.open()
        for node in ids:
            visit.page.locator(f'[data-node="{node}"]:not([aria-label$=", suspect"])').wait_for(state="attached")
        details.get_by_text("its data quality checks failed").wait_for(state="detached")


def test_metadata_is_edited_with_the_admin_key(visit, shop, tmp_path):
    """Owners, tags and columns are shown after saving; a wrong key and a change in between are said."""
    key = (tmp_path / "data" / ADMIN_TOKEN_FILE).read_text().strip()
    visit.open(node=SALES)
    details = visit.page.get_by_label("Details")

    def edit():
        details.get_by_role("button", name="Edit").click()
        return details.get_by_role("form", name="Metadata")

    form = edit()
    form.get_by_label("Description", exact=True).fill("Orders, each once")
    form.get_by_label("Owners", exact=True).fill("team-data\nann (STEWARD)")
    form.get_by_label("Tags", exact=True).fill("gold\nretention=30d")
    form.get_by_text("Columns (").click()
    form.get_by_label("Tags of supplier").fill("confidential")
    form.get_by_label("Description of price").fill("In cents")
    form.get_by_label("Admin key").fill("wrong")
    form.get_by_role("button", name="Save").click()
    form.get_by_role("alert").get_by_text("key").wait_for()
    form.get_by_label("Admin key").fill(key)
    form.get_by_role("button", name="Save").click()
    form.wait_for(state="detached")
    for text in ("Orders, each once", "owned by ann, team-data", "retention", "confidential", "In cents"):
        details.get_by_text(text, exact=text != "owned by ann, team-data").first.wait_for()

    # The key is known now; somebody else is faster.
    form = edit()
    assert form.get_by_label("Owners", exact=True).input_value() == "team-data\nann (STEWARD)"
    assert form.get_by_label("Admin key").count() == 0
    stated = shop.get(f"/api/v1/metadata?nodeId={quote(SALES)}")["entry"]
    request = Request(
        f"{shop.url}/api/v1/metadata?nodeId={quote(SALES)}",
        json.dumps({**stated, "tags": [{"key": "silver"}]}).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
        method="PUT",
    )
    urlopen(request, timeout=30).close()
    form.get_by_label("Description", exact=True).fill("Mine")
    form.get_by_role("button", name="Save").click()
    form.get_by_role("button", name="Read it again").click()
    form.get_by_text("Read it again").wait_for(state="detached")
    assert form.get_by_label("Tags", exact=True).input_value() == "silver"
    if screenshots.UPDATE:
        screenshots.take(visit, screenshots.METADATA)
    form.get_by_role("button", name="Cancel").click()
    form.wait_for(state="detached")
    assert shop.get(f"/api/v1/metadata?nodeId={quote(SALES)}")["entry"]["description"] == "Orders, each once"


def test_an_error_of_several_lines_is_shown_in_lines(browser, empty, contract):
    event = run_event(JOB_NAMESPACE, etl_of(contract), "FAIL", run_id(1), datetime.now(UTC))
    event["run"]["facets"]["errorMessage"] = facet(message="first rule\nsecond rule", programmingLanguage="PYTHON")
    empty.send(event)
    with visiting(browser, empty.url) as visit:
        visit.open(node=ETL)
        assert visit.page.locator(".failure strong").inner_text() == "first rule\nsecond rule"
