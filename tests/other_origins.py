# SPDX-License-Identifier: Apache-2.0
"""Headers of requests that a page of another origin makes a browser send."""

import pytest

OTHER_ORIGINS = [
    pytest.param({"Origin": "http://pages.example.org"}, id="page of another site"),
    pytest.param({"Origin": "http://127.0.0.1:9"}, id="page of another port"),
    pytest.param({"Origin": "null"}, id="sandboxed page"),
    pytest.param({"Host": "rebound.example.org"}, id="DNS rebinding"),
    pytest.param({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, id="image of another site"),
]
