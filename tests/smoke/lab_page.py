# SPDX-License-Identifier: Apache-2.0
"""The lineage page of a lab, in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.page.browser import chromium
from tests.smoke.lab_under_test import LabUnderTest


@contextmanager
def browser_of(lab: LabUnderTest) -> Iterator:
    """A browser to look at a lab's page; skips the test, with the reason, where page or browser cannot be had."""
    answer = httpx.get(lab.environment["LAB_LINEAGE"], timeout=20)
    if answer.status_code == 503:
        pytest.skip("this lab has no lineage page: bin/lab setup says why it could not be built")
    answer.raise_for_status()
    with chromium() as found:
        yield found
