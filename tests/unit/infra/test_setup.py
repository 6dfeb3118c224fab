# SPDX-License-Identifier: Apache-2.0
"""What is brought in for a lab, of what it may have."""

import pytest

from infra.artifacts import Artifacts
from infra.cli import setup
from infra.settings import Settings


@pytest.mark.parametrize(
    ("settings", "looked_for"),
    [
        (Settings(marquez=True), True),
        (Settings(marquez=True, target="docker"), False),
        (Settings(), False),
    ],
    ids=["processes", "the images of its project", "no Marquez"],
)
def test_marquez_jar_is_looked_for_only_where_it_would_be_run(settings, looked_for, tmp_path, monkeypatch):
    asked = set()
    monkeypatch.setattr(setup, "bring_in", lambda artifacts, names: asked.update(names))
    setup.bring_in_lab(Artifacts.open(tmp_path), settings)
    assert ("marquez" in asked) == looked_for
    assert asked >= setup.NAMES
