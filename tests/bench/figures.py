# SPDX-License-Identifier: Apache-2.0
"""Figures: measured several times, told as median with spread, beside their goals; as a table and as JSON."""

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


@dataclass(frozen=True)
class Goal:
    """At least (`floor`) or at most so much."""

    value: float
    floor: bool = False

    def holds(self, measured: float) -> bool:
        """Whether a median meets it."""
        return measured >= self.value if self.floor else measured <= self.value

    def __str__(self) -> str:
        return f"{'>=' if self.floor else '<='} {self.value:g}"


@dataclass
class Figure:
    """Every value of one measurement."""

    name: str
    unit: str
    goal: Goal | None
    values: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Name, unit, goal, median, lowest, highest and all values."""
        median = statistics.median(self.values)
        return {
            "name": self.name,
            "unit": self.unit,
            "goal": str(self.goal) if self.goal else None,
            "met": self.goal.holds(median) if self.goal else None,
            "median": median,
            "lowest": min(self.values),
            "highest": max(self.values),
            "values": self.values,
        }


@dataclass
class Figures:
    """All figures in the order in which they were first taken, and remarks."""

    by_name: dict[str, Figure] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def add(self, name: str, unit: str, value: float, goal: Goal | None = None) -> None:
        """Keep one more value."""
        self.by_name.setdefault(name, Figure(name, unit, goal)).values.append(value)

    def remark(self, text: str) -> None:
        """Keep a sentence that belongs to the figures, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def table(self) -> Table:
        """Medians with their spread."""
        table = Table(box=None, pad_edge=False)
        for heading in ("figure", "median", "lowest", "highest", "n", "goal", ""):
            table.add_column(heading, justify="left" if heading in ("figure", "") else "right")
        for figure in self.by_name.values():
            told = figure.to_json()
            verdict = {True: "met", False: "MISSED", None: ""}[told["met"]]
            spread = (shown(told[key]) for key in ("median", "lowest", "highest"))
            goal = told["goal"] or ""
            table.add_row(f"{figure.name}, {figure.unit}", *spread, str(len(figure.values)), goal, verdict)
        return table

    def render_json(self) -> str:
        """Everything, with the machine and its load."""
        machine = {"cpus": os.cpu_count(), "load": os.getloadavg()}
        figures = [figure.to_json() for figure in self.by_name.values()]
        return json.dumps({"machine": machine, "figures": figures, "remarks": self.remarks}, indent=2) + "\n"


def tell(figures: Figures, file: Path | None, heading: str) -> None:
    """Prints the figures below a line of heading; with a file, writes every value to it too."""
    console = Console(width=140, highlight=False)
    console.print(heading)
    console.print(figures.table())
    for remark in figures.remarks:
        console.print(remark, markup=False)
    if file:
        file.write_text(figures.render_json(), encoding="utf-8")


def shown(value: float) -> str:
    """Three significant digits, whole numbers from 100 on."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def quantile(values: Sequence[float], part: float) -> float:
    """The smallest value that at least `part` of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]
