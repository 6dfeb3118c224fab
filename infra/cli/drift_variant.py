# SPDX-License-Identifier: Apache-2.0
"""Variants of the drift that `lab replay drift` replays."""

from enum import StrEnum


class Drift(StrEnum):
    """Change of the rows that the shop writes: values in a new column, or in another unit."""

    NEW_COLUMN = "new-column"
    CENTS = "cents"
