# SPDX-License-Identifier: Apache-2.0
"""Screenshots for docs/reference/page.md, taken if UPDATE_SCREENSHOTS=1 is set.

The smoke tests take them from a real lab, those of large graphs the tests of the page from a generated one.
"""

import os
import re

from infra.namespaces import JOB_NAMESPACE, JOB_ORDERS_ETL, POSTGRES_NAMESPACE, WAREHOUSE_NAMESPACE
from infra.project import PROJECT
from tests.page.browser import NARROW, WIDE, visiting

IMAGES = PROJECT / "docs" / "images"
UPDATE = bool(os.environ.get("UPDATE_SCREENSHOTS"))

_ETL = {"node": f"job:{JOB_NAMESPACE}:{JOB_ORDERS_ETL}"}
_STATS = f"dataset:{WAREHOUSE_NAMESPACE}:sales/supplier_stats"

SCREENSHOTS = {
    "page-graph": (_ETL, WIDE, False),
    "page-dark": ({}, WIDE, True),
    "page-dataset": ({"node": _STATS}, WIDE, True),
    "page-columns": ({"view": "columns", "node": _STATS, "field": "total_price"}, WIDE, False),
    "page-impact": (
        {"view": "impact", "node": f"dataset:{POSTGRES_NAMESPACE}:shop.public.orders", "field": "price"},
        WIDE,
        False,
    ),
    "page-lab": ({"view": "lab"}, WIDE, False),
    "page-narrow": (_ETL, NARROW, False),
}
"""Route, viewport size and dark mode of each screenshot that any running lab can provide."""

LARGE_GRAPH_NODES = 5_000
LARGE_GRAPH = {"page-map": {}, "page-focus": {"hops": "2"}, "page-alerts": {"view": "lab"}}
"""Route of each screenshot of a generated graph; `page-focus` with a failed job."""

DIFFERENCE = "page-difference"
"""Screenshot of a comparison. The test that changes a table takes it."""

METADATA = "page-metadata"
"""Screenshot of the form for metadata. The test that fills it takes it."""

CAUSE = "page-cause"
"""Screenshot of the cause of a drift. The tests of the replay take it."""

CAUSE_ROUTE = {"view": "cause", "node": _STATS, "field": "total_price"}

SUSPECT = "page-suspect"
"""Screenshot of datasets below a broken rule. The test that breaks it takes it."""


def take_all(browser, url: str, key: str = "") -> None:
    """Take every screenshot of `SCREENSHOTS`; `key` reads the lineage of the service at `url`."""
    for name, (route, size, dark) in SCREENSHOTS.items():
        with visiting(browser, url, size, dark, key) as visit:
            visit.open(**route)
            take(visit, name)


def take(visit, name: str) -> None:
    """Take a screenshot once the page is connected and has finished loading."""
    visit.page.get_by_role("status").get_by_text("live", exact=True).wait_for()
    for text in ("Loading", "Comparing"):
        for element in visit.page.get_by_text(re.compile(rf"^{text} .*…$|^{text} …$")).all():
            element.wait_for(state="detached")
    IMAGES.mkdir(exist_ok=True)
    visit.page.screenshot(path=IMAGES / f"{name}.png")
