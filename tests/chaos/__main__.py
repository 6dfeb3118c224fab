# SPDX-License-Identifier: Apache-2.0
"""Fault injection in a real lab, followed by a count: `python -m tests.chaos [--minutes N] [--seed N]`.

Faults hit every service and job of a lab with Flink while the shop writes; which one, how and when depends only on the
seed. Then the shop stops, `lab up` repairs what a user would repair with it, and independent clients check rows,
windows, archive, runs and graph. The report is written as JSON and as an HTML page.
"""

import argparse
import json
import os
import sys
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from pyiceberg.exceptions import NoSuchTableError

from infra.namespaces import SHOP_TOPICS
from tests.chaos.checks import Check, check_lab
from tests.chaos.faults import Kind, faults
from tests.chaos.injection import Injector, can_mount, clock_library, small_disks, wait_until
from tests.chaos.report import Injected, Run, as_html, as_json, as_lines
from tests.smoke.delivery import STORE_ERRORS
from tests.smoke.lab_under_test import LabUnderTest
from tests.stack_files import CHAOS

FIRST_ROWS = 100


def failed_connectors(lab: LabUnderTest) -> tuple[str, ...]:
    """Return failed connectors, or those with a failed task, with the first line of the stack trace."""
    failed = {}
    for name, about in lab.stores.connect("/connectors?expand=status").items():
        for part in [about["status"]["connector"], *about["status"]["tasks"]]:
            if part["state"] == "FAILED":
                failed[name] = part.get("trace", "").partition("\n")[0]
    return tuple(f"{name} had failed; `lab up` restarts it: {why}" for name, why in failed.items())


def unsupported(folder: Path) -> dict[Kind, str]:
    """Return the kinds of faults that this machine cannot inject, with what is missing."""
    missing = {}
    if os.geteuid() != 0 or not can_mount(folder):
        missing[Kind.DISK_FULL] = "not injected: a full disk, which requires root and loop devices"
    if clock_library() is None:
        missing[Kind.CLOCK_STEP] = "not injected: a clock step, which requires Debian's package libfaketime"
    return missing


class ChaosRun:
    """One run: faults, repair and checks. Its parts are kept if an error ends it."""

    def __init__(self, lab: LabUnderTest, seed: int, minutes: float) -> None:
        self._lab, self._seed, self._minutes = lab, seed, minutes
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._missing = unsupported(lab.root.with_name(f"{lab.stack}-probe"))
        self._injected: list[Injected] = []
        self._checks: list[Check] = []
        self._restarted: tuple[str, ...] = ()
        self._error = ""

    def execute(self) -> Run:
        """Start the lab, inject the faults, repair and check; an error ends the run and stands in the result."""
        try:
            self._up()
            wait_until(lambda: _lake_rows(self._lab) >= FIRST_ROWS, "the first rows in the lake", 300)
            with ExitStack() as disks:
                if Kind.DISK_FULL not in self._missing:
                    disks.enter_context(small_disks(self._lab))
                self._inject()
                self._repair()
                self._checks = check_lab(self._lab)
        except AssertionError as error:
            self._error = f"ended early: {error}"
        return Run(
            self._seed,
            self._minutes,
            self._started,
            tuple(self._injected),
            tuple(self._checks),
            tuple(self._missing.values()),
            self._restarted,
            self._error,
        )

    def _inject(self) -> None:
        injector, start, waiter = Injector(self._lab), time.monotonic(), threading.Event()
        for fault in faults(self._seed, frozenset(self._missing)):
            if time.monotonic() + fault.pause + fault.seconds > start + 60 * self._minutes:
                return
            waiter.wait(fault.pause)
            at = time.monotonic() - start
            print(f"{at:5.0f} s: {fault}", flush=True)
            self._injected.append(Injected(at, fault, injector.inject(fault)))

    def _repair(self) -> None:
        _run_lab(self._lab, "stop", "shop")
        wait_until(lambda: _connect_responds(self._lab), "Kafka Connect to respond", 300)
        self._restarted = failed_connectors(self._lab)
        self._up()
        _run_lab(self._lab, "stop", "shop")

    def _up(self) -> None:
        """Run `lab up`, which also runs the statistics, so that the contract holds."""
        _run_lab(self._lab, "up")


def main() -> int:
    """Run the faults and the checks; return 0 if all checks pass."""
    parser = argparse.ArgumentParser(prog="tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0, help="duration of the faults")
    parser.add_argument("--report", type=Path, default=None, help="folder of the report")
    parser.add_argument("--stack", default=CHAOS)
    parser.add_argument("--keep", action="store_true", help="keep the lab after the run")
    arguments = parser.parse_args()
    with LabUnderTest(arguments.stack).configured(keep=arguments.keep) as lab:
        run = ChaosRun(lab, arguments.seed, arguments.minutes).execute()
        folder = arguments.report or lab.root.with_name("reports")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"chaos-{arguments.seed}.html"
    path.write_text(as_html(run), encoding="utf-8")
    path.with_suffix(".json").write_text(json.dumps(as_json(run), indent=2) + "\n", encoding="utf-8")
    print("\n".join([*as_lines(run), f"report: {path}"]))
    return 0 if run.passed else 1


def _lake_rows(lab: LabUnderTest) -> int:
    try:
        return min(sum(lab.stores.positions(topic).values()) for topic in SHOP_TOPICS)
    except (*STORE_ERRORS, NoSuchTableError):
        return 0


def _connect_responds(lab: LabUnderTest) -> bool:
    try:
        return bool(lab.stores.connect("/connectors"))
    except STORE_ERRORS:
        return False


def _run_lab(lab: LabUnderTest, *words: str) -> None:
    result = lab.lab(*words)
    assert result.status == 0, result.text


if __name__ == "__main__":
    sys.exit(main())
