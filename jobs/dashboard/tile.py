# SPDX-License-Identifier: Apache-2.0
"""Tiles of the dashboard, from files `tiles/NAME.sql`. Pure.

    -- title: Revenue by hour and supplier
    -- chart: bar(hour, revenue, supplier)      x, y and optionally the colour
    select ...

Charts: `bar(x, y, colour)` or `bar(x, [y, y])`, `line` likewise, `table`, `metric(column)`. Decimals are drawn as
numbers only if the query casts them.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "tiles"
CHARTS = {"bar": (2, 3), "line": (2, 3), "table": (0, 0), "metric": (1, 1)}
"""Chart -> least and greatest number of its arguments."""

_HEADER = re.compile(r"^-- (\w+): (.+)$")
_CHART = re.compile(r"(\w+)(?:\((.*)\))?")


class TileError(Exception):
    """A tile file is invalid; the message names the file and says what to do."""


@dataclass(frozen=True)
class Tile:
    """Tile of the dashboard.

    Attributes:
        name: of the file, of the tile's dataset and the last part of its job's.
        chart: one of `CHARTS`.
        columns: arguments of the chart: a column, or several drawn together.
    """

    name: str
    title: str
    chart: str
    columns: tuple[tuple[str, ...], ...]
    query: str

    def missing(self, columns: Collection[str]) -> list[str]:
        """Return the columns that the chart draws and the result of the query lacks."""
        return [each for group in self.columns for each in group if each not in columns]


def parse_tile(name: str, text: str) -> Tile:
    """Parse a tile file.

    Raises:
        TileError: its header is invalid.
    """
    lines = text.strip().splitlines()
    header: dict[str, str] = {}
    while lines and (found := _HEADER.match(lines[0])):
        header[found[1]] = found[2].strip()
        lines.pop(0)
    if missing := {"title", "chart"} - header.keys():
        raise TileError(f"tiles/{name}.sql has no line `-- {min(missing)}: ...` at its beginning")
    if unknown := header.keys() - {"title", "chart"}:
        raise TileError(f"tiles/{name}.sql: unknown header {min(unknown)!r}; known: title, chart")
    chart = _CHART.fullmatch(header["chart"])
    if not chart or chart[1] not in CHARTS:
        raise TileError(f"tiles/{name}.sql: unknown chart {header['chart']!r}; known: {', '.join(CHARTS)}")
    columns = _columns(chart[2] or "")
    least, greatest = CHARTS[chart[1]]
    if not least <= len(columns) <= greatest:
        expected = str(least) if least == greatest else f"{least} or {greatest}"
        raise TileError(f"tiles/{name}.sql: arguments of {chart[1]}: {expected}, not {len(columns)}")
    query = "\n".join(lines).strip()
    if not query:
        raise TileError(f"tiles/{name}.sql has no query")
    return Tile(name, header["title"], chart[1], columns, query)


def _columns(text: str) -> tuple[tuple[str, ...], ...]:
    """Parse the arguments of a chart: `day, [rejected, late]`."""
    parts = re.findall(r"\[([^\]]*)\]|([^,\[\]]+)", text)
    groups = [tuple(each.strip() for each in (several or single).split(",")) for several, single in parts]
    return tuple(group for group in groups if any(group))


def tiles(folder: Path = FOLDER) -> list[Tile]:
    """Read all tiles, by name. Raises TileError."""
    return [parse_tile(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.sql"))]
