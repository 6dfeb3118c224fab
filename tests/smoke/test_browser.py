# SPDX-License-Identifier: Apache-2.0
"""The lineage page of a real lab, in a real browser."""

from datetime import UTC, datetime, timedelta

import pytest

from infra.namespaces import ARCHIVE, JOB_ORDERS_ETL, JOB_ORDERS_LAKE, JOBS, KAFKA, POSTGRES, WAREHOUSE
from tests.page import screenshots
from tests.page.browser import visiting
from tests.smoke.lab_page import browser_of
from tests.smoke.sorted_orders import await_sorted

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

ETL = f"job:{JOBS}:{JOB_ORDERS_ETL}"
STATS = f"dataset:{WAREHOUSE}:sales/supplier_stats"
SHOP_ORDERS = f"dataset:{POSTGRES}:shop.public.orders"
ABORTED_MS = 2_000
DATASETS = {f"dataset:{KAFKA}:orders", f"dataset:{ARCHIVE}:topics/orders", STATS, SHOP_ORDERS}


@pytest.fixture(scope="module")
def browser(lab):
    with browser_of(lab) as found:
        yield found


@pytest.fixture
def visit(browser, lab):
    with visiting(browser, lab.environment["LAB_LINEAGE"]) as made:
        yield made


def test_the_page_shows_the_labs_graph_and_that_it_is_as_the_contract_says(visit):
    visit.open()
    assert visit.cards() >= DATASETS
    visit.open(view="lab")
    visit.page.get_by_text("matches the contract").wait_for()
    rows = visit.page.get_by_role("row").filter(has_text="Kafka Connect")
    assert "up" in rows.first.inner_text()


def test_search_leads_to_a_column_of_the_lab(visit):
    visit.open()
    asked = visit.choose_column("total_price")
    assert (asked["view"], asked["field"]) == (["columns"], ["total_price"])


def test_a_column_is_followed_from_postgres_to_the_statistics(visit):
    visit.open(view="columns", node=STATS, field="total_price")
    visit.page.get_by_text("column edges as a table").click()
    steps = visit.page.locator(".edges tbody tr").all_inner_texts()
    assert any(step.startswith("shop.public.orders.price\tidentity\torders.price") for step in steps)
    assert any("aggregation\tsales/supplier_stats.total_price" in step for step in steps)


def test_a_job_that_is_stopped_turns_aborted_on_the_open_page_and_runs_again(visit, lab):
    assert await_sorted(lab.places).differences == []  # so that it has nothing to write when it runs again
    before = lab.graph()
    visit.open()
    assert visit.card(ETL).get_attribute("data-state") == "running"
    assert lab.lab("stop", JOB_ORDERS_ETL).status == 0
    # The command ends when the service has the job's last event.
    visit.page.locator(f'[data-node="{ETL}"][data-state="aborted"]').wait_for(state="attached", timeout=ABORTED_MS)
    assert lab.lab("start", JOB_ORDERS_ETL).status == 0
    visit.page.locator(f'[data-node="{ETL}"][data-state="running"]').wait_for(state="attached", timeout=300_000)
    after = lab.graph()
    assert (after["edges"], after["columns"]) == (before["edges"], before["columns"])


def test_what_changed_since_the_beginning_is_the_whole_lab(visit):
    visit.open(view="changes", since=(datetime.now(UTC) - timedelta(days=1)).isoformat())
    visit.page.locator("tr.added").filter(has_text=f"{JOBS}/{JOB_ORDERS_LAKE}").first.wait_for()


def test_the_whole_lab_is_drawn_as_new_since_the_beginning(visit):
    visit.open(since=(datetime.now(UTC) - timedelta(days=1)).isoformat())
    assert (visit.card(STATS).get_attribute("aria-label") or "").endswith("added")


@pytest.mark.skipif(not screenshots.UPDATE, reason="screenshots are taken with UPDATE_SCREENSHOTS=1")
def test_screenshots_of_the_documentation_are_taken(browser, lab):
    """The last test of this file: the charts have half an hour of the lab's events by then, or all of them."""
    screenshots.take_all(browser, lab.environment["LAB_LINEAGE"])
