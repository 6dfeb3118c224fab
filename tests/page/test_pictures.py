# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/page.md. With UPDATE_SCREENSHOTS=1 they are made anew; else they only have to be there."""

import os
from datetime import UTC, datetime

import pytest

from infra.project import PROJECT
from tests.page.browser import NARROW, WIDE, visiting
from tests.page.contract_events import run_event, run_id
from tests.page.test_page import VIEWS

EVENTS = 20
"""Events that the charts of the lab show, with a pause of so many milliseconds after each."""
PAUSE = 350

IMAGES = PROJECT / "docs" / "images"
PICTURES = {
    "page-graph": ("job", WIDE, False),
    "page-dark": ("graph", WIDE, True),
    "page-dataset": ("dataset", WIDE, True),
    "page-columns": ("columns", WIDE, False),
    "page-impact": ("impact", WIDE, False),
    "page-lab": ("lab", WIDE, False),
    "page-narrow": ("job", NARROW, False),
}


@pytest.mark.skipif(not os.environ.get("UPDATE_SCREENSHOTS"), reason="pictures are made with UPDATE_SCREENSHOTS=1")
@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_made(browser, shop, contract, name):
    view, size, dark = PICTURES[name]
    IMAGES.mkdir(exist_ok=True)
    with visiting(browser, shop.url, size, dark) as visit:
        visit.open(**VIEWS[view])
        visit.page.get_by_text("Reading …").first.wait_for(state="detached")
        visit.page.get_by_role("status").get_by_text("live", exact=True).wait_for()
        etl = contract.jobs[3]
        for _ in range(EVENTS if view == "lab" else 0):
            shop.send(run_event(contract.namespace, etl, "RUNNING", run_id(300), datetime.now(UTC)))
            visit.page.wait_for_timeout(PAUSE)
        visit.page.screenshot(path=IMAGES / f"{name}.png")


def test_the_documentation_shows_each_picture_and_has_each():
    text = (PROJECT / "docs" / "page.md").read_text(encoding="utf-8")
    assert [name for name in PICTURES if f"images/{name}.png" not in text] == []
    assert [name for name in PICTURES if not (IMAGES / f"{name}.png").is_file()] == []
