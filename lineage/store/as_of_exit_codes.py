# SPDX-License-Identifier: Apache-2.0
"""Exit codes by which the subprocess of a query about the past says why it has no answer.

Apart from `as_of_queries`, whose event loop the subprocess would import for nothing.
"""

COMPACTED, UNKNOWN_NODE, NO_DATASET = 3, 4, 5
