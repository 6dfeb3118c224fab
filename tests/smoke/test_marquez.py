# SPDX-License-Identifier: Apache-2.0
"""Lab with a real Marquez; needs the jar that `LINEAGE_LAB_MARQUEZ_JAR` names."""

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
TIMEOUT_SECONDS = 120


def lab(*words):
    completed = subprocess.run(
        [PROJECT / "bin" / "lab", *words, "--stack", STACK], cwd=PROJECT, capture_output=True, text=True, timeout=900
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr


@pytest.fixture
def marquez():
    """Provide the URL of Marquez in a separate lab."""
    with stack_file(STACK, {"portOffset": "11000", "marquez": "true", "marquezJar": JAR}):
        try:
            lab("up")
            yield credentials.read(stack_root(STACK) / "lab.env")["LAB_MARQUEZ"]
        finally:
            lab("reset")


@pytest.mark.skipif(
    not JAR, reason="LINEAGE_LAB_MARQUEZ_JAR is not set: the path of a Marquez jar, which no package registry offers"
)
def test_marquez_has_the_edges_of_the_contract_after_two_jobs(marquez):
    lab("run", "orders_etl")
    lab("run", "supplier_stats")
    contract = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text(encoding="utf-8"))
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while missing := missing_from_marquez(marquez, contract):
        assert time.monotonic() < deadline, "\n".join(missing)
        time.sleep(1)
