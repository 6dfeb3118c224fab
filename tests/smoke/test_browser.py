# SPDX-License-Identifier: Apache-2.0
"""Lineage page of a real lab in a real browser."""

from datetime import UTC, datetime, timedelta

import pytest

from infra.namespaces import (
    ARCHIVE_NAMESPACE,
    JOB_NAMESPACE,
    JOB_ORDERS_ETL,
    JOB_ORDERS_LAKE,
    KAFKA_NAMESPACE,
    POSTGRES_NAMESPACE,
    WAREHOUSE_NAMESPACE,
)
from tests.page import screenshots
from tests.page.browser import visiting
from tests.smoke.etl_tables import await_etl
from tests.smoke.lab_page import lab_browser

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

ETL = f"job:{JOB_NAMESPACE}:{JOB_ORDERS_ETL}"
STATS = f"dataset:{WAREHOUSE_NAMESPACE}:sales/supplier_stats"
SHOP_ORDERS = f"dataset:{POSTGRES_NAMESPACE}:shop.public.orders"
DATASETS = {f"dataset:{KAFKA_NAMESPACE}:orders", f"dataset:{ARCHIVE_NAMESPACE}:topics/orders", STATS, SHOP_ORDERS}


@pytest.fixture(scope="module")
def browser(lab):
    with lab_browser(lab) as found:
        yield found


@pytest.fixture
def visit(browser, lab):
    with visiting(browser, lab.environment["LAB_LINEAGE"], key=lab.read_key) as made:
        yield made


def test_page_shows_graph_contract_result_and_service_state(visit):
    visit.open()
    assert visit.cards() >= DATASETS
    visit.open(view="lab")
    visit.page.get_by_text("match the contract").wait_for()
    rows = visit.page.get_by_role("row").filter(has_text="Kafka Connect")
    assert "up" in rows.first.inner_text()


def test_search_opens_the_column_view(visit):
    visit.open()
    asked = visit.choose_column("total_price")
    assert (asked["view"], asked["field"]) == (["columns"], ["total_price"])


def test_column_view_traces_a_price_from_postgres_to_the_statistics(visit):
    visit.open(view="columns", node=STATS, field="total_price")
    visit.page.get_by_text("column edges as a table").click()
    steps = visit.page.locator(".edges tbody tr").all_inner_texts()
    assert any(step.startswith("shop.public.orders.price\tidentity\torders.price") for step in steps)
    assert any("aggregation\tsales/supplier_stats.total_price" in step for step in steps)


def test_open_page_follows_the_state_of_a_stopped_and_restarted_job(visit, lab):
    assert await_etl(lab.stores).differences == []  # no records are pending when it restarts
    before = lab.graph()
    visit.open()
    assert visit.card(ETL).get_attribute("data-state") == "running"
    assert lab.lab("stop", JOB_ORDERS_ETL).status == 0
    # The command returns once the service has stored the job's last event.
    visit.page.locator(f'[data-node="{ETL}"][data-state="aborted"]').wait_for(state="attached")
    assert lab.lab("start", JOB_ORDERS_ETL).status == 0
    visit.page.locator(f'[data-node="{ETL}"][data-state="running"]').wait_for(state="attached", timeout=300_000)
    after = lab.graph()
    assert (after["edges"], after["columns"]) == (before["edges"], before["columns"])


def test_changes_view_lists_every_job_as_added_since_yesterday(visit):
    visit.open(view="changes", since=(datetime.now(UTC) - timedelta(days=1)).isoformat())
    visit.page.locator("tr.added").filter(has_text=f"{JOB_NAMESPACE}/{JOB_ORDERS_LAKE}").first.wait_for()


def test_graph_marks_every_dataset_as_added_since_yesterday(visit):
    visit.open(since=(datetime.now(UTC) - timedelta(days=1)).isoformat())
    assert (visit.card(STATS).get_attribute("aria-label") or "").endswith("added")


@pytest.mark.skipif(not screenshots.UPDATE, reason="screenshots are taken with UPDATE_SCREENSHOTS=1")
def test_take_the_screenshots_of_the_documentation(browser, lab):
    """Last test of the file, so that the charts show half an hour of events, or all of them."""
    screenshots.take_all(browser, lab.environment["LAB_LINEAGE"], lab.read_key)
