# SPDX-License-Identifier: Apache-2.0
"""Variants of the drift that `lab replay drift` replays."""

from enum import StrEnum


class Drift(StrEnum):
    """What the shop does from a time on: move values to a new column, or write them in another unit."""

    NEW_COLUMN = "new-column"
    CENTS = "cents"
