# SPDX-License-Identifier: Apache-2.0
"""The one board of the server's process, which every session of a browser shows."""

import os
from functools import cache
from pathlib import Path

from jobs.dashboard.board import Board
from jobs.dashboard.tile import tiles
from lineagelab_common.spool import Spool
from lineagelab_sql.lake import Lake


@cache
def shared_board() -> Board:
    """Return the board, with the lake and the lineage service of the environment. Raises LakeError, TileError."""
    file = os.environ.get("LINEAGE_SPOOL")
    spool = Spool(os.environ.get("OPENLINEAGE_URL", ""), Path(file) if file else None)
    return Board(Lake.from_environment(os.environ), tiles(), spool.add)
