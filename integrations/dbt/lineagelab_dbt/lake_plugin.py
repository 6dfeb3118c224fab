# SPDX-License-Identifier: Apache-2.0
"""Plugin of dbt-duckdb that attaches an Iceberg REST catalog. In `profiles.yml`:

    plugins:
      - module: lineagelab_dbt.lake_plugin

The profile's own `attach` and `secrets` run before extensions can be loaded from files, and would download them.
"""

import os

from dbt.adapters.duckdb.plugins import BasePlugin
from duckdb import DuckDBPyConnection

from lineagelab_sql.lake import Lake


class Plugin(BasePlugin):
    """Attaches the catalog that the variables of `lab.env` name."""

    def configure_connection(self, connection: DuckDBPyConnection) -> None:
        Lake.from_environment(os.environ).attach(connection, writable=True)
