# SPDX-License-Identifier: Apache-2.0
"""Summary of a test run by layer, read from the JUnit XML files that its steps have written."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from xml.etree import ElementTree

from infra.cli.test_steps import Result

REASONS_SHOWN = 6
"""Reasons for skipping per layer, the most frequent first."""

REASON_LENGTH = 200


@dataclass
class Layer:
    """Counts of the tests of one layer, such as `unit`."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)

    def lines(self, name: str) -> list[str]:
        """Return the counts, and one line for each reason for skipping."""
        counts = f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
        state = "ran" if self.passed + self.failed else "did not run"
        reasons = [
            f"    {count} skipped: {shorten(reason, REASON_LENGTH)}"
            for reason, count in self.reasons.most_common(REASONS_SHOWN)
        ]
        return [f"{name:10} {state:12} {counts} ({self.seconds:.0f} s)", *reasons]


class Report:
    """Counts of a run, by layer and in total."""

    def __init__(self, results: Iterable[Result]) -> None:
        self.layers: dict[str, Layer] = {}
        for result in results:
            self._add(result)

    @property
    def total(self) -> Layer:
        """Return the sum over all layers."""
        every = self.layers.values()
        return Layer(*(sum(getattr(layer, name) for layer in every) for name in ("passed", "failed", "skipped")))

    def lines(self) -> list[str]:
        """Return the summary; its last line is the total."""
        total = self.total
        layers = [line for name, layer in self.layers.items() for line in layer.lines(name)]
        return [*layers, f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped"]

    def _add(self, result: Result) -> None:
        failed_before = self.total.failed
        files = [
            file for path in result.step.reports for file in (path.glob("TEST-*.xml") if path.is_dir() else [path])
        ]
        read = [self._read(result, file) for file in files if file.is_file()]
        if not any(read) or (result.status != 0 and self.total.failed == failed_before):
            layer = self._layer(result.step.name)
            layer.passed += result.status == 0 and not result.step.reports
            layer.failed += result.status != 0
            layer.seconds += result.seconds

    def _read(self, result: Result, path: Path) -> bool:
        if path.stat().st_mtime < result.started:
            return False
        for case in ElementTree.parse(path).iter("testcase"):
            self._count(result.step.name, case)
        return True

    def _count(self, step: str, case: ElementTree.Element) -> None:
        package, _, rest = case.get("classname", "").partition(".")
        layer = self._layer(rest.partition(".")[0] if package == "tests" and rest else step)
        layer.seconds += float(case.get("time", 0))
        if case.find("failure") is not None or case.find("error") is not None:
            layer.failed += 1
        elif (skipped := case.find("skipped")) is not None:
            layer.skipped += 1
            layer.reasons[skipped.get("message", "no reason given")] += 1
        else:
            layer.passed += 1

    def _layer(self, name: str) -> Layer:
        return self.layers.setdefault(name, Layer())
