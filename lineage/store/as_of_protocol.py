# SPDX-License-Identifier: Apache-2.0
"""Arguments and exit codes between the service and the process of a query about the past.

Apart from `as_of_queries`, whose event loop the process would import for nothing.
"""

WAIT = "--wait"
"""Argument before the log: the others follow as a line of standard input, a JSON array."""

COMPACTED, UNKNOWN_NODE, NO_DATASET = 3, 4, 5
"""Exit codes of a process that has no answer."""
