# SPDX-License-Identifier: Apache-2.0
"""One lab for all smoke tests, removed after them."""

import pytest

from tests.smoke.lab_under_test import LOCAL_GRAPH, LabUnderTest


@pytest.fixture(scope="package")
def lab(request):
    """Provide a lab whose pipeline has run once and whose shop is stopped, so that counts are stable once delivered."""
    with LabUnderTest().configured() as under_test:
        result = under_test.lab("up")
        assert result.status == 0, result.text
        under_test.first_up = result
        request.config.stash[LOCAL_GRAPH] = under_test.graph()  # before any test changes it
        assert under_test.lab("stop", "shop").status == 0
        yield under_test
