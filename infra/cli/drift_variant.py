# SPDX-License-Identifier: Apache-2.0
"""Variants of the drift that `lab replay drift` replays."""

from enum import StrEnum


class Drift(StrEnum):
    """Change of the rows that the shop writes: prices in a new column or in another unit, or suppliers renamed."""

    NEW_COLUMN = "new-column"
    CENTS = "cents"
    RENAMED_SUPPLIER = "renamed-supplier"
