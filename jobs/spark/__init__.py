# SPDX-License-Identifier: Apache-2.0
"""The PySpark jobs: `orders_etl` (topic to lake) and `supplier_stats` (lake to lake)."""

from pathlib import Path


def log_settings() -> str:
    """Log4j's configuration for drivers, as text."""
    return (Path(__file__).parent / "log4j2.properties").read_text(encoding="utf-8")
