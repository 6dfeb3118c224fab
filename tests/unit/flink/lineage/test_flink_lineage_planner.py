# SPDX-License-Identifier: Apache-2.0
"""Asking a planner that answers, refuses, is silent or is not there."""

import sys
from pathlib import Path

import pytest

from lineagelab_flink.columns import PlannerError, derive_lineage

RECORDED = Path(__file__).with_name("orders.json")


def program(text: str) -> list[str]:
    """A command that runs this Python."""
    return [sys.executable, "-c", text]


def test_the_script_is_given_and_the_answer_is_read() -> None:
    answer = program(
        f"import sys; assert sys.stdin.buffer.read().decode() == 'SELECT ö'; print(open({str(RECORDED)!r}).read())"
    )
    assert [dataset["name"] for dataset in derive_lineage("SELECT ö", answer).outputs] == ["lake.live.orders", "totals"]


def test_what_the_planner_refuses_is_said_in_its_words() -> None:
    refuse = program("import sys; sys.stderr.write('line 3, column 1: no such table\\n'); sys.exit(2)")
    with pytest.raises(PlannerError, match=r"^line 3, column 1: no such table$"):
        derive_lineage("SELECT 1", refuse)


def test_a_planner_that_fails_without_a_word() -> None:
    with pytest.raises(PlannerError, match="exit code 7"):
        derive_lineage("SELECT 1", program("raise SystemExit(7)"))


def test_a_planner_that_is_silent_for_too_long() -> None:
    with pytest.raises(PlannerError, match=r"timed out after 0\.2 s"):
        derive_lineage("SELECT 1", program("import sys; sys.stdin.read(); import time; time.sleep(60)"), seconds=0.2)


def test_a_planner_that_is_not_there() -> None:
    with pytest.raises(PlannerError, match="cannot run Flink's planner as `no-such-program`"):
        derive_lineage("SELECT 1", ["no-such-program"])


@pytest.mark.parametrize("answer", ["", "[]", "{}", '{"version": 2, "jobs": []}', '{"version": 1, "jobs": [1]}'])
def test_an_answer_that_is_none(answer: str) -> None:
    with pytest.raises(PlannerError, match="invalid output of Flink's planner"):
        derive_lineage("SELECT 1", program(f"print({answer!r})"))
