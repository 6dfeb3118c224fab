# SPDX-License-Identifier: Apache-2.0
"""One lab for all smoke tests, taken down whatever happens."""

import pytest

from tests.smoke.lab_under_test import LOCAL_GRAPH, LabUnderTest


@pytest.fixture(scope="package")
def lab(request):
    """A lab whose pipeline has run once and whose shop then stopped, so that counts stand still once it is drained."""
    with LabUnderTest().configured() as under_test:
        ended = under_test.lab("up")
        assert ended.status == 0, ended.text
        under_test.first_up = ended
        request.config.stash[LOCAL_GRAPH] = under_test.graph()  # before any test changes it
        assert under_test.lab("stop", "shop").status == 0
        yield under_test
