# SPDX-License-Identifier: Apache-2.0
"""Comparison of the chart's objects with `snapshots/`.

Update the snapshots after an intended change: UPDATE_SNAPSHOTS=1 bin/lab test tests/kubernetes/test_chart_snapshots.py
"""

import os
from pathlib import Path

import pytest

from tests.kubernetes.chart_snapshot import ChartSnapshots
from tests.kubernetes.chart_values import rendered
from tests.unit.infra.snapshot import first_difference

FOLDER = Path(__file__).parent / "snapshots"


@pytest.fixture(scope="module")
def texts(helm):
    snapshots = ChartSnapshots()
    snapshots.add("full, three brokers", helm.template(rendered("full")))
    snapshots.add("reduced", helm.template(rendered("reduced")), like="full, three brokers")
    return snapshots.finish()


def test_objects_equal_the_snapshots(texts):
    if os.environ.get("UPDATE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        for name, text in texts.items():
            (FOLDER / f"{name}.txt").write_text(text)
    before = {path.stem: path.read_text() for path in FOLDER.iterdir()}
    different = {name: first_difference(before.get(name, ""), text) for name, text in texts.items()}
    assert not {name: text for name, text in different.items() if text}
    assert before.keys() == texts.keys()
