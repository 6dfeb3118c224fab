# SPDX-License-Identifier: Apache-2.0
"""Errors of the event log."""


class StoreError(Exception):
    """An event could not be stored; a later attempt may succeed."""


class StoreFull(StoreError):
    """No space left for the event on the disk or within the configured limit."""


class NotWriter(StoreError):
    """Another instance writes the log; the message names it."""


class StoreUnusable(Exception):
    """The log cannot be opened at all; the message names the path and the remedy."""
