# SPDX-License-Identifier: Apache-2.0
"""Summary of a test run by layer, read from the JUnit XML files of its steps."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from textwrap import shorten
from xml.etree import ElementTree

from infra.cli.test_steps import StepResult

MAX_REASONS = 6
"""Maximum number of reasons for skipping that are listed per layer, the most frequent first."""

MAX_REASON_LENGTH = 200

MAX_FAILURES = 20
"""Maximum number of failed tests that are listed per layer, the first ones: later ones often follow from them."""


@dataclass
class LayerCounts:
    """Test counts of one layer, such as `unit`."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    skip_reasons: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def render(self, name: str) -> list[str]:
        """Return a line of counts, and one line per failed test and per reason for skipping."""
        state = "ran" if self.passed + self.failed else "did not run"
        reasons = [
            f"    {count} skipped: {shorten(reason, MAX_REASON_LENGTH)}"
            for reason, count in self.skip_reasons.most_common(MAX_REASONS)
        ]
        failures = [f"    failed: {shorten(failure, MAX_REASON_LENGTH)}" for failure in self.failures[:MAX_FAILURES]]
        if len(self.failures) > MAX_FAILURES:
            failures.append(f"    and {len(self.failures) - MAX_FAILURES} more failed tests")
        return [f"{name:10} {state:12} {self} ({self.seconds:.0f} s)", *failures, *reasons]

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class LayerReport:
    """Test counts of a run, by layer and in total."""

    def __init__(self, results: Iterable[StepResult]) -> None:
        self.layers: dict[str, LayerCounts] = {}
        for result in results:
            self._add(result)

    @property
    def total(self) -> LayerCounts:
        """Sum of all layers."""
        layers = self.layers.values()
        return LayerCounts(*(sum(getattr(layer, name) for layer in layers) for name in ("passed", "failed", "skipped")))

    def render(self) -> list[str]:
        """Return the lines of the summary; the last one is the total."""
        return [*(line for name, layer in self.layers.items() for line in layer.render(name)), str(self.total)]

    def _add(self, result: StepResult) -> None:
        """Add the tests of a step, or the step itself if it has no current report or failed without a failed test."""
        failed_before = self.total.failed
        files = [
            file for path in result.step.reports for file in (path.glob("TEST-*.xml") if path.is_dir() else [path])
        ]
        current = [file for file in files if file.is_file() and file.stat().st_mtime >= result.started]
        for file in current:
            for case in ElementTree.parse(file).iter("testcase"):
                self._count_case(result.step.name, case)
        if not current or (result.status != 0 and self.total.failed == failed_before):
            layer = self._layer(result.step.name)
            layer.passed += result.status == 0 and not result.step.reports
            layer.failed += result.status != 0
            layer.seconds += result.seconds

    def _count_case(self, step: str, case: ElementTree.Element) -> None:
        """Count a test for its folder in `tests/`; a Java test for its step."""
        package, _, rest = case.get("classname", "").partition(".")
        layer = self._layer(rest.partition(".")[0] if package == "tests" and rest else step)
        layer.seconds += float(case.get("time", 0))
        failure = next((found for kind in ("failure", "error") if (found := case.find(kind)) is not None), None)
        if failure is not None:
            layer.failed += 1
            layer.failures.append(f"{case.get('classname')}.{case.get('name')}: {failure.get('message', '')}")
        elif (skipped := case.find("skipped")) is not None:
            layer.skipped += 1
            layer.skip_reasons[skipped.get("message", "no reason given")] += 1
        else:
            layer.passed += 1

    def _layer(self, name: str) -> LayerCounts:
        return self.layers.setdefault(name, LayerCounts())
