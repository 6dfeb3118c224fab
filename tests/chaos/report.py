# SPDX-License-Identifier: Apache-2.0
"""Report of a chaos run as JSON and as an HTML page. Pure."""

import html
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.chaos.checks import Check
from tests.chaos.faults import Fault

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #1c2733 }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #d5dbe1; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums }
.passed { color: #12703b; font-weight: 600 } .failed { color: #b3261e; font-weight: 600 }
@media (prefers-color-scheme: dark) {
  body { background: #14191f; color: #dde4ea } th, td { border-color: #35404a }
  .passed { color: #5fce8f } .failed { color: #ff8a80 } }
"""


@dataclass(frozen=True)
class Injected:
    """A fault that was injected.

    Attributes:
        at: seconds since the first fault's pause began.
        fault: the fault.
        done: what was done.
    """

    at: float
    fault: Fault
    done: str


@dataclass(frozen=True)
class Run:
    """A chaos run and its result.

    Attributes:
        skipped: kinds of faults that this machine cannot inject, with the reason.
        restarted: connectors that had failed and that `lab up` restarted, with the reason.
        error: why the run ended before its checks; empty if it did not.
    """

    seed: int
    minutes: float
    started: str
    injected: tuple[Injected, ...]
    checks: tuple[Check, ...]
    skipped: tuple[str, ...] = ()
    restarted: tuple[str, ...] = ()
    error: str = ""

    @property
    def passed(self) -> bool:
        """True if all checks were made and passed."""
        return not self.error and bool(self.checks) and all(check.passed for check in self.checks)


def as_json(run: Run) -> dict[str, Any]:
    """Return the report as a JSON object."""
    return {
        "seed": run.seed,
        "minutes": run.minutes,
        "started": run.started,
        "passed": run.passed,
        "error": run.error,
        "skipped": list(run.skipped),
        "restarted": list(run.restarted),
        "faults": [
            {
                "at": round(each.at, 1),
                "kind": str(each.fault.kind),
                "target": each.fault.target,
                "seconds": round(each.fault.seconds, 1),
                "done": each.done,
            }
            for each in run.injected
        ],
        "checks": [
            {
                "name": check.name,
                "passed": check.passed,
                "counts": dict(check.counts),
                "differences": list(check.differences),
            }
            for check in run.checks
        ],
    }


def as_html(run: Run) -> str:
    """Return the report as a page without external resources."""
    title = f"Chaos run, seed {run.seed}: {'passed' if run.passed else 'failed'}"
    notes = [*([run.error] if run.error else []), *run.skipped, *run.restarted]
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{_text(title)}</h1>",
            f"<p>{len(run.injected)} faults in {run.minutes:g} minutes, started {_text(run.started)}.</p>",
            *([f"<ul>{''.join(f'<li>{_text(note)}</li>' for note in notes)}</ul>"] if notes else []),
            "<h2>Checks</h2><table><tr><th>statement</th><th>result</th><th>counted</th></tr>",
            *(_check_row(check) for check in run.checks),
            "</table><h2>Faults</h2>",
            "<table><tr><th>s</th><th>fault</th><th>what was done</th></tr>",
            *(
                f'<tr><td class="number">{each.at:.0f}</td><td>{_text(str(each.fault))}</td>'
                f"<td>{_text(each.done)}</td></tr>"
                for each in run.injected
            ),
            "</table></body></html>",
        ]
    )


def as_lines(run: Run) -> list[str]:
    """Return the report as lines of text for a terminal."""
    lines = [f"{len(run.injected)} faults in {run.minutes:g} minutes", *run.skipped, *run.restarted]
    for check in run.checks:
        counts = ", ".join(f"{count} {what}" for what, count in check.counts.items())
        lines.append(f"{'passed' if check.passed else 'FAILED'}  {check.name}{f' ({counts})' if counts else ''}")
        lines += [f"        {difference}" for difference in check.differences]
    return [*lines, *([run.error] if run.error else [])]


def _check_row(check: Check) -> str:
    result = "passed" if check.passed else "failed"
    counts = _text(", ".join(f"{count} {what}" for what, count in check.counts.items()))
    differences = _items(check.differences)
    return f'<tr><td>{_text(check.name)}{differences}</td><td class="{result}">{result}</td><td>{counts}</td></tr>'


def _items(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _text(text: str) -> str:
    return html.escape(text)
