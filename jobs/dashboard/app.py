# SPDX-License-Identifier: Apache-2.0
"""Page of the dashboard, which Streamlit runs for each viewer."""

import os
from datetime import UTC, datetime
from urllib.parse import urlencode

import streamlit

from infra.namespaces import DASHBOARD_NAMESPACE
from jobs.dashboard.board import Shown
from jobs.dashboard.shared_board import shared_board
from jobs.dashboard.tile import Tile

REFRESH_SECONDS = 10
ROW_COLUMNS = 2


def lineage_link(tile: Tile) -> str:
    """Return the address of a tile's column lineage on the lineage page."""
    node = f"dataset:{DASHBOARD_NAMESPACE}:{tile.name}"
    return f"{os.environ.get('LINEAGE_PAGE', '')}/?{urlencode({'view': 'columns', 'node': node})}"


def metric_text(value: object) -> str:
    """Return a value as text; times in UTC, to the second."""
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return "none" if value is None else str(value)


def draw(tile: Tile, shown: Shown) -> None:
    """Draw the content of a tile."""
    table = shown.table
    if table is None:
        streamlit.error(shown.error)
    elif missing := tile.missing(table.column_names):
        streamlit.error(f"tiles/{tile.name}.sql: the query has no column {', '.join(missing)}")
    elif table.num_rows == 0:
        streamlit.info("no rows")
    elif tile.chart in ("bar", "line"):
        (x,), values, *colour = tile.columns
        draw_chart = streamlit.bar_chart if tile.chart == "bar" else streamlit.line_chart
        draw_chart(table, x=x, y=list(values), color=colour[0][0] if colour else None)
    elif tile.chart == "metric":
        ((column,),) = tile.columns
        streamlit.metric(tile.title, metric_text(table.column(column)[0].as_py()), label_visibility="collapsed")
    else:
        streamlit.dataframe(table, hide_index=True)


@streamlit.fragment(run_every=REFRESH_SECONDS)
def show(tile: Tile) -> None:
    """Show a tile, and refresh it."""
    streamlit.subheader(tile.title)
    draw(tile, shared_board().refresh(tile))
    streamlit.caption(f"[lineage]({lineage_link(tile)})")


streamlit.set_page_config(page_title="Sales", layout="wide")
streamlit.title("Sales")
places = streamlit.columns(ROW_COLUMNS)
for number, each in enumerate(shared_board().tiles):
    with places[number % ROW_COLUMNS]:
        show(each)
