# SPDX-License-Identifier: Apache-2.0
"""Screenshots of the reference page; `UPDATE_SCREENSHOTS=1 bin/lab test tests/smoke` takes them from a real lab."""

from infra.project import PROJECT
from tests.page.screenshots import DIFFERENCE, IMAGES, SCREENSHOTS


def test_the_documentation_shows_every_screenshot():
    text = (PROJECT / "docs" / "reference" / "page.md").read_text(encoding="utf-8")
    names = [*SCREENSHOTS, DIFFERENCE]
    assert [name for name in names if f"images/{name}.png" not in text] == []
    assert [name for name in names if not (IMAGES / f"{name}.png").is_file()] == []
