# SPDX-License-Identifier: Apache-2.0
"""Server of the dashboard: `python -m jobs.dashboard --host HOST --port PORT`.

Environment: that of `lineagelab_sql` (`LAB_ICEBERG_CATALOG`, `AWS_*`, `OPENLINEAGE_URL`, `LINEAGE_SPOOL`), and
`LINEAGE_PAGE`, the URL of the lineage page for browsers.
"""

import argparse
import logging
import threading
from pathlib import Path

from streamlit.web import bootstrap

from jobs.dashboard.shared_board import shared_board

log = logging.getLogger(__name__)

APP = Path(__file__).with_name("app.py")

FIRST_SECONDS = 5.0
"""Interval of refreshes without a viewer until each tile has had content, so that all are in the graph soon."""

LATER_SECONDS = 60.0


def _keep_fresh(stop: threading.Event) -> None:
    seconds = FIRST_SECONDS
    while not stop.is_set():
        try:
            if shared_board().refresh_all():
                seconds = LATER_SECONDS
        except Exception:  # the page must not stop being in the graph because of one fault
            log.exception("the tiles were not refreshed")
        stop.wait(seconds)


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(prog="jobs.dashboard")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8501)
    given = parser.parse_args()
    stop = threading.Event()
    threading.Thread(target=_keep_fresh, args=[stop], name="tiles", daemon=True).start()
    options = {
        "server_address": given.host,
        "server_port": given.port,
        "server_headless": True,
        "server_fileWatcherType": "none",
        "server_runOnSave": False,
        "browser_gatherUsageStats": False,
        "client_toolbarMode": "minimal",
        "global_developmentMode": False,
    }
    bootstrap.load_config_options(options)
    bootstrap.run(str(APP), False, [], options)
    stop.set()


if __name__ == "__main__":
    main()
