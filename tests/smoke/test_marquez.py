# SPDX-License-Identifier: Apache-2.0
"""The lab with a real Marquez, where its jar is given."""

import os
import subprocess
import time

import pytest

from infra import credentials
from infra.project import PROJECT, stack_root
from lineage.checks.contract import load
from tests.stack_files import stack_file
from tests.unit.lineage.lineage_marquez import missing_from_marquez

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

JAR = os.environ.get("LINEAGE_LAB_MARQUEZ_JAR")
STACK = "smokemarquez"
SECONDS = 120


def lab(*words):
    done = subprocess.run(
        [PROJECT / "bin" / "lab", *words, "--stack", STACK], cwd=PROJECT, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def marquez():
    """Where Marquez answers, in a lab of its own."""
    with stack_file(STACK, {"portOffset": "11000", "marquez": "true", "marquezJar": JAR}):
        try:
            lab("up")
            yield credentials.read(stack_root(STACK) / "lab.env")["LAB_MARQUEZ"]
        finally:
            lab("reset")


@pytest.mark.skipif(not JAR, reason="LINEAGE_LAB_MARQUEZ_JAR names no jar of Marquez, and no registry here has one")
def test_marquez_shows_the_contracts_edges_after_two_runs(marquez):
    lab("run", "orders_etl")
    lab("run", "supplier_stats")
    contract = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text(encoding="utf-8"))
    deadline = time.monotonic() + SECONDS
    while missing := missing_from_marquez(marquez, contract):
        assert time.monotonic() < deadline, "\n".join(missing)
        time.sleep(1)
