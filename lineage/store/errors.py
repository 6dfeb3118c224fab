# SPDX-License-Identifier: Apache-2.0
"""Errors of the event log."""


class StoreError(Exception):
    """An event could not be stored; a later attempt may succeed."""


class StoreFull(StoreError):
    """There is no room for the event, on the disk or under the configured limit."""


class StoreUnusable(Exception):
    """The log cannot be opened at all; the message names the path and the remedy."""
