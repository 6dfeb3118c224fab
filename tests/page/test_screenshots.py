# SPDX-License-Identifier: Apache-2.0
"""Screenshots of the reference page; with `UPDATE_SCREENSHOTS=1` the tests of the page and of a lab take them again."""

from infra.project import PROJECT
from tests.page.screenshots import CAUSE, DIFFERENCE, IMAGES, LARGE_GRAPH, METADATA, SCREENSHOTS, SUSPECT


def test_the_documentation_shows_every_screenshot():
    text = (PROJECT / "docs" / "reference" / "page.md").read_text(encoding="utf-8")
    names = [*SCREENSHOTS, *LARGE_GRAPH, DIFFERENCE, METADATA, CAUSE, SUSPECT]
    assert [name for name in names if f"images/{name}.png" not in text] == []
    assert [name for name in names if not (IMAGES / f"{name}.png").is_file()] == []
