# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/page.md: `UPDATE_SCREENSHOTS=1 pytest tests/smoke` makes them anew from a real lab."""

from infra.project import PROJECT
from tests.page.pictures import DIFFERENCE, IMAGES, PICTURES


def test_the_documentation_shows_each_picture_and_has_each():
    text = (PROJECT / "docs" / "page.md").read_text(encoding="utf-8")
    names = [*PICTURES, DIFFERENCE]
    assert [name for name in names if f"images/{name}.png" not in text] == []
    assert [name for name in names if not (IMAGES / f"{name}.png").is_file()] == []
