# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/page.md, of a real lab: the smoke test takes them where UPDATE_SCREENSHOTS=1 is set."""

import os

from infra.namespaces import JOB_ORDERS_ETL, JOBS, POSTGRES, WAREHOUSE
from infra.project import PROJECT
from tests.page.browser import NARROW, WIDE, visiting

IMAGES = PROJECT / "docs" / "images"
WANTED = bool(os.environ.get("UPDATE_SCREENSHOTS"))

_ETL = {"node": f"job:{JOBS}:{JOB_ORDERS_ETL}"}
_STATS = f"dataset:{WAREHOUSE}:sales/supplier_stats"

PICTURES = {
    "page-graph": (_ETL, WIDE, False),
    "page-dark": ({}, WIDE, True),
    "page-dataset": ({"node": _STATS}, WIDE, True),
    "page-columns": ({"view": "columns", "node": _STATS, "field": "total_price"}, WIDE, False),
    "page-impact": (
        {"view": "impact", "node": f"dataset:{POSTGRES}:shop.public.orders", "field": "price"},
        WIDE,
        False,
    ),
    "page-lab": ({"view": "lab"}, WIDE, False),
    "page-narrow": (_ETL, NARROW, False),
}
"""Route, size and darkness of what a lab shows at any time."""

DIFFERENCE = "page-difference"
"""What a lab shows after a change only: the test that makes the change takes it."""


def take_all(browser, url: str) -> None:
    """Every picture of `PICTURES`, anew."""
    for name, (route, size, dark) in PICTURES.items():
        with visiting(browser, url, size, dark) as visit:
            visit.open(**route)
            take(visit, name)


def take(visit, name: str) -> None:
    """A picture of what is shown, once nothing is being read any more."""
    visit.page.get_by_role("status").get_by_text("live", exact=True).wait_for()
    for waiting in ("Reading", "Asking", "Comparing"):
        for element in visit.page.get_by_text(f"{waiting} …").all():
            element.wait_for(state="detached")
    IMAGES.mkdir(exist_ok=True)
    visit.page.screenshot(path=IMAGES / f"{name}.png")
