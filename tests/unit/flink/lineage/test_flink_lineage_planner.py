# SPDX-License-Identifier: Apache-2.0
"""Tests of running the planner: success, rejection, timeout, missing program."""

import sys
from pathlib import Path

import pytest

from lineagelab_flink.columns import PlannerError, derive_lineage

RECORDED = Path(__file__).with_name("orders.json")


def program(text: str) -> list[str]:
    """Return a command that runs a Python program."""
    return [sys.executable, "-c", text]


def test_the_script_is_sent_and_the_output_is_parsed() -> None:
    answer = program(
        f"import sys; assert sys.stdin.buffer.read().decode() == 'SELECT ö'; print(open({str(RECORDED)!r}).read())"
    )
    assert [dataset["name"] for dataset in derive_lineage("SELECT ö", answer).outputs] == ["lake.live.orders", "totals"]


def test_a_rejection_contains_the_planners_message() -> None:
    refuse = program("import sys; sys.stderr.write('line 3, column 1: no such table\\n'); sys.exit(2)")
    with pytest.raises(PlannerError, match=r"^line 3, column 1: no such table$"):
        derive_lineage("SELECT 1", refuse)


def test_a_failure_without_a_message() -> None:
    with pytest.raises(PlannerError, match="exit code 7"):
        derive_lineage("SELECT 1", program("raise SystemExit(7)"))


def test_a_timeout() -> None:
    with pytest.raises(PlannerError, match=r"timed out after 0\.2 s"):
        derive_lineage("SELECT 1", program("import sys; sys.stdin.read(); import time; time.sleep(60)"), seconds=0.2)


def test_a_missing_program() -> None:
    with pytest.raises(PlannerError, match="cannot run Flink's planner as `no-such-program`"):
        derive_lineage("SELECT 1", ["no-such-program"])


@pytest.mark.parametrize("answer", ["", "[]", "{}", '{"version": 2, "jobs": []}', '{"version": 1, "jobs": [1]}'])
def test_invalid_output(answer: str) -> None:
    with pytest.raises(PlannerError, match="invalid output of Flink's planner"):
        derive_lineage("SELECT 1", program(f"print({answer!r})"))
