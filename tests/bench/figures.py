# SPDX-License-Identifier: Apache-2.0
"""Measured figures: median, spread and goal of each, rendered as a table and as JSON."""

import json
import math
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


def percentile_95(values: Sequence[float]) -> float:
    """Return the 95th percentile of two or more values, interpolated."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


@dataclass(frozen=True)
class Goal:
    """Goal of a median: at most `value`, or at least `value` if `floor`."""

    value: float
    floor: bool = False

    def is_met(self, median: float) -> bool:
        """Return True if a median meets the goal."""
        return median >= self.value if self.floor else median <= self.value

    def __str__(self) -> str:
        return f"{'>=' if self.floor else '<='} {self.value:g}"


@dataclass
class Figure:
    """All values of one figure."""

    name: str
    unit: str
    goal: Goal | None
    values: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return name, unit, goal, median, lowest, highest and all values."""
        median = statistics.median(self.values)
        return {
            "name": self.name,
            "unit": self.unit,
            "goal": str(self.goal) if self.goal else None,
            "met": self.goal.is_met(median) if self.goal else None,
            "median": median,
            "lowest": min(self.values),
            "highest": max(self.values),
            "values": self.values,
        }


@dataclass
class Figures:
    """All figures in the order of their first values, and remarks."""

    by_name: dict[str, Figure] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def add(self, name: str, unit: str, value: float, goal: Goal | None = None) -> None:
        """Add one value to a figure."""
        self.by_name.setdefault(name, Figure(name, unit, goal)).values.append(value)

    def remark(self, text: str) -> None:
        """Add a remark, unless it was added before."""
        if text not in self.remarks:
            self.remarks.append(text)

    def table(self) -> Table:
        """Render medians with their spread."""
        table = Table(box=None, pad_edge=False)
        for heading in ("figure", "median", "lowest", "highest", "n", "goal", ""):
            table.add_column(heading, justify="left" if heading in ("figure", "") else "right")
        for figure in self.by_name.values():
            row = figure.to_json()
            verdict = {True: "met", False: "MISSED", None: ""}[row["met"]]
            spread = (format_number(row[key]) for key in ("median", "lowest", "highest"))
            goal = row["goal"] or ""
            table.add_row(f"{figure.name}, {figure.unit}", *spread, str(len(figure.values)), goal, verdict)
        return table

    def render_json(self) -> str:
        """Render all figures and remarks, with the number of CPUs and their load."""
        machine = {"cpus": os.cpu_count(), "load": os.getloadavg()}
        figures = [figure.to_json() for figure in self.by_name.values()]
        return json.dumps({"machine": machine, "figures": figures, "remarks": self.remarks}, indent=2) + "\n"


def print_figures(figures: Figures, file: Path | None, heading: str) -> None:
    """Print the figures below a heading; write all values to `file` if given."""
    console = Console(width=140, highlight=False)
    console.print(heading)
    console.print(figures.table())
    for remark in figures.remarks:
        console.print(remark, markup=False)
    if file:
        file.write_text(figures.render_json(), encoding="utf-8")


def format_number(value: float) -> str:
    """Format a number with three significant digits; from 100 as an integer."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def quantile(values: Sequence[float], probability: float) -> float:
    """Return the smallest value that a share of at least `probability` of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(probability * len(ordered)) - 1)]
