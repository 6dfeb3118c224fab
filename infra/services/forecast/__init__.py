# SPDX-License-Identifier: Apache-2.0
"""Forecast of prices: a feature table, and a model that is trained on it."""
