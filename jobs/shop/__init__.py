# SPDX-License-Identifier: Apache-2.0
"""The shop: writes orders and bids into Postgres as life does, late, duplicated and broken."""
