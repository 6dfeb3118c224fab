# SPDX-License-Identifier: Apache-2.0
"""Dashboard of a real lab in a real browser, and its place in the lineage."""

import time

import httpx
import pytest

from infra.namespaces import DASHBOARD_NAMESPACE, JOB_DASHBOARD, JOB_DBT_BUILD, JOB_NAMESPACE, POSTGRES_NAMESPACE
from infra.services.dashboard import server
from jobs.dashboard.tile import tiles
from tests.smoke.lab_page import lab_browser

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

TILES = tiles()
SHOW_MS = 30_000
REPORT_SECONDS = 120


@pytest.fixture(scope="module")
def page(lab):
    assert lab.lab("run", JOB_DBT_BUILD).status == 0
    with lab_browser(lab) as browser:
        opened = browser.new_page()
        opened.goto(lab.environment["LAB_DASHBOARD"])
        yield opened


def test_every_tile_shows_rows(page):
    for tile in TILES:
        page.get_by_role("heading", name=tile.title).wait_for(timeout=SHOW_MS)
    charts = sum(tile.chart in ("bar", "line") for tile in TILES)
    page.wait_for_function(
        f"document.querySelectorAll('.stVegaLiteChart canvas, .stVegaLiteChart svg').length >= {charts}"
    )
    assert page.locator("[data-testid=stAlert], [data-testid=stException]").all_inner_texts() == []


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: tile.name)
def test_a_tile_links_to_its_lineage(page, lab, tile):
    links = [link.get_attribute("href") for link in page.get_by_role("link", name="lineage").all()]
    (link,) = [each for each in links if each.endswith(f"%3A{tile.name}")]
    assert link.startswith(lab.environment["LAB_LINEAGE"])
    opened = lab.api("/api/v1/lineage", nodeId=f"dataset:{DASHBOARD_NAMESPACE}:{tile.name}", depth=1)
    assert f"job:{JOB_NAMESPACE}:{JOB_DASHBOARD}.{tile.name}" in {node["id"] for node in opened["graph"]}


def test_the_impact_of_a_price_ends_at_the_tiles_that_show_it(lab):
    node = f"datasetField:{POSTGRES_NAMESPACE}:shop.public.orders:price"
    found = lab.api("/api/v1/impact", nodeId=node, depth=20)
    columns = {(each["name"], each["field"]) for each in found["columns"] if each["namespace"] == DASHBOARD_NAMESPACE}
    assert {("revenue_by_hour", "revenue"), ("suppliers", "revenue")} <= columns


def test_a_change_that_reaches_a_tile_is_refused(lab):
    refused = lab.lab("lineage", "impact", f"{POSTGRES_NAMESPACE}/shop.public.orders#price", "--fail-on", "dashboard")
    assert refused.status == 1, refused.text
    assert f"breaks dashboard: {DASHBOARD_NAMESPACE}/revenue_by_hour" in refused.text


def test_a_killed_dashboard_is_back_with_all_tiles(lab, page):
    (process,) = [each for each in lab.processes() if "jobs.dashboard" in each.info["cmdline"]]
    process.kill()
    deadline = time.monotonic() + REPORT_SECONDS
    while lab.supervisor.require_state(server.NAME).pid == process.pid or not _responds(lab):
        assert time.monotonic() < deadline
    page.goto(lab.environment["LAB_DASHBOARD"])
    page.get_by_role("heading", name=TILES[0].title).wait_for(timeout=SHOW_MS)


def _responds(lab):
    try:
        return httpx.get(f"{lab.environment['LAB_DASHBOARD']}/_stcore/health").status_code == 200
    except httpx.TransportError:
        return False
