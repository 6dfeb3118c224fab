# SPDX-License-Identifier: Apache-2.0
"""The shop: writes orders and bids to Kafka as life does, late, duplicated and broken."""
