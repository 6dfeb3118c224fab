# SPDX-License-Identifier: Apache-2.0
"""Shop: generator of orders and bids in Postgres, some of them late, duplicated or invalid."""
