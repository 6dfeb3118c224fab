# SPDX-License-Identifier: Apache-2.0
"""Errors of this package."""


class UnsupportedSqlError(Exception):
    """A construct whose columns are not known; the message is the reason."""
