# SPDX-License-Identifier: Apache-2.0
"""Browser for the lineage page of a lab."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.page.browser import chromium
from tests.smoke.lab_under_test import LabUnderTest


@contextmanager
def lab_browser(lab: LabUnderTest) -> Iterator:
    """Provide a browser; skip the test, with the reason, if the page or a browser is not installed."""
    answer = httpx.get(lab.environment["LAB_LINEAGE"], timeout=60)
    if answer.status_code == 503:
        pytest.skip("this lab has no lineage page; bin/lab setup prints why the build failed")
    answer.raise_for_status()
    with chromium() as found:
        yield found
